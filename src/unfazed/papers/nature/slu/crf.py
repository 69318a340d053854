"""A linear chain over tags: learns which tag follows which, and finds the best sequence of all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from unfazed.systems.network import Batch

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
        same = torch.arange(scores.shape[2]).expand(len(scores), -1)
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
