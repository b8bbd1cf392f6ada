"""Lesson 14: many numbers in one node. The way back through a broadcast, a sum, a maximum, a product, some rows."""

from __future__ import annotations

from gradwalk.diagnose.probes import Probe
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab

__all__ = ["BROADCAST", "PRODUCTS", "REDUCTIONS", "TENSOR"]

_UNBROADCAST = """\
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):  # an axis that was added in front
        grad = grad.sum(dim=0)
    for axis, size in enumerate(shape):
        if size == 1:  # an axis that was repeated
            grad = grad.sum(dim=axis, keepdim=True)
    return grad
"""

#: The class that the learner's methods belong to: `Value` of lesson 7, with arrays for numbers.
TENSOR = """\
class Tensor:
    def __init__(self, data, _children=(), _op=""):
        self.data = Array(data)
        self.grad = zeros(self.data.shape)
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None

    def __add__(self, other):
        out = Tensor(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += unbroadcast(out.grad, self.data.shape)
            other.grad += unbroadcast(out.grad, other.data.shape)

        out._backward = _backward
        return out

    def __mul__(self, other):
        out = Tensor(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += unbroadcast(out.grad * other.data, self.data.shape)
            other.grad += unbroadcast(out.grad * self.data, other.data.shape)

        out._backward = _backward
        return out

    def backward(self):
        order, visited = [], set()

        def visit(node):
            if node not in visited:
                visited.add(node)
                for operand in node._prev:
                    visit(operand)
                order.append(node)

        visit(self)
        self.grad = ones(self.data.shape)
        for node in reversed(order):
            node._backward()
"""
_GIVEN = f"{_UNBROADCAST}\n\n{TENSOR}"

# --- the way back through a broadcast --------------------------------------------------------------------------------

_COUNTED = "grad = Array([[1, 2, 3], [10, 20, 30]])"


def _back_to(shape: str, title: str, grad: str = _COUNTED) -> Probe:
    return Probe(title, f"{grad}\nback = unbroadcast(grad, {shape})", ("back",))


_UNBROADCAST_TAB = Tab(
    "unbroadcast",
    "`grad` has the shape of the result. Give back what goes to an operand that had the shape `shape` before it was "
    "broadcast.",
    """\
def unbroadcast(grad, shape):
    # 1. axes that were added in front: sum them away
    # 2. axes of size 1 that were repeated: sum, but keep the axis
    return grad
""",
    _UNBROADCAST,
    ("What was copied on the way there is added up on the way back. So each part is a `sum` along an axis.",
     "New axes always come in front. While `grad` has more axes than `shape`, sum along axis 0: "
     "`grad = grad.sum(dim=0)`.",
     "Then go through `shape`. Where its size is 1, sum along that axis, and keep it as an axis of size 1: "
     "`grad = grad.sum(dim=axis, keepdim=True)`."),
    (_back_to("(3,)", "from (2, 3) to (3,)"),
     _back_to("(2, 1)", "from (2, 3) to (2, 1)"),
     _back_to("(1, 3)", "from (2, 3) to (1, 3)"),
     _back_to("()", "from (2, 3) to ()"),
     _back_to("(2, 3)", "from (2, 3) to (2, 3)"),
     _back_to("(1,)", "from (2, 3) to (1,)"),
     _back_to("(1, 1)", "from (2, 3) to (1, 1)"),
     _back_to("(2, 1)", "from (2, 2, 2) to (2, 1)",
              "grad = Array([[[1, 2], [3, 4]], [[10, 20], [30, 40]]])"),
     _back_to("(3, 1)", "from (3, 1) to (3, 1)", "grad = Array([[1], [2], [3]])")),
    (Mistake("forgotten sum",
             (("    while grad.ndim > len(shape):  # an axis that was added in front\n"
               "        grad = grad.sum(dim=0)\n", ""),),
             "Axes of size 1 are right. But axes that broadcasting added in front are still there: nothing sums them.",
             "What should happen while `grad` has more axes than `shape`?"),
     Mistake("forgotten sum",
             (("    for axis, size in enumerate(shape):\n        if size == 1:  "
               "# an axis that was repeated\n            grad = grad.sum(dim=axis, keepdim=True)\n", ""),),
             "The axes in front are right. But an axis of size 1 was repeated too, and nothing sums along it.",
             "What should happen where `shape` has a 1?"),
     Mistake("lost axis", (("dim=axis, keepdim=True", "dim=axis"),),
             "The sums are right, but each took its axis away. The operand still had that axis, with size 1.",
             "How can a sum keep its axis?"),
     Mistake("kept axis", (("grad.sum(dim=0)", "grad.sum(dim=0, keepdim=True)"),),
             "The axis in front is summed but kept, with size 1. So `grad` never has fewer axes, and the loop never "
             "ends.", "Which of the two sums should keep its axis?"),
     Mistake("a part is missing", (("    while grad", "    if grad"),),
             "One axis in front is summed away, and no more. But broadcasting can add several: a single number has "
             "none, and may end up in a matrix.", "What if two axes were added?"),
     Mistake("wrong value", (("grad.sum(dim=0)", "grad.mean(dim=0)"), ("grad.sum(dim=axis", "grad.mean(dim=axis")),
             "These are means. If one number was copied three times, a nudge of it moves three results, and all three "
             "count in full.", "Which of mean and sum adds up contributions?"),
     Mistake("a part is missing", (("grad.sum(dim=0)", "grad[0]"),),
             "Only the first of the copies counts, and the others are lost.", "What should be done with all of them?"),
     Mistake("a part is missing", (("grad.sum(dim=0)", "grad[-1]"),),
             "Only the last of the copies counts, and the others are lost.", "What should be done with all of them?"),
     Mistake("wrong value", (("grad.sum(dim=0)", "grad.sum(dim=-1)"),),
             "The sum runs along the last axis. Shapes are lined up at their last axes, so new ones come in front.",
             "Along which axis was the operand copied?"),
     Mistake("wrong value", (("grad.sum(dim=axis, keepdim=True)", "grad.sum(dim=0, keepdim=True)"),),
             "The axis of size 1 can be any axis, but the sum always runs along the first.",
             "Which axis does `axis` name?"),
     Mistake("wrong value", (("            grad = grad.sum(dim=axis, keepdim=True)",
                              "            grad = grad.sum(keepdim=True)"),),
             "That sums along all axes at once. Only the axis of size 1 was repeated.",
             "How does a sum know which axis to run along?"),
     Mistake("a part is missing",
             (("            grad = grad.sum(dim=axis, keepdim=True)\n",
               "            return grad.sum(dim=axis, keepdim=True)\n"),),
             "Only one axis of size 1 is summed: the function gives its result back from inside the loop, at the "
             "first one.", "What if two axes have size 1?"),
     Mistake("wrong value", (("for axis, size in enumerate(shape):\n        if size == 1:",
                              "for axis in shape:\n        if axis == 1:"),),
             "The loop goes through the sizes in `shape`, and the sum takes a size for the number of an axis.",
             "How can a loop know both the number of an axis and its size?"),
     Mistake("wrong order",
             (("    while grad.ndim > len(shape):  # an axis that was added in front\n"
               "        grad = grad.sum(dim=0)\n", ""),
              ("    return grad\n",
               "    while grad.ndim > len(shape):  # an axis that was added in front\n"
               "        grad = grad.sum(dim=0)\n    return grad\n")),
             "The axes of `shape` are counted from the front, but while `grad` has more axes than `shape`, its axes "
             "have other numbers. So with both at once, the wrong axis is summed.",
             "Which of the two steps must come first?")),
    "What was copied on the way there is added up on the way back.",
)  # fmt: skip

BROADCAST = Exercise(
    "unbroadcast",
    "The way back through a broadcast",
    "definitions",
    {"unbroadcast": _UNBROADCAST_TAB},
    _GIVEN,
    arrays=True,
)

# --- sum and max -----------------------------------------------------------------------------------------------------


def _method(head: str, out: str, remark: str, *pushes: str) -> tuple[str, str]:
    """A method's starter and its solution."""
    begin, end = (
        f"def {head}:\n    out = {out}\n\n    def _backward():\n",
        "\n    out._backward = _backward\n    return out\n",
    )
    body = "".join(f"        {line}\n" for line in pushes)
    return f"{begin}        pass  # {remark}\n{end}", f"{begin}{body}{end}"


_SUM_STARTER, _SUM = _method(
    "sum(self, dim)", 'Tensor(self.data.sum(dim=dim), (self,), "sum")',
    "your turn: each number gets out.grad",
    "self.grad += out.grad.unsqueeze(dim)",
)  # fmt: skip
_PUSH_SUM = "self.grad += out.grad.unsqueeze(dim)"


def _on(tab: str, lines: str, see: str, title: str) -> Probe:
    """A check of a method: a program on the class with the learner's method in it, and a walk back from `y`."""
    return Probe(title, f"Tensor.{tab} = {tab}\n{lines}\ny.backward()", tuple(see.split()))


_X = "x = Tensor([[1, 2, 3], [4, 5, 6]])"
_SQUARE = "x = Tensor([[1, 2], [3, 4]])"

_SUM_TAB = Tab(
    "sum",
    "Sum along one axis, which disappears. On the way back each number receives the gradient of the sum that it "
    "went into.",
    _SUM_STARTER,
    _SUM,
    ("Raise one number of `self` by a little, and the sum it went into rises by as much. So the slope is 1, and "
     "`out.grad` is copied.",
     "`out.grad` has one axis less than `self.grad`. Put it back with size 1: `out.grad.unsqueeze(dim)`.",
     "Then `+=` repeats it along that axis, by broadcasting: `self.grad += out.grad.unsqueeze(dim)`."),
    (_on("sum", f"{_X}\ny = x.sum(1) * Tensor([10, 100])", "y.data x.grad", "(2, 3), along axis 1"),
     _on("sum", f"{_X}\ny = x.sum(0) * Tensor([10, 100, 1000])", "y.data x.grad", "(2, 3), along axis 0"),
     _on("sum", f"{_SQUARE}\ny = x.sum(1) * Tensor([10, 100])", "x.grad", "(2, 2), along axis 1"),
     _on("sum", f"{_SQUARE}\ny = x.sum(1) * Tensor([10, 100]) + x.sum(0)", "x.grad", "(2, 2), used twice"),
     _on("sum", f"{_X}\ny = x.sum(0).sum(0)", "y.data x.grad", "(2, 3), down to one number")),
    (Mistake("lost axis", ((_PUSH_SUM, "self.grad += out.grad"),),
             "`out.grad` has lost the axis that was summed, so it lines up with the wrong one. Where the shapes do not "
             "fit, you get an error. On a square array they fit, and the gradients go to the wrong rows without a "
             "word.", "How can the axis be put back, with size 1?"),
     Mistake("wrong value", ((_PUSH_SUM, "self.grad += out.grad.unsqueeze(0)"),),
             "The axis is put back in front, whichever axis was summed.", "Where was the axis that disappeared?"),
     Mistake("wrong value", ((_PUSH_SUM, "self.grad += out.grad.unsqueeze(1)"),),
             "The axis is always put back as axis 1, whichever axis was summed.",
             "Where was the axis that disappeared?"),
     Mistake("wrong local derivative", ((_PUSH_SUM, "self.grad += self.data * out.grad.unsqueeze(dim)"),),
             "The gradient was multiplied by the data. A sum does not care how large its terms are.",
             "Raise one term a little. By how much does the sum rise?"),
     Mistake("wrong local derivative",
             ((_PUSH_SUM, "self.grad += out.grad.unsqueeze(dim) / self.data.shape[dim]"),),
             "Each number received its share of the gradient, and not all of it. That is right for a mean.",
             "Raise one term a little. By how much does the sum rise?"),
     Mistake("overwritten", (("self.grad += out", "self.grad = out"),),
             "With `=` the gradient takes the shape of what is on the right, and whatever was there before is gone.",
             "Is there an `=` that should be `+=`?"),
     Mistake("forgets the upstream gradient", ((_PUSH_SUM, "self.grad += ones(self.data.shape)"),),
             "Every number received a one. That is right only where the sum is the root: further in, the upstream "
             "gradient is lost.", "Where does `out.grad` come in?"),
     Mistake("wrong value", ((_PUSH_SUM, "self.grad += out.grad.sum()"),),
             "All of `out.grad` was added up, and every number received the total. Each number went into one sum only.",
             "Which number of `out.grad` belongs to which row?")),
    "A sum copies its gradient to all that it added up: it is broadcasting, the other way round.",
)  # fmt: skip

_MAX_STARTER, _MAX = _method(
    "max(self, dim)", 'Tensor(self.data.max(dim=dim), (self,), "max")',
    "your turn: to the largest; equal ones share",
    "largest = self.data == out.data.unsqueeze(dim)  # 1 or 0",
    "share = largest / largest.sum(dim=dim, keepdim=True)",
    "self.grad += share * out.grad.unsqueeze(dim)",
)  # fmt: skip
_M = "x = Tensor([[1, 7, 3], [9, 5, 6]])"
_TIE = "x = Tensor([[4, 4, 1], [2, 5, 5]])"

_MAX_TAB = Tab(
    "max",
    "The largest along one axis. Only the largest was used, so only it receives anything. If several are equally "
    "large, they share it evenly.",
    _MAX_STARTER,
    _MAX,
    ("Raise a number that is not the largest by a little, and nothing happens: its slope is 0. The slope of the "
     "largest is 1.",
     "`self.data == out.data.unsqueeze(dim)` is an array of ones and zeros: a one where the largest is.",
     "In a tie there are several ones. Divide by how many: `largest / largest.sum(dim=dim, keepdim=True)`. Multiply "
     "by `out.grad.unsqueeze(dim)`, and add to `self.grad`."),
    (_on("max", f"{_M}\ny = x.max(1) * Tensor([10, 100])", "y.data x.grad", "(2, 3), along axis 1"),
     _on("max", f"{_M}\ny = x.max(0) * Tensor([10, 100, 1000])", "y.data x.grad", "(2, 3), along axis 0"),
     _on("max", f"{_TIE}\ny = x.max(1) * Tensor([10, 100])", "x.grad", "a tie in each row"),
     _on("max", "x = Tensor([[3, 1], [2, 4]])\ny = x.max(1) * Tensor([10, 100])", "x.grad", "(2, 2), along axis 1"),
     _on("max", "x = Tensor([[3, 1], [2, 4]])\ny = x.max(1) * Tensor([10, 100]) + x.max(0)", "x.grad",
         "(2, 2), used twice")),
    (Mistake("counted twice", (("largest / largest.sum(dim=dim, keepdim=True)", "largest"),),
             "Without ties all is right. In a tie each of the equal numbers receives the whole gradient, so it is "
             "handed out twice.", "How many ones are there in the row? They should add up to one."),
     Mistake("wrong local derivative",
             (("share * out.grad", "out.grad"),),
             "Every number receives the gradient, as in a sum. But only the largest was used.",
             "What is the slope of the maximum in a number that is not the largest?"),
     Mistake("lost axis", (("self.data == out.data.unsqueeze(dim) ", "self.data == out.data "),),
             "The largest numbers have lost their axis, so they are compared with the wrong rows, or do not fit at "
             "all.", "How can the axis be put back, with size 1?"),
     Mistake("lost axis", (("share * out.grad.unsqueeze(dim)", "share * out.grad"),),
             "`out.grad` has lost the axis along which the maximum was taken, so it lines up with the wrong one.",
             "How can the axis be put back, with size 1?"),
     Mistake("wrong value", (("largest.sum(dim=dim, keepdim=True)", "largest.sum()"),),
             "The gradient is divided by the number of ones in the whole array. Only those that are equal in one row, "
             "or in one column, share.", "Along which axis should the ones be counted?"),
     Mistake("lost axis", (("largest.sum(dim=dim, keepdim=True)", "largest.sum(dim=dim)"),),
             "The number of equal ones has lost its axis, so it lines up with the wrong one.",
             "How can a sum keep its axis?"),
     Mistake("wrong value", (("out.data.unsqueeze(dim) ", "self.data.max() "),),
             "You compare with the largest number of all. There is one maximum for each row, or for each column.",
             "Which numbers does `out.data` hold?"),
     Mistake("overwritten", (("self.grad += share", "self.grad = share"),),
             "The second contribution replaced the first.", "Is there an `=` that should be `+=`?"),
     Mistake("forgets the upstream gradient", (("share * out.grad.unsqueeze(dim)", "share"),),
             "The right numbers are picked, but each receives a one. The upstream gradient is lost.",
             "Where does `out.grad` come in?"),
     Mistake("wrong local derivative", (("+= share * out", "+= self.data * share * out"),),
             "The gradient was multiplied by the data. The slope of the largest is 1, however large it is.",
             "Raise the largest a little. By how much does the maximum rise?")),
    "The gradient goes to the number that was used, and to no other.",
)  # fmt: skip

REDUCTIONS = Exercise(
    "sum-and-max", "Sum and max", "definitions", {"sum": _SUM_TAB, "max": _MAX_TAB}, _GIVEN, arrays=True
)

# --- products and rows -----------------------------------------------------------------------------------------------

_MATMUL_STARTER, _MATMUL = _method(
    "matmul(self, other)", 'Tensor(self.data @ other.data, (self, other), "@")',
    "your turn: two matrix products",
    "self.grad += out.grad @ other.data.T",
    "other.grad += self.data.T @ out.grad",
)  # fmt: skip
_A = "a = Tensor([[1, 2, 3], [4, 5, 6]])"
_B = "b = Tensor([[1, -1], [2, 0], [0, 3]])"
_PUSH_A, _PUSH_B = "out.grad @ other.data.T", "self.data.T @ out.grad"
_WEIGHTS = " * Tensor([[1, 10], [100, 1000]])"

_MATMUL_TAB = Tab(
    "matmul",
    "A matrix product: (m, k) @ (k, n) gives (m, n). Each gradient is again a matrix product. If m, k and n are all "
    "different, only one fits.",
    _MATMUL_STARTER,
    _MATMUL,
    ("Begin with the shapes. `out.grad` is (m, n), and `self.grad` must be (m, k). `other.data` is (k, n). What turns "
     "(m, n) and (k, n) into (m, k)?",
     "(m, n) @ (n, k) is (m, k), and `other.data.T` is (n, k).",
     "So `self.grad += out.grad @ other.data.T`. For `other.grad`, (k, n), you need (k, m) @ (m, n)."),
    (_on("matmul", f"{_A}\n{_B}\ny = a.matmul(b){_WEIGHTS}", "y.data a.grad b.grad", "(2, 3) @ (3, 2)"),
     _on("matmul", f"a = Tensor([[1, 2], [3, 4]])\nb = Tensor([[0, 1], [5, -1]])\ny = a.matmul(b){_WEIGHTS}",
         "a.grad b.grad", "(2, 2) @ (2, 2)"),
     _on("matmul", "a = Tensor([[1, 2, 3]])\nb = Tensor([[4], [5], [6]])\ny = a.matmul(b) * Tensor([[10]])",
         "y.data a.grad b.grad", "(1, 3) @ (3, 1)"),
     _on("matmul", f"a = Tensor([[1, 2], [3, 4]])\ny = a.matmul(a){_WEIGHTS}", "a.grad", "a @ a, the same twice")),
    (Mistake("wrong transpose", ((_PUSH_A, "out.grad @ other.data"), (_PUSH_B, "self.data @ out.grad")),
             "Both transposes are missing. Where the shapes do not fit, you get an error. With square matrices they "
             "fit, and the numbers are wrong without a word.", "Which shape must each factor have?"),
     Mistake("wrong transpose", ((_PUSH_A, "out.grad @ other.data"),),
             "In the first line the transpose is missing: (m, n) @ (k, n) does not fit, unless it is square, and then "
             "it is wrong.", "What does `other.data` have to be, to give the shape of `self`?"),
     Mistake("wrong transpose", ((_PUSH_B, "self.data @ out.grad"),),
             "In the second line the transpose is missing: (m, k) @ (m, n) does not fit, unless it is square, and then "
             "it is wrong.", "What does `self.data` have to be, to give the shape of `other`?"),
     Mistake("wrong transpose", ((_PUSH_A, "out.grad.T @ other.data"), (_PUSH_B, "self.data @ out.grad.T")),
             "In both lines the wrong factor is transposed: `out.grad`, and not the data.",
             "Which shape must each factor have?"),
     Mistake("wrong transpose", ((_PUSH_A, "other.data.T @ out.grad"), (_PUSH_B, "out.grad @ self.data.T")),
             "The transposes are right, but the factors are in the wrong order. In a matrix product the order "
             "matters.", "The first operand was on the left. On which side of `out.grad` does the second stay?"),
     Mistake("wrong transpose", ((_PUSH_A, "other.data.T @ out.grad"),),
             "In the first line the factors are in the wrong order. In a matrix product the order matters.",
             "On which side of `self` was `other`?"),
     Mistake("wrong transpose", ((_PUSH_B, "out.grad @ self.data.T"),),
             "In the second line the factors are in the wrong order. In a matrix product the order matters.",
             "On which side of `other` was `self`?"),
     Mistake("wrong transpose", ((_PUSH_B, "out.grad.T @ self.data"),),
             "The second line gives (n, k), which is the gradient of `other` with rows and columns swapped.",
             "Which of the two factors has to be transposed?"),
     Mistake("wrong transpose", ((_PUSH_A, "other.data @ out.grad.T"),),
             "The first line gives (k, m), which is the gradient of `self` with rows and columns swapped.",
             "Which of the two factors has to be transposed?"),
     Mistake("wrong local derivative", ((_PUSH_A, "self.data.T @ out.grad"), (_PUSH_B, "out.grad @ other.data.T")),
             "The two lines are swapped: each operand received what belongs to the other.",
             "Times swaps: which operand's data belongs in which line?"),
     Mistake("wrong local derivative", ((_PUSH_A, "out.grad * other.data"), (_PUSH_B, "out.grad * self.data")),
             "`*` multiplies number by number. That is the way back through `*`. The way back through a matrix product "
             "is made of matrix products.", "Is there a `*` that should be `@`?"),
     Mistake("wrong local derivative", ((_PUSH_A, "out.grad @ other.grad.T"), (_PUSH_B, "self.grad.T @ out.grad")),
             "The gradients of the operands stand where their data belongs.",
             "Which field of the other operand belongs there?"),
     Mistake("forgets the upstream gradient", ((_PUSH_A, "other.data.T"), (_PUSH_B, "self.data.T")),
             "That is the other factor alone. The upstream gradient is lost.", "Where does `out.grad` come in?"),
     Mistake("overwritten", (("self.grad +=", "self.grad ="), ("other.grad +=", "other.grad =")),
             "The second contribution replaced the first.", "Is there an `=` that should be `+=`?"),
     Mistake("a part is missing", (("        other.grad += self.data.T @ out.grad\n", ""),),
             "Only the first operand receives anything. A product depends on both.", "What should `other` receive?"),
     Mistake("a part is missing", (("        self.grad += out.grad @ other.data.T\n", ""),),
             "Only the second operand receives anything. A product depends on both.", "What should `self` receive?"),
     Mistake("forgets the upstream gradient",
             ((_PUSH_A, "ones(out.data.shape) @ other.data.T"), (_PUSH_B, "self.data.T @ ones(out.data.shape)")),
             "This is right only where `out` is the root. Further in, the upstream gradient is lost.",
             "Where does `out.grad` come in?")),
    "Two matrix products, and no loop over single numbers.",
)  # fmt: skip

_TAKE_STARTER, _TAKE = _method(
    "take(self, rows)", 'Tensor([self.data[i] for i in rows], (self,), "take")',
    "your turn: row i was taken as row k of out",
    "for k, i in enumerate(rows):", "    self.grad[i] += out.grad[k]",
)  # fmt: skip
_C = "c = Tensor([[1, 2], [3, 4], [5, 6]])"
_PUSH_TAKE = "self.grad[i] += out.grad[k]"
_W4 = " * Tensor([[1, 2], [10, 20], [100, 200], [1000, 2000]])"

_TAKE_TAB = Tab(
    "take",
    "Rows by their numbers: `c.take([0, 2, 0])` has three rows, and row 0 of `c` is two of them. A row may be taken "
    "many times, or never.",
    _TAKE_STARTER,
    _TAKE,
    ("`enumerate(rows)` gives pairs: row `k` of `out` is a copy of row `i` of `self`.",
     "So row `i` of `self.grad` receives row `k` of `out.grad`.",
     "The same `i` may come again. Each time something is added: `self.grad[i] += out.grad[k]`."),
    (_on("take", f"{_C}\ny = c.take([2, 0]) * Tensor([[1, 2], [10, 20]])", "y.data c.grad", "rows 2 and 0"),
     _on("take", f"{_C}\ny = c.take([0, 2, 0, 0]){_W4}", "y.data c.grad", "rows 0, 2, 0 and 0"),
     _on("take", f"{_C}\ny = c.take([1, 2, 0, 2]){_W4}", "c.grad", "rows 1, 2, 0 and 2"),
     _on("take", f"{_C}\ny = c.take([1, 1]) * Tensor([[1, 2], [10, 20]]) + c.take([0, 1])", "c.grad",
         "taken in two places")),
    (Mistake("overwritten", ((_PUSH_TAKE, "self.grad[i] = out.grad[k]"),),
             "Where no row is taken twice, all is right. Where one is, only its last use counts: the others were "
             "replaced.", "Is there an `=` that should be `+=`?"),
     Mistake("overwritten",
             (("for k, i in enumerate(rows):\n            self.grad[i] += out.grad[k]",
               "self.grad[rows] += out.grad"),),
             "Changing all the rows at once looks right, and it is a famous trap. The rows are read first, then the "
             "sums are written back. A row that occurs twice is written twice, and only the last one stays.",
             "How can each use be added by itself?"),
     Mistake("turned round", ((_PUSH_TAKE, "self.grad[k] += out.grad[i]"),),
             "The two places are swapped: row `k` of `out` was taken from row `rows[k]` of `self`.",
             "Which of the two belongs to `self.grad`?"),
     Mistake("turned round", ((_PUSH_TAKE, "self.grad[k] += out.grad[k]"),),
             "Row `k` of `out` did not come from row `k` of `self`. It came from row `rows[k]`.",
             "Which row of `self.grad` should receive it?"),
     Mistake("wrong local derivative", ((_PUSH_TAKE, "self.grad[i] += self.data[i] * out.grad[k]"),),
             "The gradient was multiplied by the data. Taking a row is copying it, and the slope of a copy is 1.",
             "Raise one number of the row a little. By how much does its copy rise?"),
     Mistake("forgets the upstream gradient", ((_PUSH_TAKE, "self.grad[i] += 1"),),
             "Each use counts as a one. That is right only where `out` is the root: further in, the upstream gradient "
             "is lost.", "Where does `out.grad` come in?")),
    "A row that is taken twice receives twice.",
)  # fmt: skip

PRODUCTS = Exercise(
    "matmul-and-rows",
    "Products and rows",
    "definitions",
    {"matmul": _MATMUL_TAB, "take": _TAKE_TAB},
    _GIVEN,
    arrays=True,
)
