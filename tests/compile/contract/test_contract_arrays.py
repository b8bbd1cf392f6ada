"""Every contract of tensors once more, with functions that are written down array by array: as the large ones are."""

# mypy: allow-untyped-decorators
from __future__ import annotations

import pytest
import test_contract_tensors
from outside_cases import Case, outcome_of
from test_contract_tensors import test_one_line_each as one_line_each

from gradwalk.compile.trace import blocks

#: What mixes tensors with Values, or takes an array of NumPy's apart, is run as it is.
MIXED = (
    "nothing_of_tensors_but_the_result",
    "trained_with_descent",
    "trained_with_momentum",
    "trained_with_adam",
    "arguments_are_tensors_arrays_lists_and_numbers",
    "numbers_among_the_arguments_are_stacked",
    "a_value_is_a_parameter_and_an_argument",
    "tensors_and_values_together",
    "arrays_in_a_list_become_a_tensor",
)


@pytest.fixture(autouse=True)
def _by_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_ROWS", 0)


@test_contract_tensors.cases.test()
def test_by_array(case: Case) -> None:
    assert outcome_of(case) == ("followed, and said" if case.name in MIXED else case.outcome)


@pytest.mark.filterwarnings("ignore::gradwalk.compile.trace.limits.FrozenWarning")
@pytest.mark.filterwarnings("ignore::gradwalk.compile.trace.limits.ManyPathsWarning")
def test_one_line_each_by_array() -> None:
    one_line_each()
