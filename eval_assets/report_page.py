"""What the asset pages say about a scoring: Markdown with figures, never note text.

Reads which build was published with scores last; writes nothing.
"""

from eval_assets.evaluation import Evaluated
from eval_assets.folder_scores import FolderScored
from eval_assets.policy_report import policy_markdown
from eval_assets.report import headline, tables
from kb_assets.build.publish import baseline
from resources.builds import Builds
from resources.home import Home

_HOW_PLOTS = "The figures of every build are under *Plots* in this page's metadata."


def report_markdown(home: Home, done: Evaluated) -> str:
    """Return the report of a build: one line, then its tables."""
    if done.scores is None or not done.variant:
        return f"Not scored: {done.why_not}."
    parts = [f"{headline(done.scores, done.variant)}.", ""]
    parts += [f"- {name}: not asked. {why}" for name, why in done.scores.problems.items()]
    if done.scores.broken:
        parts.append(
            f"- {len(done.scores.broken)} questions ask about notes that are not in this build; "
            "`kb questions list` names them."
        )
    if done.scores.waiting:
        parts.append(f"- {done.scores.waiting} questions need another reader's view: not asked.")
    before = baseline(home)
    if before not in ("", done.build):
        parts.append(f"- What moved: `kb eval --build {done.build[:12]} --against {before[:12]}`")
    parts += ["", _HOW_PLOTS, ""]
    policy = policy_markdown(Builds(home.data).report(done.build).get("policy", {}))
    return "\n".join([*parts, *(table.markdown() for table in tables(done.scores)), policy])


def folder_markdown(done: FolderScored) -> str:
    """Return a folder's figures, inside and in the whole vault side by side."""
    if done.why_not:
        return f"Not scored: {done.why_not}."
    names = dict.fromkeys(name.rsplit("_", 1)[0] for name in done.figures if name != "questions")
    lines = [
        f"{done.figures['questions']:.0f} questions that this folder answers alone, "
        f"asked of {done.variant}.",
        "",
        "| measure | asked in the folder | asked in the whole vault |",
        "|---|---:|---:|",
        *(
            f"| {name} | {_cell(done, f'{name}_inside')} | {_cell(done, f'{name}_whole')} |"
            for name in names
        ),
        "",
        "Earlier builds: *View all historical events* of this partition.",
    ]
    return "\n".join(lines)


def _cell(done: FolderScored, name: str) -> str:
    return f"{done.figures[name]:.3f}" if name in done.figures else "–"
