"""From a function to a tape: run it once with stand-ins for its arguments, and write every op down.

- `tracer.py` runs the function and writes; `traced.py` is what stands for numbers meanwhile; `reach.py` finds what
  the function can reach by itself, by the names that `reading.py` finds in its code; `limits.py` says what cannot be
  followed, with line and remedy;
- `recorded.py` turns what was written into a `Tape` (`tape.py`), the traced function as flat arrays.
"""
