"""A lock for `with` blocks that Ctrl-C cannot leave taken, whatever Python this is."""

from __future__ import annotations

import sys
from threading import RLock

__all__ = ["Turn"]

if sys.version_info < (3, 14):
    Turn = RLock
else:

    class Turn(type(RLock())):
        """A lock that its thread may take again.

        Since Python 3.14, Ctrl-C can be heard after `with` has taken a lock and before the block has begun, which then
        does not give it back. It is not heard between the end of a function in Python and what follows the call.

        >>> lock = Turn()
        >>> with lock:
        ...     lock._is_owned()
        True
        >>> lock._is_owned()
        False
        """

        def __enter__(self) -> bool:
            before = self._recursion_count()
            try:
                return self.acquire()
            except BaseException:
                if self._recursion_count() > before:
                    self.release()
                raise
