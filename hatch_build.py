"""Puts the built course into the wheel and the sdist: builds it first, if it is missing or older than its sources.

An editable install gets none (`make site` builds it). A wheel made from an sdist finds the site in it: no Node.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent / "web"))
import build_site

#: With GRADWALK_SITE=skip nothing is built: for an editable install, which is known too late to spare fetching Node.
SKIPPED = os.environ.get("GRADWALK_SITE") == "skip"


class SiteHook(BuildHookInterface[Any]):
    """The build hook named `custom` in pyproject.toml."""

    def dependencies(self) -> list[str]:
        """Node from PyPI, only where the site must be built and no Node is installed."""
        return [] if SKIPPED or build_site.is_fresh() or build_site.find_node() else [build_site.NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the site, and name it for the archive, which leaves out what git ignores."""
        if SKIPPED or version == "editable":
            return
        if not build_site.is_fresh():
            try:
                build_site.build()
            except build_site.CannotBuild as error:
                sys.exit(str(error))
        missing = build_site.without_licence()
        if missing:
            sys.exit(f"this must not be given away without the text of its licence: {', '.join(missing)}")
        build_data["artifacts"] += ["src/gradwalk/learn/site/**", "src/gradwalk/notebook/built/**"]
