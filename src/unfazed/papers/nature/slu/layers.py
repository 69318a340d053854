"""The layers that the networks share."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from unfazed.systems.network import Batch

_LABEL = 32  # size of the vector of the label before


class BothWays(nn.Module):
    """A bidirectional LSTM that never reads padding, so that a sentence's vectors do not depend on its batch."""

    def __init__(self, size: int, hidden: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(size, hidden, layers, batch_first=True, bidirectional=True, dropout=between)
        self.size = 2 * hidden

    def forward(self, vectors: Tensor, batch: Batch) -> Tensor:
        packed = pack_padded_sequence(vectors, batch.lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return states


class Pooling(nn.Module):
    """One vector for the sentence: the sum of its tokens', each weighted by how much it tells."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.score = nn.Linear(size, 1)

    def weights(self, states: Tensor, batch: Batch) -> Tensor:
        scores = self.score(states).squeeze(2)
        return torch.softmax(scores.masked_fill(~batch.mask, -torch.inf), 1)

    def forward(self, states: Tensor, batch: Batch) -> Tensor:
        return torch.einsum("bt,btd->bd", self.weights(states, batch), states)


class SelfAttention(nn.Module):
    """Each token as a mixture of all tokens of its sentence."""

    def __init__(self, size: int, inner: int, out: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(size, inner), nn.Linear(size, inner)
        self.value = nn.Linear(size, out)
        self.size = out

    def weights(self, vectors: Tensor, batch: Batch) -> Tensor:
        scores = self.query(vectors) @ self.key(vectors).transpose(1, 2) / math.sqrt(self.query.out_features)
        return torch.softmax(scores.masked_fill(~batch.mask[:, None], -torch.inf), 2)

    def forward(self, vectors: Tensor, batch: Batch) -> Tensor:
        mixed: Tensor = self.weights(vectors, batch) @ self.value(vectors)
        return mixed


class LabelDecoder(nn.Module):
    """A one-way LSTM that labels token after token and reads, with each, the label that it gave before."""

    def __init__(self, size: int, hidden: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.before = nn.Embedding(labels + 1, _LABEL)
        self.lstm = nn.LSTM(size + _LABEL, hidden, batch_first=True)
        self.out = nn.Linear(hidden, labels)
        self.dropout = nn.Dropout(dropout)
        self.beginning = labels

    def forward(self, vectors: Tensor, gold: Tensor | None = None) -> Tensor:
        """Scores of labels, (sentences, tokens, labels). Given the right labels, it reads those of the token before."""
        start = torch.full((len(vectors), 1), self.beginning)
        if gold is None:
            return self._freely(vectors, start)
        before = self.before(torch.cat([start, gold[:, :-1]], 1))
        states, _ = self.lstm(torch.cat([vectors, before], 2))
        scores: Tensor = self.out(self.dropout(states))
        return scores

    def _freely(self, vectors: Tensor, label: Tensor) -> Tensor:
        state, found = None, []
        for vector in vectors.split(1, 1):
            out, state = self.lstm(torch.cat([vector, self.before(label)], 2), state)
            found.append(self.out(self.dropout(out)))
            label = found[-1].argmax(2)
        return torch.cat(found, 1)


def token_loss(scores: Tensor, labels: Tensor, batch: Batch) -> Tensor:
    """Cross-entropy of the tokens' labels, summed over a sentence, as the mean over sentences."""
    each = F.cross_entropy(scores.transpose(1, 2), labels, reduction="none")
    return (each * batch.mask).sum() / len(scores)
