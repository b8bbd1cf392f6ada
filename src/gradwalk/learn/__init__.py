"""The course in the browser: `gradwalk learn` serves it, `gradwalk learn --export DIR` writes it for any web host.

- `page/`: the Python that runs inside the page; `page/export.py` writes what the site's build takes from it
- `relief`: the ornament of the pages, computed with the engine
- `built_site`: the site once it is built, found and copied; `server`: serves it, with `requests` and `answers`
"""

__all__: list[str] = []
