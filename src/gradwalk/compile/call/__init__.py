"""From a call to numbers, and back; `batch_*` does the same for batches of samples.

    arguments → key and numbers → the trace in the cache → replay → results

- `arguments.py` takes arguments apart: their structure is a key, their numbers are written anew at each call;
- `cache.py` keeps a replay for each key;
- `replay.py` is a trace bound to memory: it runs forward and walks back;
- `results.py` is what the caller gets.
"""
