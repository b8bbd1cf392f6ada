"""What was seen of one model: the losses of all steps, and what full examinations of some of them showed.

Nothing here holds a node, so that graphs are freed as in any other run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gradwalk.doctor.cuts import Cut
from gradwalk.doctor.names import Names
from gradwalk.doctor.report import Finding
from gradwalk.doctor.scan import ReluCounts, SquashCounts
from gradwalk.doctor.zero_gradients import ZeroGradient
from gradwalk.provenance import Place


@dataclass
class Exam:
    """One graph, examined in full after its `backward()`.

    >>> Exam(step=1, loss=0.5, nodes=12).findings
    []
    """

    step: int
    loss: float
    nodes: int
    flows: dict[str, float] = field(default_factory=dict)  # gradient that arrives at each layer, nearest the data first
    relus: dict[str, ReluCounts] = field(default_factory=dict)
    squashes: dict[str, SquashCounts] = field(default_factory=dict)
    reached: set[int] = field(default_factory=set)
    outside: dict[str, bool] = field(default_factory=dict)  # layers, and whether all they read is leaves and constants
    even: set[str] = field(default_factory=set)  # tables of which every row that is read is read as often: layers
    zeros: list[ZeroGradient] | None = None  # None: not asked for
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class TriedUpdate:
    """An update tried on the same data: the loss before and after it, and the change that the gradient foretold.

    `better` is the largest share of the update that would have brought the loss down, and `then` the loss after that.

    >>> TriedUpdate(step=1, before=1.0, after=3.0, foretold=-0.5).overshot
    True
    """

    step: int
    before: float
    after: float
    foretold: float
    rate: float | None = None
    better: float | None = None
    then: float | None = None

    @property
    def overshot(self) -> bool:
        """Whether the loss rose where the gradient says that it must fall.

        >>> TriedUpdate(step=1, before=1.0, after=0.8, foretold=-0.5).overshot
        False
        """
        return self.foretold < 0.0 and not self.after <= self.before + 1e-9 * abs(self.before)


@dataclass
class ModelHistory:
    """All that was seen of one model and its loss.

    >>> ModelHistory(Names()).steps
    0
    """

    names: Names
    given: bool = True  # whether the parameters were given, or found in the program's variables
    site: Place | None = None  # where backward() is called
    stepped: Place | None = None  # where an optimiser's step() is called
    optimiser: str = ""
    losses: list[float] = field(default_factory=list)
    exams: list[Exam] = field(default_factory=list)
    trials: list[TriedUpdate] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    ever: set[int] = field(default_factory=set)  # ids of parameters that some gradient reached
    elsewhere: set[int] = field(default_factory=set)  # … and that the gradient of another loss of the run reached
    sometimes: set[int] = field(default_factory=set)  # … and did not reach in some other examined step
    looked: int = 0  # steps whose numbers were looked at: all, but for those of native code that were not examined
    moved: int = 0  # how often the parameters changed between two calls of backward()
    idle: int = 0  # how often they did not, although they had gradients
    emptied: int = 0  # how often an optimiser stepped on gradients that had been set to 0 after backward()
    piled: list[tuple[int, float]] = field(
        default_factory=list
    )  # step, and how many times too large the gradients were
    piled_up: set[int] = field(default_factory=set)  # ids of the parameters whose gradients were
    cleared: set[int] = field(default_factory=set)  # … and of those whose gradients were cleared in time
    stale: list[int] = field(default_factory=list)  # steps at which an old graph was walked again

    @property
    def steps(self) -> int:
        """How many times `backward()` was called."""
        return len(self.losses)
