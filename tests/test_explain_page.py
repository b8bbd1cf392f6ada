"""The walk as a file: what is in it, how large it is, what it refuses. A browser opens it in tests/web."""

from __future__ import annotations

import base64
import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

import gradwalk
from gradwalk import Value, bundles, walk
from gradwalk.errors import GraphError, SettingError
from gradwalk.explain import Explanation
from gradwalk.explain.page import LARGEST
from gradwalk.explain.views import MOST_NODES
from gradwalk.presets import PRESETS

HOSTILE = [
    "</script><script>document.title='stolen'</script>",
    "</ScRiPt ><img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]>&lt;b&gt;\u2028\u2029\x00",
    "'\"`${alert(1)}\\",
    "</style><svg onload=alert(1)>",
    "\ud800half",
]


class Parts(HTMLParser):
    """The elements of a page, with their attributes and the text of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        if self.tags:
            self.texts.append((self.tags[-1][0], data))

    def text_of(self, tag: str) -> list[str]:
        return [text for of, text in self.texts if of == tag and text.strip()]


def saved(root: Value, folder: Path, **options: object) -> str:
    path = gradwalk.explain(root).save(folder / "walk.html", **options)  # type: ignore[arg-type]
    assert path == folder / "walk.html"
    return path.read_bytes().decode()


def data_of(page: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(Parts(page).text_of("script")[0])
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_fits_and_is_whole(name: str, tmp_path: Path) -> None:
    root = PRESETS[name].build().root
    page = saved(root, tmp_path)
    assert len(page.encode()) < 145_000
    data = data_of(page)
    recording = data["recording"]
    assert isinstance(recording, dict)
    assert len(recording["events"]) == len(walk.record(root).events)
    assert not [tag for tag, found in Parts(page).tags if {"src", "href", "srcset", "data"} & set(found)]


def test_the_largest_graph_that_is_shown_fits(tmp_path: Path) -> None:
    """A hundred nodes with long labels, each used twice by the next: more events than any other graph of that size."""
    value = Value(1.001, label="x" * 60)
    for i in range(MOST_NODES - 1):
        value = value * value if i % 9 == 0 else value * value.detach().data + value
        value.label = f"node number {i} with a long label, so long that it must be cut somewhere"
        if sum(1 for node in walk.graph_of(value).nodes if not node.constant) >= MOST_NODES - 1:
            break
    page = saved(value, tmp_path)
    assert 150_000 < len(page.encode()) <= LARGEST == 300_000


@pytest.mark.parametrize("label", HOSTILE)
def test_no_label_gets_out_of_its_place(label: str, tmp_path: Path) -> None:
    honest = Parts(saved(Value(2.0, label="a") * 3, tmp_path))
    a = Value(2.0, label=label)
    root = a * 3
    root.label = label
    page = saved(root, tmp_path, title=label)
    found = Parts(page)
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in honest.tags]
    assert found.text_of("script")[1] == honest.text_of("script")[1]
    recording = data_of(page)["recording"]
    assert isinstance(recording, dict)
    assert recording["graph"]["nodes"][0]["label"] == label.encode("utf-8", "replace").decode()


def test_the_policy_names_the_script_and_the_styles_and_nothing_else(tmp_path: Path) -> None:
    page = Parts(saved(PRESETS["diamond"].build().root, tmp_path))
    policy = next(found["content"] for tag, found in page.tags if found.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules == {
        "default-src": "'none'",
        "script-src": digest(page.text_of("script")[1]),
        "style-src": digest(page.text_of("style")[0]),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not [found for _, found in page.tags if "style" in found or any(name.startswith("on") for name in found)]


def test_title_step_and_theme(tmp_path: Path) -> None:
    root = PRESETS["diamond"].build().root
    page = saved(root, tmp_path, title="The <diamond>", step=11, theme="dark")
    assert Parts(page).text_of("title") == ["The <diamond>"]
    assert data_of(page)["step"] == 11
    assert dict(Parts(page).tags)["html"]["data-theme"] == "dark"
    plain = saved(root, tmp_path)
    assert Parts(plain).text_of("h1") == ["The walk of d"]
    assert "data-theme" not in dict(Parts(plain).tags)["html"]
    with pytest.raises(SettingError, match="the walk has 11 steps: it can begin at 0 to 11, not at 12"):
        saved(root, tmp_path, step=12)
    with pytest.raises(SettingError, match="'auto', 'light' or 'dark', not 'sepia'"):
        saved(root, tmp_path, theme="sepia")


def test_the_explanation_stands_below_and_is_cut_where_it_is_long(tmp_path: Path) -> None:
    assert "through b 6 + through c 9 = 15" in saved(PRESETS["diamond"].build().root, tmp_path)
    a = Value(1.1, label="a")
    value = a
    for _ in range(6):
        value = value + value
    assert "more lines: print(gradwalk.explain(root))" in saved(value, tmp_path)


def test_the_recording_and_the_text_can_be_saved_too(tmp_path: Path) -> None:
    told = gradwalk.explain(PRESETS["diamond"].build().root)
    text = told.save(tmp_path / "walk.json").read_text(encoding="utf-8")
    assert walk.Recording.from_json(text).to_json() == text
    assert told.save(str(tmp_path / "why.TXT")).read_text(encoding="utf-8") == f"{told}\n"


def test_what_cannot_be_saved_is_said_with_the_remedy(tmp_path: Path) -> None:
    told = gradwalk.explain(PRESETS["diamond"].build().root)
    with pytest.raises(SettingError, match=r"a walk can be html, json or txt, not 'pdf'; for a PDF save the \.html"):
        told.save(tmp_path / "walk.pdf")
    with pytest.raises(SettingError, match="saved by its ending"):
        told.save(tmp_path / "walk")
    with pytest.raises(SettingError, match="make it first"):
        told.save(tmp_path / "none" / "walk.html")
    with pytest.raises(GraphError, match="made without a graph"):
        Explanation(told.leaves).save(tmp_path / "walk.html")
    value = Value(0.5)
    for _ in range(MOST_NODES):
        value = value.tanh()
    with pytest.raises(GraphError, match=r"the graph has 101 nodes, and a saved walk shows up to 100; take a part"):
        gradwalk.explain(value).save(tmp_path / "walk.html")
    assert list(tmp_path.iterdir()) == []


def test_a_save_that_fails_leaves_the_file_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = PRESETS["diamond"].build().root
    before = saved(root, tmp_path)
    bundles.bundle.cache_clear()
    monkeypatch.setattr(bundles, "_PLACE", tmp_path / "nowhere")
    with pytest.raises(bundles.BundleError, match=r"page\.js is not built(.|\n)*make site"):
        saved(root, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["walk.html"]
    assert (tmp_path / "walk.html").read_bytes().decode() == before
    monkeypatch.undo()
    bundles.bundle.cache_clear()


def test_an_explanation_prints_and_compares_as_before() -> None:
    root = PRESETS["diamond"].build().root
    assert repr(gradwalk.explain(root)).startswith("a.grad = 15")
    assert root.explain().root is root
