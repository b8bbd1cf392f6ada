"""Calls from the page's script: JSON in, JSON out; prints in pieces and capped; errors as data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gradwalk.learn.page.bridge import MOST_PRINTED, call
from gradwalk.messages import crossing, verbatim


def calling(function: str, **arguments: Any) -> tuple[dict[str, Any], list[str]]:
    pieces: list[str] = []
    return json.loads(call(function, json.dumps(arguments), pieces.append)), pieces


def test_a_result_comes_back() -> None:
    answer, _ = calling("export.page_modules")
    assert answer["error"]["kind"] == "TypeError"  # paths are no JSON: told, not raised
    assert calling("training.sizes", hidden=[8])[0] == {"result": [8], "error": None, "more": None}
    answer, _ = calling("sandbox.LearnerError.__init__")
    assert answer["error"]["kind"] == "LookupError"


@pytest.mark.parametrize(
    "name", ["nothing.here", "sandbox.sys", "sandbox._place", "os.getcwd", "", "sandbox", "..engine.Value"]
)
def test_only_what_a_module_of_the_page_offers_can_be_called(name: str) -> None:
    answer, _ = calling(name)
    assert answer["error"]["kind"] == "LookupError"
    assert answer["error"]["message"] == crossing(verbatim(f"the page has no function {name}"))


def test_a_learners_error_comes_with_its_line() -> None:
    answer, _ = calling("sandbox.execute", source="a = 1\nb = c", name="your program")
    assert answer["error"] == {
        "kind": "NameError",
        "message": crossing(verbatim("name 'c' is not defined")),
        "line": 2,
        "where": "your program",
    }


def test_prints_come_in_order_and_to_the_last() -> None:
    _, pieces = calling(
        "sandbox.execute", source="for i in range(100): print(i)\nimport sys\nprint('!', file=sys.stderr)"
    )
    assert "".join(pieces) == "".join(f"{i}\n" for i in range(100)) + "!\n"


def test_a_megabyte_of_prints_is_cut() -> None:
    answer, pieces = calling("sandbox.execute", source="for i in range(50_000): print('x' * 20)")
    text = "".join(pieces)
    assert text[:MOST_PRINTED] == ("x" * 20 + "\n") * (MOST_PRINTED // 21) + "x" * (MOST_PRINTED % 21)
    assert text[MOST_PRINTED:] == ""
    assert answer["more"] == {
        "id": "\n… and {count} more characters, which are not shown\n",
        "parameters": {"count": f"{50_000 * 21 - MOST_PRINTED:,}"},
    }
    assert len(pieces) < 50


def test_what_was_printed_before_an_error_is_shown() -> None:
    answer, pieces = calling("sandbox.execute", source="print('so far')\n1/0")
    assert answer["error"]["kind"] == "ZeroDivisionError"
    assert "".join(pieces) == "so far\n"


def test_wrong_arguments_are_told() -> None:
    assert calling("sandbox.execute", text="")[0]["error"]["kind"] == "TypeError"
