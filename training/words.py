"""The vocabulary of the second static model: the first model's tokens, then words and pieces of other languages.

`python words.py --work DIR --first static-1.bin` writes `vocabulary.txt`, `leans.npy` and `frequencies.tsv`
(language, word, frequency), the words that training takes from the teacher.
"""

import argparse
import math
import re
import sys
import zipfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from distil import frequencies, grams, top
from weights import load

from commonplace.embedding.static import _RUNS, _SEMITIC, ALTERNATE_MARK, fold_semitic, normalize

SIZES = {  # whole words, word beginnings, endings
    "de": (4300, 1000, 500),
    "fr": (3700, 700, 300),
    "es": (3700, 700, 300),
    "it": (3700, 700, 300),
    "pt": (3700, 600, 300),
    "nl": (3500, 700, 300),
    "pl": (4200, 1300, 500),
    "tr": (4000, 1100, 600),
    "id": (3400, 400, 200),
    "vi": (2300, 0, 0),
    "ru": (4800, 1600, 500),
    "el": (4300, 1400, 400),
    "ar": (5000, 700, 300),
    "fa": (4200, 300, 200),
    "he": (5000, 500, 200),
    "hi": (4600, 300, 200),
    "th": (5000, 0, 0),
}
ROWS = 142_300  # 20 MB
TAUGHT = ("de", "fr", "es", "it", "pt", "nl", "pl", "tr", "ru", "ar", "th")  # languages the teacher knows
MIN_EVIDENCE = 2  # times a word of another language must occur in translations
PAIRS = {"ko": (4_000, "\uac00-\ud7a3"), "ja": (2_000, "\u3041-\u30ff\u3400-\u9fff")}  # of characters
LATIN = ("de", "fr", "es", "it", "pt", "nl", "pl", "tr", "id", "vi")
VIETNAMESE_PAIRS = 2_500
TRAINING_WORDS = 40_000
FOREIGN_RATIO = 3.0  # how much more frequent than in English a word must be to get a second vector
MAX_LEAN = 6


def read_words(work: Path, lang: str) -> dict[str, float]:
    """Return the words of a language in the tokenizer's form with their frequencies, most frequent first."""
    if lang == "th":
        path = next((work / "wheels").glob("pythainlp*.whl"))
        with zipfile.ZipFile(path) as wheel:
            lines = wheel.read("pythainlp/corpus/tnc_freq.txt").decode().splitlines()
        rows = [line.split("\t") for line in lines]
        total = sum(int(r[1]) for r in rows)
        raw = {r[0]: int(r[1]) / total for r in rows}
    else:
        raw = frequencies(next((work / "wheels").glob("wordfreq*.whl")), lang)
    words: Counter[str] = Counter()
    for word, frequency in raw.items():
        run = _RUNS.fullmatch(normalize(word))
        if run and not word[0].isdigit() and bool(run[1]) == (lang in PAIRS) and (lang in LATIN or not word.isascii()):
            words[fold_semitic(run[0]) if _SEMITIC.match(run[0]) else run[0]] += frequency
    return dict(sorted(words.items(), key=lambda item: (-item[1], item[0])))


def occurring(work: Path, lang: str) -> set[str]:
    """Return the words of the translations into a language, with and without up to two letters of prefix."""
    counts: Counter[str] = Counter()
    for kind in ("pairs", "words"):
        for line in (work / f"{kind}-{lang}.tsv").read_text().splitlines():
            for run in _RUNS.finditer(normalize(line.split("\t")[1])):
                word = fold_semitic(run[0]) if _SEMITIC.match(run[0]) else run[0]
                counts.update([word, word[1:], word[2:]] if lang in ("he", "fa") else [word])
    return {word for word, count in counts.items() if count >= MIN_EVIDENCE}


def beginnings(tail: list[str], weights: dict[str, float], size: int) -> list[str]:
    """Return the stems that most of the rarer words begin with, and no shorter ones of the same words."""
    counts: Counter[str] = Counter()
    for word in tail:
        for end in range(4, min(len(word), 11)):
            counts[word[:end]] += math.sqrt(weights[word]) * 1e4
    longer = {stem for stem in counts for end in (len(stem) - 1,) if counts[stem] > 0.75 * counts[stem[:end]] > 0}
    shadowed = {stem[:-1] for stem in longer}
    ranked = sorted((s for s in counts if s not in shadowed), key=lambda s: (-counts[s] * (len(s) - 2), s))
    return ranked[:size]


def endings(tail: list[str], weights: dict[str, float], heads: set[str], size: int) -> list[str]:
    """Return what is left of the rarer words behind their longest known beginning."""
    counts: Counter[str] = Counter()
    for word in tail:
        end = next((e for e in range(len(word) - 1, 2, -1) if word[:e] in heads), None)
        if end:
            counts["##" + word[end:]] += math.sqrt(weights[word])
    letters = Counter(c for word in tail for c in word)
    single = ["##" + c for c, _ in letters.most_common(40) if not c.isascii()]
    return list(dict.fromkeys(single + [piece for piece, _ in counts.most_common(size) if len(piece) < 10]))[:size]


def vietnamese_pairs(work: Path) -> list[str]:
    """Return pairs of syllables that stand together more often than by chance."""
    single: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for kind in ("pairs", "words"):
        for line in (work / f"{kind}-vi.tsv").read_text().splitlines():
            words = [run[0] for run in _RUNS.finditer(normalize(line.split("\t")[1])) if not run[0].isdigit()]
            single.update(words)
            pairs.update(pairwise(words))
    total = sum(single.values())
    close = {p: n for p, n in pairs.items() if n >= 8 and n * total > 20 * single[p[0]] * single[p[1]]}
    ranked = sorted(close, key=lambda p: (-close[p], p))
    return [f"{a} {b}" for a, b in ranked if not f"{a}{b}".isascii()][:VIETNAMESE_PAIRS]


def choose(work: Path, first: list[str]) -> None:
    known = set(first)
    words = {lang: read_words(work, lang) for lang in SIZES}
    english = read_words_english(work)
    for lang in set(SIZES) - set(TAUGHT):
        seen = occurring(work, lang)
        words[lang] = {w: f for w, f in words[lang].items() if w in seen}
    fresh: dict[str, None] = {}
    doubles: dict[str, None] = {}
    for lang, (size, stems, ends) in SIZES.items():
        ranked = list(words[lang])
        heads = ranked[:size]
        tail = ranked[size:TRAINING_WORDS]
        heads += beginnings(tail, words[lang], stems)
        whole = set(heads) | known
        for token in heads + endings(tail, words[lang], whole, ends):
            if token not in known:
                fresh[token] = None
            elif lang in LATIN and words[lang].get(token, 1.0) > FOREIGN_RATIO * english.get(token, 0.0):
                doubles[token] = None
        print(lang, len(ranked), "words;", len(fresh), "tokens,", len(doubles), "doubles", flush=True)
    fresh |= dict.fromkeys(vietnamese_pairs(work))
    for lang, (size, letters) in PAIRS.items():
        words[lang] = read_words(work, lang)
        found = top(grams(words[lang], 2, letters), 3 * len(first))
        fresh |= dict.fromkeys([pair for pair in found if pair not in known][:size])
    room = ROWS - len(first) - len(doubles)
    print(len(fresh), "new tokens, room for", room)
    more = ((rank - SIZES[lang][0], w) for lang in TAUGHT for rank, w in enumerate(list(words[lang])[:TRAINING_WORDS]))
    fresh |= dict.fromkeys(w for rank, w in sorted(more) if rank >= 0 and w not in known)  # whatever room is left
    vocabulary = first + list(fresh)[:room] + [ALTERNATE_MARK + token for token in doubles]
    (work / "vocabulary.txt").write_text("\n".join(vocabulary))
    np.save(work / "leans.npy", leans(vocabulary, len(first), words, english))
    rows = [(lang, w, f) for lang in words for w, f in list(words[lang].items())[:TRAINING_WORDS]]
    rows += [("en", w, f) for w, f in english.items() if w in known]
    (work / "frequencies.tsv").write_text("".join(f"{lang}\t{w}\t{f:.3e}\n" for lang, w, f in rows))
    print(len(vocabulary), "tokens", len("\n".join(vocabulary).encode()), "bytes")


def read_words_english(work: Path) -> dict[str, float]:
    found = frequencies(next((work / "wheels").glob("wordfreq*.whl")), "en")
    return {w: f for w, f in found.items() if re.fullmatch("[a-z]+", w)}


def leans(
    vocabulary: list[str], first: int, words: dict[str, dict[str, float]], english: dict[str, float]
) -> np.ndarray:
    """Return how much a token speaks for English (above 0) or for another language in Latin script."""
    out = np.zeros(len(vocabulary), np.int8)
    for place, token in enumerate(vocabulary):
        if token.startswith(("##", ALTERNATE_MARK)) or not re.match(r"[a-z\u00df-\u024f\u1e00-\u1eff]", token):
            continue
        other = max((words[lang].get(token, 0.0) for lang in LATIN), default=0.0)
        odds = math.log10((english.get(token, 0.0) + 1e-8) / (other + 1e-8))
        out[place] = round(max(-MAX_LEAN, min(MAX_LEAN, 2 * odds)))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--first", type=Path, required=True)
    given = parser.parse_args()
    vocabulary, _ = load(given.first)
    choose(given.work, vocabulary)


if __name__ == "__main__":
    main()
