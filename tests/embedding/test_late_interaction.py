"""Token by token: what is kept of a text, and how like a question it is."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.late_interaction import TOKEN_BYTES, maxsim, pack_tokens, project_tokens

TEXTS = st.lists(st.integers(1, 9).flatmap(lambda n: st.integers(0, 99).map(lambda seed: tokens(seed, n))), min_size=1)


def tokens(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, 384), np.float32)


def test_a_token_takes_twelve_bytes_however_long_its_vector_is() -> None:
    some = tokens(1, 5)
    assert len(pack_tokens(some)) == 5 * TOKEN_BYTES == 60
    assert pack_tokens(some) == pack_tokens(some * 7)


@given(TEXTS, st.integers(1, 6))
def test_a_text_is_as_like_a_question_as_the_likest_tokens_are_on_average(texts: list[np.ndarray], asked: int) -> None:
    question = project_tokens(tokens(1_000, asked))
    scores = maxsim(question, {number: pack_tokens(text) for number, text in enumerate(texts)})
    for text, like in zip(texts, scores.values(), strict=True):
        signs = np.where(project_tokens(text) > 0, 1.0, -1.0)
        best = [max(float(one @ sign) for sign in signs) for one in question]
        assert like == pytest.approx(np.mean(best) / 96**0.5, abs=1e-4)


@given(TEXTS)
def test_similarity_does_not_depend_on_the_other_texts_of_a_batch(texts: list[np.ndarray]) -> None:
    question, every = project_tokens(tokens(7, 4)), {number: pack_tokens(text) for number, text in enumerate(texts)}
    alone = {number: maxsim(question, {number: each})[number] for number, each in every.items()}
    assert maxsim(question, every) == pytest.approx(alone, abs=1e-5)


def test_a_text_is_most_like_itself_in_any_order_of_its_tokens() -> None:
    mine, others = tokens(1, 8), [tokens(seed, 8) for seed in range(2, 30)]
    kept_as = {number: pack_tokens(each) for number, each in enumerate([mine[::-1], *others])}
    result = list(maxsim(project_tokens(mine), kept_as).values())
    assert result[0] == max(result) > 1.5 * max(result[1:])


def test_a_turn_is_more_like_a_question_when_those_beside_it_hold_the_rest_of_it() -> None:
    query_tokens = tokens(1, 6)
    every = {
        1: pack_tokens(query_tokens[:3]),
        2: pack_tokens(query_tokens[3:]),
        3: pack_tokens(tokens(2, 3)),
        4: pack_tokens(query_tokens[:3]),
    }
    scores = maxsim(project_tokens(query_tokens), every, {1: [2], 4: [3]})
    alone = maxsim(project_tokens(query_tokens), every)
    assert scores[1] > scores[4]
    assert scores[1] > alone[1]
    assert scores[2] == alone[2]
    assert maxsim(project_tokens(query_tokens), {1: every[1]}, {1: [2], 9: [1]}) == pytest.approx({1: alone[1]})


def test_no_texts_have_no_scores() -> None:
    assert maxsim(project_tokens(tokens(1, 2)), {}) == {}


def test_a_long_question_of_many_long_texts_takes_little_memory() -> None:
    query_tokens, texts = (
        project_tokens(tokens(1, 200)),
        {number: pack_tokens(tokens(number, 300)) for number in range(100)},
    )
    maxsim(query_tokens, {1: texts[1]})
    tracemalloc.start()
    try:
        maxsim(query_tokens, texts)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 8_000_000  # a number for every two tokens would take 24
