"""`unswayed paraphrase`: the good among candidate paraphrases, and the pairs that they make."""

from __future__ import annotations

import click

from unswayed.cli._options import (
    format_option,
    overwrite_option,
    place_options,
    print_values,
    suite_option,
    trust_option,
)


@click.group("paraphrase", short_help="Filter paraphrases step by step; build a set of paraphrased pairs.")
def command() -> None:
    """From candidate paraphrases to a test set as P̂aRTE's: filter them with counts at each step, then build pairs."""


@command.command("filter", short_help="Keep the good paraphrases, and say how many are left at each step.")
@click.argument("suite", metavar="SUITE")
@click.option("--max-overlap", type=click.FloatRange(0, 1), default=0.75, show_default=True,
              help="Jaccard overlap of tokens with the original, at most.")  # fmt: skip
@click.option("--ratings", metavar="FILE", help="People's ratings: an export of a same_meaning study, or CSV.")
@click.option("--least", type=click.FloatRange(0, 100), default=75.0, show_default=True, help="Rated more than this.")
@click.option(
    "--verifier", metavar="SYSTEM", help="A judge of entailment that must find each to follow from the other."
)
@click.option("--similarity", type=click.FloatRange(0, 1), help="Cosine of embeddings with the original, at least.")
@click.option("--embeddings", metavar="FOLDER", help="The encoder to embed with. Default: all-MiniLM-L6-v2, installed.")
@trust_option
@place_options
@click.option("--all", "keep_all", is_flag=True, help="Keep all that pass, not the best of each text.")
@overwrite_option
@format_option
@suite_option
def filter_(
    suite: str, max_overlap: float, ratings: str | None, least: float, verifier: str | None,
    similarity: float | None, embeddings: str | None, keep_all: bool, overwrite: bool, format_: str, to: str,
) -> None:  # fmt: skip
    """Filter the variants of SUITE, each text by itself, and print how many are left at each step.

    \b
      unswayed vary rte1_test.xml --with paraphrase/rules --draws 3 -o candidates/
      unswayed collect export study.toml -o exported.jsonl
      unswayed paraphrase filter candidates/ --ratings exported.jsonl -o kept/
      unswayed paraphrase filter candidates/ --verifier model/ --similarity 0.8 -o kept/
      unswayed paraphrase build kept/ --exclude wrong.tsv -o pairs/

    The steps: not identical, overlap, then people (grammatical, rated) or a verifier (entailed both ways, similarity),
    then the best of each text.
    """
    from unswayed.papers.parte import filters
    from unswayed.papers.parte.building import counted_rows, entails_by, filter_suite
    from unswayed.storage.suite import Suite
    from unswayed.systems.opening import open_system

    steps = [filters.different(), filters.overlap(max_overlap)]
    if ratings is not None:
        from unswayed.papers.parte.ratings import read_ratings

        given = read_ratings(ratings)
        steps += [filters.grammatical(given), filters.rated(given, least)]
    if verifier is not None:
        steps.append(filters.entailed_both_ways(entails_by(open_system(verifier))))
    if similarity is not None:
        from unswayed.systems.model_folder import Embeddings, minilm_folder

        steps.append(filters.similar(Embeddings(embeddings or minilm_folder()).similarity, similarity))
    if not keep_all:
        steps.append(filters.best())
    made, counts = filter_suite(Suite(suite), steps, to, overwrite)
    print_values(format_, counted_rows(counts))
    click.echo(f"{made.manifest.variants:,} paraphrases in {to}", err=True)


@command.command("build", short_help="Pairs with the first, the second, or both texts paraphrased.")
@click.argument("suite", metavar="SUITE")
@click.option("--exclude", metavar="FILE", help="Pairs whose label no longer holds: id, tab, side a line.")
@overwrite_option
@suite_option
def build(suite: str, exclude: str | None, overwrite: bool, to: str) -> None:
    """Build P′-H, P-H′ and P′-H′ from the paraphrases in SUITE, labels carried over but for those that are excluded.

    \b
      unswayed paraphrase build kept/ --exclude wrong.tsv -o pairs/
      unswayed study parte --data pairs/ --system model/
    """
    from unswayed.papers.parte.building import build_suite
    from unswayed.storage.suite import Suite

    made, sides = build_suite(Suite(suite), to, exclude, overwrite)
    told = ", ".join(f"{count:,} {source.partition('/')[2]}" for source, count in sides.items())
    click.echo(f"{made.manifest.variants:,} pairs in {to}: {told}", err=True)
