"""The native backend: from a `Program` to machine code, through Numba; loops through LLVM's own language.

    program → lowering: kernels and descriptors → single or batch: memory and addresses → calls

- `backend.py` is what the front sees; `lowering.py` chooses a kernel for each step and writes the words it reads;
- `single.py` and `batch.py` bind them to memory and run them; `flat.py` does so for what has no structure, and
  `loops.py` for the loops in it;
- `array_products.py` multiplies NumPy's matrices, for what is replayed array by array;
- `language.py` says how steps of `gradwalk.formulas` are written, `codegen.py` makes kernels of them;
- `*kernels.py`, `drive.py`, `lane_drive.py`, `products.py`, `vmath*.py` are kernels written by hand, over `layout.py`;
- `objects.py` compiles, keeps and loads them; `passes.py` runs the passes of the analysis natively.
"""
