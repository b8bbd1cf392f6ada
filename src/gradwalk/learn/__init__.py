"""The course in the browser: `gradwalk learn` serves it, `gradwalk learn --export DIR` writes it for any web host."""

__all__: list[str] = []
