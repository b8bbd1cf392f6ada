"""From a tape to a `Program`: sums collapsed, levels found, equal shapes grouped into products and element-wise runs.

- `graph.py` reads a tape as a graph; `analyze.py` levels and groups it, `sums.py` rolls up its sums, `passes.py` are
  the loops that both need;
- `program.py` is the outcome, step by step; `layout.py` names its columns.
"""
