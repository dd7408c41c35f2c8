"""Read what prose says by cue words: links, figures, dates, roles, decisions. Pure, linear.

It is modest: a sentence is read only where nothing is left to guess, and what asks, denies or is
too long is left out and counted. Who speaks in a conversation and how it is meant go with it.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from kb_assets.extractions.note_text import NoteText
from kb_assets.extractions.observations import LONGEST_QUOTE, Said
from kb_assets.extractions.placing import placed_properties
from kb_assets.extractions.properties import SELF_REFERENCE, SUGGESTION, read_frame
from kb_assets.extractions.prose_claims import Stated, claims_in, decided, decision_in
from kb_assets.extractions.prose_links import Linked, links_in
from kb_assets.extractions.prose_modality import (
    Speakers,
    combined,
    is_asked,
    is_denied,
    language_of,
    modality_of,
)
from kb_assets.extractions.prose_names import Name, NameReader
from kb_assets.extractions.prose_sentences import (
    LONGEST_SENTENCE,
    Passage,
    Sentence,
    passages,
    sentences,
)
from kb_core.ontology import FACT, Ontology
from kb_core.property_names import property_key
from kb_core.prose_cues import ProseCues, prose_cues
from kb_knowledge.records import RULES, SELF

VERSION = "1"  # raise it when equal prose would say something else

PROSE_LEFT = ("prose_long", "prose_denied", "prose_cut", "prose_dated_decisions")
_BASIS = "prose"
_DECISION = "decision"
# What became of a plan is no plan.
_OF_TEXTS = frozenset({"POSITIONED_AGAINST", "CONTRADICTS"})  # plans do that as well
_OF_NOTE = frozenset({"accepted", "rejected", "withdrawn", "cancelled", "created"})


def read_prose(said: Said, note: NoteText, pieces: Collection[int], ontology: Ontology) -> None:
    """Add what the prose of some chunks says; `pieces` are their places in the note."""
    if not pieces:
        return
    before, said.extractor = said.extractor, RULES
    try:
        _Reader(said, note, frozenset(pieces), ontology).read()
    finally:
        said.extractor = before


@dataclass
class _Reader:
    """Reads one note from the top."""

    said: Said
    note: NoteText
    pieces: frozenset[int]
    ontology: Ontology
    is_planned: bool = field(init=False)
    names: NameReader = field(init=False)

    def __post_init__(self) -> None:
        frame = read_frame(self.note, placed_properties(self.note), self.ontology)
        self.is_planned = frame.modality != FACT
        self.names = NameReader(self.note)

    def read(self) -> None:
        """Read every passage."""
        found = list(passages(self.note))
        speakers = Speakers(found)
        for passage in found:
            speakers.hear(passage)
            if not passage.is_heading:
                is_assistant = self.note.is_chat and speakers.is_assistant
                self._passage(passage, is_assistant=is_assistant)

    def _passage(self, passage: Passage, *, is_assistant: bool) -> None:
        """Read a passage; one with a label is read only where the label tells what it is."""
        for at, sentence in enumerate(sentences(passage)):
            language = language_of(sentence.text)
            piece = self._piece(sentence) if language else None
            if language is None or piece is None:
                continue
            cues = prose_cues(language)
            label = "" if self.note.is_chat else passage.label
            if not label:
                self._sentence(piece, sentence, cues, is_assistant=is_assistant)
            elif label in cues.claims["decision_labels"] and at == 0:
                shown = self.names.shown(sentence)
                decision = None if is_asked(shown.text) else decided(shown.text, cues)
                self._decision(piece, sentence, decision, FACT)

    def _piece(self, sentence: Sentence) -> int | None:
        """Return the chunk in which a whole sentence stands, if it is one to be read."""
        piece = self.note.piece_at(sentence.start)
        if piece is None or piece not in self.pieces:
            return None
        if sentence.end > self.note.pieces[piece].end:
            self.said.counts["prose_cut"] += 1
            return None
        if len(sentence.text) > LONGEST_SENTENCE:
            self.said.counts["prose_long"] += 1
            return None
        return piece

    def _sentence(
        self, piece: int, sentence: Sentence, cues: ProseCues, *, is_assistant: bool
    ) -> None:
        shown = self.names.shown(sentence)
        if is_asked(shown.text):
            return
        said = FACT if not is_assistant else SUGGESTION
        self._decision(piece, sentence, decision_in(shown.text, cues), said)
        names = self.names.names(shown, cues)
        for link in links_in(shown.text, names, cues):
            meant = self._meant(shown.text, link.second.end, cues, is_assistant=is_assistant)
            if meant:
                self._link(piece, sentence, link, meant)
        for claim in claims_in(shown.text, names, cues):
            meant = self._meant(shown.text, claim.end, cues, is_assistant=is_assistant)
            if meant:
                self._claim(piece, sentence, claim, meant)

    def _meant(self, text: str, end: int, cues: ProseCues, *, is_assistant: bool) -> str | None:
        """Return how something is meant that stands up to `end`; None where it is denied."""
        if is_denied(text, end, cues):
            self.said.counts["prose_denied"] += 1
            return None
        modality = modality_of(text, end, cues)
        return combined(modality, is_assistant=is_assistant, is_planned=False)

    def _link(self, piece: int, sentence: Sentence, link: Linked, meant: str) -> None:
        ends = (link.first.reference, link.second.reference)
        if ends[0] == ends[1]:
            return
        entry = self.ontology.links.get(link.cue.type)
        phrase = sentence.text[link.first.raw_start : link.second.raw_end]
        if entry is None or len(phrase) > LONGEST_QUOTE:
            return  # a home may have taken the type away
        is_of_note = entry.get("of_note") and not link.cue.is_inverse
        is_of_note = is_of_note or link.cue.type in _OF_TEXTS
        is_plan = self._is_plan(link.first, link.second) and not is_of_note
        modality = combined(meant, is_assistant=False, is_planned=is_plan)
        kind = (link.cue.type, property_key(link.cue.label.replace("…", "_")))
        ends = ends[::-1] if link.cue.is_inverse else ends
        self.said.link(piece, ends, kind, phrase, modality, link.valid_from)
        for name in (link.first, link.second):
            self._mention(piece, name)

    def _claim(self, piece: int, sentence: Sentence, claim: Stated, meant: str) -> None:
        attribute = self.ontology.attribute(claim.attribute)
        is_of_note = attribute in _OF_NOTE or self.ontology.is_of_note(attribute)
        is_planned = self._is_plan(claim.subject) and not is_of_note
        modality = combined(meant, is_assistant=False, is_planned=is_planned)
        stated, valid = (attribute, claim.value), (claim.valid_from, None)
        self.said.claim(
            piece, claim.subject.reference, stated, sentence.text, _BASIS, modality, valid
        )
        self._mention(piece, claim.subject)

    def _decision(self, piece: int, sentence: Sentence, decision: str | None, meant: str) -> None:
        if decision is None:
            return
        if self.note.pieces[piece].is_dated:
            # Under dated headings a later decision would be taken for what replaced this one.
            self.said.counts["prose_dated_decisions"] += 1
            return
        stated = (_DECISION, decision)
        self.said.claim(piece, SELF_REFERENCE, stated, sentence.text, _BASIS, meant)

    def _mention(self, piece: int, name: Name) -> None:
        if name.reference.kind != SELF:
            self.said.mention(piece, name.reference, name.type, "value", name.text)

    def _is_plan(self, *names: Name) -> bool:
        """Tell whether something is said of a note that is itself only a plan."""
        return self.is_planned and any(name.reference.kind == SELF for name in names)
