"""What the site's build takes from Python, written as files: recordings, exercises, and the engine as a wheel.

    python -m gradwalk.learn.page.export FOLDER

Each module named in `MATERIAL` has a function `material()` that gives something JSON can hold; it is written to
FOLDER/<name>.json, with each sentence as an id and parameters. The wheel holds what the page runs: pure Python, less
the parts for terminals, files and drawings.
"""

from __future__ import annotations

import importlib
import io
import json
import sys
import zipfile
from pathlib import Path

import gradwalk
from gradwalk.drafts import replace
from gradwalk.messages import crossing

__all__ = ["MATERIAL", "WHEEL", "export", "page_modules", "write_wheel"]

#: What is exported, and the module that makes it.
MATERIAL = {
    "recordings": "gradwalk.learn.page.recordings",
    "exercises": "gradwalk.learn.page.exercises",
    "hunt": "gradwalk.learn.page.hunting",
    "relief": "gradwalk.learn.relief",
    "rolling": "gradwalk.learn.page.rolling",
    "folding": "gradwalk.learn.page.folding",
    "messages": "gradwalk.learn.page.sentences",
}
WHEEL = "engine.whl"
#: What the page has no use for: it needs a terminal, a compiler, files, or this module's own output.
LEFT_OUT = ("__main__.py", "cli", "compile", "diagnose/as_html.py", "drawing", "notebook", "plot", "stepper",
            "learn/site", "learn/server.py", "learn/requests.py", "learn/answers.py", "learn/built_site.py",
            "learn/relief.py", "learn/page/export.py", "learn/page/sentences.py",
            "learn/page/schema.py", "bundles.py", "files.py", "explain/page.py")  # fmt: skip
METADATA = "Metadata-Version: 2.1\nName: gradwalk\nVersion: {version}\n"


def export(folder: Path | str) -> None:
    """Write everything the build needs into a folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(folder)
    ...     "engine.whl" in {path.name for path in Path(folder).iterdir()}
    True
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, module in MATERIAL.items():
        material = crossing(importlib.import_module(module).material())
        text = json.dumps(material, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        replace(target / f"{name}.json", text.encode())
    write_wheel(target / WHEEL)


def page_modules() -> list[Path]:
    """The modules that the page gets, relative to the package.

    >>> Path("engine.py") in page_modules(), Path("cli/train.py") in page_modules()
    (True, False)
    """
    package = Path(gradwalk.__path__[0])
    found = sorted(path.relative_to(package) for path in package.rglob("*.py"))
    return [path for path in found if not any(path.is_relative_to(left_out) for left_out in LEFT_OUT)]


def write_wheel(path: Path | str) -> None:
    """Write the engine for the page as a wheel: the same bytes whenever the source is the same.

    >>> import tempfile, zipfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_wheel(f"{folder}/engine.whl")
    ...     "gradwalk/engine.py" in zipfile.ZipFile(f"{folder}/engine.whl").namelist()
    True
    """
    package = Path(gradwalk.__path__[0])
    files = {f"gradwalk/{module.as_posix()}": (package / module).read_bytes() for module in page_modules()}
    metadata = METADATA.format(version=gradwalk.__version__).encode()
    files[f"gradwalk-{gradwalk.__version__}.dist-info/METADATA"] = metadata
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, content, compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)
    replace(path, whole.getvalue())


if __name__ == "__main__":
    export(sys.argv[1])
