"""Training of the second static model: the first model's tokens stay as they are, other languages learn to meet them.

`pack` gathers what a GPU needs in one folder, `train` learns the new rows and writes the packed weights. The vector of
a translation should be near the vector that the first model gives to the English side, and rank like it; single words
come from the multilingual teacher's nearest English words and from dictionaries.
"""

import argparse
import json
import lzma
import random
import re
import sys
import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from weights import load, save, save_packed

from commonplace.embedding.static import _FOREIGN_LEAN, ALTERNATE_MARK, Tokenizer

NAME = "commonplace-static-2"
LANGUAGES = (
    "ar",
    "de",
    "el",
    "es",
    "fa",
    "fr",
    "he",
    "hi",
    "id",
    "it",
    "nl",
    "pl",
    "pt",
    "ru",
    "th",
    "tr",
    "vi",
    "ja",
    "ko",
)
LONGEST = 64
HELD_OUT = 400  # pairs a language, of five words at least
DEFAULTS = {
    "steps": 6000,
    "batch": 4096,
    "rate": 3e-3,
    "drop": 0.1,
    "heat": 0.05,
    "teacher_heat": 0.03,
    "near": 1.0,
    "rank": 0.5,
    "contrast": 0.3,
    "among": 0.5,
    "words": 0.5,
    "single": 1.0,
    "hold": 20.0,
    "free": "",  # letters whose tokens of the first model learn too: a class of a regular expression
    "free_hold": 0.05,
    "seed": 1,
}


def pack(work: Path, out: Path) -> None:
    """Write one line for each English text with all its translations, compressed."""
    rng = random.Random(6)
    out.mkdir(parents=True, exist_ok=True)
    for kind in ("pairs", "words"):
        rows: dict[str, dict[str, str]] = {}
        for lang in LANGUAGES:
            for line in (work / f"{kind}-{lang}.tsv").read_text().splitlines():
                english, _, other = line.partition("\t")
                key = (
                    english if kind == "pairs" else f"{english}\t{rng.random() if lang in rows.get(english, {}) else 0}"
                )
                rows.setdefault(key, {})[lang] = other[:400]
        lines = [
            "\t".join([key.split("\t")[0][:400], *(f"{lang}:{text}" for lang, text in found.items())])
            for key, found in sorted(rows.items())
        ]
        data = "\n".join(lines).encode("utf-8", "ignore")
        (out / f"{kind}.xz").write_bytes(lzma.compress(data, preset=6))
        print(kind, len(lines), "English texts", len(data), "bytes,", (out / f"{kind}.xz").stat().st_size, "packed")


def read(path: Path) -> list[tuple[str, str, str]]:
    """Return (language, English, translation) of a packed file."""
    rows = []
    for each in sorted(path.parent.glob(f"{path.stem}*.xz")):
        for line in lzma.decompress(each.read_bytes()).decode().split("\n"):
            english, *others = line.split("\t")
            rows += [(part[:2], english, part[3:]) for part in others]
    return rows


_tokenizer: Tokenizer
_leans: np.ndarray
_doubles: np.ndarray


def alternates(vocabulary: list[str]) -> np.ndarray:
    """Return the id of each token's second vector, or its own."""
    ids = {token: i for i, token in enumerate(vocabulary)}
    out = np.arange(len(vocabulary))
    for token, i in ids.items():
        if token.startswith(ALTERNATE_MARK):
            out[ids[token[1:]]] = i
    return out


def _start(vocabulary: list[str], leans: np.ndarray) -> None:
    global _tokenizer, _leans, _doubles
    _tokenizer = Tokenizer(vocabulary)
    _leans = leans
    _doubles = alternates(vocabulary)


def _bag(text: str) -> np.ndarray:
    """Return the ids of a text as the package takes them, padded with -1."""
    ids = np.array(_tokenizer.ids(text), np.int32)
    if len(ids) and _leans[ids].sum(dtype=np.int64) < _FOREIGN_LEAN:
        ids = _doubles[ids]
    if len(ids) > LONGEST:
        ids = ids[np.arange(LONGEST) * len(ids) // LONGEST]
    row = np.full(LONGEST, -1, np.int32)
    row[: len(ids)] = ids
    return row


def _word_bag(word: str) -> np.ndarray:
    """Return the ids of a single word of another language: always the second vectors."""
    ids = _doubles[np.array(_tokenizer.ids(word), np.int32)[:12]]
    row = np.full(12, -1, np.int32)
    row[: len(ids)] = ids
    return row


class Data:
    """Bags of ids on the device."""

    def __init__(self, work: Path, store: Path, first: Path, device: str, limit: int) -> None:
        import torch

        self.torch = torch
        self.device = device
        self.vocabulary = (work / "vocabulary.txt").read_text().split("\n")
        self.leans = np.load(work / "leans.npy")
        self.fixed = torch.tensor(load(first)[1], device=device)
        began = time.time()
        with Pool(initializer=_start, initargs=(self.vocabulary, self.leans)) as pool:
            self._read_pairs(pool, work, limit)
            self._read_words(pool, work, limit)
            self._read_teacher(pool, work, store)
        print("data ready", round(time.time() - began), "s", flush=True)

    def _tensor(self, rows: list[np.ndarray]) -> object:
        return self.torch.tensor(np.stack(rows), device=self.device)

    def _fixed_only(self, bags: object) -> object:
        """Leave out tokens that the first model does not have."""
        return self.torch.where(bags < len(self.fixed), bags, -1)

    def _read_pairs(self, pool: object, work: Path, limit: int) -> None:
        rng = random.Random(7)
        rows = read(work / "pairs.xz")
        rng.shuffle(rows)
        held: dict[str, list] = {lang: [] for lang in LANGUAGES}
        for row in rows:
            if len(held[row[0]]) < HELD_OUT and 5 <= row[1].count(" ") <= 30:
                held[row[0]].append(row)
        hidden = {r[1] for rows_ in held.values() for r in rows_}
        rows = [r for r in rows if r[1] not in hidden][:limit]
        self.held = {
            lang: [self._tensor(pool.map(_bag, [r[i] for r in rows_])) for i in (1, 2)] for lang, rows_ in held.items()
        }
        self.pairs = self._bags(pool, rows)

    def _read_words(self, pool: object, work: Path, limit: int) -> None:
        rows = [(lang, a, b) for lang, a, b in read(work / "words.xz") if a and b]
        self.words = self._bags(pool, rows[:limit])

    def _bags(self, pool: object, rows: list[tuple[str, str, str]]) -> dict:
        """Return both sides, and the places of each language."""
        torch = self.torch
        english = list(dict.fromkeys(r[1] for r in rows))
        places = {text: i for i, text in enumerate(english)}
        sources = self._fixed_only(self._tensor(pool.map(_bag, english, chunksize=2000)))
        targets = self._tensor(pool.map(_bag, [r[2] for r in rows], chunksize=2000))
        at = torch.tensor([places[r[1]] for r in rows], device=self.device)
        langs = np.array([r[0] for r in rows])
        known = (targets >= 0).any(1) & (sources >= 0).any(1)[at]
        by_lang = [np.flatnonzero((langs == lang) & known.cpu().numpy()) for lang in LANGUAGES]
        print({lang: len(p) for lang, p in zip(LANGUAGES, by_lang, strict=True)}, flush=True)
        by_lang = [torch.tensor(p, device=self.device) for p in by_lang if len(p)]
        return {"english": sources, "at": at, "other": targets, "langs": by_lang}

    def _read_teacher(self, pool: object, work: Path, store: Path) -> None:
        """Words with the mean of their nearest English words' directions, and a first guess of every new row."""
        torch = self.torch
        rows = [
            line.split("\t")
            for line in lzma.decompress((work / "frequencies.tsv.xz").read_bytes()).decode().splitlines()
        ]
        by_lang: dict[str, list[tuple[str, float]]] = {}
        for lang, word, frequency in rows:
            by_lang.setdefault(lang, []).append((word, float(frequency)))
        ids = {token: i for i, token in enumerate(self.vocabulary)}
        english = (store / "english.txt").read_text().split("\n")
        directions = torch.nn.functional.normalize(self.fixed[[ids[w] for w in english]], dim=-1)
        is_english = torch.tensor([float(self.leans[ids[w]] >= -3) for w in english], device=self.device)
        self.length = self._length_by_frequency(by_lang["en"], ids)
        bags, goals, sure, frequencies = [], [], [], []
        for path in sorted(store.glob("near-*.npz")):
            lang = path.stem[-2:]
            near = {k: torch.tensor(v.astype(np.float32), device=self.device) for k, v in np.load(path).items()}
            is_own = is_english[near["ids"].long()]  # foreign words in English lists mean little
            goals.append(torch.einsum("nk,nkd->nd", near["weights"] * is_own, directions[near["ids"].long()]))
            is_first = is_own[:, 0] > 0
            sure.append(torch.where(is_first, ((near["sure"] - 0.45) / 0.3).clamp(0, 1), 0.3 * is_own.mean(1)))
            bags += pool.map(_word_bag, [w for w, _ in by_lang[lang]], chunksize=2000)
            frequencies += [f for _, f in by_lang[lang]]
        self.single = self._tensor(bags)
        self.goals = torch.nn.functional.normalize(torch.cat(goals), dim=-1)
        self.sure = torch.cat(sure).float()
        self.frequency = torch.tensor(frequencies, device=self.device)
        self.by_word = {w: f for lang in LANGUAGES for w, f in by_lang[lang]}

    def _length_by_frequency(self, english: list[tuple[str, float]], ids: dict[str, int]) -> object:
        """Return a function from the logarithms of frequencies to the usual lengths of the first model's rows."""
        logs = np.log10([f for _, f in english])
        lengths = self.fixed[[ids[w] for w, _ in english]].norm(dim=-1).cpu().numpy()
        edges = np.arange(-7.0, -1.0, 0.5)
        middle = [
            np.median(lengths[np.abs(logs - e) < 0.4]) if (np.abs(logs - e) < 0.4).any() else np.nan for e in edges
        ]
        points = [(e, m) for e, m in zip(edges, middle, strict=True) if m == m]
        print("length by frequency", [(e, round(float(m), 3)) for e, m in points], flush=True)
        return lambda x: np.interp(x, [p[0] for p in points], [p[1] for p in points])

    def initial(self) -> object:
        """Return the first guess of each new row: the sure goals of the words it begins, else its translations."""
        torch = self.torch
        size, fixed = len(self.vocabulary), len(self.fixed)
        total = torch.zeros(size, self.fixed.shape[1], device=self.device)
        weight = (self.frequency.sqrt() * self.sure.square()).float()
        lead = self.single[:, 0].long()
        use = lead >= 0
        total.index_add_(0, lead[use], self.goals[use] * weight[use][:, None])
        for column in range(1, self.single.shape[1]):  # pairs of characters follow the characters
            place = self.single[:, column].long()
            use = (place >= fixed) & (lead >= 0) & (lead < fixed)
            total.index_add_(0, place[use], self.goals[use] * weight[use][:, None])
        side = torch.zeros_like(total)
        words = self.words
        one = (words["other"][:, 1] < 0) & (words["other"][:, 0] >= 0)
        source = bag_sum(self.fixed, words["english"][words["at"][one]])
        side.index_add_(0, words["other"][one, 0].long(), torch.nn.functional.normalize(source, dim=-1))
        lacks = total.norm(dim=-1, keepdim=True) < 1e-6
        total = torch.nn.functional.normalize(torch.where(lacks, side, total), dim=-1)
        guess = []
        for token in self.vocabulary:
            bare = token.removeprefix(ALTERNATE_MARK)
            log = np.log10(self.by_word.get(bare, 1e-6))
            guess.append(float(self.length(log)) * (0.3 if bare.startswith("##") else 1.0))
        print("rows without a guess", int((total[fixed:].norm(dim=-1) < 1e-6).sum()), flush=True)
        return (total * torch.tensor(guess, device=self.device)[:, None].float())[fixed:]


def bag_sum(table: object, rows: object, drop: float = 0.0) -> object:
    """Return the sums of rows of the table; a share of the tokens is left out in training."""
    import torch

    mask = rows >= 0
    if drop:
        mask = mask & (torch.rand(rows.shape, device=rows.device) >= drop)
    ids = torch.where(mask, rows, 0)
    return torch.nn.functional.embedding_bag(ids, table, per_sample_weights=mask.to(table.dtype), mode="sum")


class Training:
    """One run with one set of settings."""

    def __init__(self, data: Data, settings: dict) -> None:
        import torch

        self.torch = torch
        self.f = torch.nn.functional
        self.d = data
        self.s = DEFAULTS | settings
        torch.manual_seed(self.s["seed"])
        self.start = data.initial()
        self.rows = torch.nn.Parameter(self.start.clone())
        counts = torch.zeros(len(data.vocabulary), device=data.device)
        bags = data.pairs["other"]
        counts.index_add_(0, bags[bags >= 0].long(), torch.ones(int((bags >= 0).sum()), device=data.device))
        self.pull = self.s["hold"] / (self.s["hold"] + counts[len(data.fixed) :])
        old = enumerate(data.vocabulary[: len(data.fixed)])
        free = [i for i, token in old if self.s["free"] and re.search(f"[{self.s['free']}]", token)]
        self.free = torch.tensor(free, dtype=torch.long, device=data.device)
        self.free_rows = torch.nn.Parameter(data.fixed[self.free].clone())

    def table(self) -> object:
        fixed = self.d.fixed.index_copy(0, self.free, self.free_rows) if len(self.free) else self.d.fixed
        return self.torch.cat([fixed, self.rows])

    def unit(self, table: object, rows: object, drop: float = 0.0) -> object:
        return self.f.normalize(bag_sum(table, rows, drop), dim=-1, eps=1e-6)

    def pick(self, data: dict, size: int) -> object:
        """Return places, as many of each language."""
        torch = self.torch
        each = size // len(data["langs"])
        return torch.cat([p[torch.randint(len(p), (each,), device=p.device)] for p in data["langs"]])

    def rank(self, a: object, b: object, goal: object) -> object:
        """Return how far one side's ranking of the other is from the goal."""
        return self.f.kl_div(self.f.log_softmax(a @ b.T / self.s["heat"], dim=-1), goal, reduction="batchmean")

    def crossed(self, table: object, data: dict, size: int, *, among: bool) -> object:
        s = self.s
        at = self.pick(data, size)
        a = self.unit(self.d.fixed, data["english"][data["at"][at]])
        b = self.unit(table, data["other"][at], s["drop"])
        likeness = a @ a.T
        goal = self.f.softmax(likeness / s["teacher_heat"], dim=-1)
        loss = s["near"] * (1 - (a * b).sum(-1)).mean() + s["rank"] * (self.rank(a, b, goal) + self.rank(b, a, goal))
        scores = b @ a.T / s["heat"]
        here = self.torch.arange(len(a), device=a.device)
        same = (likeness > 0.98) & (here[:, None] != here)  # the same text in another language is no rival
        loss = loss + s["contrast"] * self.f.cross_entropy(scores.masked_fill(same, -1e4), here)
        if among:
            hide = self.torch.eye(len(a), device=a.device) * 10
            goal = self.f.softmax((likeness - hide) / s["teacher_heat"], dim=-1)
            mine = self.f.log_softmax((b @ b.T - hide) / s["heat"], dim=-1)
            loss = loss + s["among"] * self.f.kl_div(mine, goal, reduction="batchmean")
        return loss

    def single(self, table: object) -> object:
        at = self.torch.randint(len(self.d.single), (2 * self.s["batch"],), device=self.d.device)
        mine = self.unit(table, self.d.single[at])
        return ((1 - (mine * self.d.goals[at]).sum(-1)) * self.d.sure[at]).mean()

    def loss(self) -> object:
        s = self.s
        table = self.table()
        total = self.crossed(table, self.d.pairs, s["batch"], among=True)
        total = total + s["words"] * self.crossed(table, self.d.words, s["batch"] // 2, among=False)
        total = total + s["single"] * self.single(table)
        if len(self.free):
            total = total + s["free_hold"] * (self.free_rows - self.d.fixed[self.free]).square().sum(-1).mean()
        return total + ((self.rows - self.start).square().sum(-1) * self.pull).sum() / 1000

    def run(self) -> np.ndarray:
        torch = self.torch
        s = self.s
        optimiser = torch.optim.Adam([self.rows, self.free_rows], lr=s["rate"], fused=self.d.device != "cpu")
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, s["rate"], total_steps=s["steps"] + 1, pct_start=0.05)
        began = time.time()
        for step in range(s["steps"]):
            optimiser.zero_grad(set_to_none=True)
            loss = self.loss()
            loss.backward()
            optimiser.step()
            schedule.step()
            if step % 500 == 0 or step == s["steps"] - 1:
                print(step, round(loss.item(), 3), round(time.time() - began), "s", flush=True)
        return self.table().detach().float().cpu().numpy()

    def report(self) -> None:
        """Print recall at 1 of held-out translations, each language to English and back."""
        with self.torch.inference_mode():
            table = self.table()
            shown = []
            for lang, (english, other) in self.d.held.items():
                scores = self.unit(table, other) @ self.unit(table, english).T
                mine = scores.diagonal()
                forth = (scores > mine[:, None]).sum(1)
                back = (scores > mine[None]).sum(0)
                shown.append(f"{lang} {(forth < 1).float().mean():.3f}/{(back < 1).float().mean():.3f}")
        print(*shown, flush=True)


def train(work: Path, store: Path, first: Path, out: Path, limit: int, settings: list[dict]) -> None:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    data = Data(work, store, first, device, limit)
    tables = []
    for number, setting in enumerate(settings):
        print("run", number, setting, flush=True)
        training = Training(data, setting)
        training.report()
        tables.append(training.run())
        training.report()
        write(out / f"run-{number}.bin", data, tables[-1])
    write(out / "static-2.bin", data, sum(tables) / len(tables))


def write(path: Path, data: Data, vectors: np.ndarray) -> None:
    """Write the rows that learned anything."""
    learned = np.square(vectors).sum(1) > 1e-6
    learned |= np.array([token.startswith(ALTERNATE_MARK) for token in data.vocabulary])
    vocabulary = [token for token, keep in zip(data.vocabulary, learned, strict=True) if keep]
    print(path.name, len(vocabulary), "tokens", flush=True)
    save(path.with_suffix(".int8"), NAME, vocabulary, vectors[learned])
    save_packed(path, NAME, vocabulary, vectors[learned], data.leans[learned], len(data.fixed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("pack", "train"))
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--first", type=Path, help="the weights of the first model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=100_000_000)
    parser.add_argument("--settings", nargs="*", default=["{}"], help="one JSON object a run")
    given = parser.parse_args()
    if given.step == "pack":
        pack(given.work, given.out)
    else:
        given.out.mkdir(parents=True, exist_ok=True)
        train(given.work, given.store, given.first, given.out, given.limit, [json.loads(s) for s in given.settings])


if __name__ == "__main__":
    main()
