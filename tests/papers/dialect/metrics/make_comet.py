"""Makes tiny COMET checkpoints in a folder, with a reference and without. Runs in COMET's own environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

WORDS = ["<s>", "<pad>", "</s>", "<unk>", "the", "a", "cat", "dog", "sat", "ran", "on", "mat"]


def encoder(folder: Path) -> None:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    ends = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"}
    PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", model_max_length=64, **ends
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=70, pad_token_id=1, bos_token_id=0, eos_token_id=2,
    )  # fmt: skip
    XLMRobertaModel(config).save_pretrained(folder)


def main(to: Path) -> None:
    import pytorch_lightning
    import yaml
    from comet.models import ReferencelessRegression, RegressionMetric

    encoder(to / "encoder")
    kinds = {"regression_metric": RegressionMetric, "referenceless_regression_metric": ReferencelessRegression}
    for name, kind in kinds.items():
        model = kind(
            encoder_model="XLM-RoBERTa", pretrained_model=str(to / "encoder"), hidden_sizes=[8], dropout=0.0,
            layer="mix", layer_norm=False, train_data=[], validation_data=[],
        )  # fmt: skip
        trainer = pytorch_lightning.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False)
        trainer.strategy.connect(model)
        trainer.save_checkpoint(to / name / "checkpoints" / "model.ckpt")
        settings = json.loads(json.dumps(dict(model.hparams), default=str)) | {"class_identifier": name}
        (to / name / "hparams.yaml").write_text(yaml.safe_dump(settings))
    # What the package itself says, for the adapter to be held against.
    from comet import load_from_checkpoint

    loaded = load_from_checkpoint(str(to / "regression_metric" / "checkpoints" / "model.ckpt"))
    items = [{"src": "le chat", "mt": "the cat sat", "ref": "a cat sat"}, {"src": "x", "mt": "a dog", "ref": "the mat"}]
    found = loaded.predict(items, batch_size=2, gpus=0, progress_bar=False, num_workers=0)
    (to / "expected.json").write_text(json.dumps([float(score) for score in found["scores"]]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
