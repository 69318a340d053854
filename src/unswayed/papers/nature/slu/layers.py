"""Layers that several networks share, and a chain of tags over a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from unswayed.papers.nature.slu.fronts import Batch
from unswayed.systems.device import home

_LABEL = 32  # size of the vector of the label before


class BothWays(nn.Module):
    """A bidirectional LSTM that never reads padding, so that a sentence's vectors do not depend on its batch."""

    def __init__(self, size: int, hidden: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(size, hidden, layers, batch_first=True, bidirectional=True, dropout=between)
        self.size = 2 * hidden

    def forward(self, vectors: Tensor, batch: Batch) -> Tensor:
        packed = pack_padded_sequence(vectors, home(batch.lengths), batch_first=True, enforce_sorted=False)
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
        start = torch.full((len(vectors), 1), self.beginning, device=vectors.device)
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


_NEVER = -1e4


class Chain(nn.Module):
    """A conditional random field. Sequences in which `I-x` follows neither `B-x` nor `I-x` are never the best."""

    forbidden: Tensor
    forbidden_first: Tensor

    def __init__(self, tags: Sequence[str]) -> None:
        super().__init__()
        count = len(tags)
        self.pairs = nn.Parameter(torch.zeros(count, count))  # [tag before, tag]
        self.first = nn.Parameter(torch.zeros(count))
        self.last = nn.Parameter(torch.zeros(count))
        wrong = [[_NEVER if tag[:2] == "I-" and b[2:] != tag[2:] else 0.0 for tag in tags] for b in tags]
        self.register_buffer("forbidden", torch.tensor(wrong), persistent=False)
        begins = torch.tensor([_NEVER if tag[:2] == "I-" else 0.0 for tag in tags])
        self.register_buffer("forbidden_first", begins, persistent=False)

    def loss(self, scores: Tensor, tags: Tensor, batch: Batch) -> Tensor:
        """Minus the log-probability of the right tags, as the mean over sentences."""
        return (self._all(scores, batch) - self._one(scores, tags, batch)).mean()

    def _all(self, scores: Tensor, batch: Batch) -> Tensor:
        """The log of the sum over all sequences. As a product of matrices, which costs far less than a logsumexp."""
        follow = self.pairs.exp()
        reached = self.first + scores[:, 0]
        for t in range(1, scores.shape[1]):
            top = reached.detach().amax(1, keepdim=True)
            onward = top + ((reached - top).exp() @ follow).clamp_min(1e-30).log() + scores[:, t]
            reached = torch.where(batch.mask[:, t, None], onward, reached)
        return (reached + self.last).logsumexp(1)

    def _one(self, scores: Tensor, tags: Tensor, batch: Batch) -> Tensor:
        own = scores.gather(2, tags[:, :, None]).squeeze(2) * batch.mask
        pairs = self.pairs[tags[:, :-1], tags[:, 1:]] * batch.mask[:, 1:]
        end = tags.gather(1, batch.lengths[:, None] - 1).squeeze(1)
        return own.sum(1) + pairs.sum(1) + self.first[tags[:, 0]] + self.last[end]

    def best(self, scores: Tensor, batch: Batch) -> Tensor:
        """The best sequence of tags of each sentence, by Viterbi's algorithm."""
        pairs = self.pairs + self.forbidden
        reached = self.first + self.forbidden_first + scores[:, 0]
        same = torch.arange(scores.shape[2], device=scores.device).expand(len(scores), -1)
        back = []
        for t in range(1, scores.shape[1]):
            there = batch.mask[:, t, None]
            top, before = (reached[:, :, None] + pairs).max(1)
            back.append(torch.where(there, before, same))
            reached = torch.where(there, top + scores[:, t], reached)
        path = [(reached + self.last).argmax(1, keepdim=True)]
        for before in reversed(back):
            path.append(before.gather(1, path[-1]))
        return torch.cat(path[::-1], 1)
