# SPDX-License-Identifier: Apache-2.0
"""StringSplit, StringNormalizer, TfIdfVectorizer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_arrays import same
from onnx import TensorProto

STRING, INT64, FLOAT = TensorProto.STRING, TensorProto.INT64, TensorProto.FLOAT

TEXTS = ["", " ", "a", "one two", "  leading and  double ", "tab\tnew\nline", "a,b,,c,", ",", "x--y---z",
         "\u00fcber\u2003caf\u00e9\u00a0\u3000z", "\u00c2\u1680\u1681 \u200b\u2029x"]  # fmt: skip


def text(values: Any, shape: Any = None) -> np.ndarray:
    array = np.array(values, object)
    return array if shape is None else array.reshape(shape)


@pytest.mark.parametrize("delimiter", [None, "", ",", "--", " "])
@pytest.mark.parametrize("most", [None, 0, 1, 2, 100])
@pytest.mark.parametrize("shape", [(11,), (1, 11), (11, 1, 1)], ids=str)
def test_string_split(run_node: Any, delimiter: Any, most: Any, shape: Any) -> None:
    attributes = {} if delimiter is None else {"delimiter": delimiter}
    if most is not None:
        attributes["maxsplit"] = most
    parts = [t.split(delimiter or None, -1 if most is None else most) for t in TEXTS]
    longest = max(len(p) for p in parts)
    padded = text([p + [""] * (longest - len(p)) for p in parts], (*shape, longest))
    strings, counts = run_node("StringSplit", [text(TEXTS, shape)], 20, [STRING, INT64], **attributes)
    same(strings, padded)
    same(counts, np.array([len(p) for p in parts]).reshape(shape))


@pytest.mark.parametrize("shape", [(0,), (3, 0)], ids=str)
def test_string_split_of_nothing(run_node: Any, shape: Any) -> None:
    strings, counts = run_node("StringSplit", [np.empty(shape, object)], 20, [STRING, INT64])
    assert strings.shape == (*shape, 0)
    assert counts.shape == shape


def test_string_split_of_a_scalar(run_node: Any) -> None:
    strings, counts = run_node("StringSplit", [np.array("a b", object)], 20, [STRING, INT64])
    assert strings.tolist() == ["a", "b"]
    assert counts.tolist() == 2


WORDS = ["Monday", "TUESDAY", "\u00c4rger", "\u00e4RGER", "\u0416\u0443\u043a", "\u03a3\u03b1\u03c2", "stra\u00dfe", ""]


@pytest.mark.parametrize("action", ["NONE", "LOWER", "UPPER"])
@pytest.mark.parametrize("sensitive", [0, 1])
@pytest.mark.parametrize("stopwords", [[], ["monday", "\u00c4rger"], ["Monday"]])
@pytest.mark.parametrize("shape", [(8,), (1, 8)], ids=str)
def test_string_normalizer(run_node: Any, action: str, sensitive: int, stopwords: Any, shape: Any) -> None:
    def changed(word: str, to: str) -> str:
        # One letter for one letter, as Unicode's simple mappings have it.
        letters = {"LOWER": str.lower, "UPPER": str.upper, "NONE": str}[to]
        return "".join(c if len(letters(c)) != 1 else letters(c) for c in word)

    compared = (lambda w: w) if sensitive else (lambda w: changed(w, "LOWER"))
    stops = {compared(w) for w in stopwords}
    kept = [changed(w, action) for w in WORDS if compared(w) not in stops]
    attributes: dict[str, Any] = {"case_change_action": action, "is_case_sensitive": sensitive}
    if stopwords:
        attributes["stopwords"] = stopwords
    (got,) = run_node("StringNormalizer", [text(WORDS, shape)], 10, **attributes)
    same(got, text(kept, (*shape[:-1], len(kept))))


@pytest.mark.parametrize("shape", [(2,), (1, 2)], ids=str)
def test_one_empty_text_is_left_of_stopwords_alone(run_node: Any, shape: Any) -> None:
    (got,) = run_node("StringNormalizer", [text(["a", "B"], shape)], 10, stopwords=["A", "b"])
    same(got, text([""], (*shape[:-1], 1)))


def test_string_normalizer_refuses(run_node: Any) -> None:
    with pytest.raises(Exception, match=r"\[n\] or \[1, n\]"):
        run_node("StringNormalizer", [text(["a", "b"], (2, 1))], 10, unranked=True)
    with pytest.raises(Exception, match="LOWER, UPPER or NONE, got lower"):
        run_node("StringNormalizer", [text(["a"])], 10, case_change_action="lower")


def counted(rows: Any, pool: Any, starts: Any, least: int, most: int, skips: int) -> np.ndarray:
    """Return how often each n-gram is in each row, by its number in the pool."""
    grams: dict[tuple[Any, ...], int] = {}
    bounds, ngram = [*starts, len(pool)], 0
    for length in range(1, len(starts) + 1):
        for at in range(bounds[length - 1], bounds[length], length):
            if least <= length <= most:
                grams[tuple(pool[at : at + length])] = ngram
            ngram += 1
    out = np.zeros((len(rows), ngram), np.float32)
    for r, row in enumerate(rows):
        for length in range(least, most + 1):
            for distance in range(1, skips + 2) if length > 1 else (1,):
                for start in range(len(row) - distance * (length - 1)):
                    gram = tuple(row[start : start + distance * length : distance][:length])
                    if gram in grams:
                        out[r, grams[gram]] += 1
    return out


POOL, STARTS, COLUMNS = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7, 2, 3, 5], [0, 4, 10], [3, 1, 2, 0, 4, 9, 6, 8]
ROWS = [[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8], [2, 3, 5, 2, 9, 3], [5, 5, 5, 5, 5, 5]]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, object])
@pytest.mark.parametrize(("least", "most"), [(1, 1), (1, 2), (2, 2), (1, 3), (3, 3)])
@pytest.mark.parametrize("skips", [0, 1, 5, 100])
@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("weighted", [False, True])
def test_tfidf(run_node: Any, dtype: Any, least: int, most: int, skips: int, mode: str, weighted: bool) -> None:
    counts = counted(ROWS, POOL, STARTS, least, most, skips)
    weights = np.arange(1, 9, dtype=np.float32) / 4
    if mode == "IDF":
        counts = np.minimum(counts, 1)
    if mode != "TF" and weighted:
        counts = counts * weights
    want = np.zeros((len(ROWS), max(COLUMNS) + 1), np.float32)
    want[:, COLUMNS] = counts
    rows = [[str(i) for i in row] for row in ROWS] if dtype is object else ROWS
    attributes: dict[str, Any] = {"pool_strings": [str(i) for i in POOL]} if dtype is object else {"pool_int64s": POOL}
    if weighted:
        attributes["weights"] = weights.tolist()
    attributes |= {
        "mode": mode, "ngram_counts": STARTS, "ngram_indexes": COLUMNS,
        "min_gram_length": least, "max_gram_length": most, "max_skip_count": skips,
    }  # fmt: skip
    for x, expected in ((rows, want), (rows[1], want[1])):
        (got,) = run_node("TfIdfVectorizer", [np.array(x, dtype)], 9, [FLOAT], threads=2, **attributes)
        same(got, expected)


BASE = {
    "mode": "TF", "ngram_counts": [0], "ngram_indexes": [0, 1], "pool_int64s": [4, 5],
    "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mode": "COUNT"}, "TF, IDF or TFIDF"),
        ({"pool_strings": ["a", "b"]}, "got both"),
        ({"ngram_counts": [0, 1], "pool_int64s": [4, 5]}, "whole n-grams"),
        ({"ngram_counts": [3]}, "ngram_counts"),
        ({"ngram_indexes": [0]}, "entry for each n-gram"),
        ({"ngram_indexes": [0, -1]}, "ngram_indexes"),
        ({"mode": "IDF", "weights": [1.0]}, "weights.*2 entries"),
        ({"min_gram_length": 2}, "in order"),
        ({"max_skip_count": -1}, "skips"),
    ],
)
def test_tfidf_refuses(run_node: Any, changes: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node("TfIdfVectorizer", [np.array([4, 5], np.int64)], 9, [FLOAT], **(BASE | changes))


def test_tfidf_of_nothing(run_node: Any) -> None:
    assert run_node("TfIdfVectorizer", [np.empty((2, 0), np.int64)], 9, [FLOAT], **BASE)[0].tolist() == [[0, 0], [0, 0]]
    assert run_node("TfIdfVectorizer", [np.empty((0, 3), np.int64)], 9, [FLOAT], **BASE)[0].shape == (0, 2)
