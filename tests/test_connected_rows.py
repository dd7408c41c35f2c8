"""What rows of connected records tell, and what they keep to themselves."""

from kb_search.connected_rows import Rows
from kb_search.paths import Reached
from kb_search.shortest_path import Hop
from tests.made_links import graph_of, link, thing

SAID_TWICE = link("a", "DEPENDS_ON", "b")._replace(chunk_ids=("a#0", "z#0"), phrases=("needs b",))
GRAPH = graph_of([thing("a"), thing("b", note_ids=("b.md", "z.md")), thing("z")], [SAID_TWICE])


class Without:
    """Hands over everything but one note."""

    def __init__(self, note):
        self._note = note

    def chunk(self, chunk_id):
        return self.note(f"{chunk_id.partition('#')[0]}.md")

    def note(self, note_id):
        return note_id != self._note


def test_a_row_tells_its_notes_and_all_evidence_of_its_links():
    row = Rows(GRAPH, None).reached(Reached(1, 1, (0,)))

    assert (row["name"], row["kind"], row["notes"], row["depth"]) == (
        *("b", "Asset", ["b.md", "z.md"]),
        1,
    )
    (via,) = row["via"]
    assert (via["source"], via["type"], via["target"]) == ("a", "DEPENDS_ON", "b")
    assert (via["notes"], via["chunks"]) == (["a.md", "z.md"], ["a#0", "z#0"])
    assert via["phrases"] == ["needs b"]


def test_evidence_that_may_not_be_handed_over_is_left_out_and_so_are_phrases_with_it():
    row = Rows(GRAPH, Without("z.md")).reached(Reached(1, 1, (0,)))

    assert row["notes"] == ["b.md"]
    (via,) = row["via"]
    assert (via["notes"], via["chunks"], via["phrases"]) == (["a.md"], ["a#0"], [])


def test_a_hop_tells_which_note_links_to_which():
    def ends(hop):
        (row,) = Rows(GRAPH, None).hops(0, [hop])
        return [(via["source"], via["target"], via["notes"]) for via in row["via"]]

    assert ends(Hop(1, (), is_linked=True, is_linked_from=False)) == [("a", "b", ["a.md"])]
    assert ends(Hop(1, (), is_linked=False, is_linked_from=True)) == [("b", "a", ["b.md", "z.md"])]
    assert len(ends(Hop(1, (0,), is_linked=True, is_linked_from=True))) == 3
