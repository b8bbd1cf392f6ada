"""From a call to numbers, and back.

- `arguments.py` (and `batch_arguments.py`) takes arguments apart; `cache.py` finds the trace for their structure;
- `bound.py` (and `lane_bound.py` for batches) runs it; `results.py` is what the caller gets.
"""
