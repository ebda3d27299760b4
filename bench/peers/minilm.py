"""all-MiniLM-L6-v2 through onnxruntime on one thread: the embedder of every peer that needs one, so that they compare.

The peers' own defaults download this same model when they are first used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

WIDTH = 384
WINDOW = 256
BATCH = 32


class MiniLM:
    def __init__(self, folder: Path) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(WINDOW)
        self.tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, ["CPUExecutionProvider"])
        self.inputs = {each.name for each in self.session.get_inputs()}

    def __call__(self, texts: list[str]) -> Any:
        """A unit vector a text. Texts of one length go together: padding is work too."""
        vectors = np.zeros((len(texts), WIDTH), np.float32)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            vectors[batch] = self.batch([texts[at] for at in batch])
        return vectors

    def batch(self, texts: list[str]) -> Any:
        coded = self.tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in coded], np.int64)
        mask = np.array([each.attention_mask for each in coded], np.int64)
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self.session.run(None, {name: feeds[name] for name in self.inputs})[0]
        pooled = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
