"""What people do to a vault, one edit each. An edit that is not possible now does nothing."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.incremental_vault import (
    DAILY,
    DATES,
    FOLDERS,
    NAMES,
    OTHERS,
    STATUS,
    WORDS,
    EditedVault,
    Note,
    Pick,
    is_below,
)

Edit = Callable[[EditedVault, Pick], None]

_NEWLINES = ("\n", "\r\n")
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252")


def add_note(vault: EditedVault, pick: Pick) -> None:
    """Write a new note: it may become what dangling links and mentions meant."""
    path = _path(pick(FOLDERS), pick(NAMES))
    if not vault.is_free(path):
        return
    lines = [_line(pick) for _ in range(pick((0, 1, 2, 3)))]
    heading = pick(("", "", *NAMES))
    newline, encoding = pick(_NEWLINES), pick(_ENCODINGS)
    vault.write(path, Note(heading, (), pick(DATES), "", tuple(lines), newline, encoding))


def edit_text(vault: EditedVault, pick: Pick) -> None:
    """Add a line to a note, or take one away."""
    path = pick(vault.here())
    note = vault.notes[path]
    is_shorter = pick((True, False))
    if note.lines and is_shorter:
        line = pick(range(len(note.lines)))
        vault.write(path, replace(note, lines=note.lines[:line] + note.lines[line + 1 :]))
        return
    vault.write(path, replace(note, lines=(*note.lines, _line(pick))))


def edit_front_matter(vault: EditedVault, pick: Pick) -> None:
    """Change properties alone."""
    path = pick(vault.here())
    note = replace(vault.notes[path], date=pick(DATES), status=pick(STATUS))
    vault.write(path, note)


def edit_heading(vault: EditedVault, pick: Pick) -> None:
    """Give a note another title, which others may mention."""
    path = pick(vault.here())
    vault.write(path, replace(vault.notes[path], heading=pick(("", *NAMES))))


def edit_aliases(vault: EditedVault, pick: Pick) -> None:
    """Give a note an alias, which others may link or mention, or take all away."""
    path = pick(vault.here())
    note = vault.notes[path]
    aliases = (*note.aliases, pick(NAMES)) if pick((True, False)) else ()
    vault.write(path, replace(note, aliases=aliases))


def touch(vault: EditedVault, pick: Pick) -> None:
    """Move file times on, and change nothing."""
    for path in vault.here()[: pick((1, 2, 100))]:
        vault.touch(path)


def rename(vault: EditedVault, pick: Pick) -> None:
    """Rename a note in its folder."""
    path = pick(sorted(vault.notes))
    _rename(vault, path, _path(path.rpartition("/")[0], pick(NAMES)))


def rename_case(vault: EditedVault, pick: Pick) -> None:
    """Rename a note by its capitals alone."""
    path = pick(sorted(vault.notes))
    folder, slash, name = path.rpartition("/")
    target = f"{folder}{slash}{name.swapcase()}"
    if target not in vault.notes:
        vault.rename(path, target)


def move(vault: EditedVault, pick: Pick) -> None:
    """Move a note or another file to another folder."""
    path = pick(sorted({*vault.notes, *vault.others}))
    folder, name = pick(FOLDERS), path.rpartition("/")[2]
    _rename(vault, path, f"{folder}/{name}" if folder else name)


def move_and_edit(vault: EditedVault, pick: Pick) -> None:
    """Move a note and write in it before anybody looks: it counts as lost and new."""
    path = pick(vault.here())
    target = f"Moved/{path.rpartition('/')[2]}"
    if vault.is_free(target):
        vault.rename(path, target)
        note = vault.notes[target]
        vault.write(target, replace(note, lines=(*note.lines, _line(pick))))


def rename_folder(vault: EditedVault, pick: Pick) -> None:
    """Rename a folder with all it holds."""
    folders = [folder for folder in vault.folders() if folder]
    target = pick((*FOLDERS[1:], "New folder"))
    if folders and not (vault.root / target).exists():
        folder = pick(folders)
        if not is_below(f"{target}/", folder):
            vault.rename_folder(folder, target)


def delete_note(vault: EditedVault, pick: Pick) -> None:
    """Delete a note."""
    here = vault.here()
    if len(here) > 1:
        vault.remove(pick(here))


def delete_most(vault: EditedVault, pick: Pick) -> None:
    """Delete every note of a folder but one: more than anybody does by the way."""
    folder = pick(vault.folders())
    for path in [path for path in vault.here() if is_below(path, folder)][1:]:
        vault.remove(path)


def delete_folder(vault: EditedVault, pick: Pick) -> None:
    """Delete a folder with all it holds."""
    folders = [folder for folder in vault.folders() if folder]
    if not folders:
        return
    folder = pick(folders)
    if any(not is_below(path, folder) for path in vault.here()):
        vault.remove_folder(folder)


def swap(vault: EditedVault, pick: Pick) -> None:
    """Let two notes exchange what they say."""
    here = vault.here()
    one, other = pick(here), pick(here)
    first, second = vault.notes[one], vault.notes[other]
    if one != other:
        vault.write(one, second)
        vault.write(other, first)


def duplicate(vault: EditedVault, pick: Pick) -> None:
    """Copy a note, as a person does or as a sync does that met a conflict."""
    path = pick(vault.here())
    ending = pick((" 1", " copy", ".sync-conflict-20240101-101010-ABCDEFG", " (conflicted copy)"))
    target = f"{path.removesuffix('.md')}{ending}.md"
    if vault.is_free(target):
        vault.write(target, vault.notes[path])


def write_back(vault: EditedVault, pick: Pick) -> None:
    """Let a note say again what another note says now: no new content, a new version."""
    here = vault.here()
    vault.write(pick(here), vault.notes[pick(here)])


def change_other_file(vault: EditedVault, pick: Pick) -> None:
    """Add, change or delete a file that is no note."""
    folder, name = pick(FOLDERS), pick(sorted(OTHERS))
    path = f"{folder}/{name}" if folder else name
    if path in vault.others and pick((True, False)):
        vault.remove(path)
    elif path in vault.others or vault.is_free(path):
        vault.write_other(path, pick((OTHERS[name], b"other", b"")))


def spell_otherwise(vault: EditedVault, pick: Pick) -> None:
    """Let another system write a note's name in its own Unicode form."""
    vault.spell_otherwise(pick(vault.here()))


def go_online(vault: EditedVault, pick: Pick) -> None:
    """Let a provider take a note's text off this disk, or bring one back."""
    if vault.stubs:
        vault.fetch(pick(sorted(vault.stubs)))
    elif len(vault.here()) > 1:
        plain = [path for path in vault.here() if vault.file(path) == vault.root / path]
        if plain:
            vault.make_stub(pick(plain))


def change_daily_format(vault: EditedVault, pick: Pick) -> None:
    """Tell Obsidian how daily notes are named: every note may be dated anew."""
    vault.write_daily(pick(DAILY))


WRITING: Sequence[Edit] = (
    add_note,
    edit_text,
    edit_front_matter,
    edit_heading,
    edit_aliases,
    swap,
    duplicate,
    write_back,
)
MOVING: Sequence[Edit] = (
    rename,
    rename_case,
    move,
    move_and_edit,
    rename_folder,
    delete_note,
    delete_most,
    delete_folder,
)
BESIDE: Sequence[Edit] = (
    touch,
    change_other_file,
    spell_otherwise,
    go_online,
    change_daily_format,
)


def first_notes(vault: EditedVault, pick: Pick) -> None:
    """Fill an empty vault."""
    vault.write("Home.md", Note("Home", lines=("Start at [[Harbour plan]] or [[Ferry log]].",)))
    for _ in range(pick((2, 8, 20))):
        add_note(vault, pick)


def _rename(vault: EditedVault, path: str, target: str) -> None:
    if vault.is_free(target):
        vault.rename(path, target)


def _path(folder: str, name: str) -> str:
    return f"{folder}/{name}.md" if folder else f"{name}.md"


def _line(pick: Pick) -> str:
    name = pick(NAMES)
    forms = (
        f"See [[{name}]].",
        f"Old: [[{name}#Plan|the plan]], ![[{name}^b1]]",
        f"[there](<{pick(FOLDERS)}/{name}.md>) and [{name}](./map.canvas)",
        f"{name} said so, and {name.lower()} too. #pier/{pick(('east', 'west'))}",
        f"## {name}",
        f"## {pick(('2024-05-02', '2024-07-09'))}",
        f"Owner:: [[{name}]]",
        pick(WORDS),
        pick(WORDS) * 60,
    )
    return pick(forms)
