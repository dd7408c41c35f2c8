"""The part of a build in which a language model is asked: priced first, then folder by folder.

What goes by itself is one account for all folders, so they take their turn, and each is judged anew
when it comes.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from kb_assets.gate import standing
from kb_assets.paid_work import reader_of
from kb_serve.build_summary import Summary
from kb_serve.plans import plan_lines, plan_rows, waiting_line
from resources.home import Home

_COUNTED = ("asked", "estimated_nano", "billed_nano")


def have_read(
    home: Home,
    partitions: Sequence[str],
    summary: Summary,
    *,
    ask: Callable[[str], Counter[str]],
    name: Callable[[str], str],
    say: Callable[[str], None],
    is_time_up: Callable[[], bool],
) -> bool:
    """Say what is left to ask and its price, then have asked what may be; note it in the summary.

    `ask` runs the job over one folder and gives its counts. Returns whether anything was asked.
    """
    _, problem = reader_of(home)
    if problem:
        summary.errors.append({"folder": "vault", "job": "paid", "message": problem})
    plans = standing(home, partitions)
    for line in plan_lines(plans):
        say(line)
    is_asked = False
    for partition in dict.fromkeys(each.plan.folder for each in plans):
        now = [each for each in standing(home) if each.plan.folder == partition]
        if not any(each.is_due for each in now) or is_time_up():
            continue
        counts = ask(partition)
        is_asked = True
        summary.paid.update({each: counts[each] for each in _COUNTED})
        say(f"  read by {now[0].plan.label}: {name(partition)}")
    left = standing(home, partitions)
    summary.plans = plan_rows(left)
    summary.waiting = waiting_line(left)
    return is_asked
