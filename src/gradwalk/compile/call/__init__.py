"""From a call to numbers, and back; `batch_*.py` does the same for batches of samples.

    arguments → key and numbers → the trace in the cache, bound to memory → results

- `arguments.py` takes arguments apart: their structure is a key, their numbers are written anew at each call;
  `familiar.py` knows at a glance what is like something of calls before;
- `cache.py` keeps a trace for each key;
- `watchlist.py` is what a trace relies on beside its arguments, `surroundings.py` looks at it before each replay, and
  `sameness.py` compares; `parts.py` is what is too large to be looked at before every call; `following.py` traces with
  an eye on what a function changes or draws (`chance.py`) or sets aside (`aside.py`), and compares function and trace
  now and then;
- `bound_trace.py` is a trace bound to memory: it runs forward and walks back; `guarded_trace.py` is one of a single
  path through the function, and `paths.py` has all of these for one key; `whole_trace.py` is one of whole arrays;
- `results.py` is what the caller gets.
"""
