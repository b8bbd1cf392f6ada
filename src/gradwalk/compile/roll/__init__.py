"""From a tape to a `Program`, which is data: sums collapsed, levels found, equal shapes grouped into a few large steps.

    tape → dataflow → macro-rows, in groups → builder → program

- `rolling.py` is the whole of it, for single samples and for batches;
- `repeats.py` lets what is written twice be computed once; `chains.py` writes long chains of sums and differences as
  sums; `loops.py` finds the loops in what cannot be rolled up;
- `dataflow.py` reads a tape as lists of operands; `analyze.py` levels and groups it, `sums.py` rolls up its sums;
  `passes.py` are the loops that both need, `layout.py` names the columns of what they make;
- `builder.py` gives out memory and collects steps (`steps.py`); `program.py` is the outcome.

Nothing here knows a backend. The passes are plain Python; whoever asks may pass a faster way to run them.
"""
