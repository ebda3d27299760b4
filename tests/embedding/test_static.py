"""The static model: the committed file, its tokens, and what its vectors are good for."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from commonplace.embedding.static import WEIGHTS, StaticModel, Tokenizer

HASH = "0785dc25e60c0e87cc18d97dcfe2294a683ec85499f90bf470848209173b27bd"


@pytest.fixture(scope="module")
def model() -> StaticModel:
    return StaticModel.load()


def test_the_file_is_the_one_the_card_describes() -> None:
    assert hashlib.sha256(WEIGHTS.read_bytes()).hexdigest() == HASH
    assert HASH in WEIGHTS.with_name("MODEL_CARD.md").read_text()
    assert WEIGHTS.stat().st_size <= 16_000_000


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.bin").write_bytes(b"something else\n{}\n")
    with pytest.raises(ValueError, match="not a static model"):
        StaticModel.load(tmp_path / "other.bin")


def test_rows_have_length_one_or_are_zero(model: StaticModel) -> None:
    vectors = model.encode(
        ["a walk in the park", "公園を散歩する", "", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 !?", "x" * 9_000]
    )
    assert vectors.shape == (5, model.dims)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 1, 0, 0, 1], atol=1e-5)
    assert model.encode([]).shape == (0, model.dims)


def test_a_text_alone_and_among_others_has_the_same_vector(model: StaticModel) -> None:
    texts = ["the first", "第二", "셋째"]
    together = model.encode(texts)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(model.encode([text])[0], vector)


def test_words_pieces_and_pairs() -> None:
    vocabulary = ["walk", "##ing", "é", "cafe", "公", "园", "公园", "20", "##26"]
    ids = Tokenizer(vocabulary).ids

    def tokens(text: str) -> list[str]:
        return [vocabulary[i] for i in ids(text)]

    assert tokens("Walk, walking!") == ["walk", "walk", "##ing"]
    assert tokens("2026") == ["20", "##26"]
    assert tokens("Café") == ["cafe"]
    assert tokens("公园walk") == ["公", "园", "公园", "walk"]
    assert tokens("ＷＡＬＫ") == ["walk"]
    assert tokens("qq") == []


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("what does Ann like to drink?", 0),
        ("why did the server go down?", 1),
        ("小狗是什么时候来的？", 2),
        ("犬を飼い始めたのはいつ？", 2),
        ("서버가 왜 멈췄나요?", 1),
    ],
)
def test_a_note_is_found_by_meaning_in_four_languages(model: StaticModel, question: str, right: int) -> None:
    notes = [
        "Ann prefers green tea in the morning.",
        "The server crashed because the disk was full.",
        "We adopted a puppy from the shelter last weekend.",
        "The museum is closed on Mondays.",
    ]
    assert int(np.argmax(model.encode(notes) @ model.encode([question])[0])) == right
