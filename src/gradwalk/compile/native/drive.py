"""The loops that call the kernels of a program for a single sample, one for each way.

Their table holds: steps, addresses of kernels, addresses of descriptors, context, outputs, where they are, their values
or seeds; and for the way back how many runs of gradients are to be cleared, and where they begin and end; then whether
some gradient was not finite in the end, of how many parameters and inputs that is looked at.
"""

from __future__ import annotations

from gradwalk.compile.native.layout import OWN, OWN_GRADS, PARAMETER_GRADS, PARAMETERS
from gradwalk.compile.native.microkernels import doubles, invoke, longs

__all__ = ["drive", "drive_back"]


def drive(table: int, unused: int) -> None:
    """Call every kernel in order, then copy the outputs out."""
    t = longs(table)
    kernels, descriptors, context = longs(t[1]), longs(t[2]), t[3]
    for step in range(t[0]):
        invoke(kernels[step], descriptors[step], context)
    places, out = longs(t[5]), doubles(t[6])
    own, parameters = doubles(longs(context)[OWN]), doubles(longs(context)[PARAMETERS])
    for k in range(t[4]):
        out[k] = own[places[k]] if places[k] >= 0 else parameters[~places[k]]


def drive_back(table: int, unused: int) -> None:
    """Clear the gradients, seed those of the outputs, then call every kernel in reverse order."""
    t = longs(table)
    kernels, descriptors, context = longs(t[1]), longs(t[2]), t[3]
    places, seeds = longs(t[5]), doubles(t[6])
    own, parameters = doubles(longs(context)[OWN_GRADS]), doubles(longs(context)[PARAMETER_GRADS])
    runs = longs(t[8])
    for run in range(t[7]):
        for i in range(runs[2 * run], runs[2 * run + 1]):
            own[i] = 0.0
    for k in range(t[4]):
        if places[k] >= 0:
            own[places[k]] += seeds[k]
        else:
            parameters[~places[k]] += seeds[k]
    for back in range(t[0]):
        step = t[0] - 1 - back
        if kernels[step] != 0:
            invoke(kernels[step], descriptors[step], context)
    largest = 0  # exponent, plus 1; in bits, because to compare floats takes four times as long
    bits = longs(longs(context)[PARAMETER_GRADS])
    for i in range(t[10]):
        largest |= ((bits[i] >> 52) & 0x7FF) + 1
    bits = longs(longs(context)[OWN_GRADS])
    for i in range(t[11]):
        largest |= ((bits[i] >> 52) & 0x7FF) + 1
    t[9] = largest >> 11
