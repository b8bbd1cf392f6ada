"""Columns of a macro-row: what `passes.collapse` makes of rows of a tape, and `analyze` groups."""

from __future__ import annotations

#: Kinds: an op on its operands; a sum of products and single terms; one of a table; the largest or smallest of a list.
ELEMENT, SUM, TAKEN, EXTREME = range(4)
#: Columns. PAIRS and TAILS are positions in the lists that `collapse` writes (PAIRS is the tape's row for the last two
#: kinds). KIND and what follows it is the shape: macro-rows of one level and one shape may be done together.
NODE, LEVEL, PAIRS, TAILS, FIRST_HASH, SECOND_HASH, KIND = range(7)
#: KEY is the op (and what kinds of operands it has); then the numbers of pairs (parameter with parameter, parameter
#: with other, other with other), of single terms (parameters, others), and whether there is a constant term.
KEY, PP, PO, OO, PARAMETER_TAILS, OTHER_TAILS, CONSTANT = range(7, 14)
FIELDS = 14
