"""What a damaged file means, and what to do: one entry for each kind of file a home stores."""

from dataclasses import dataclass
from typing import Any

_BUILD = "Run `kb verify --mend`, then `kb build`: this alone is made anew."
_BACKUP = "Bring it back from a backup (`kb restore`); nothing else can."


@dataclass(frozen=True)
class Kind:
    """A kind of stored file."""

    meaning: str
    remedy: str
    is_mendable: bool = True  # `--mend` can do something about it without losing a thing for good


TABLE = Kind("What a folder holds cannot be trusted: answers from it may fail.", _BUILD)
POINTER = Kind("Nobody can tell what a folder's table holds; building stops there.", _BUILD)
MANIFEST = Kind("This build cannot be read: it neither answers nor can be gone back to.", _BUILD)
OLD_FILE = Kind(
    "An earlier build needs it: going back to that build is not possible any more.",
    "Run `kb verify --mend`, which lets go of such builds; newer ones are not touched.",
)
ANSWERS_ONLY = Kind(
    "The build that answers needs it, and the folders hold something else by now: it is not made "
    "anew.",
    "Let another build answer: `kb build`, `kb publish --rollback`, or `kb publish --accept`; a "
    "pinned one needs `kb publish --unpin` first.",
    is_mendable=False,
)
COMPARED_ONLY = Kind(
    "The build that scores are compared with needs it: its answers' times cannot be compared any "
    "more, its scores can.",
    "Nothing: the next complete build that is published takes its place.",
    is_mendable=False,
)
UNUSED = Kind("Nothing names it any more.", "Run `kb verify --mend`, or `kb gc`.")
REPORT = Kind("A build's counts and what publishing compares are lost.", _BUILD)
OLD_REPORT = Kind(
    "An earlier build's counts and what publishing compares are lost: the next build is published "
    "without a comparison if it was the last one that was scored.",
    "Run `kb verify --mend`.",
)
SCORES = Kind("A build's scores, question by question, are lost.", _BUILD)
CURRENT = Kind(
    "No search finds the build that answers.",
    "Run `kb verify --mend`: the pointer goes to the pinned build, or the last that was published.",
)
PUBLISHED = Kind(
    "The list of builds that may be gone back to names one that is not there.",
    "Run `kb verify --mend`, which takes it from the list.",
)
RECORD = Kind("What the last run noted down is lost.", _BUILD)
FOLDERS = Kind("The register of the vault's folders is lost.", _BUILD)
HOME = Kind(
    "Which vault this home was built over, how its notes are cut and which embedder made its "
    "vectors is lost.",
    f"{_BACKUP} Without one, delete it: all three are decided anew from kb.toml, as at `kb init`.",
    is_mendable=False,
)
DECISION = Kind(
    "Something that you decided (a pinned or accepted build, deletions) is lost.",
    f"{_BACKUP} Without one, delete it and decide again.",
    is_mendable=False,
)
BASELINE = Kind(
    "The build that the next one's scores are compared with is forgotten.",
    f"{_BACKUP} Without one, delete it: the next build is published without a comparison.",
    is_mendable=False,
)
JOURNAL = Kind(
    "Earlier versions of notes are lost; building its folder stops.",
    f"{_BACKUP} Without one, move the file away: what it held is then forgotten for good.",
    is_mendable=False,
)
LISTING = Kind(
    "When the vault was listed, and what of it nobody has looked at yet, is lost.",
    _BACKUP,
    is_mendable=False,
)
EVALUATIONS = Kind(
    "Scores of past builds are lost.",
    f"{_BACKUP} Without one, take out the line: it holds figures alone.",
    is_mendable=False,
)
VECTORS = Kind(
    "Some vectors are lost; building stops if the file cannot be read.",
    "Run `kb verify --mend`: sound vectors are kept, the others made anew when they are needed.",
)
PAID = Kind(
    "Answers that were paid for, or the account of what was spent, cannot be trusted. Sound "
    "answers are used as before; the others would be paid for again.",
    _BACKUP,
    is_mendable=False,
)
LEASES = Kind(
    "Nobody can tell who is writing: building stops.",
    "Run `kb verify --mend` when nothing is being built.",
)
RUNS = Kind(
    "Part of the history of runs that the page shows is lost; answers do not depend on it.",
    "Stop `kb ui`, then run `kb verify --mend`: Dagster begins that file anew.",
)


@dataclass(frozen=True)
class Damage:
    """One damaged file, by its path below the home's data folder."""

    path: str
    problem: str
    kind: Kind

    def to_json(self) -> dict[str, Any]:
        """Return what `kb verify --json` says of it."""
        return {
            "path": self.path,
            "problem": self.problem,
            "meaning": self.kind.meaning,
            "remedy": self.kind.remedy,
            "mendable": self.kind.is_mendable,
        }
