"""Python that runs inside the course's page, under Pyodide: the standard library and gradwalk only."""

__all__: list[str] = []
