"""`unswayed pull-request`: check a pull request against the main branch, and comment on it."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("pull-request", short_help="Check a pull request against the main branch, and comment on it.")
@click.option(
    "--plan", "plan_file", default="unswayed.toml", show_default=True, metavar="FILE", help="TOML plan to run."
)
@click.option("--folder", default=".unswayed", show_default=True, help="Folder of the runs and pages.")
@click.option("--baseline", is_flag=True, help="Keep this run as what pull requests are compared with.")
@click.option(
    "--baseline-from", metavar="REF", default="",
    help="Commit to compare with, such as main: its plan runs in a git worktree of its own.",
)  # fmt: skip
@click.option(
    "--pinned", metavar="RUN", default="",
    help="Folder of a run, or a commit such as v1.2, to compare with as well. It stays the same from build to build.",
)  # fmt: skip
@click.option(
    "--allow-no-baseline", is_flag=True, help="Accept that there is no run to compare with, as in the first build."
)
@click.option(
    "--comment/--no-comment", default=True, help="Comment on the pull request, in GitHub Actions and GitLab CI."
)
def command(
    plan_file: str,
    folder: str,
    baseline: bool,
    baseline_from: str,
    pinned: str,
    allow_no_baseline: bool,
    comment: bool,
) -> int:
    """Run the plan, compare it with the run of the main branch, and comment on the pull request.

    \b
      unswayed pull-request --baseline             # on the main branch
      unswayed pull-request                        # on a pull request
      unswayed pull-request --baseline-from main   # runs main's commit, then compares
      unswayed pull-request --pinned v1.0          # compares with this release as well

    `unswayed init` writes a workflow that does this. The comparison needs the baseline's folder, .unswayed/main, which
    the workflow keeps in a cache. The comment is written once and then updated. The exit code is 1 if a gate of the
    plan fails, in [gate] or in [compare]. It is 5 if no comparison was made. --baseline makes one with --pinned only.
    """
    from unswayed.base.errors import UsageError
    from unswayed.integrations.pull_request import check_pull_request
    from unswayed.run.plan import read_plan

    if baseline and baseline_from:
        raise UsageError("--baseline keeps this run, and --baseline-from compares it with another. Use one of them.")
    checked = check_pull_request(
        read_plan(plan_file), Path(folder), plan_file, baseline, comment, baseline_from=baseline_from, pinned=pinned,
        allow_no_baseline=allow_no_baseline,
    )  # fmt: skip
    click.echo(checked.text)
    for page in checked.pages:
        click.echo(f"Page in {page}", err=True)
    if checked.comment:
        click.echo(f"Comment: {checked.comment}", err=True)
    return checked.exit_code
