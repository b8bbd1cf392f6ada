"""From a function to a tape: run it once with stand-ins for its arguments, and write every op down.

- `tracer.py` runs the function and writes; `traced.py` is what stands for numbers meanwhile; `reach.py` finds the
  Values that the function can reach by itself, `outside.py` the plain numbers that it reads; `limits.py` says what
  cannot be followed, with line and remedy;
- `recorded.py` turns what was written into a `Tape` (`tape.py`), the traced function as flat arrays.
"""
