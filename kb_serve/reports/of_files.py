"""Reports on files: what of each folder is indexed, what is not read, and what was odd."""

from kb_assets.notes import findings as codes
from kb_serve.coverage import findings, folder_rows, not_read, unread_notes
from kb_serve.reports.grouping import Row
from kb_serve.reports.present import Present
from kb_serve.reports.section import Kind

_COUNTS = ("files", "indexed", "skipped", "failed", "texts", "with_vectors")


# What a finding's code tells the note's writer.
MEANINGS = {
    codes.WINDOWS_1252: "not UTF-8: read as Windows text",
    codes.BAD_BYTES: "some bytes mean nothing in the note's encoding",
    codes.NUL_BYTES: "zero bytes were replaced",
    codes.NOT_TEXT: "a picture or program under a note's name: not read",
    codes.YAML_BROKEN: "its YAML is broken: properties were read line by line",
    codes.YAML_REFUSED: "its YAML is too large, too deep or has anchors: read line by line",
    codes.DUPLICATE_KEY: "a property stands twice: the last one counts",
    codes.NO_PROPERTIES: "two rules around text: read as text",
    codes.DATE_UNREADABLE: "a date property holds no date that can be read",
    codes.FILE_TIME_DROPPED: "undated: a copy or sync set most file times",
    codes.CONTENT_MISSING: "the history knows a version whose text is gone",
    codes.TITLE_CUT: "the title is longer than a title may be",
    codes.ALIASES_CUT: "more aliases, or longer ones, than a note may have",
    codes.READ_PLAINLY: "from some place on read without Markdown: too costly to read",
    codes.PARSE_FAILED: "kept as plain text: its Markdown could not be read",
}


def _folders(present: Present) -> list[Row]:
    return folder_rows(present.home)


def _not_read(present: Present) -> list[Row]:
    return [{"status": s, "reason": r, "files": n} for s, r, n in not_read(present.home)]


def _unread_notes(present: Present) -> list[Row]:
    return [{"path": path, "reason": reason} for path, reason in unread_notes(present.home)]


def _findings(present: Present) -> list[Row]:
    return [{"code": code, "notes": number} for code, number in findings(present.home)]


FOLDERS = Kind(
    "folders",
    "Files by folder",
    "Indexed, skipped and failed ones are all there are.",
    ("folder", *(name.replace("_", " ") for name in _COUNTS)),
    _folders,
    lambda row: (row["folder"], *(row[name] for name in _COUNTS)),
)
NOT_READ = Kind(
    "not_read",
    "Files that are not read",
    "Skipped by kind or by a setting; failed ones say why.",
    ("status", "reason", "files"),
    _not_read,
    lambda row: (row["status"], row["reason"], row["files"]),
)
UNREAD_NOTES = Kind(
    "unread_notes",
    "Notes that were not read",
    "Mend what the reason names.",
    ("path", "reason"),
    _unread_notes,
    lambda row: (row["path"], row["reason"]),
)
FINDINGS = Kind(
    "findings",
    "Odd, but read",
    "The notes are kept; each may say less than was meant.",
    ("code", "notes", "meaning"),
    _findings,
    lambda row: (row["code"], row["notes"], MEANINGS.get(row["code"], "")),
)
