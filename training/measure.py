"""Figures for a static model: LoCoMo in fusion with BM25, CMRC 2018 by meaning, crossing languages, unseen sources.

`python measure.py --data DIR --work DIR [--potion DIR] [WEIGHTS ...]`. The weight of meaning in the fusion is chosen on
the questions of conversations 1 to 5; 6 to 10 are reported apart. Nothing of these sets is trained on.
"""

import argparse
import json
import math
import re
import struct
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from weights import open_model

STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by can could did do does for from had has have he her his how i if in into is"
        " it its me my no not of on or our she so some such than that the their them then there these they this to was"
        " we were what when where which who whom whose why will with would you your about s t d m ll re ve",
    )
)
CROSSING = Path(__file__).with_name("crossing.tsv")
WEIGHTS = (0.25, 0.35, 0.5, 0.65, 0.8, 1.0, 1.25)


def stem(word: str) -> str:
    for suffix in ("ingly", "edly", "ing", "ies", "ied", "ed", "es", "s", "ly"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)] + ("y" if suffix in ("ies", "ied") else "")
    return word


def words(text: str) -> list[str]:
    return [stem(w) for w in re.findall(r"[a-z0-9]+", text.lower()) if w not in STOP]


class Bm25:
    """Exact BM25 over a list of texts."""

    def __init__(self, texts: list[str], k: float = 1.2, b: float = 0.75) -> None:
        bags = [Counter(words(t)) for t in texts]
        lengths = np.array([sum(bag.values()) for bag in bags], float)
        norm = k * (1 - b + b * lengths / lengths.mean())
        postings: dict[str, list[tuple[int, int]]] = {}
        for row, bag in enumerate(bags):
            for word, count in bag.items():
                postings.setdefault(word, []).append((row, count))
        self.size = len(texts)
        self.postings = {}
        for word, entries in postings.items():
            rows, counts = np.array(entries).T
            idf = math.log(1 + (self.size - len(rows) + 0.5) / (len(rows) + 0.5))
            self.postings[word] = (rows, idf * counts * (k + 1) / (counts + norm[rows]))

    def scores(self, query: str) -> np.ndarray:
        total = np.zeros(self.size)
        for word in words(query):
            if word in self.postings:
                rows, gains = self.postings[word]
                total[rows] += gains
        return total


class Potion:
    """A Model2Vec folder, for comparison."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        raw = (folder / "model.safetensors").read_bytes()
        size = struct.unpack("<Q", raw[:8])[0]
        head = json.loads(raw[8 : 8 + size])
        name = next(n for n in head if n != "__metadata__")
        start, end = head[name]["data_offsets"]
        self.matrix = np.frombuffer(raw[8 + size + start : 8 + size + end], np.float32).reshape(head[name]["shape"])
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.unknown = self.tokenizer.token_to_id("[UNK]")

    def encode(self, texts: list[str]) -> np.ndarray:
        vectors = np.zeros((len(texts), self.matrix.shape[1]), np.float32)
        for row, encoded in enumerate(self.tokenizer.encode_batch(texts, add_special_tokens=False)):
            ids = [i for i in encoded.ids if i != self.unknown]
            if ids:
                vectors[row] = self.matrix[ids].mean(0)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def locomo(path: Path) -> tuple[list[str], list[str], list[tuple[int, int, str, list[int]]]]:
    """Turns, their windows (two neighbours either side, with the date), questions with the rows of their evidence."""
    turns: list[str] = []
    windows: list[str] = []
    questions = []
    for number, sample in enumerate(json.loads(path.read_text())):
        talk = sample["conversation"]
        rows = {}
        sessions = sorted((k for k in talk if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:]))
        for key in sessions:
            said = [f"{t['speaker']}: {t['text']} {t.get('blip_caption') or ''}" for t in talk[key]]
            for i, turn in enumerate(talk[key]):
                rows[turn["dia_id"]] = len(turns)
                turns.append(said[i])
                windows.append(talk[f"{key}_date_time"] + " " + " ".join(said[max(0, i - 2) : i + 3]))
        for qa in sample["qa"]:
            named = re.findall(r"D\d+:\d+", " ".join(qa.get("evidence") or []))
            evidence = sorted({rows[e] for e in named if e in rows})
            if evidence:
                questions.append((number, qa["category"], qa["question"], evidence))
    return turns, windows, questions


def z(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.maximum(x.std(-1, keepdims=True), 1e-9)


def found(scores: np.ndarray, evidence: list[int]) -> np.ndarray:
    """Recall at 5 and 10, and nDCG at 10."""
    top = np.argpartition(-scores, 10)[:10]
    top = top[np.argsort(-scores[top], kind="stable")]
    hits = np.isin(top, evidence)
    gain = (hits / np.log2(np.arange(2, 12))).sum()
    best = (1 / np.log2(np.arange(2, 12)))[: len(evidence)].sum()
    return np.array([hits[:5].sum() / len(evidence), hits.sum() / len(evidence), gain / best])


def fused(model: object, data: tuple, lexical: np.ndarray) -> dict:
    """Alone and fused, for both halves; the weight is the one that is best on the first half."""
    turns, _, questions = data
    meaning = z(model.encode([q[2] for q in questions]) @ model.encode(turns).T)
    half = np.array([q[0] < 5 for q in questions])

    def table(scores: np.ndarray) -> np.ndarray:
        return np.array([found(s, q[3]) for s, q in zip(scores, questions, strict=True)])

    results = {"alone": table(meaning)}
    by_weight = {w: table(lexical + w * meaning) for w in WEIGHTS}
    best = max(WEIGHTS, key=lambda w: by_weight[w][half].mean(0)[1:].sum())
    results["fused"] = by_weight[best]
    out = {"weight": best}
    for name, rows in results.items():
        out[name] = {"1-5": rows[half].mean(0).round(4).tolist(), "6-10": rows[~half].mean(0).round(4).tolist()}
    out["all weights, 1-5"] = {w: rows[half].mean(0).round(4).tolist() for w, rows in by_weight.items()}
    return out


def ranks(queries: np.ndarray, passages: np.ndarray, target: np.ndarray) -> list[float]:
    """Recall at 1 and at 10."""
    scores = queries @ passages.T
    mine = scores[np.arange(len(queries)), target]
    rank = (scores > mine[:, None]).sum(1)
    return [round(float((rank < 1).mean()), 4), round(float((rank < 10).mean()), 4)]


def cmrc(model: object, path: Path) -> list[float]:
    passages = []
    questions = []
    target = []
    for item in json.loads(path.read_text())["data"]:
        for paragraph in item["paragraphs"]:
            for qa in paragraph["qas"]:
                questions.append(qa["question"])
                target.append(len(passages))
            passages.append(paragraph["context"])
    return ranks(model.encode(questions), model.encode(passages), np.array(target))


def held_out(model: object, work: Path) -> dict:
    """Pairs that training never saw: translations both ways, headings and terms against their passages."""
    out = {}
    for path in sorted(work.glob("dev-*.tsv")):
        rows = [line.split("\t") for line in path.read_text().splitlines()][:2000]
        a = model.encode([r[0] for r in rows])
        b = model.encode([r[1] for r in rows])
        every = np.arange(len(rows))
        out[path.stem] = {"forth": ranks(a, b, every), "back": ranks(b, a, every)}
    return out


def crossing(model: object, work: Path) -> dict:
    """Our own notes and questions, English and Chinese, the right note among two thousand others."""
    rows = [line.split("\t") for line in CROSSING.read_text().splitlines()]
    others = [line.split("\t")[1] for line in (work / "dev-unlike.tsv").read_text().splitlines()]
    chinese = [line.split("\t")[1] for line in (work / "dev-zh.tsv").read_text().splitlines()]
    notes, questions = (model.encode([r[i] for r in rows]) for i in (0, 1))
    every = np.arange(len(rows))
    return {
        "Chinese question, English note": ranks(questions, np.vstack([notes, model.encode(others)]), every),
        "English note, Chinese question": ranks(notes, np.vstack([questions, model.encode(chinese)]), every),
    }


def speed(model: object, texts: list[str]) -> dict:
    texts = [" ".join(t.split()[:50]) for t in texts if len(t.split()) > 35][:3000]
    model.encode(texts[:100])
    start = time.process_time()
    model.encode(texts)
    passages = len(texts) / (time.process_time() - start)
    start = time.process_time()
    for text in texts[:1000]:
        model.encode([" ".join(text.split()[:12])])
    return {"passages a second": round(passages), "query ms": round(time.process_time() - start, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", nargs="*", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--potion", type=Path)
    parser.add_argument("--brief", action="store_true")
    given = parser.parse_args()
    data = locomo(given.data / "locomo/locomo10.json")
    turns, windows, questions = data
    index = Bm25(windows)
    lexical = z(np.array([index.scores(q[2]) for q in questions], np.float32))
    print(len(turns), "turns", len(questions), "questions; columns R@5 R@10 nDCG@10")
    models: dict[str, object] = {str(p): open_model(p) for p in given.weights}
    if given.potion:
        models["potion"] = Potion(given.potion)
    for name, model in models.items():
        result = fused(model, data, lexical)
        if given.brief:
            del result["all weights, 1-5"]
        if name != "potion":
            result["cmrc R@1 R@10"] = cmrc(model, given.data / "cmrc2018/cmrc2018_dev.json")
            result["speed"] = speed(model, turns)
        result["crossing R@1 R@10"] = crossing(model, given.work)
        result["held out R@1 R@10"] = held_out(model, given.work)
        print(name, json.dumps(result, indent=None if given.brief else 1), flush=True)


if __name__ == "__main__":
    main()
