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
        "src/gradwalk/node.py",
        "grad = 0.0 if isinstance(self._grad, Node) else self._grad",
        "grad = 1.0 if isinstance(self._grad, Node) else self._grad",
    ): "a gradient that is a node is set after the fields",
    (
        "src/gradwalk/node.py",
        "grad = 0.0 if isinstance(self._grad, Node) else self._grad",
        "grad = -1.0 if isinstance(self._grad, Node) else self._grad",
    ): "a gradient that is a node is set after the fields",
    (
        "src/gradwalk/node.py",
        "self._da, self._db = slopes if len(slopes) == 2 else (slopes[0], None)",
        "self._da, self._db = slopes if len(slopes) == 2 else (slopes[ -1], None)",
    ): "there is one",
    (
        "src/gradwalk/reverse.py",
        "return [], [root], [], False",
        "return [], [root], [], True",
    ): "a leaf alone has nothing to be put back",
    (
        "src/gradwalk/reverse.py",
        "if modes.active and modes.top() is not modes.bottom:",
        "if modes.active or modes.top() is not modes.bottom:",
    ): "the careful walk gives the same, and takes longer",
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
        "src/gradwalk/tensor/methods/elementwise.py",
        "return ops.where(self <= 0, alpha * ops.expm1(ops.where(self <= 0, self, 0.0)), self)",
        "return ops.where(self <= 0, alpha * ops.expm1(ops.where(self <= 0, self, -1.0)), self)",
    ): "what stands in for a positive number is not taken",
    (
        "src/gradwalk/tensor/methods/reductions.py",
        "return ops.where(there, ops.where(there, total, 1.0) ** (1.0 / p), 0.0)",
        "return ops.where(there, ops.where(there, total, 2.0) ** (1.0 / p), 0.0)",
    ): "what stands in for 0 is not taken",
    (
        "src/gradwalk/tensor/methods/reductions.py",
        "return ops.where(positive, ops.sqrt(ops.where(positive, squares, 1.0)), 0.0)",
        "return ops.where(positive, ops.sqrt(ops.where(positive, squares, 2.0)), 0.0)",
    ): "what stands in for 0 is not taken",
    (
        "src/gradwalk/tensor/numpy_arrays.py",
        "if a.size == 1 and a.ndim <= len(shape):  # what `broadcast_to` takes three times as long for",
        "if a.size == 0 and a.ndim <= len(shape):  # what `broadcast_to` takes three times as long for",
    ): "NumPy's own way gives the same, and takes longer",
    **{
        ("src/gradwalk/tensor/python_arrays.py", line, line.replace(*change)): "rows of no numbers begin anywhere"
        for line in (
            "for i in range(matrix * m * k, (matrix + 1) * m * k, k or 1)[:m] or [0] * m",
            "for j in range(matrix * n * k, (matrix + 1) * n * k, k or 1)[:n] or [0] * n",
        )
        for change in (("k or 1", "k or 2"), ("[0]", "[ 1]"), ("[0]", "[ -1]"))
    },
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
        "elif len(inputs) == 2:  # a comprehension would take as long as a small op",
        "elif len(inputs) == 1:  # a comprehension would take as long as a small op",
    ): "the comprehension below gives the same, and takes longer",
    (
        "src/gradwalk/tensor/backward.py",
        "elif len(inputs) == 3:",
        "elif len(inputs) == 4:",
    ): "the comprehension below gives the same, and takes longer",
    **{
        ("src/gradwalk/tensor/numpy_arrays.py", "_MANY = 2048", f"_MANY = {other}"): "either way gives the same bits"
        for other in (2047, 2049)
    },
    (
        "src/gradwalk/tensor/backward.py",
        "if not alone and part.shape != data.shape:",
        "if not alone or part.shape != data.shape:",
    ): "what has the shape already is given back as it is",
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
        "src/gradwalk/tensor/entries.py",
        "fits = self.keep or g.size == 1",
        "fits = self.keep and g.size == 1",
    ): "a shape that it has already, or that of one number, changes nothing",
    (
        "src/gradwalk/tensor/entries.py",
        "fits = self.keep or g.size == 1",
        "fits = self.keep or g.size == 0",
    ): "a shape that it has already, or that of one number, changes nothing",
    **{
        (
            "src/gradwalk/tensor/functions.py",
            "gap = (end - start) / (count - 1) if count > 1 else 0.0",
            f"gap = (end - start) / (count - 1) if count > 1 else {other}",
        ): "of a single number 0 times the gap is taken"
        for other in ("1.0", "-1.0")
    },
    **{
        ("src/gradwalk/tensor/methods/reductions.py", line, line.replace("= True)", "= False)")): "it is so in any case"
        for line in (
            "def argsort(self, dim: int = -1, descending: bool = False, stable: bool = True) -> Tensor:",
            "def sort(self, dim: int = -1, descending: bool = False, stable: bool = True) -> Extremes:",
            "def topk(self, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Extremes:",
        )
    },
    ("src/gradwalk/tensor/methods/reductions.py", "@cache", ""): "it is made anew each time, which takes longer",
    (
        "src/gradwalk/tensor/methods/shaping.py",
        "sizes = [min(step, n - start) for start in range(0, max(n, 1), step)]",
        "sizes = [min(step, n + start) for start in range(0, max(n, 1), step)]",
    ): "only the last part could be longer, and a slice ends where the dim does",
    (
        "src/gradwalk/tensor/jacobians.py",
        "if seed is not None and arrays.now.have_nan([x.array for x in found]):",
        "if seed is not None or arrays.now.have_nan([x.array for x in found]):",
    ): "where nothing is nan the second walk gives what the first did",
    **{
        ("src/gradwalk/tensor/numpy_arrays.py", line, line.replace(*change)): "the other way is the same, and slower"
        for line, change in {
            'self.run = context.run if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else _with_settings': (">=", "<"),
            'operands = f.nin if hasattr(f, "nin") else f.__code__.co_argcount if hasattr(f, "__code__") else 0': (
                "else 0",
                "else -1",
            ),
            "return of_one if operands == 1 else of_two if operands == 2 else function": ("== 2", "== 1"),
            "_ROWS = (0,)": ("(0,)", "( -1,)"),
        }.items()
    },
    **{
        ("src/gradwalk/tensor/numpy_arrays.py", line, line.replace("number < 0.0", "number <= 0.0")): "they meet at 0"
        for line in (
            "if number < 0.0:",
            "return np.log1p(np.exp(x)) if number < 0.0 else x + np.log1p(np.exp(-x))",
        )
    },
    (
        "src/gradwalk/tensor/python_arrays.py",
        "out += sorted(range(n), key=lambda i: ((row[i] != row[i]) * sign, row[i] * sign if row[i] == row[i] else 0))",
        "out += sorted(range(n), key=lambda i: ((row[i] != row[i]) / sign, row[i] * sign if row[i] == row[i] else 0))",
    ): "to multiply by 1 or -1 is to divide by it",
    **{
        (
            "src/gradwalk/tensor/methods/reductions.py",
            "peak = ops.where(peak - peak == 0, peak, 0.0)  # inf - inf would be nan, and the answer is inf",
            f"peak = ops.where(peak - peak == 0, peak, {other})  # inf - inf would be nan, and the answer is inf",
        ): "what is infinite stays so, whatever is taken from it first"
        for other in ("1.0", "-1.0")
    },
    **{
        (
            "src/gradwalk/tensor/python_arrays.py",
            "strides.append(0)",
            f"strides.append({other})",
        ): "nobody goes a step along an axis of size 1"
        for other in (" 1", " -1")
    },
    **{
        ("src/gradwalk/tensor/reach.py", line, line.replace(", 1.0,", ", 2.0,")): "only whether it is 0 is asked"
        for line in (
            'g = arrays.now.full(v.shape, 1.0, "float64") if mask is None else arrays.now.cast(mask, "float64")',
            'inputs = [y if isinstance(y, float) else arrays.now.full(y.shape, 1.0, "float64") for y in inputs]',
            "ones = arrays.now.full(v.shape, 1.0, v.dtype)",
        )
    },
    **{
        ("src/gradwalk/tensor/numpy_arrays.py", line, line.replace(*change)): "NumPy's own way gives the same bits"
        for line, change in {
            "if a.size == 1 and a.ndim <= len(shape):  # what `broadcast_to` takes three times as long for": (
                "<=",
                "<",
            ),
            "if axes == _ROWS and a.ndim == 2 and not keep and a.shape[1] > 1 and a.dtype in _FLOATS and "
            "a.flags.c_contiguous:": ("> 1", "> 2"),
            "if a.ndim == b.ndim == 2 and len(a) * b.shape[1] > 1 and a.flags.forc and b.flags.forc:": ("> 1", "> 2"),
        }.items()
    },
    (
        "src/gradwalk/tensor/python_arrays.py",
        "for start in range(0, len(numbers), n or 1):",
        "for start in range(0, len(numbers), n or 2):",
    ): "there is nothing to go through",
    ("src/gradwalk/tensor/python_arrays.py", "break", "continue"): "a nan stays; to look at the others takes longer",
    **{
        (f"src/gradwalk/tensor/{file}.py", line, "[ -1]".join(["[0]".join(parts[:i]), "[0]".join(parts[i:])])): why
        for why, lines in {
            "there is one, the first and the last": (
                ("backward", "part = ways[0](g, numbers[0], out)"),
                (
                    "entries",
                    'x, most = (getattr(v, "array", v) for v in (inputs[0], out))  # which are the largest is no '
                    "matter of slopes",
                ),
                ("explained", "return explaining(top, value).leaves[0]"),
                ("explained", "return LeafGradient(graph, graph.nodes[0], 0.0, 0, (), ())"),
                ("explained", "top = done[root][0]"),
                ("explained", "return found[0]"),
                (
                    "functions",
                    "given = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else "
                    "operands",
                ),
                ("convolutions", "return x[(slice(None),) * front + (places[0],)]"),
                ("methods/basics", "found = found[0]"),
                ("methods/picking", "n = self.shape[0]"),
                ("methods/reductions", 'at = getattr(self, f"arg{name}")(axes[0] if axes else 0, True)'),
                ("methods/reductions", "values = self._gathered(axes[0] if axes else 0, at)"),
                (
                    "methods/reductions",
                    "return Extremes(values, at) if keep or not axes else "
                    "Extremes(values.squeeze(axes[0]), at.squeeze(axes[0]))",
                ),
                ("python_arrays", "return found.numbers()[0] if not found.shape else found"),
                ("python_arrays", 'return array.array("f", [x])[0]'),
                ("python_arrays", "return rows if a.shape else rows[0]"),
                ("random", "return Tensor(out[0] if weights.ndim == 1 else out, dtype=INT64)"),
                ("scalars", "return flat[0]"),
                ("scalars", "first = parts[0]"),
                ("scalars", "return [add([first[i] for i in row]) for row in _rows(shapes[0], op.axes)]"),
                ("scalars", "return [functions.max([first[i] for i in row]) for row in _rows(shapes[0], op.axes)]"),
                ("scalars", "for row in _rows(shapes[0], (op.axis,)):"),
                (
                    "scalars",
                    "inside = Index(tuple(slice(low, low + n) for (low, _), n in zip(op.widths, shapes[0], "
                    "strict=True)))",
                ),
                (
                    "scalars",
                    'return [first[i] for i in _flat_places(op.value(_places(shapes[0])) if op.name != "to" else '
                    "_places(shape))]",
                ),
                ("shapes", "found = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given"),
            ),
            "they are alike by then": (
                (
                    "functions",
                    'along = axis_of(0 if either("stack", dim, axis) is None else either("stack", dim, axis), '
                    'parts[0].ndim + 1, "stack")',
                ),
                ("making", "return (len(nested), *(_shape_of(nested[0]) if nested else ()))"),
                ("methods/basics", "if self.shape and not places[0].size:"),
                (
                    "python_arrays",
                    "while level and isinstance(level[0], (list, tuple, range, Array)):  # one axis after another",
                ),
                ("python_arrays", "shape.append(len(level[0]))"),
                (
                    "python_arrays",
                    "return Array([x for row in rows for x in row], (*front, n, *parts[0].shape[axis + 1 :]), "
                    "parts[0].dtype)",
                ),
                ("scalars", "return (len(nested), *(shapes[0] if shapes else ()))"),
            ),
        }.items()
        for file, line in lines
        for parts in [line.split("[0]")]
        for i in range(1, len(parts))
    },
    **{
        (
            "src/gradwalk/tensor/promotion.py",
            "_RANKS = {BOOL: 0, INT64: 1, FLOAT32: 2, FLOAT64: 3}",
            f"_RANKS = {{BOOL: {ranks[0]}, INT64: 1, FLOAT32: 2, FLOAT64: {ranks[1]}}}",
        ): "only their order is asked"
        for ranks in ((0, 4), (-1, 3))
    },
    **{
        (
            "src/gradwalk/tensor/reach.py",
            'cleared = arrays.now.functions["choose"](used, other, 0.0)',
            f'cleared = arrays.now.functions["choose"](used, other, {number})',
        ): "it is multiplied by 0"
        for number in ("1.0", "-1.0")
    },
    (
        "src/gradwalk/tensor/scalars.py",
        "if self._last[0] is not g:",
        "if self._last[ 1] is not g:",
    ): "the numbers are read out again each time, which takes longer",
    **{
        ("src/gradwalk/tensor/core.py", line, line.replace("= 0", "= -1")): "only whether it is later is ever asked"
        for line in ("self._changed = 0", "out._changed = 0")
    },
    **{
        (
            f"src/gradwalk/tensor/{file}",
            line,
            line.replace(*change, 1),
        ): "the general road gives the same, and is slower"
        for file, line, change in (
            (
                "operators.py",
                "quick = x.dtype is y.dtype and (self._flows or other._flows)",
                ("self._flows or", "self._flows and"),
            ),
            ("operators.py", "quick = True", ("True", "False")),
            (
                "operators.py",
                "elif plain and self._flows and (kind is float or (kind is int and abs(other) < LARGEST)):",
                ("float or", "float and"),
            ),
            (
                "operators.py",
                "fits = kind is float or (kind is int and abs(other) < LARGEST)",
                ("float or", "float and"),
            ),
            (
                "core.py",
                "elif dtype is not None and data.dtype is not dtype and (data.__class__ is not kind or "
                "data.dtype != dtype):",
                ("None and", "None or"),
            ),
        )
    },
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
