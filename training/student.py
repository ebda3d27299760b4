"""Training of the token vectors: imitate the teachers' vectors and, more, their similarities inside large batches.

Every loss works on the sum of a text's token vectors, the same sum that is taken at run time. Rare tokens are held near
where they began (the teacher's vector of the token itself), because a few texts are no evidence against that.
"""

import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch
from distil import NAME, _row, _start, bags, gather
from torch.nn import functional as F  # noqa: N812
from weights import save

DIMS = 256
PAD = 65_535
DEFAULTS = {
    "steps": 4000,
    "rate": 2e-3,
    "batch": 4096,
    "drop": 0.15,
    "hold": 30.0,
    "seed": 1,
    "cosine": 1.0,
    "relate": 1.0,
    "ask": 1.0,
    "cross": 1.0,
    "words": 0.5,
    "zh": 1.0,
    "heat": 0.05,
    "teacher_heat": 0.03,
}
Tensor = torch.Tensor


class Data:
    """Bags and teachers' vectors, all on the device."""

    def __init__(self, work: Path, store: Path, limit: int, device: str) -> None:
        self.vocabulary = (work / "vocabulary.txt").read_text().split("\n")
        self.device = device
        data = gather(work, limit)
        self.store = store
        self.bags: dict[str, Tensor] = {}
        with Pool(initializer=_start, initargs=(self.vocabulary,)) as pool:
            for name, rows in data.items():
                if rows and name.startswith("texts"):
                    self.bags[name] = self._bags(pool, rows)
                elif rows:
                    self.bags[name + "-0"] = self._bags(pool, [r[0] for r in rows])
                    self.bags[name + "-1"] = self._bags(pool, [r[1] for r in rows])
        counts = torch.zeros(PAD + 1, device=device)
        for rows in self.bags.values():
            for part in rows.split(100_000):
                counts += torch.bincount(part.flatten().int(), minlength=PAD + 1)
        self.counts = counts[: len(self.vocabulary)]
        self._spaces()

    def _bags(self, pool: Pool, texts: list[str]) -> Tensor:
        return torch.tensor(bags(pool, texts).astype(np.int32), device=self.device)

    def teacher(self, name: str) -> Tensor:
        return torch.tensor(np.load(self.store / f"{name}.npy"), device=self.device)

    def _spaces(self) -> None:
        """One space: English reduced to its main directions, Chinese turned onto it by translation pairs."""
        self.en = self.teacher("en-texts")
        self.zh = self.teacher("zh-texts")
        sample = self.en[torch.randperm(len(self.en), device=self.device)[:200_000]].float()
        self.mean = sample.mean(0)
        _, _, v = torch.linalg.svd((sample - self.mean)[:60_000], full_matrices=False)
        self.turn = v[:DIMS].T
        self.zh_mean = self.zh[:200_000].float().mean(0)
        a = torch.cat([self.teacher("zh-pairs-zh"), self.teacher("zh-words-zh")]).float() - self.zh_mean
        b = self.english(torch.cat([self.teacher("en-pairs-zh"), self.teacher("en-words-zh")]))
        eye = torch.eye(a.shape[1], device=self.device)
        ridge = torch.linalg.solve(a.T @ a + 20.0 * eye, a.T @ b)
        u, _, vt = torch.linalg.svd(a.T @ b, full_matrices=False)
        rigid = u @ vt
        fit = F.cosine_similarity(a @ ridge, b).mean(), F.cosine_similarity(a @ rigid, b).mean()
        print("Chinese onto English: cosine", [round(float(f), 3) for f in fit], "ridge, rigid", flush=True)
        self.zh_turn = 0.5 * ridge / ridge.norm() + 0.5 * rigid / rigid.norm()

    def english(self, vectors: Tensor) -> Tensor:
        return F.normalize((vectors.float() - self.mean) @ self.turn, dim=-1)

    def chinese(self, vectors: Tensor) -> Tensor:
        return F.normalize((vectors.float() - self.zh_mean) @ self.zh_turn, dim=-1)

    def initial(self) -> Tensor:
        """Each token's own vector by its teacher, longer the rarer the token (SIF)."""
        letters = torch.tensor([not t[-1].isascii() for t in self.vocabulary], device=self.device)
        en = self.teacher("en-tokens")
        zh = self.teacher("zh-tokens")
        en_mean = en[~letters].float().mean(0)
        zh_mean = zh[letters].float().mean(0)
        e = F.normalize((en.float() - en_mean) @ self.turn, dim=-1)
        z = F.normalize((zh.float() - zh_mean) @ self.zh_turn, dim=-1)
        share = (self.counts + 20) / self.counts.sum()
        weight = 1e-3 / (1e-3 + share)
        single = torch.tensor([len(t) == 1 and not t.isascii() for t in self.vocabulary], device=self.device)
        weight = weight * torch.where(single, 0.5, 1.0)
        return torch.where(letters[:, None], z, e) * weight[:, None]


class Student(torch.nn.Module):
    def __init__(self, initial: Tensor) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(initial.clone())

    def forward(self, rows: Tensor, drop: float = 0.0) -> Tensor:
        """Normalised sums of rows of the table; a share of the tokens is left out in training."""
        mask = rows != PAD
        if drop:
            mask = mask & (torch.rand(rows.shape, device=rows.device) >= drop)
        ids = torch.where(mask, rows, 0)
        sums = F.embedding_bag(ids, self.table, per_sample_weights=mask.float(), mode="sum")
        return F.normalize(sums, dim=-1, eps=1e-6)


def imitate(student: Tensor, other: Tensor, teacher: Tensor, heat: float, teacher_heat: float) -> Tensor:
    """How far the student's ranking of `other` is from the teacher's, as a divergence."""
    goal = F.softmax(teacher / teacher_heat, dim=-1)
    mine = F.log_softmax(student @ other.T / heat, dim=-1)
    return F.kl_div(mine, goal, reduction="batchmean")


def contrast(a: Tensor, b: Tensor, heat: float) -> Tensor:
    """Each side should find its other half in the batch."""
    scores = a @ b.T / heat
    here = torch.arange(len(a), device=a.device)
    return (F.cross_entropy(scores, here) + F.cross_entropy(scores.T, here)) / 2


class Training:
    """One run with one set of settings."""

    def __init__(self, data: Data, settings: dict) -> None:
        self.d = data
        self.s = DEFAULTS | settings
        torch.manual_seed(self.s["seed"])
        self.start = data.initial()
        self.student = Student(self.start)
        self.teachers = {n: data.teacher(n) for n in ("en-asked", "en-passages", "zh-asked", "zh-passages")}
        for lang in ("zh", "ja", "ko"):
            for kind in ("pairs", "words"):
                if f"{kind}-{lang}-0" in data.bags:
                    self.teachers[f"en-{kind}-{lang}"] = data.teacher(f"en-{kind}-{lang}")
        self.teachers["zh-pairs-zh"] = data.teacher("zh-pairs-zh")

    def pick(self, size: int, share: float = 1.0) -> Tensor:
        return torch.randint(size, (min(size, int(self.s["batch"] * share)),), device=self.d.device)

    def say(self, name: str, rows: Tensor) -> Tensor:
        return self.student(self.d.bags[name][rows], self.s["drop"])

    def relate(self, mine: Tensor, theirs: Tensor) -> Tensor:
        """Similarities inside the batch, each text's own left out."""
        hide = torch.eye(len(mine), device=mine.device) * 10
        theirs = theirs.float()
        goal = F.softmax((theirs @ theirs.T - hide) / self.s["teacher_heat"], dim=-1)
        return F.kl_div(F.log_softmax((mine @ mine.T - hide) / self.s["heat"], dim=-1), goal, reduction="batchmean")

    def mono(self, lang: str) -> Tensor:
        vectors = self.d.en if lang == "en" else self.d.zh
        rows = self.pick(len(vectors))
        mine = self.say(f"texts-{lang}", rows)
        aim = self.d.english(vectors[rows]) if lang == "en" else self.d.chinese(vectors[rows])
        near = (1 - (mine * aim).sum(-1)).mean()
        centre = self.d.mean if lang == "en" else self.d.zh_mean
        theirs = F.normalize(vectors[rows].float() - self.s.get("centre", 0.0) * centre, dim=-1)
        weight = 1.0 if lang == "en" else 0.5
        return weight * self.s["cosine"] * near + self.s["relate"] * self.relate(mine, theirs)

    def asked(self, lang: str) -> Tensor:
        q = self.teachers[f"{lang}-asked"]
        p = self.teachers[f"{lang}-passages"]
        rows = self.pick(len(q), 1.0 if lang == "en" else 0.5)
        a = self.say(f"ask-{lang}-0", rows)
        b = self.say(f"ask-{lang}-1", rows)
        scores = q[rows].float() @ p[rows].float().T
        soft = imitate(a, b, scores, self.s["heat"], self.s["teacher_heat"])
        return soft + 0.3 * contrast(a, b, self.s["heat"])

    def crossed(self, kind: str, lang: str) -> Tensor:
        english = self.teachers[f"en-{kind}-{lang}"]
        rows = self.pick(len(english), 0.5)
        a = self.say(f"{kind}-{lang}-0", rows)
        b = self.say(f"{kind}-{lang}-1", rows)
        aim = self.d.english(english[rows])
        near = (1 - (b * aim).sum(-1)).mean() + 0.3 * (1 - (a * aim).sum(-1)).mean()
        theirs = english[rows].float()
        scores = theirs @ theirs.T
        heat = self.s["heat"]
        cold = self.s["teacher_heat"]
        soft = imitate(a, b, scores, heat, cold) + imitate(b, a, scores, heat, cold)
        return near + 0.5 * soft + 0.3 * contrast(a, b, heat)

    def held(self) -> Tensor:
        """The pull back to the beginning, strong for tokens seldom seen."""
        pull = self.s["hold"] / (self.s["hold"] + self.d.counts)
        return ((self.student.table - self.start).square().sum(-1) * pull).sum() / 1000

    def loss(self, step: int) -> Tensor:
        s = self.s
        total = self.mono("en") + s["zh"] * self.mono("zh") + s["ask"] * (self.asked("en") + 0.5 * self.asked("zh"))
        langs = ("zh", "zh", "ja", "ko")
        total = total + s["cross"] * self.crossed("pairs", langs[step % 4])
        total = total + s["words"] * self.crossed("words", ("zh", "ja")[step % 3 == 2])
        return total + self.held()

    def run(self) -> np.ndarray:
        s = self.s
        if not s["steps"]:
            return self.start.float().cpu().numpy()
        optimiser = torch.optim.Adam(self.student.parameters(), lr=s["rate"], fused=self.d.device != "cpu")
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, s["rate"], total_steps=s["steps"] + 1, pct_start=0.05)
        began = time.time()
        for step in range(s["steps"]):
            optimiser.zero_grad(set_to_none=True)
            loss = self.loss(step)
            loss.backward()
            optimiser.step()
            schedule.step()
            if step % 500 == 0 or step == s["steps"] - 1:
                print(step, round(loss.item(), 3), round(time.time() - began), "s", flush=True)
        return self.student.table.detach().float().cpu().numpy()


def train_all(work: Path, store: Path, out: Path, limit: int, settings: list[dict]) -> None:
    """One weights file a set of settings."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    began = time.time()
    data = Data(work, store, limit, device)
    print("data ready", round(time.time() - began), "s", {n: len(b) for n, b in data.bags.items()}, flush=True)
    for number, setting in enumerate(settings):
        print("run", number, setting, flush=True)
        training = Training(data, setting)
        vectors = training.run()
        report(training.student, data.vocabulary, work)
        save(out / f"run-{number}.bin", NAME, data.vocabulary, vectors)


@torch.inference_mode()
def report(student: Student, vocabulary: list[str], work: Path) -> None:
    """Recall at 1 and 10 on pairs set aside."""
    _start(vocabulary)
    device = student.table.device
    for path in sorted(work.glob("dev-*.tsv")):
        rows = [line.split("\t") for line in path.read_text().splitlines()][:2000]
        sides = [np.stack([_row(r[i]) for r in rows]).astype(np.int32) for i in (0, 1)]
        a, b = (student(torch.tensor(side, device=device)) for side in sides)
        scores = a @ b.T
        rank = (scores > scores.diagonal()[:, None]).sum(1)
        print(path.stem, [round(float((rank < k).float().mean()), 3) for k in (1, 10)], flush=True)
