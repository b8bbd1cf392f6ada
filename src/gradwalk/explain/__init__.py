"""The gradient of a leaf as a sum over paths: `print(gradwalk.explain(loss))`.

`help(gradwalk.explain.explain)` tells what it takes.

Every path from the root down to the leaf contributes the product of the slopes along it, and the gradient is the sum
of these products. The backward walk gets the same number without following a single path to its end, which is why it is
quick; a person sees best where a gradient comes from by looking at the paths, as long as there are few.

- `paths.py`: counting and finding the paths;
- `explanation.py`: what is found, and how it is put into words;
- `views.py`: a graph as the views take it: its recording, and where its cards stand;
- `page.py`: the walk as one HTML file that steps by itself, for `explain(root).save("walk.html")`.

All of it works on nodes by `gradwalk.walk`, so it lies below the engine, whose `Value.explain` calls it.
"""

from __future__ import annotations

import sys
from typing import Any

from gradwalk.callables import CallableModule
from gradwalk.explain.explanation import Explanation, LeafGradient, Path, Share
from gradwalk.explain.paths import explain

__all__ = ["Explanation", "LeafGradient", "Path", "Share", "explain"]


class _CallableModule(CallableModule):
    """`gradwalk.explain` is this module as soon as anyone imports from it, and must stay the function too."""

    def __call__(self, root: Any, leaf: Any = None, index: Any = None) -> Explanation:
        return explain(root, leaf, index)


sys.modules[__name__].__class__ = _CallableModule
