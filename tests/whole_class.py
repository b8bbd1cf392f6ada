"""The class that is put together from a learner's texts, as the page writes it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from gradwalk.learn.page.exercises.splice import HEAD, PARTS, TAIL


def whole_class(texts: Mapping[str, str], lesson: int) -> str:
    """The class as a file: the parts that the course has come to, each as the learner left it.

    >>> file = whole_class({"exp": "def exp(self):\\n    ...", "relu": "def relu(self):\\n    ..."}, 7)
    >>> "    def exp(self):\\n        ..." in file, "relu" in file
    (True, False)
    """
    parts = (texts[name] for name, (_, since) in PARTS.items() if since <= lesson and name in texts)
    return HEAD + "".join("\n" + textwrap.indent(part.strip("\n") + "\n", "    ") for part in parts) + TAIL
