"""Who holds the parameters: Python, in the fields of their Values, or compiled code, in one buffer.

- `store.py` is the buffer, and hands over; `owned.py` notices a touch from Python; `optimisers.py` steps in the buffer.
"""
