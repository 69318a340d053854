"""Intent accuracy: the share of utterances whose intent is right, whatever their slots."""

from __future__ import annotations

from unswayed.score.accuracy import Accuracy


class IntentAccuracy(Accuracy):
    name = "intent_accuracy"
