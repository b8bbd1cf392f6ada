"""From a function to a tape: run it once with stand-ins for its arguments, and write every op down.

- `tracer.py` runs the function and writes down what ops on Values mean, with `written.py`, which knows what stands
  where, and `answers.py`, which knows what was asked of numbers;
- what stands for Values meanwhile is in `traced.py`, for plain numbers in `plain.py`, for arrays in `arrays.py` and
  `array_functions.py`; `kinds.py` knows the types of numbers, `whole.py` computes with ints of any size, `narrow.py`
  rounds and wraps as NumPy does; `asking.py` says who asks a stand-in; `stage.py` is what stands around the function;
  `guards.py` answers what is asked of numbers, and lets a replay ask again;
- `reach.py` finds what the function can reach by itself, by the names that `reading.py` finds in its code; `whose.py`
  tells code of the user's from a library's, `held.py` what things hold;
  `same_objects.py` answers `is`; `limits.py` says what cannot be followed, with line and remedy;
- `tensors.py` writes ops on tensors down number by number, with `blocks.py`, `block_arrays.py`, `block_sums.py`; where
  these would be too many, `whole_tensors.py` and `whole_arrays.py` write them array by array, on an `ArrayTape`; what
  both do alike is in `providers.py`;
- `recorded.py` turns what was written into a `Tape` (`tape.py`), the traced function as flat arrays.
"""
