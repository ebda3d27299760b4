"""The directions in which tokens are kept: those in which the tokens of ordinary texts differ the most.

`python tokens.py --work DIR --model FOLDER --out FILE` reads `texts.tsv` (see corpus.py), lets the model that reads
token by token see a few of every source, and writes 96 directions and where the middle lies along each, as float16.
"""

import argparse
import random
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

DIRECTIONS = 96
A_SOURCE = 64  # texts of each source, so that none outweighs the others
WORDS = range(6, 71)


def chosen(work: Path) -> list[str]:
    """English texts of a passage's length, a few of every source."""
    sources: dict[str, list[str]] = {}
    for line in (work / "texts.tsv").read_text(encoding="utf-8").splitlines():
        language, _, rest = line.partition("\t")
        source, _, text = rest.partition("\t")
        if language == "en" and len(text.split()) in WORDS:
            sources.setdefault(source, []).append(text)
    rng = random.Random(3)
    return [text for _, texts in sorted(sources.items()) for text in rng.sample(texts, min(len(texts), A_SOURCE))]


def tokens_of(folder: Path, texts: list[str]) -> np.ndarray:
    """The vectors of all tokens, each of length 1."""
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    rows = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        rows.append(session.run(None, {each.name: feed[each.name] for each in session.get_inputs()})[0][0])
    found = np.concatenate(rows)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    vectors = tokens_of(given.model, chosen(given.work))
    middle = vectors.mean(axis=0)
    shares, directions = np.linalg.eigh(np.cov((vectors - middle).T))
    best = directions[:, ::-1][:, :DIRECTIONS]
    best = best * np.sign(
        best[np.abs(best).argmax(axis=0), range(DIRECTIONS)]
    )  # eigenvectors have no sign of their own
    np.save(given.out, np.concatenate([(middle @ best)[None], best]).astype(np.float16))
    print(f"{len(vectors)} tokens; {DIRECTIONS} directions hold {shares[::-1][:DIRECTIONS].sum() / shares.sum():.3f}")


if __name__ == "__main__":
    main()
