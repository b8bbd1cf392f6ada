"""Who holds the parameters: Python, in the fields of their Values, or compiled code, in one buffer.

- `store.py` is the buffer, and hands over; `tensors.py` are those in it; `optimisers.py` steps there;
- `watched.py` tells whether containers of parameters hold what they held.
"""
