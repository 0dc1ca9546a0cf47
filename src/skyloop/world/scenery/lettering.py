"""Capital letters and digits made of rectangles, three wide and five high."""

from __future__ import annotations

from typing import Final

_ROWS: Final = {
    "A": "010 101 111 101 101", "B": "110 101 110 101 110", "C": "011 100 100 100 011", "D": "110 101 101 101 110",
    "E": "111 100 110 100 111", "F": "111 100 110 100 100", "G": "011 100 101 101 011", "H": "101 101 111 101 101",
    "I": "111 010 010 010 111", "K": "101 110 100 110 101", "L": "100 100 100 100 111", "M": "101 111 111 101 101",
    "N": "110 101 101 101 101", "O": "111 101 101 101 111", "P": "110 101 110 100 100", "R": "110 101 110 101 101",
    "S": "111 100 111 001 111", "T": "111 010 010 010 010", "U": "101 101 101 101 111", "V": "101 101 101 101 010",
    "W": "101 101 111 111 101", "Y": "101 101 010 010 010", "0": "111 101 101 101 111", "1": "010 110 010 010 111",
    "2": "111 001 111 100 111", "3": "111 001 011 001 111", "5": "111 100 111 001 111", "7": "111 001 010 010 010",
    " ": "000 000 000 000 000",
}  # fmt: skip


def strokes(text: str, height: float) -> list[tuple[float, float, float, float]]:
    """(left, low, right, high) m of the rectangles that write `text` around (0, 0)."""
    cell = height / 5.0
    start = -0.5 * cell * (4 * len(text) - 1)
    found = []
    for place, letter in enumerate(text):
        rows = _ROWS[letter].split()
        for column in range(3):
            # runs down a column, so that few rectangles are needed
            marks = [row[column] == "1" for row in rows] + [False]
            top = None
            for k, marked in enumerate(marks):
                if marked and top is None:
                    top = k
                elif not marked and top is not None:
                    left = start + cell * (4 * place + column)
                    found.append((left, (2.5 - k) * cell, left + cell, (2.5 - top) * cell))
                    top = None
    return found
