"""Events as data: what they hold when little is told, and when two are the same."""

from __future__ import annotations

from gradwalk.walk import Compute, Seed, Visit
from gradwalk.walk.events import StoredWords


def test_two_events_are_the_same_if_what_happened_is_whatever_words_they_have() -> None:
    spoken = Seed(3, 1.0, words=StoredWords({"sentence": "Begin."}))
    assert spoken == Seed(3, 1.0)
    assert spoken.sentence == "Begin."
    assert spoken != Seed(3, 2.0)
    assert spoken != Seed(2, 1.0)


def test_the_words_of_an_event_are_left_out_where_it_is_shown_as_code() -> None:
    assert repr(Seed(3, 1.0, words=StoredWords({"sentence": "Begin."}))) == "Seed(node=3, gradient=1.0)"


def test_an_event_of_which_only_the_least_is_told() -> None:
    visit = Visit(3, 1.0)
    assert (visit.waiting, visit.turn, visit.arrived) == ((), 1, None)
    assert Compute(3, 6.0, (0, 1), (2.0, 3.0)).recomputed is None
    assert (visit.sentence, visit.formula, visit.latex) == ("", "", "")
