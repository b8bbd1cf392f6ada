"""What holds for all tests."""

from hypothesis import settings

# A busy machine is no failure: how long an example takes is a matter for benchmarks.
settings.register_profile("gradwalk", deadline=None)
if settings.get_current_profile_name() == "default":  # `make mutants` has a profile of its own
    settings.load_profile("gradwalk")
