"""What `make mutants` does not count: changes that no test could notice, each with the reason why."""

from __future__ import annotations

#: Mutants that behave exactly as the code does, so that no test could tell them apart: file, line, what it becomes,
#: and why that is the same. They are run all the same, and one that a test kills is pointed out.
EQUIVALENT = {
    ("src/gradwalk/ops.py", "if x >= 0.0:", "if x > 0.0:"): "both branches of the sigmoid give 0.5 at 0",
    ("src/gradwalk/ops.py", "if x >= 0.0:", "if x >= 1.0:"): "near 0 either formula of the sigmoid is as good",
    ("src/gradwalk/ops.py", "if x >= 0.0:", "if x >= -1.0:"): "near 0 either formula of the sigmoid is as good",
    (
        "src/gradwalk/ops.py",
        "return (x if x > 0.0 else 0.0) + math.log1p(math.exp(-math.fabs(x))) if x == x else nan",
        "return (x if x >= 0.0 else 0.0) + math.log1p(math.exp(-math.fabs(x))) if x == x else nan",
    ): "either branch gives a zero at 0, and a positive number is added to it",
    (
        "src/gradwalk/ieee.py",
        "return nan if x == 0.0 or x != x else math.copysign(inf, x) * math.copysign(1.0, y)",
        "return nan if x == 0.0 or x != x else math.copysign(inf, x) * math.copysign( 2.0, y)",
    ): "infinity times 2 is infinity",
    (
        "src/gradwalk/ieee.py",
        "return nan if x == 0.0 or x != x else math.copysign(inf, x) * math.copysign(1.0, y)",
        "return nan if x == 0.0 or x != x else math.copysign(inf, x) / math.copysign(1.0, y)",
    ): "to multiply by 1 or -1 is to divide by it",
    (
        "src/gradwalk/ieee.py",
        "return -inf if x < 0.0 and y % 2.0 == 1.0 else inf",
        "return -inf if x <= 0.0 and y % 2.0 == 1.0 else inf",
    ): "no power of 0 overflows",
    (
        "src/gradwalk/ops.py",
        "(lambda x, slope, out: choose(x > 0.0, 1.0, slope), lambda x, slope, out: choose(x > 0.0, 0.0, x)),",
        "(lambda x, slope, out: choose(x > 0.0, 1.0, slope), lambda x, slope, out: choose(x >= 0.0, 0.0, x)),",
    ): "at 0 either branch gives a zero",
    (
        "src/gradwalk/eager.py",
        "if len(inputs) == 1:",
        "if len(inputs) == 0:",
    ): "only room is lost: the operand is kept as those of an op of three are",
    (
        "src/gradwalk/check/nodes.py",
        "nudged = (replaced(point, i, point[i] + nudge) for i in flowing)",
        "nudged = (replaced(point, i, point[i] - nudge) for i in flowing)",
    ): "a nudge either way leads away from the kink",
    (
        "src/gradwalk/check/against_torch.py",
        "graph = Graph(root, fresh=True)",
        "graph = Graph(root, fresh=False)",
    ): "the leaves are new Values and hold 0, to which they would be set",
    (
        "src/gradwalk/check/suspects.py",
        "if times >= 1.5 and math.isclose(times, round(times), rel_tol=1e-9):",
        "if times > 1.5 and math.isclose(times, round(times), rel_tol=1e-9):",
    ): "only whole numbers pass what follows",
    (
        "src/gradwalk/check/suspects.py",
        "if times >= 1.5 and math.isclose(times, round(times), rel_tol=1e-9):",
        "if times >= 0.5 and math.isclose(times, round(times), rel_tol=1e-9):",
    ): "the only whole number between is 1, and a gradient that is 1 times what it should be is not told here",
    (
        "src/gradwalk/walk/order_verdict.py",
        "return all(turns[x] < turn for place, turn in turns.items() for x in self.graph.consumers[place])",
        "return all(turns[x] <= turn for place, turn in turns.items() for x in self.graph.consumers[place])",
    ): "no two nodes have the same turn, and none uses itself",
    (
        "src/gradwalk/walk/recording.py",
        "return json.dumps(whole, ensure_ascii=False, allow_nan=False)",
        "return json.dumps(whole, ensure_ascii=False, allow_nan=True)",
    ): "a guard: nan and inf have become texts before",
    (
        "src/gradwalk/walk/contributions.py",
        "strength, came_from = {start: 1.0}, {start: start}",
        "strength, came_from = {start: 2.0}, {start: start}",
    ): "strengths are only compared with each other, and all are twice as large",
    (
        "src/gradwalk/walk/formatting.py",
        "elif 0.001 <= abs(x) < 1e6:",
        "elif 0.001 <= abs(x) <= 1e6:",
    ): "a million itself is whole, and whole numbers are written out before this line",
}
