"""What a view says: the build's own knowledge where it is the whole vault's, else made anew.

Somebody who sees less, or asks as of another day, gets what a vault of these chunks alone would
say: names, merges, hubs, counts, and what is current are those of the view. Made once a view.
"""

from kb_core.collecting import without_collecting
from kb_knowledge.knowledge import knowledge_of
from kb_search.build import PublishedBuild
from kb_search.evidence import evidence_of, is_whole
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.view import View


def knowledge_of_view(
    build: PublishedBuild, view: View, hub_chunks: int | None = None
) -> KnowledgeGraph | None:
    """Return what the chunks of a view say; None in a build that was made without observations.

    `hub_chunks` is what the build was made with; None: the rule.
    """
    if build.knowledge is not None and is_whole(build, view):
        return build.knowledge
    with without_collecting():
        evidence = evidence_of(build, view)
        return None if evidence is None else KnowledgeGraph(knowledge_of(evidence, hub_chunks))
