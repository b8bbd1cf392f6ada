"""A small GPT, written in single numbers: it reads names letter by letter, then makes up new ones.

Nothing here is a matrix library. A vector is a list of Values, a matrix is a list of such rows, and every addition and
multiplication is a node in one large graph. For a name of seven letters that graph has about 65,000 nodes;
`loss.backward()` walks it once, and then each of the 4,192 parameters knows which way to move.

What happens to one letter, in `forward`:

1. It becomes a vector: the row of its letter plus the row of its place in the name.
2. Attention: it asks a question (query) of all letters so far (keys) and takes in a mixture of their answers (values).
3. A small network of two layers thinks about the result, on its own.
4. A score comes out for every letter that might follow. Training raises the score of the one that did.

    python examples/gpt.py                      200 steps, about twenty seconds
    python examples/gpt.py --steps 1000         better names
    python examples/gpt.py --compiled           the same numbers, a thousand times sooner; needs gradwalk[fast]
    python examples/gpt.py --data towns.txt     your own list, one entry a line
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import mul
from pathlib import Path

import gradwalk
from gradwalk import Value, nn, no_grad, optim, take
from gradwalk.errors import MissingExtraError, SettingError

Row = list[Value]
Matrix = list[Row]

NAMES = Path(__file__).with_name("names.txt")


# --- the data: names as lists of small ints ------------------------------------------------------------------------


def read_names(path: Path) -> list[str]:
    """The lines of a text file, without blank ones."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingError(f"cannot read {path}: {error.strerror}; --data takes a text file, one name a line") from None
    except UnicodeDecodeError as error:
        raise SettingError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8 and try again") from None
    names = [line.strip() for line in text.splitlines() if line.strip()]
    if not names:
        raise SettingError(f"{path} holds no names: write one a line")
    for number, name in enumerate(names, start=1):
        if not name.isprintable():
            raise SettingError(f"name {number} in {path} holds a character that cannot be printed: {name!r}")
    return names


@dataclass(frozen=True)
class Vocabulary:
    """Which characters there are. A token is a character's place among them; one more marks both ends of a name."""

    characters: list[str]

    @classmethod
    def of(cls, names: Sequence[str]) -> Vocabulary:
        """The characters that occur in `names`."""
        return cls(sorted(set("".join(names))))

    def __len__(self) -> int:
        return len(self.characters) + 1

    @property
    def boundary(self) -> int:
        """The token before the first letter and after the last."""
        return len(self.characters)

    def encode(self, name: str) -> list[int]:
        """A name as tokens, a boundary at both ends."""
        strange = sorted(set(name) - set(self.characters))
        if strange:
            known = "".join(self.characters)
            raise SettingError(f"{name!r} holds {strange}, and the vocabulary is {known!r}; add names that hold them")
        return [self.boundary, *map(self.characters.index, name), self.boundary]

    def decode(self, tokens: Sequence[int]) -> str:
        """The name that tokens spell, without boundaries."""
        return "".join(self.characters[token] for token in tokens if token != self.boundary)


# --- the parameters: all that training changes ---------------------------------------------------------------------


@dataclass(frozen=True)
class Config:
    """The sizes of a model."""

    vocabulary: int  # how many tokens there are
    width: int = 16  # numbers that stand for one letter
    heads: int = 4  # parts of the width that attend, each on its own
    block: int = 16  # places in the longest name, with the boundary before it

    def __post_init__(self) -> None:
        for field in fields(self):
            size = getattr(self, field.name)
            if not isinstance(size, int) or size < 1:
                raise SettingError(f"{field.name} must be a whole number of at least 1, not {size!r}")
        if self.width % self.heads:
            fitting = [n for n in range(1, self.width + 1) if self.width % n == 0]
            raise SettingError(
                f"a width of {self.width} cannot be shared out evenly among {self.heads} heads; "
                f"heads may be one of {fitting}, or the width a multiple of {self.heads}"
            )


@dataclass(frozen=True)
class Parameters:
    """Every matrix of the model, one row for each number that it puts out. There are no biases."""

    config: Config
    token: Matrix  # what each letter is
    position: Matrix  # what each place in a name is
    query: Matrix  # what a letter looks for
    key: Matrix  # what it can be found by
    value: Matrix  # what it tells whoever finds it
    mix: Matrix  # brings the answers of all heads together
    widen: Matrix  # the two-layer network: out to four times the width,
    narrow: Matrix  # and back
    head: Matrix  # scores for the next letter

    def matrices(self) -> dict[str, Matrix]:
        """The matrices by name, always in the same order."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "config"}

    def flat(self) -> list[Value]:
        """Every parameter in one list: what an optimiser wants."""
        return [x for matrix in self.matrices().values() for row in matrix for x in row]


def make_parameters(config: Config, seed: int = 42, spread: float = 0.08) -> Parameters:
    """Fresh parameters: small random numbers, the same for the same seed."""
    draw = random.Random(seed)

    def matrix(rows: int, columns: int) -> Matrix:
        return [[Value(draw.gauss(0.0, spread)) for _ in range(columns)] for _ in range(rows)]

    width = config.width
    return Parameters(
        config,
        token=matrix(config.vocabulary, width),
        position=matrix(config.block, width),
        query=matrix(width, width),
        key=matrix(width, width),
        value=matrix(width, width),
        mix=matrix(width, width),
        widen=matrix(4 * width, width),
        narrow=matrix(width, 4 * width),
        head=matrix(config.vocabulary, width),
    )


# --- the model: from one letter to scores for the next -------------------------------------------------------------
# No line in this part looks at a number inside a Value, so what the parameters happen to be never decides which nodes
# are made. Tokens do no more than pick rows and targets: names of one length have graphs of one shape. That is why the
# loss can be compiled as it stands: `take` picks a row by a token that may be another one at the next call.


def dot(xs: Sequence[Value], ys: Sequence[Value]) -> Value:
    """x₁y₁ + x₂y₂ + …; it starts from the first product, because starting from 0 would cost a node."""
    products: Iterator[Value] = map(mul, xs, ys)
    return sum(products, start=next(products))


def times(matrix: Matrix, x: Row) -> Row:
    """Matrix times vector: one dot product for each row."""
    return [dot(row, x) for row in matrix]


def plus(x: Row, y: Row) -> Row:
    """The sum of two vectors."""
    return [a + b for a, b in zip(x, y, strict=True)]


def normalised(x: Row) -> Row:
    """RMSNorm: the vector scaled so that the mean of its squares is 1, whatever its length was."""
    mean_square = dot(x, x) * (1.0 / len(x))
    scale = (mean_square + 1e-5) ** -0.5  # the small number keeps a vector of zeros from dividing by zero
    return [a * scale for a in x]


def attention(query: Row, keys: Matrix, values: Matrix, heads: int) -> Row:
    """A mixture of `values`; the better a key fits the query, the more of its value. Each head mixes its own part."""
    size = len(query) // heads
    mixture: Row = []
    for start in range(0, len(query), size):
        part = slice(start, start + size)
        fits = [dot(query[part], key[part]) * size**-0.5 for key in keys]
        shares = nn.softmax(fits)  # positive, and 1 in total
        mixture += [dot(shares, column) for column in zip(*(value[part] for value in values), strict=True)]
    return mixture


def forward(parameters: Parameters, token: int, keys: Matrix, values: Matrix) -> Row:
    """A score for each token that may follow `token`.

    `keys` and `values` hold what earlier letters left behind, and this letter adds its own: the future is simply not
    in them yet, so no mask is needed, and no letter is computed twice.
    """
    x = normalised(plus(take(parameters.token, token), parameters.position[len(keys)]))

    looking = normalised(x)
    keys.append(times(parameters.key, looking))
    values.append(times(parameters.value, looking))
    heard = attention(times(parameters.query, looking), keys, values, parameters.config.heads)
    x = plus(x, times(parameters.mix, heard))  # added to what was there: gradients have a straight way back

    hidden = [a.relu() for a in times(parameters.widen, normalised(x))]
    x = plus(x, times(parameters.narrow, hidden))

    return times(parameters.head, normalised(x))


def loss(parameters: Parameters, tokens: Sequence[int]) -> Value:
    """How surprised the model is by each next token, on average: the number that training brings down."""
    positions = len(tokens) - 1
    if not 1 <= positions <= parameters.config.block:
        raise SettingError(
            f"{len(tokens)} tokens give {positions} places to predict at, and the model has 1 to "
            f"{parameters.config.block}; use a shorter name or a larger block"
        )
    keys: Matrix = []
    values: Matrix = []
    scores = [forward(parameters, token, keys, values) for token in tokens[:-1]]
    return nn.cross_entropy(scores, tokens[1:])


# --- training and sampling -----------------------------------------------------------------------------------------


def train(
    parameters: Parameters, documents: Sequence[Sequence[int]], steps: int, lr: float, *, compiled: bool = False
) -> Iterator[float]:
    """Take `steps` steps, one document each, and give the loss of each; the rate falls from `lr` towards 0."""
    optimiser = optim.Adam(parameters.flat(), lr, betas=(0.9, 0.95))
    schedule = optim.LinearSchedule(optimiser, steps)
    loss_of = gradwalk.compile(loss) if compiled else loss  # nothing else changes
    for step in range(steps):
        surprise = loss_of(parameters, documents[step % len(documents)])
        if not math.isfinite(surprise.data):
            raise SettingError(f"the loss became {surprise.data:g} at step {step + 1}: use an --lr smaller than {lr:g}")
        optimiser.zero_grad()
        surprise.backward()
        optimiser.step()
        schedule.step()
        yield surprise.data


def sample(parameters: Parameters, boundary: int, temperature: float, draw: random.Random) -> list[int]:
    """A new name as tokens: start at the boundary and keep drawing the next token until the boundary comes again.

    A temperature below 1 makes likely letters likelier, above 1 it evens them out.
    """
    keys: Matrix = []
    values: Matrix = []
    tokens = [boundary]
    with no_grad():
        while len(keys) < parameters.config.block:
            scores = forward(parameters, tokens[-1], keys, values)
            chances = [share.data for share in nn.softmax([score / temperature for score in scores])]
            tokens.append(drawn(chances, draw))
            if tokens[-1] == boundary:
                break
    return tokens


def drawn(chances: list[float], draw: random.Random) -> int:
    """One of the tokens, by its chance."""
    if not all(map(math.isfinite, chances)):
        raise SettingError("the scores are too large to draw from: use a smaller --lr or a larger --temperature")
    return draw.choices(range(len(chances)), weights=chances)[0]


# --- the program ---------------------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """Train on names, then print new ones."""
    parser = make_parser("gpt.py", __doc__)
    parser.add_argument(
        "--compiled", action="store_true", help="train at native speed, and say how much quicker that was"
    )
    options = parser.parse_args(argv)
    try:
        names = read_names(options.data)
        vocabulary = Vocabulary.of(names)
        config = Config(len(vocabulary), options.width, options.heads, options.block)
        documents = make_documents(names, vocabulary, config, options.seed)
        parameters = make_parameters(config, options.seed)

        print(f"{len(names):,} names from {options.data.name}")
        print(f"{len(vocabulary)} tokens in the vocabulary: {''.join(vocabulary.characters)} and a boundary")
        print(
            f"{len(parameters.flat()):,} parameters; pure guessing would have a loss of {math.log(len(vocabulary)):.3f}"
        )
        losses = train(parameters, documents, options.steps, options.lr, compiled=options.compiled)
        pace = show_training(losses, options.steps)
        if options.compiled and pace:
            show_speed_up(config, documents, pace, options)
        show_samples(parameters, vocabulary, set(names), options)
    except (SettingError, MissingExtraError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:  # during training it only ends the training
        return 130
    return 0


def make_documents(names: Sequence[str], vocabulary: Vocabulary, config: Config, seed: int) -> list[list[int]]:
    """Every name as tokens, in an order that the seed decides."""
    longest = max(names, key=len)
    if len(longest) + 1 > config.block:
        raise SettingError(
            f"{longest!r} has {len(longest)} letters, and a block of {config.block} holds {config.block - 1} "
            f"beside the boundary: use --block {len(longest) + 1}"
        )
    documents = [vocabulary.encode(name) for name in names]
    random.Random(seed).shuffle(documents)
    return documents


def show_training(losses: Iterator[float], steps: int) -> list[float]:
    """Run the steps with a line of progress: rewritten in place on a terminal, a new one now and then in a file.

    Gives the seconds that each step took.
    """
    on_terminal = sys.stdout.isatty()
    recent: deque[float] = deque(maxlen=50)
    began = now = time.perf_counter()
    shown, step = -math.inf, 0
    seconds: list[float] = []
    try:
        for step, latest in enumerate(losses, start=1):
            recent.append(latest)
            before, now = now, time.perf_counter()
            seconds.append(now - before)
            due = now - shown > (0.1 if on_terminal else 10.0)
            if due or step == steps or (step % max(1, steps // 10) == 0 and not on_terminal):
                shown, pace = now, step / (now - began)
                line = (
                    f"step {step:>{len(str(steps))}}/{steps}  loss {latest:.3f}  "
                    f"average {sum(recent) / len(recent):.3f}  "
                    f"{pace:.1f} steps/s  {clock((steps - step) / pace)} left"
                )
                print(f"\r{line:<79}" if on_terminal else line, end="" if on_terminal else "\n", flush=True)
    except KeyboardInterrupt:
        print(f"\nstopped after {step} of {steps} steps; here is what it has learnt so far", end="", flush=True)
    finally:
        print(flush=True)
    return seconds


def show_speed_up(
    config: Config, documents: Sequence[Sequence[int]], seconds: list[float], options: argparse.Namespace
) -> None:
    """Take a few steps without compile, and say how much sooner the compiled ones were done."""
    few = min(5, len(seconds))
    eager = train(make_parameters(config, options.seed), documents, options.steps, options.lr)
    began = time.perf_counter()
    for _ in range(few):
        next(eager)
    one = (time.perf_counter() - began) / few
    usual, whole = sorted(seconds)[len(seconds) // 2], sum(seconds)
    print(f"compiled: {len(seconds)} steps in {whole:.2f} s, tracing included; a step takes {1e6 * usual:.0f} µs")
    print(f"eager: {1e3 * one:.0f} ms a step, so a compiled step is {one / usual:,.0f} times quicker", end="")
    print(f" and the whole training {one * len(seconds) / whole:,.0f} times")


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def show_samples(parameters: Parameters, vocabulary: Vocabulary, known: set[str], options: argparse.Namespace) -> None:
    """Print new names, and mark those that were in the data."""
    draw = random.Random(options.seed)
    print(f"{options.samples} names at temperature {options.temperature:g} (* is in the data):")
    for _ in range(options.samples):
        name = vocabulary.decode(sample(parameters, vocabulary.boundary, options.temperature, draw))
        print(f"  {name or '(an empty name)'}{' *' if name in known else ''}", flush=True)


def make_parser(prog: str, description: str | None) -> argparse.ArgumentParser:
    """The options of every GPT here, each with what it does to the result."""
    parser = argparse.ArgumentParser(
        prog=prog, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--steps", type=whole(1), default=200, metavar="N", help="training steps, one name each (default 200)")
    add("--seed", type=whole(0), default=42, metavar="N", help="the same seed gives the same names (default 42)")
    add(
        "--lr", type=positive, default=0.01, metavar="X",
        help="how far a step goes, falling to 0 by the end; too large and the loss climbs (default 0.01)",
    )  # fmt: skip
    add("--samples", type=whole(0), default=10, metavar="N", help="names to make up at the end (default 10)")
    add(
        "--temperature", type=positive, default=0.7, metavar="X",
        help="below 1: safer, more alike; above 1: bolder, stranger (default 0.7)",
    )  # fmt: skip
    add(
        "--data", type=Path, default=NAMES, metavar="FILE", help="UTF-8 text, one name a line (default: names.txt here)"
    )
    add("--width", type=whole(1), default=16, metavar="N", help="numbers that stand for one letter (default 16)")
    add("--heads", type=whole(1), default=4, metavar="N", help="parts of the width that attend apart (default 4)")
    add("--block", type=whole(2), default=16, metavar="N", help="longest name it can hold, plus 1 (default 16)")
    return parser


def whole(least: int) -> Callable[[str], int]:
    """For argparse: reads a whole number of at least `least`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, not {text!r}")
        return number

    return read


def positive(text: str) -> float:
    """For argparse: reads a finite number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text!r}")
    return number


if __name__ == "__main__":
    raise SystemExit(main())
