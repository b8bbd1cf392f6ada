"""From a `Program` to machine code, through Numba.

- `language.py` says how steps of `gradwalk.formulas` are written, `codegen.py` and `lane_codegen.py` make kernels;
- `*kernels.py`, `products.py`, `vmath*.py` are kernels written by hand; `objects.py` keeps them;
- `runtime.py` and `lanes.py` bind a program to memory and run it; `flat.py` runs what has no structure.
"""
