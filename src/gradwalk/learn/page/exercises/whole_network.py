"""Lesson 15: backwards through a whole network. Each gradient in small steps, and two of them in one line."""

from __future__ import annotations

from gradwalk.diagnose.probes import Probe
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab

__all__ = ["BATCH_NORM", "CROSS_ENTROPY", "LAYERS"]


def _swap(old: str, new: str) -> tuple[tuple[str, str], ...]:
    return ((old, new),)


# --- linear, tanh, embedding -----------------------------------------------------------------------------------------

_LINEAR = """\
def linear_back(d_out, x, W):        # out = x @ W + b
    d_x = d_out @ W.T
    d_W = x.T @ d_out
    d_b = d_out.sum(dim=0)
    return d_x, d_W, d_b
"""
_LINEAR_CALL = "d_x, d_W, d_b = linear_back(d_out, x, W)"
_X23, _W32 = "x = Array([[1, 2, 3], [4, 5, 6]])", "W = Array([[1, -1], [2, 0], [0, 3]])"

_LINEAR_TAB = Tab(
    "linear_back",
    "`out = x @ W + b`. You are given `d_out`, the gradient of `out`. What goes to `x`, to `W` and to `b`?",
    """\
def linear_back(d_out, x, W):        # out = x @ W + b
    d_x = ...
    d_W = ...
    d_b = ...
    return d_x, d_W, d_b
""",
    _LINEAR,
    ("You have written all of it in the last lesson: a matrix product, and a broadcast.",
     "`d_x` has the shape of `x`, and `d_W` that of `W`. Only one product fits each: `d_out @ W.T` and `x.T @ d_out`.",
     "`b` was added to every row, so the rows are added up: `d_b = d_out.sum(dim=0)`."),
    (Probe("two rows, three inputs, two outputs",
           f"{_X23}\n{_W32}\nd_out = Array([[1, 10], [100, 1000]])\n{_LINEAR_CALL}", ("d_x", "d_W", "d_b")),
     Probe("all square", "x = Array([[1, 2], [3, 4]])\nW = Array([[0, 1], [5, -1]])\n"
           f"d_out = Array([[1, 10], [100, 1000]])\n{_LINEAR_CALL}", ("d_x", "d_W", "d_b"))),
    (Mistake("forgotten sum", _swap("d_out.sum(dim=0)", "d_out"),
             "`b` was broadcast to every row, and its gradient was not added up: it has a row for each sample.",
             "Which shape does `b` have?"),
     Mistake("wrong value", _swap("d_out.sum(dim=0)", "d_out.sum(dim=1)"),
             "The gradient of `b` was added up along the columns, so there is one number for each sample. `b` has one "
             "for each output.", "Which axis did broadcasting add?"),
     Mistake("wrong value", _swap("d_out.sum(dim=0)", "d_out.sum()"),
             "Everything was added up into one number. `b` has one number for each output.",
             "Along which axis should the sum run?"),
     Mistake("kept axis", _swap("d_out.sum(dim=0)", "d_out.sum(dim=0, keepdim=True)"),
             "The sum is right, but it kept its axis. `b` has one axis only.", "What does `keepdim` do?"),
     Mistake("wrong value", _swap("d_out.sum(dim=0)", "d_out.mean(dim=0)"),
             "That is a mean. Every row that `b` was added to counts in full.", "Which of mean and sum is it?"),
     Mistake("wrong local derivative", (("d_out @ W.T", "d_out * W.T"), ("x.T @ d_out", "x.T * d_out")),
             "`*` multiplies number by number. The way back through a matrix product is made of matrix products.",
             "Is there a `*` that should be `@`?"),
     Mistake("forgets the upstream gradient", (("d_out @ W.T", "W.T"), ("x.T @ d_out", "x.T")),
             "`d_x` and `d_W` are the other factor alone. The upstream gradient is lost.",
             "Where does `d_out` come in?"),
     Mistake("wrong transpose", (("d_out @ W.T", "d_out @ W"), ("x.T @ d_out", "x @ d_out")),
             "Both transposes are missing. Where the shapes are not square, that does not even fit.",
             "Which shape must each factor have?"),
     Mistake("wrong transpose", _swap("d_out @ W.T", "d_out @ W"), "In `d_x` the transpose is missing.",
             "(n, outputs) times what gives (n, inputs)?"),
     Mistake("wrong transpose", _swap("x.T @ d_out", "x @ d_out"), "In `d_W` the transpose is missing.",
             "What times (n, outputs) gives (inputs, outputs)?"),
     Mistake("wrong transpose", _swap("x.T @ d_out", "d_out.T @ x"),
             "`d_W` has its rows where its columns belong.", "Which of the two factors has to be transposed?"),
     Mistake("wrong transpose", _swap("d_out @ W.T", "W.T @ d_out"),
             "In `d_x` the factors are in the wrong order.", "On which side of `x` was `W`?")),
    "A layer, backwards: two products and a sum.",
)  # fmt: skip

_TANH_BACK = """\
def tanh_back(d_h, h):               # h = tanh(x)
    return (1 - h ** 2) * d_h
"""
_TANH_BACK_TAB = Tab(
    "tanh_back",
    "`h = x.tanh()`. You are given `h` and its gradient `d_h`, but not `x`. What goes to `x`?",
    """\
def tanh_back(d_h, h):               # h = tanh(x)
    return ...
""",
    _TANH_BACK,
    ("Number by number it is the line you wrote in lesson seven.",
     "The slope of tanh is one minus the square of the result, and the result is `h`: `(1 - h ** 2) * d_h`."),
    (Probe("a few numbers",
           "h = Array([[0.5, -0.5], [0, 0.8]])\nd_h = Array([[1, 2], [3, 4]])\nd_x = tanh_back(d_h, h)", ("d_x",)),
     Probe("from zero", "h = Array([-2, 0, 1]).tanh()\nd_h = Array([1, 1, -1])\nd_x = tanh_back(d_h, h)", ("d_x",))),
    (Mistake("wrong local derivative", _swap("h ** 2", "h.tanh() ** 2"),
             "`h` is already the result of tanh. Here it goes through tanh once more.",
             "What does `h` hold?"),
     Mistake("wrong local derivative", _swap("1 - h ** 2", "1 - h"), "The square is missing.",
             "What is the slope of tanh, in terms of its result?"),
     Mistake("forgets the upstream gradient", _swap("(1 - h ** 2) * d_h", "1 - h ** 2"),
             "That is the local slope. The upstream gradient is lost.", "Where does `d_h` come in?"),
     Mistake("wrong local derivative", _swap("(1 - h ** 2) * d_h", "1 - h ** 2 * d_h"),
             "Without brackets, only the square is multiplied by `d_h`.", "Where do the brackets belong?"),
     Mistake("wrong local derivative", _swap("(1 - h ** 2) * d_h", "(1 - d_h ** 2) * h"),
             "`h` and `d_h` are swapped.", "Which of them is the result of tanh?")),
    "The same line as for one number.",
)  # fmt: skip

_EMBEDDING = """\
def embedding_back(d_e, X, C):       # e[i, j] = C[X[i][j]]
    d_C = zeros(C.shape)
    for i, context in enumerate(X):
        for j, letter in enumerate(context):
            d_C[letter] += d_e[i, j]
    return d_C
"""
_CALL_E = "d_C = embedding_back(d_e, X, C)"
_EMBEDDING_TAB = Tab(
    "embedding_back",
    "`X[i]` is a list of letters, as numbers, and `e[i, j]` is row `X[i][j]` of the table `C`. You are given `d_e`. "
    "What goes to `C`?",
    """\
def embedding_back(d_e, X, C):       # e[i, j] = C[X[i][j]]
    d_C = zeros(C.shape)
    # your turn: every place of X took one row of C
    return d_C
""",
    _EMBEDDING,
    ("Go through all places of `X`, as the way there did: `for i, context in enumerate(X)`, and inside "
     "`for j, letter in enumerate(context)`.",
     "The place (i, j) took row `letter`. So that row receives `d_e[i, j]`.",
     "A letter that occurs twice receives twice: `d_C[letter] += d_e[i, j]`."),
    (Probe("no letter twice",
           f"C = Array([[1, 2], [3, 4], [5, 6], [7, 8]])\nX = [[3, 1]]\nd_e = Array([[[1, 2], [10, 20]]])\n{_CALL_E}",
           ("d_C",)),
     Probe("letters that occur again",
           "C = Array([[1, 2], [3, 4], [5, 6]])\nX = [[0, 0, 2], [0, 2, 0]]\n"
           "d_e = Array([[[1, 2], [10, 20], [3, 4]], [[100, 200], [30, 40], [1000, 2000]]])\n" + _CALL_E, ("d_C",))),
    (Mistake("overwritten", _swap("d_C[letter] += d_e[i, j]", "d_C[letter] = d_e[i, j]"),
             "Only the last place where a letter stands counts. The others were replaced.",
             "Is there an `=` that should be `+=`?"),
     Mistake("overwritten",
             _swap("        for j, letter in enumerate(context):\n            d_C[letter] += d_e[i, j]\n",
                   "        d_C[context] += d_e[i]\n"),
             "Changing all the rows of a context at once is the trap of the last lesson: a letter that stands twice in "
             "the same context is written twice, and only the last one stays.",
             "How can each place be added by itself?"),
     Mistake("turned round", _swap("d_C[letter]", "d_C[j]"),
             "`j` is a place in the context. The row that was taken is that of the letter there.",
             "Which row of `C` did the place (i, j) take?"),
     Mistake("a part is missing", _swap("d_e[i, j]", "d_e[0, j]"),
             "Only the gradients of the first sample are used, again and again.", "Which sample is it?"),
     Mistake("wrong value", _swap("+= d_e[i, j]", "+= d_e[i].sum(dim=0)"),
             "Each place receives the gradients of its whole context.",
             "Which part of `d_e[i]` belongs to place `j`?")),
    "Each row of the table receives what arrived at its copies.",
)  # fmt: skip

LAYERS = Exercise(
    "layers", "Linear, tanh, embedding", "definitions",
    {"linear_back": _LINEAR_TAB, "tanh_back": _TANH_BACK_TAB, "embedding_back": _EMBEDDING_TAB}, arrays=True,
)  # fmt: skip

# --- softmax and cross-entropy ---------------------------------------------------------------------------------------

_CE_FORWARD = """\
    n = len(targets)
    counts = logits.exp()
    total = counts.sum(dim=1, keepdim=True)
    probs = counts / total
    logprobs = probs.log()
    # loss = -sum of logprobs[i, targets[i]], divided by n
"""
_CE_STEPS = (
    f"def cross_entropy_steps(logits, targets):\n{_CE_FORWARD}"
    """
    d_logprobs = zeros(logits.shape)
    for i, target in enumerate(targets):
        d_logprobs[i, target] = -1 / n
    d_probs = d_logprobs / probs
    d_total = (-d_probs * counts / total ** 2).sum(dim=1, keepdim=True)
    d_counts = d_probs / total + d_total
    d_logits = d_counts * counts
    return d_logprobs, d_probs, d_total, d_counts, d_logits
"""
)
_CE_CALL = "d_logprobs, d_probs, d_total, d_counts, d_logits = cross_entropy_steps(logits, targets)"
_CE_SEE = ("d_logprobs", "d_probs", "d_total", "d_counts", "d_logits")
_LOGITS = "logits = Array([[1, 2, 0], [0, -1, 1], [0.5, 0, 0], [2, 2, 1]])\ntargets = [1, 2, 0, 0]"

_CE_STEPS_TAB = Tab(
    "cross_entropy_steps",
    "The forward pass is there, in small steps. Walk back through it, one line for each step. Every gradient has the "
    "shape of what it belongs to.",
    f"def cross_entropy_steps(logits, targets):\n{_CE_FORWARD}"
    """
    d_logprobs = zeros(logits.shape)
    # 1. the loss uses one number of each row of logprobs
    d_probs = ...
    d_total = ...
    d_counts = ...    # used twice: in probs and in total
    d_logits = ...
    return d_logprobs, d_probs, d_total, d_counts, d_logits
""",
    _CE_STEPS,
    ("The loss is minus a mean, so each number it used receives −1/n, and the others receive 0: "
     "`d_logprobs[i, target] = -1 / n`, for each `i` and `target`.",
     "The slope of the logarithm is 1/x: `d_probs = d_logprobs / probs`.",
     "`probs = counts / total`, and the slope for `total` is −counts/total². `total` was broadcast along each row, so "
     "sum along axis 1, and keep the axis.",
     "`counts` is used twice. Through `probs` it receives `d_probs / total`. Through the sum it receives a copy of "
     "`d_total`. Add them. The slope of exp is its result: `d_logits = d_counts * counts`."),
    (Probe("four samples, three classes", f"{_LOGITS}\n{_CE_CALL}", _CE_SEE),
     Probe("one sample", f"logits = Array([[0, 1]])\ntargets = [0]\n{_CE_CALL}", ("d_total", "d_counts", "d_logits"))),
    (Mistake("a part is missing", _swap("d_probs / total + d_total", "d_probs / total"),
             "`counts` is used twice: in `probs` and in `total`. What comes through `total` is missing.",
             "What does the sum bring to each of its terms?"),
     Mistake("a part is missing", _swap("d_probs / total + d_total", "d_total"),
             "`counts` is used twice: in `probs` and in `total`. What comes through `probs` is missing.",
             "What is the slope of `counts / total` in `counts`?"),
     Mistake("forgotten sum", _swap(".sum(dim=1, keepdim=True)\n    d_counts", "\n    d_counts"),
             "`total` was broadcast along each row, and its gradient was not added up.",
             "Which shape does `total` have?"),
     Mistake("lost axis", _swap("total ** 2).sum(dim=1, keepdim=True)", "total ** 2).sum(dim=1)"),
             "The sum is right, but it lost its axis. `total` kept it.", "Which shape does `total` have?"),
     Mistake("wrong local derivative", _swap("-d_probs * counts / total ** 2", "d_probs * counts / total ** 2"),
             "The sign of `d_total` is wrong: if the total grows, every share shrinks.",
             "What is the slope of 1/x?"),
     Mistake("wrong local derivative", _swap("-d_probs * counts / total ** 2", "-d_probs * counts / total"),
             "In `d_total` the square is missing.", "What is the slope of 1/x?"),
     Mistake("a part is missing", _swap("-1 / n", "-1"),
             "The loss is a mean. Each sample counts for one part in n.", "Where does `n` come in?"),
     Mistake("wrong value", _swap("= -1 / n", "= 1 / n"),
             "The loss has a minus: it falls when the right probability rises.", "Which sign does the slope have?"),
     Mistake("wrong local derivative", _swap("d_logprobs / probs", "d_logprobs * probs"),
             "The slope of the logarithm is 1/x. Here it is x.", "Is there a `*` that should be `/`?"),
     Mistake("wrong local derivative", _swap("d_counts * counts", "d_counts * logits"),
             "The slope of exp is its result, not what it was given.", "What is the result of exp called here?"),
     Mistake("wrong local derivative", _swap("    d_logits = d_counts * counts", "    d_logits = d_counts"),
             "The last step is missing: exp has a slope, and it is its own result.",
             "What is the slope of exp?")),
    "Five small steps, each of them one you know.",
)  # fmt: skip

_CE_HEAD = """\
def cross_entropy_back(logits, targets):
    n = len(targets)
    probs = logits.exp() / logits.exp().sum(dim=1, keepdim=True)
    right = zeros(logits.shape)    # a 1 where the target is
    for i, target in enumerate(targets):
        right[i, target] = 1
"""
_CE_ONE_CALL = "d_logits = cross_entropy_back(logits, targets)"
_CE_TAB = Tab(
    "cross_entropy_back",
    "The same gradient in one line. Look at the numbers of the last test: what is `d_logits` where the target is, and "
    "what is it elsewhere?",
    f"{_CE_HEAD}    return ...\n",
    f"{_CE_HEAD}    return (probs - right) / n\n",
    ("Put the steps together on paper. Where no target is, everything cancels but the probability, divided by n.",
     "At the target one is taken away. So it is what the network said, minus what would have been right: "
     "`(probs - right) / n`."),
    (Probe("four samples, three classes", f"{_LOGITS}\n{_CE_ONE_CALL}", ("d_logits",)),
     Probe("one sample", f"logits = Array([[0, 1]])\ntargets = [0]\n{_CE_ONE_CALL}", ("d_logits",)),
     Probe("each row adds up to nothing", f"{_LOGITS}\n{_CE_ONE_CALL}\nsums = d_logits.sum(dim=1)", ("sums",))),
    (Mistake("wrong direction", _swap("(probs - right)", "(right - probs)"),
             "The sign is the wrong way round. Where the target is, the loss falls when the logit rises.",
             "Which of the two is subtracted from the other?"),
     Mistake("a part is missing", _swap("(probs - right) / n", "probs - right"),
             "The loss is a mean. Each sample counts for one part in n.", "Where does `n` come in?"),
     Mistake("wrong value", _swap("(probs - right) / n", "probs - right / n"),
             "Without brackets, only `right` is divided by `n`.", "Where do the brackets belong?"),
     Mistake("a part is missing", _swap("(probs - right) / n", "probs / n"),
             "Each row should add up to nothing: what pushes the target up pushes the others down.",
             "What happens where the target is?"),
     Mistake("wrong value", _swap("(probs - right) / n", "(probs - right) / logits.shape[1]"),
             "You divided by the number of classes. A mean is divided by the number of samples.",
             "What does `n` count?"),
     Mistake("wrong value", _swap("(probs - right) / n", "(logits - right) / n"),
             "The logits are not probabilities. They are compared with ones and zeros only after softmax.",
             "What did the network say, as probabilities?")),
    "What the network said, minus what would have been right.",
)  # fmt: skip

CROSS_ENTROPY = Exercise(
    "cross-entropy", "Softmax and cross-entropy", "definitions",
    {"cross_entropy_steps": _CE_STEPS_TAB, "cross_entropy_back": _CE_TAB}, arrays=True,
)  # fmt: skip

# --- batch norm ------------------------------------------------------------------------------------------------------

_BN_HEAD = """\
def batch_norm_steps(d_y, x, gamma):
    n = x.shape[0]
    mean = x.sum(dim=0) / n
    diff = x - mean
    var = (diff ** 2).sum(dim=0) / n
    inv = (var + 0.00001) ** -0.5
    xhat = diff * inv
    # y = gamma * xhat + beta
"""
_BN_STEPS = (
    _BN_HEAD
    + """
    d_gamma = (d_y * xhat).sum(dim=0)
    d_beta = d_y.sum(dim=0)
    d_xhat = d_y * gamma
    d_inv = (d_xhat * diff).sum(dim=0)
    d_var = -0.5 * (var + 0.00001) ** -1.5 * d_inv
    d_diff = d_xhat * inv + 2 * diff / n * d_var
    d_mean = -d_diff.sum(dim=0)
    d_x = d_diff + d_mean / n
    return (d_gamma, d_beta, d_xhat, d_inv,
            d_var, d_diff, d_mean, d_x)
"""
)
_BN_CALL = "d_gamma, d_beta, d_xhat, d_inv, d_var, d_diff, d_mean, d_x = batch_norm_steps(d_y, x, gamma)"
_BN_SEE = ("d_gamma", "d_beta", "d_xhat", "d_inv", "d_var", "d_diff", "d_mean", "d_x")
_BN_X = "x = Array([[1, 2], [3, -1], [0, 1], [2, 4]])\ngamma = Array([1, 2])\n"
_BN_DY = "d_y = Array([[1, 0], [0, 2], [-1, 1], [2, -1]])\n"

_BN_STEPS_TAB = Tab(
    "batch_norm_steps",
    "Each column is moved and stretched until its mean is 0 and its spread is 1. Then `gamma` and `beta` set a new "
    "spread and a new mean. Walk back, one line for each step.",
    _BN_HEAD
    + """
    d_gamma = ...     # broadcast to every row
    d_beta = ...
    d_xhat = ...
    d_inv = ...
    d_var = ...
    d_diff = ...      # used twice: in xhat and in var
    d_mean = ...
    d_x = ...         # used twice: in diff and in mean
    return (d_gamma, d_beta, d_xhat, d_inv,
            d_var, d_diff, d_mean, d_x)
""",
    _BN_STEPS,
    ("Whatever has one number for each column was broadcast to all rows: `gamma`, `beta`, `inv`, `mean`. On the way "
     "back each of them is a `sum(dim=0)`.",
     "`d_gamma = (d_y * xhat).sum(dim=0)`, `d_beta = d_y.sum(dim=0)`, `d_xhat = d_y * gamma`, and "
     "`d_inv = (d_xhat * diff).sum(dim=0)`.",
     "A power: −1/2 times what is in the brackets, to the power of −3/2: "
     "`d_var = -0.5 * (var + 0.00001) ** -1.5 * d_inv`.",
     "`diff` is used in `xhat` and, squared, in `var`: `d_diff = d_xhat * inv + 2 * diff / n * d_var`.",
     "`mean` was subtracted from every row: `d_mean = -d_diff.sum(dim=0)`. And `x` is used in `diff` and in `mean`: "
     "`d_x = d_diff + d_mean / n`."),
    (Probe("four samples, two columns", f"{_BN_X}{_BN_DY}{_BN_CALL}", _BN_SEE),
     Probe("three samples, one column",
           f"x = Array([[0], [1], [5]])\ngamma = Array([3])\nd_y = Array([[1], [-2], [4]])\n{_BN_CALL}", _BN_SEE)),
    (Mistake("a part is missing", _swap("d_xhat * inv + 2 * diff / n * d_var", "d_xhat * inv"),
             "`diff` is used twice: in `xhat` and in `var`. What comes through `var` is missing.",
             "What is the slope of a square?"),
     Mistake("a part is missing", _swap("d_xhat * inv + 2 * diff / n * d_var", "2 * diff / n * d_var"),
             "`diff` is used twice: in `xhat` and in `var`. What comes through `xhat` is missing.",
             "What is `xhat` made of?"),
     Mistake("a part is missing", _swap("d_x = d_diff + d_mean / n", "d_x = d_diff"),
             "`x` is used twice: in `diff` and in `mean`. What comes through `mean` is missing.",
             "How does the mean move when one of the numbers rises?"),
     Mistake("wrong local derivative", _swap("d_diff + d_mean / n", "d_diff + d_mean"),
             "Through `mean`, each number counts for one part in n.", "What is the slope of a mean?"),
     Mistake("forgotten sum", _swap("(d_xhat * diff).sum(dim=0)", "d_xhat * diff"),
             "`inv` was broadcast to every row, and its gradient was not added up.",
             "Which shape does `inv` have?"),
     Mistake("forgotten sum", _swap("(d_y * xhat).sum(dim=0)", "d_y * xhat"),
             "`gamma` was broadcast to every row, and its gradient was not added up.",
             "Which shape does `gamma` have?"),
     Mistake("forgotten sum", _swap("d_beta = d_y.sum(dim=0)", "d_beta = d_y"),
             "`beta` was broadcast to every row, and its gradient was not added up.",
             "Which shape does `beta` have?"),
     Mistake("forgotten sum", _swap("-d_diff.sum(dim=0)", "-d_diff"),
             "`mean` was broadcast to every row, and its gradient was not added up.",
             "Which shape does `mean` have?"),
     Mistake("wrong local derivative", _swap("d_mean = -d_diff", "d_mean = d_diff"),
             "The mean is subtracted, so its gradient has a minus.", "Which sign does the slope have?"),
     Mistake("wrong local derivative", _swap("-0.5 * (var", "0.5 * (var"),
             "The sign of `d_var` is wrong: the larger the variance, the smaller `inv`.",
             "What is the slope of a power with a negative exponent?"),
     Mistake("wrong local derivative", _swap("** -1.5", "** -0.5"),
             "The slope of a power has an exponent that is smaller by one.", "What is one less than −1/2?"),
     Mistake("wrong local derivative", _swap("2 * diff / n * d_var", "2 * diff * d_var"),
             "The variance is a mean of squares: each counts for one part in n.", "Where does `n` come in?"),
     Mistake("wrong local derivative", _swap("2 * diff / n * d_var", "diff / n * d_var"),
             "The factor 2 of the square is missing.", "What is the slope of a square?"),
     Mistake("forgets the upstream gradient", _swap("d_xhat = d_y * gamma", "d_xhat = gamma"),
             "`d_xhat` is the local slope alone. The upstream gradient is lost.", "Where does `d_y` come in?")),
    "Eight steps, and each of them is a habit you know.",
)  # fmt: skip

_BN_ONE_HEAD = """\
def batch_norm_back(d_y, xhat, inv, gamma):
    n = xhat.shape[0]
    d_xhat = d_y * gamma
"""
_BN_LINE = "inv / n * (n * d_xhat - d_xhat.sum(dim=0) - xhat * (d_xhat * xhat).sum(dim=0))"
_BN_ONE_CALL = (
    "n = x.shape[0]\ndiff = x - x.sum(dim=0) / n\ninv = ((diff ** 2).sum(dim=0) / n + 0.00001) ** -0.5\n"
    "d_x = batch_norm_back(d_y, diff * inv, inv, gamma)"
)
_BN_TAB = Tab(
    "batch_norm_back",
    "All of it in one line, from `d_xhat` to `d_x`. It has three parts: what arrives, less its mean, less the part "
    "that points along `xhat`.",
    f"{_BN_ONE_HEAD}    return ...\n",
    f"{_BN_ONE_HEAD}    return {_BN_LINE}\n",
    ("Put the steps together on paper, with `diff = xhat / inv`. `var` and `mean` disappear.",
     "Through the mean, each number loses the mean of `d_xhat`: `d_xhat.sum(dim=0) / n`. Through the variance it loses "
     "`xhat` times the mean of `d_xhat * xhat`.",
     "Everything is scaled by `inv`: "
     "`inv / n * (n * d_xhat - d_xhat.sum(dim=0) - xhat * (d_xhat * xhat).sum(dim=0))`."),
    (Probe("four samples, two columns", f"{_BN_X}{_BN_DY}{_BN_ONE_CALL}", ("d_x",)),
     Probe("three samples, one column",
           f"x = Array([[0], [1], [5]])\ngamma = Array([3])\nd_y = Array([[1], [-2], [4]])\n{_BN_ONE_CALL}", ("d_x",)),
     Probe("each column adds up to nothing", f"{_BN_X}{_BN_DY}{_BN_ONE_CALL}\nsums = d_x.sum(dim=0)", ("sums",))),
    (Mistake("a part is missing", _swap(" - d_xhat.sum(dim=0)", ""),
             "What comes through the mean is missing.", "Each column should add up to nothing. What is taken away?"),
     Mistake("a part is missing", _swap(" - xhat * (d_xhat * xhat).sum(dim=0)", ""),
             "What comes through the variance is missing.", "Which part of the gradient points along `xhat`?"),
     Mistake("a part is missing", _swap("n * d_xhat - d", "d_xhat - d"),
             "The first part lacks its factor n. The other two are sums over n rows, and all three are divided by n.",
             "What cancels the n in front?"),
     Mistake("a part is missing", _swap("inv / n", "inv"),
             "Everything is n times too large.", "The two sums should be means. Where does `n` come in?"),
     Mistake("a part is missing", _swap("inv / n", "1 / n"),
             "The scale is missing: `x` was multiplied by `inv`.", "Where does `inv` come in?"),
     Mistake("wrong direction", _swap("- d_xhat.sum", "+ d_xhat.sum"),
             "What comes through the mean has the wrong sign. The mean was subtracted.", "Is it added or taken away?"),
     Mistake("wrong direction", _swap("- xhat *", "+ xhat *"),
             "What comes through the variance has the wrong sign.", "Is it added or taken away?"),
     Mistake("wrong value", _swap("- xhat *", "- n / (n - 1) * xhat *"),
             "In the last part there is a factor n / (n − 1). It belongs to a variance that was divided by n − 1; here "
             "it was divided by n.", "What was the sum of squares divided by, on the way there?"),
     Mistake("wrong value", _swap("xhat * (d_xhat * xhat).sum(dim=0)", "xhat * (d_xhat * xhat)"),
             "In the last part the sum is missing: every row moves the variance.", "Along which axis does it run?"),
     Mistake("a part is missing", _swap("xhat * (d_xhat * xhat).sum(dim=0)", "(d_xhat * xhat).sum(dim=0)"),
             "In the last part a factor is missing: the sum is multiplied by `xhat` again.",
             "How far does each number move the variance?")),
    "One line, and it is exact.",
)  # fmt: skip

BATCH_NORM = Exercise(
    "batch-norm", "Batch norm", "definitions",
    {"batch_norm_steps": _BN_STEPS_TAB, "batch_norm_back": _BN_TAB}, arrays=True,
)  # fmt: skip
