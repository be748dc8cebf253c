"""Experiments on several machines: shards as tasks of an engine that is there already.

A shard is a contiguous range of the runs. A task plays one in a folder of its own and returns the
files of that part, so machines need no common file system. The parts are collected beside `out` and
merged into the bytes of one process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor, wait
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path, PurePosixPath
from typing import Any, Callable, Dict, Iterable, Iterator, Mapping, Optional, Sequence, Set, Tuple, Union

from ._native import Simulation, _check_out, merge, spec_files
from ._native import simulate as _simulate

__all__ = ["simulate"]

_Files = Dict[str, bytes]
_Part = Tuple[int, _Files]
_Play = Callable[[int], _Part]

_SPEC = "spec.toml"

#: How often an engine starts a shard whose worker died.
_ATTEMPTS = 4


def simulate(
    spec: Union[str, "os.PathLike[str]", Mapping[str, Any]],
    shards: int,
    engine: Any = "concurrent",
    *,
    out: Union[str, "os.PathLike[str]"],
    runs: Optional[int] = None,
    seed: Optional[int] = None,
    horizon: Optional[int] = None,
    max_steps: Optional[int] = None,
    threads: int = 1,
    fresh: bool = False,
    keep_runs: bool = False,
    allow: Sequence[Union[str, "os.PathLike[str]"]] = (),
) -> Simulation:
    """Runs an experiment as shards on an engine, and merges them into `out`: the bytes of one
    process, but for times.

    A worker that dies is replaced by the engine, which plays its shard again; nothing is counted
    twice, since a run has a number. Finished shards are kept in the folder `OUT.parts` until all
    are there. So the same call continues after an interrupt, and plays only the others.

    Args:
        spec: an experiment, as of `click_bandits.simulate`. It is read here: workers need none of
            its files. Users written in Python are pickled for the workers, and played anew in every
            call.
        shards: number of shards, at least 1. Several for each worker keep all of them busy to the
            end.
        engine: "concurrent", processes of this machine; "ray", tasks of the Ray cluster that
            `ray.init` has connected to, or a local one; "spark", tasks of the active Spark session;
            or an executor of `concurrent.futures`, a Spark session or Spark context.
        out: directory of the result. It must be on a disk of this machine.
        runs: replaces the number of runs.
        seed: replaces the seed.
        horizon: replaces the number of rounds.
        max_steps: replaces the largest number of rounds.
        threads: number of threads of each task.
        fresh: play everything again.
        keep_runs: also write runs.csv.
        allow: folders whose files the spec may name, as of `click_bandits.simulate`.

    Returns:
        the result.

    Raises:
        ValueError: what is wrong with the spec and where; an unknown engine; a directory that
            belongs to something else.
        ImportError: the engine's package is not installed.
    """
    if isinstance(shards, bool) or not isinstance(shards, int):
        raise TypeError(f"shards: expected an integer, got {type(shards).__name__}")
    if not 1 <= shards <= 1_000_000:
        raise ValueError(f"shards is {shards}: expected an integer from 1 to 1,000,000")
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise TypeError(f"threads: expected an integer, got {type(threads).__name__}")
    if not 1 <= threads <= 1024:
        raise ValueError(f"threads is {threads}: expected an integer from 1 to 1024")
    run = _engine(engine)
    files = spec_files(spec, runs=runs, seed=seed, horizon=horizon, max_steps=max_steps, allow=allow)
    overrides = {"runs": runs, "seed": seed, "horizon": horizon, "max_steps": max_steps}
    own = (spec, overrides) if _has_own_users(spec) else None
    # Nothing identifies the code of such users: earlier parts and results may be of other ones.
    fresh = fresh or own is not None
    out = Path(os.path.abspath(out))
    if not fresh and _is_complete(out, files):
        return _simulate(str(out / _SPEC), out=str(out), keep_runs=keep_runs)
    with tempfile.TemporaryDirectory(prefix="click-bandits-") as folder:
        _put(Path(folder, "spec"), files)
        _check_out(str(Path(folder, "spec", _SPEC)), str(out), fresh)
    parts = out.with_name(out.name + ".parts")
    _claim(parts, files, fresh)
    missing = [number for number in range(1, shards + 1) if not _path(parts, number, shards).exists()]
    left = set(missing)
    for answer in run(_Shard(files, shards, threads, own), missing, threads):
        number, part = _checked(answer, left)
        left.remove(number)
        _put(_path(parts, number, shards), part)
    if left:
        raise RuntimeError(f"the engine ended without shards {sorted(left)}")
    played = [_path(parts, number, shards) for number in range(1, shards + 1)]
    merged = merge([str(path) for path in played], str(out), fresh=fresh, keep_runs=keep_runs)
    shutil.rmtree(parts)
    return merged


class _Shard:
    """Plays a shard in a folder that only this task has, and returns the files of the part."""

    def __init__(self, files: _Files, of: int, threads: int, own: Optional[Tuple[Any, Dict[str, Any]]] = None) -> None:
        self.files = files
        self.of = of
        self.threads = threads
        #: The spec itself and what replaces its values, if it has users written in Python.
        self.own = own

    def __call__(self, number: int) -> _Part:
        with tempfile.TemporaryDirectory(prefix="click-bandits-") as folder:
            spec: Any = Path(folder, "spec")
            _put(spec, self.files)
            part = Path(folder, "part")
            source, overrides = (str(spec / _SPEC), {}) if self.own is None else self.own
            _simulate(source, shard=(number, self.of), out=str(part), threads=self.threads, **overrides)
            return number, _read(part)


def _has_own_users(spec: Any) -> bool:
    """Whether a spec has users written in Python, which have to go to the workers."""
    instances = spec.get("instances", ()) if isinstance(spec, Mapping) else ()
    users = [one.get("users", one) if isinstance(one, Mapping) else one for one in instances]
    return any(hasattr(one, "respond") for one in users)


def _is_complete(out: Path, files: _Files) -> bool:
    """Whether a directory contains the result of this experiment, so that nothing is left to
    play."""
    spec = out / _SPEC
    return (out / "result.json").exists() and spec.exists() and spec.read_bytes() == files[_SPEC]


def _read(folder: Path) -> _Files:
    """The files below a folder, by their paths from it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _put(folder: Path, files: _Files) -> None:
    """Writes a folder as a whole: it has another name until it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as temporary:
        whole = Path(temporary, "whole")
        whole.mkdir()
        for name, content in files.items():
            path = whole / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        try:
            whole.rename(folder)
        except OSError as error:
            if folder.exists():
                raise ValueError(f"{folder}: another call writes here: wait until it is done") from error
            raise


def _path(parts: Path, number: int, of: int) -> Path:
    return parts / f"shard-{number}-of-{of}"


def _claim(parts: Path, files: _Files, fresh: bool) -> None:
    """Makes the folder of the parts, or checks that it is one of this experiment."""
    spec = parts / "spec"
    if parts.exists() or parts.is_symlink():
        if not (spec / _SPEC).is_file():
            raise ValueError(f"{parts}: is in the way and has no parts of an experiment: move it, or give another out")
        if fresh:
            shutil.rmtree(parts)
        elif _read(spec) != files:
            raise ValueError(f"{parts}: has parts of another experiment: delete it, or give fresh=True or another out")
        else:
            return
    _put(spec, files)


def _checked(answer: Any, left: Set[int]) -> _Part:
    """The answer of an engine, if it is a part that was asked for."""
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise TypeError(f"the engine returned {type(answer).__name__}, expected a shard's number and files")
    number, part = answer
    if number not in left:
        raise ValueError(f"the engine returned shard {number!r}, which was not asked for or is there already")
    names = [PurePosixPath(name) for name in part] if isinstance(part, dict) else []
    is_inside = all(not name.is_absolute() and ".." not in name.parts for name in names)
    if not names or "part.json" not in part or not is_inside:
        raise ValueError(f"the engine returned no part for shard {number}")
    return number, part


_Run = Callable[[_Play, Sequence[int], int], Iterable[_Part]]


def _engine(engine: Any) -> _Run:
    """How an engine plays shards. They may end in any order."""
    if isinstance(engine, str):
        if engine in _ENGINES:
            return _ENGINES[engine]
        known = ", ".join(f'"{name}"' for name in _ENGINES)
        raise ValueError(f"engine is {engine!r}: expected one of {known}, an executor or a Spark session")
    if isinstance(engine, Executor):
        return lambda play, numbers, threads: _on_executor(engine, play, numbers)
    if hasattr(engine, "sparkContext") or hasattr(engine, "parallelize"):
        context = getattr(engine, "sparkContext", engine)
        return lambda play, numbers, threads: _on_context(context, play, numbers)
    raise TypeError(f"engine: expected a name, an executor or a Spark session, got {type(engine).__name__}")


def _on_processes(play: _Play, numbers: Sequence[int], threads: int) -> Iterator[_Part]:
    """Processes of this machine. A pool whose process died is broken: another one plays what is
    left."""
    left = list(numbers)
    deaths = 0
    while left:
        workers = max(1, min(len(left), (os.cpu_count() or 1) // threads))
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            try:
                for part in _on_executor(pool, play, list(left)):
                    left.remove(part[0])
                    deaths = 0
                    yield part
            except BrokenExecutor:
                deaths += 1
                if deaths == _ATTEMPTS:
                    raise
            except BaseException:
                # Shards that have begun are not waited for, such as after Ctrl-C.
                pool.shutdown(wait=False, cancel_futures=True)
                for process in list((getattr(pool, "_processes", None) or {}).values()):
                    process.terminate()
                raise


def _on_executor(pool: Executor, play: _Play, numbers: Sequence[int]) -> Iterator[_Part]:
    waiting = {pool.submit(play, number) for number in numbers}
    try:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            # Parts that are there come before the error of another one.
            for future in sorted(done, key=lambda future: future.exception() is not None):
                yield future.result()
    finally:
        for future in waiting:
            future.cancel()


def _on_ray(play: _Play, numbers: Sequence[int], threads: int) -> Iterator[_Part]:
    """Tasks of Ray, which starts a task again whose worker died."""
    ray: Any = import_module("ray")

    if not ray.is_initialized():
        ray.init(configure_logging=False)
    task = ray.remote(num_cpus=threads, max_retries=_ATTEMPTS)(_call)
    shared = ray.put(play)
    waiting = [task.remote(shared, number) for number in numbers]
    try:
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from ray.get(done)
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)


def _call(play: _Play, number: int) -> _Part:
    return play(number)


def _on_spark(play: _Play, numbers: Sequence[int], threads: int) -> Iterator[_Part]:
    """Tasks of the active Spark session. Its `spark.task.maxFailures` limits how often a task
    starts again."""
    sessions: Any = import_module("pyspark.sql").SparkSession
    session = sessions.getActiveSession() or sessions.builder.getOrCreate()
    return _on_context(session.sparkContext, play, numbers)


def _on_context(context: Any, play: _Play, numbers: Sequence[int]) -> Iterator[_Part]:
    def job(number: int) -> _Part:
        part: _Part = context.parallelize([number], 1).map(play).collect()[0]
        return part

    # A job for each shard, so that parts are on disk as soon as they end. Threads of the driver
    # wait for them.
    with ThreadPoolExecutor(max(1, min(len(numbers), 2 * context.defaultParallelism))) as waits:
        yield from _on_executor(waits, job, numbers)


_ENGINES: Dict[str, _Run] = {"concurrent": _on_processes, "ray": _on_ray, "spark": _on_spark}
