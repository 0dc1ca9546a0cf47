"""The open list of a graph search: a binary heap over the numbers of nodes, in which a node can be moved up.

Nodes of equal key leave it in an order that depends on nothing but the calls, so a search repeats exactly.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from skyloop.core.jit import inlined
from skyloop_client.messages import Array

NEW, CLOSED = -1, -2


class Heap(NamedTuple):
    """Arrays over all nodes; how many nodes are in the heap is counted by the caller."""

    nodes: Array
    """The heap: numbers of nodes."""
    place: Array
    """By node: where it is in the heap, NEW or CLOSED."""
    key: Array
    """By node: what it is sorted by."""


HEAP_ARRAYS = types.Tuple((types.int64[::1], types.int64[::1], types.float64[::1]))


@inlined
def rise(heap, at):
    """Moves the node at a place of the heap up to where it belongs."""
    node = heap.nodes[at]
    while at > 0:
        above = (at - 1) // 2
        if heap.key[heap.nodes[above]] <= heap.key[node]:
            break
        heap.nodes[at] = heap.nodes[above]
        heap.place[heap.nodes[at]] = at
        at = above
    heap.nodes[at] = node
    heap.place[node] = at


@inlined
def push_or_raise(heap, size, node, key):
    """Enters a node, or moves it up if its key has become smaller. Returns the new size."""
    heap.key[node] = key
    at = heap.place[node]
    if at == NEW:
        heap.nodes[size] = node
        rise(heap, size)
        return size + 1
    rise(heap, at)
    return size


@inlined
def pop(heap, size):
    """Takes out the node of the smallest key and closes it. The new size is smaller by one."""
    top = heap.nodes[0]
    heap.place[top] = CLOSED
    last = heap.nodes[size - 1]
    size -= 1
    if size == 0:
        return top
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and heap.key[heap.nodes[below + 1]] < heap.key[heap.nodes[below]]:
            below += 1
        if heap.key[heap.nodes[below]] >= heap.key[last]:
            break
        heap.nodes[at] = heap.nodes[below]
        heap.place[heap.nodes[at]] = at
        at = below
    heap.nodes[at] = last
    heap.place[last] = at
    return top


def nodes_between(parent: NDArray[np.int64], first: int, last: int) -> NDArray[np.int64]:
    """The nodes from first to last that a search has found, by each node's parent."""
    nodes = [last]
    while nodes[-1] != first:
        nodes.append(int(parent[nodes[-1]]))
    return np.array(nodes[::-1])
