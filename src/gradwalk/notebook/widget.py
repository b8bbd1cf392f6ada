"""What the widgets share. Importing this needs anywidget."""

from __future__ import annotations

from typing import Any

from gradwalk.errors import MissingExtraError, SettingError

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise MissingExtraError.of("anywidget", extra="notebook", wanted_for="a widget in a notebook") from error

__all__ = ["TraitSettingError", "Widget", "traitlets", "within"]


class TraitSettingError(SettingError, traitlets.TraitError):
    """A trait of a widget is given what it cannot be; it keeps what it was.

    >>> w = gradwalk.walk_widget(gradwalk.Value(2.0) * 3)
    >>> w.step = 99
    Traceback (most recent call last):
    ...
    gradwalk.notebook.widget.TraitSettingError: the walk has 4 steps: w.step is 0 to 4, not 99
    """


class Widget(anywidget.AnyWidget):
    """A widget whose script is a built one.

    >>> issubclass(type(__import__("gradwalk").training_widget(hidden=[2])), Widget)
    True
    """

    _esm = traitlets.Unicode().tag(sync=True)


def within(value: Any, last: int, told: str) -> int:
    """A whole number from 0 to `last`, or an error that begins as told.

    >>> within(3, 5, "w.step")
    3
    """
    if type(value) is not int or not 0 <= value <= last:
        raise TraitSettingError(f"{told} is 0 to {last}, not {value!r:.60}")
    return value
