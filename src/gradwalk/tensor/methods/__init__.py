"""The methods of a tensor, by PyTorch's names: what arrays add to the functions of the op table.

`dim` may be spelt `axis`, and `keepdim` `keepdims`. What is composed has no derivative of its own: it is written in ops
that have one. Each part rests on those before it: `basics`, `shaping`, `picking`, `reductions`, `elementwise`.
"""

from __future__ import annotations

from gradwalk.tensor.methods.elementwise import Elementwise as TensorMethods

__all__ = ["TensorMethods"]
