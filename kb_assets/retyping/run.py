"""Give vague links of a folder a better type, and say which types they ask for. Safe to repeat.

A model is asked where that may be done now, from the ends and the words of a link alone; what it
has not answered is typed by rules where a cue word is plain, and stays vague otherwise.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kb_assets.answer_text import UnusableAnswerError
from kb_assets.asking.vague_links import PROMPT_VERSION, VagueLink, vague_links
from kb_assets.asking.work import of_links
from kb_assets.outcome import Outcome, are_held, input_hashes, outcome
from kb_assets.paid_work import Done, Reader, ask, paid_file, reader_inputs, reader_of
from kb_assets.retyping import proposals, rules, verdicts
from kb_assets.workbench import Workbench
from kb_core.ontology import RELATED_TO, Ontology, home_ontology
from kb_core.reading_contracts import RETYPED, TYPE_PROPOSALS
from kb_knowledge.records import RULES
from resources.home import Home
from resources.paid_store import PaidStore, Stored

STAGE = "retyping"
NAMES = (RETYPED.name, TYPE_PROPOSALS.name)
VERSION = f"{rules.VERSION}.{proposals.VERSION}.{verdicts.VERSION}"


class _Typed(NamedTuple):
    link: VagueLink
    type: str
    extractor: str


def run(bench: Workbench, partition: str) -> tuple[Outcome, str]:
    """Return what was made and, if a model could not be asked, one sentence that says why."""
    home = bench.home
    ontology = home_ontology(home.data)
    inputs = _inputs(home, partition, ontology)
    held = [home.store.holds(name, partition, inputs, VERSION) for name in NAMES]
    pointers = [pointer for pointer in held if pointer]
    if len(pointers) == len(held) and not bench.may_pay:
        return outcome(STAGE, partition, pointers, is_cached=True), ""
    links = home.store.read("link_observations", partition)
    reader, problem = reader_of(home)
    identity = reader.identity if reader else ""
    done = Done()
    if reader:
        done = _ask(bench, partition, reader, ontology)
    vague = vague_links(links, identity, ontology)
    typed = [_typed(each, done.answers, ontology) for each in vague]
    tables = {
        RETYPED.name: RETYPED.table(_row(each) for each in typed if each.type != RELATED_TO),
        TYPE_PROPOSALS.name: proposals.proposals(
            [each.link for each in typed if each.type == RELATED_TO]
        ),
    }
    with home.leases.hold(f"{STAGE}/{partition}"):
        pointers = [
            home.store.write(
                name, tables[name], partition=partition, inputs=inputs, code_version=VERSION
            )
            for name in NAMES
        ]
    counts = {
        **done.counts,
        "vague_links": len(vague),
        "retyped": tables[RETYPED.name].num_rows,
        "type_proposals": tables[TYPE_PROPOSALS.name].num_rows,
    }
    made = outcome(STAGE, partition, pointers, is_cached=False, counts=counts)
    return made, problem or done.problem


def is_fresh(home: Home, partition: str) -> bool:
    """Tell whether a run that asks nobody would find nothing to do."""
    inputs = _inputs(home, partition, home_ontology(home.data))
    return are_held(home, NAMES, partition, inputs, VERSION)


def _ask(bench: Workbench, partition: str, reader: Reader, ontology: Ontology) -> Done:
    home = bench.home
    chunks = home.store.read("chunks", partition, ["version_id", "chunk_id", "note_id",
                                                   "is_current", "may_leave"])  # fmt: skip
    links = home.store.read("link_observations", partition)
    with PaidStore(paid_file(home)) as store:
        asked = of_links(home, chunks, links, reader, ontology, store)
    done = ask(bench, partition, reader, asked.work)
    # The work holds what was not answered before; the answers of all links are wanted.
    with PaidStore(paid_file(home)) as store:
        answers = store.answers([each.key for each in asked.links])
    return Done(answers, done.failed, done.counts, done.problem)


def _typed(link: VagueLink, answers: Mapping[str, Stored], ontology: Ontology) -> _Typed:
    answer = answers.get(link.key)
    if answer is not None:
        try:
            found = verdicts.type_in(answer.text, answer.part, ontology)
        except UnusableAnswerError:
            found = ""
        if found:
            return _Typed(link, found, answer.label)
    return _Typed(link, rules.type_of(link, ontology), RULES)


def _row(typed: _Typed) -> dict[str, Any]:
    link = typed.link
    return {
        "version_id": link.version_id,
        "chunk_id": link.chunk_id,
        "ordinal": link.ordinal,
        "note_id": link.note_id,
        "old_type": RELATED_TO,
        "type": typed.type,
        "extractor": typed.extractor,
    }


def _inputs(home: Home, partition: str, ontology: Ontology) -> dict[str, str]:
    reader, _ = reader_of(home)
    names: Sequence[str] = ("link_observations",)
    return {
        **input_hashes(home, names, partition),
        **reader_inputs(reader, PROMPT_VERSION),
        "ontology": ontology.digest,
    }
