"""One model, several processes, each with its part of the data: `mpiexec -n 2 python examples/data_parallel.py`.

Each process computes the loss of its own points. At every step the optimiser adds the gradients up over all processes,
so all of them take the same step, and the losses are those of one process with all the points, up to rounding.
Needs mpi4py and an MPI, which `pip install mpi4py mpich` brings; without mpiexec it is one process with everything.
"""

from __future__ import annotations

import random
import sys

from gradwalk import datasets, nn, optim

try:
    from mpi4py import MPI
except ImportError:
    sys.exit("this example adds gradients up over processes: pip install mpi4py mpich")

world = MPI.COMM_WORLD
random.seed(7)  # the same in all processes, so that they start from the same model
model = nn.MLP(2, [8, 1])
descent = optim.Adam(model.parameters(), lr=0.05, reduce=world)
X, y = datasets.moons(n=40, seed=7)
mine = slice(world.rank, None, world.size)  # every point belongs to one process

for step in range(1, 21):
    # A sum over points, divided by how many there are in all: then parts add up to the whole.
    loss = nn.hinge([model(x) for x in X[mine]], y[mine]) * (len(X[mine]) / len(X))
    descent.zero_grad()
    loss.backward()
    descent.step()
    whole = world.allreduce(loss.data)
    if world.rank == 0 and step in (1, 10, 20):
        print(f"step {step:2}   loss {whole:.12f}")
