"""The bug museum: small engines with one thing wrong, each with what there is to know about it.

Each specimen is an edit of the teaching engine, or a program that uses the engine wrongly. Their numbers are those of
the list of bugs found in public engines that they go back to; 18 stands for those that were found on the way.

- `specimen`: what an exhibit is
- `gradients`, `walks`, `derivatives`, `state`: exhibits in the engine; `usage`: in the program that uses it
- `faults`: the same mistakes in one op at a time, and several at once
- `mutants`: slips of the pen in engines of every style
"""

from __future__ import annotations

from gradwalk.diagnose.museum.derivatives import DERIVATIVES
from gradwalk.diagnose.museum.gradients import GRADIENTS
from gradwalk.diagnose.museum.specimen import Specimen
from gradwalk.diagnose.museum.state import STATE
from gradwalk.diagnose.museum.usage import USAGE
from gradwalk.diagnose.museum.walks import WALKS
from gradwalk.errors import SettingError

__all__ = ["SPECIMENS", "Specimen", "find"]

#: Every exhibit, by number.
SPECIMENS: tuple[Specimen, ...] = tuple(
    sorted((*GRADIENTS, *WALKS, *DERIVATIVES, *STATE, *USAGE), key=lambda specimen: specimen.number)
)
_BY_NAME = {specimen.name: specimen for specimen in SPECIMENS}


def find(name: str) -> Specimen:
    """The exhibit of this name.

    >>> from gradwalk.diagnose import museum
    >>> museum.find("preorder").title
    'Preorder taken for a topological order'
    >>> museum.find("overwrite")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: there is no specimen 'overwrite'; did you mean 'overwriting'?
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    from difflib import get_close_matches

    near = get_close_matches(name, _BY_NAME, 1)
    remedy = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_BY_NAME)}"
    raise SettingError(f"there is no specimen {name!r}; {remedy}")
