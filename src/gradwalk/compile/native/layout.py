"""Where things stand in memory that kernels read: the numbers that lowering and kernels must agree on.

A step's descriptor is a run of int64 words whose meaning is given here; the context says where memory is.
"""

from __future__ import annotations

# --- memory ----------------------------------------------------------------------------------------------------------

#: Words of the context: addresses of values and gradients (the runner's own, and the parameters'), of the lists of
#: positions, of the indices that choose from tables, and of scratch memory.
OWN, OWN_GRADS, PARAMETERS, PARAMETER_GRADS, LISTS, INDICES, SCRATCH = range(7)
#: More of them, for batches: how many lanes a node has; where products keep sums for the gradients of parameters; the
#: first sample at hand, how many there are from there, and how many samples there are altogether.
LANES, SUMS, FIRST, PRESENT, SAMPLES = range(7, 12)

#: How a matrix of operands is described: whose memory it is in (OWN or PARAMETERS), where it starts, how far one row
#: and one column are from the next; or, if it has no such form, where in the lists its positions are (else -1).
SPACE, START, ROW, COLUMN, LIST = range(5)
ACCESS = 5

# --- descriptors -----------------------------------------------------------------------------------------------------

#: An op on its operands: `ELEMENT_ROWS` × `ELEMENT_COLUMNS` results, then an access for each operand.
OUT, ELEMENT_ROWS, ELEMENT_COLUMNS, ELEMENT_OPERANDS = range(4)

#: An op on few operands, by functions of single numbers: how many results and operands each, the addresses of the
#: functions for value and slopes, positions of the operands (~position for parameters), and which want gradients.
APPLY_COUNT, APPLY_ARITY, APPLY_VALUE, APPLY_SLOPES, APPLY_LIST, APPLY_WANTED = 1, 2, 3, 4, 5, 6

#: A product of matrices, rows × inner by inner × columns, plus tails: an access each, and whether it wants gradients.
PRODUCT_ROWS, PRODUCT_COLUMNS, PRODUCT_INNER = 1, 2, 3
PRODUCT_LEFT = 4
PRODUCT_RIGHT = PRODUCT_LEFT + ACCESS
#: Whether a side wants gradients: 0 not at all, or by way of scratch memory, or straight to where they belong, there
#: added to what is there or written over it.
BY_SCRATCH, DIRECT, WRITTEN = 1, 2, 3
PRODUCT_LEFT_GRADS = PRODUCT_RIGHT + ACCESS
PRODUCT_RIGHT_GRADS = PRODUCT_LEFT_GRADS + 1
PRODUCT_TAILS = PRODUCT_RIGHT_GRADS + 1
PRODUCT_SUMS = PRODUCT_TAILS + 1  # for batches: where its sums begin
PRODUCT_FIRST_TAIL = PRODUCT_SUMS + 1

#: Sums that share nothing: how many, then parts. A part is a width, whether it is of pairs, and two accesses with
#: whether they want gradients (the second is idle where there is only one factor).
SUM_COUNT, SUM_PARTS, SUM_FIRST_PART = 1, 2, 3
WIDTH, IS_PAIR, FACTOR, OTHER_FACTOR = 0, 1, 2, 2 + ACCESS + 1
PART = 2 + 2 * (ACCESS + 1)
WANTS_GRADS = ACCESS  # the word after an access: 0 for no, 1 for gradients that are added,
WRITE = 2  # and this for gradients that are written

#: One of a table for each result: where the tables are in the lists, and by which index; positions of parameters are
#: written as ~position.
TAKE_COUNT, TAKE_TABLES, TAKE_SLOTS = 1, 2, 3

#: The largest or smallest of lists of one length: how many lists, how long; positions as above.
EXTREME_COUNT, EXTREME_WIDTH, EXTREME_LIST, EXTREME_SIGN = 1, 2, 3, 4
