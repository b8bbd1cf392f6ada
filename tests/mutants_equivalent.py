"""What `make mutants` does not count: changes that no test could notice, each with the reason why."""

from __future__ import annotations

#: Mutants that behave exactly as the code does, so that no test could tell them apart: file, line, what it becomes,
#: and why that is the same. They are run all the same, and one that a test kills is pointed out.
EQUIVALENT = {
    (
        "src/gradwalk/ops.py",
        "if slope.__class__ is float or slope is CUT:",
        "if slope.__class__ is float and slope is CUT:",
    ): "the careful way gives the same, and takes longer",
    (
        "src/gradwalk/keepers.py",
        "takes = 0  # how often a keeper has taken its leaves; while it stays the same, nobody has taken any",
        "takes = 1  # how often a keeper has taken its leaves; while it stays the same, nobody has taken any",
    ): "only whether it changes is ever asked",
    (
        "src/gradwalk/keepers.py",
        "takes = 0  # how often a keeper has taken its leaves; while it stays the same, nobody has taken any",
        "takes = -1  # how often a keeper has taken its leaves; while it stays the same, nobody has taken any",
    ): "only whether it changes is ever asked",
    ("src/gradwalk/modes.py", "break", "continue"): "what is over is taken out at once, all of it",
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
        "lambda x, y, out: choose(equal(x, y), 0.5, choose(x < y, CUT, 1.0)),",
        "lambda x, y, out: choose(equal(x, y), 0.5, choose(x <= y, CUT, 1.0)),",
    ): "numbers that are equal are seen to before",
    (
        "src/gradwalk/ops.py",
        "lambda x, y, out: choose(equal(x, y), 0.5, choose(x > y, CUT, 1.0)),",
        "lambda x, y, out: choose(equal(x, y), 0.5, choose(x >= y, CUT, 1.0)),",
    ): "numbers that are equal are seen to before",
    (
        "src/gradwalk/eager.py",
        "if len(inputs) == 1:",
        "if len(inputs) == 0:",
    ): "only room is lost: the operand is kept as those of an op of three are",
    (
        "src/gradwalk/reverse.py",
        "deque(map(setattr, nodes, repeat(field), numbers), maxlen=0)",
        "deque(map(setattr, nodes, repeat(field), numbers), maxlen= 1)",
    ): "the numbers are set all the same; the last None that setattr gives is kept for a moment",
    (
        "src/gradwalk/node.py",
        'if modes.active or (keepers.keeping and not hasattr(self, "_data")):',
        'if modes.active or (keepers.keeping or not hasattr(self, "_data")):',
    ): "a leaf that nobody has is set the careful way, which does the same and takes longer",
    (
        "src/gradwalk/node.py",
        'if modes.active or (keepers.keeping and not hasattr(self, "_grad")):',
        'if modes.active or (keepers.keeping or not hasattr(self, "_grad")):',
    ): "a leaf that nobody has is set the careful way, which does the same and takes longer",
    (
        "src/gradwalk/tensor/files.py",
        'length = struct.unpack("<H" if content[6] == 1 else "<I", content[8:start])[0]',
        'length = struct.unpack("<H" if content[6] == 1 else "<I", content[8:start])[ -1]',
    ): "there is one number, the first and the last",
    (
        "src/gradwalk/tensor/explained.py",
        "rest = math.fsum(x for x in row if not isinstance(x, Value)) if len(values) < len(row) else 0.0",
        "rest = math.fsum(x for x in row if not isinstance(x, Value)) if len(values) <= len(row) else 0.0",
    ): "the sum of no numbers is 0",
    (
        "src/gradwalk/tensor/methods.py",
        "return ops.where(self > 0, self, alpha * ops.expm1(ops.where(self > 0, 0.0, self)))",
        "return ops.where(self > 0, self, alpha * ops.expm1(ops.where(self > 0, -1.0, self)))",
    ): "what stands in for a positive number is not taken",
    (
        "src/gradwalk/tensor/methods.py",
        "return ops.where(there, ops.where(there, total, 1.0) ** (1.0 / p), 0.0)",
        "return ops.where(there, ops.where(there, total, 2.0) ** (1.0 / p), 0.0)",
    ): "what stands in for 0 is not taken",
    (
        "src/gradwalk/tensor/methods.py",
        "return ops.where(positive, ops.sqrt(ops.where(positive, squares, 1.0)), 0.0)",
        "return ops.where(positive, ops.sqrt(ops.where(positive, squares, 2.0)), 0.0)",
    ): "what stands in for 0 is not taken",
    (
        "src/gradwalk/tensor/numpy_arrays.py",
        "if a.size == 1 and a.ndim <= len(shape):  # what `broadcast_to` takes three times as long for",
        "if a.size == 0 and a.ndim <= len(shape):  # what `broadcast_to` takes three times as long for",
    ): "NumPy's own way gives the same, and takes longer",
    (
        "src/gradwalk/tensor/python_arrays.py",
        "for i in range(matrix * m * k, (matrix + 1) * m * k, k or 1)[:m] or [0] * m",
        "for i in range(matrix * m * k, (matrix + 1) * m * k, k or 1)[:m] or [ 1] * m",
    ): "rows of no numbers begin anywhere",
    (
        "src/gradwalk/tensor/backward.py",
        "if modes.active and modes.top() is not modes.bottom:",
        "if modes.active or modes.top() is not modes.bottom:",
    ): "the walk that is not quick gives the same",
    ("src/gradwalk/tensor/backward.py", "time = 0", "time = 1"): "times are only compared with each other",
    (
        "src/gradwalk/tensor/backward.py",
        "if len(inputs) == 1:",
        "if len(inputs) == 0:",
    ): "the comprehension below gives the same, and takes longer",
    (
        "src/gradwalk/tensor/backward.py",
        "elif len(numbers) == 2:  # nor for these",
        "elif len(numbers) == 1:  # nor for these",
    ): "the call below gives the same, and takes longer",
    **{
        ("src/gradwalk/tensor/backward.py", line, line.replace("[0]", "[ -1]", 1)): "it has one operand"
        for line in ("numbers: Any = (inputs[0]._data,)", "part = ways[0](g, numbers[0], out)")
    },
    **{
        ("src/gradwalk/tensor/entries.py", line, line.replace("[0]", "[ -1]")): "it has one operand"
        for line in (
            "return Reshape(inputs[0].shape)(g)",
            "sizes = zip(self.widths, inputs[0].shape, strict=True)",
            "return Scatter(inputs[0].shape, self.basic, self.wholes)(g)",
            "shape = inputs[0].shape",
        )
    },
    **{
        (
            "src/gradwalk/tensor/kernels.py",
            "if on_one and len(lines) > 1:",
            f"if on_one and len(lines) {other}:",
        ): "either way gives the same bits, in more time or less"
        for other in (">= 1", "<= 1", "> 2", "> 0")
    },
    (
        "src/gradwalk/tensor/kernels.py",
        "if on_one is not None and (op, position) in SHORTCUTS:",
        "if on_one is None and (op, position) in SHORTCUTS:",
    ): "the way without the shortcut gives the same bits, and takes longer",
    (
        "src/gradwalk/tensor/python_arrays.py",
        "dtype = parts[0].dtype",
        "dtype = parts[ -1].dtype",
    ): "the parts of a product have one dtype by then",
    (
        "src/gradwalk/tensor/numpy_arrays.py",
        "if total != total and np.isnan(a).any():",
        "if total != total or np.isnan(a).any():",
    ): "a sum of squares is nan exactly if one of the numbers is; to look at each takes longer",
    (
        "src/gradwalk/tensor/python_arrays.py",
        "front = parts[0].shape[:axis]",
        "front = parts[ -1].shape[:axis]",
    ): "parts that are joined have the same axes in front",
    (
        "src/gradwalk/tensor/python_arrays.py",
        "if x > found or x != x:",
        "if x >= found or x != x:",
    ): "of two equal numbers either is the largest",
    (
        "src/gradwalk/tensor/scalars.py",
        "if self._last[0] is not g:",
        "if self._last[ -1] is not g:",
    ): "the numbers are read out again each time, which takes longer",
    (
        "src/gradwalk/tensor/shapes.py",
        "ndim = max(map(len, shapes), default=0)",
        "ndim = max(map(len, shapes), default= -1)",
    ): "a list times -1 is as empty as one times 0",
    (
        "src/gradwalk/check/nodes.py",
        "nudged = (replaced(point, i, point[i] + nudge) for i in flowing)",
        "nudged = (replaced(point, i, point[i] - nudge) for i in flowing)",
    ): "a nudge either way leads away from the kink",
    (
        "src/gradwalk/check/against_torch.py",
        "graph = CheckedGraph(root, fresh=True)",
        "graph = CheckedGraph(root, fresh=False)",
    ): "the leaves are new Values and hold 0, to which they would be set",
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
