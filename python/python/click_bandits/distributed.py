"""Experiments on several machines: shards as tasks of an engine that is there already.

A shard is a contiguous range of the runs. A task plays one in a folder of its own and returns the
files of that part, so machines need no common file system. The parts are collected beside `out` and
merged into the bytes of one process.
"""

from __future__ import annotations

import json
import os
import pickle
import platform
import shutil
import sys
import tempfile
import warnings
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor, wait
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path, PurePosixPath
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union

from ._native import Simulation, _check_out, _program, merge, spec_files
from ._native import simulate as _simulate

__all__ = ["simulate", "sweep"]

_Files = Dict[str, bytes]
#: Number of the task, files, and the machine that played them.
_Part = Tuple[int, _Files, str]
_Play = Callable[[int], _Part]
_Path = Union[str, "os.PathLike[str]"]
_Spec = Union[_Path, Mapping[str, Any]]
_Policies = Mapping[str, Callable[..., Any]]
_Progress = Union[bool, Callable[[int, int], object], None]

_SPEC = "spec.toml"

#: How often an engine starts a shard whose worker died.
_ATTEMPTS = 4


def simulate(
    spec: _Spec,
    shards: int,
    engine: Any = "concurrent",
    *,
    out: _Path,
    runs: Optional[int] = None,
    seed: Optional[int] = None,
    horizon: Optional[int] = None,
    max_steps: Optional[int] = None,
    threads: int = 1,
    fresh: bool = False,
    keep_runs: bool = False,
    allow: Sequence[_Path] = (),
    progress: _Progress = None,
    policies: Optional[_Policies] = None,
) -> Simulation:
    """Runs an experiment as shards on an engine, and merges them into `out`: the bytes of one
    process, but for times.

    A worker that dies is replaced by the engine, which plays its shard again; nothing is counted
    twice, since a run has a number. A part that another build of the package has played is played
    again, with a warning that names the machine. Finished shards are kept in the folder `OUT.parts`
    until all are there. So the same call continues after an interrupt, and plays only the others.

    Args:
        spec: an experiment, as of `click_bandits.simulate`. It is read here: workers need none of
            its files. Users written in Python are pickled for the workers, by cloudpickle if it is
            installed, and played anew in every call.
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
        progress: True for a line on standard error, or a function that gets the number of shards
            that have ended and of all shards.
        policies: policies written in Python, as of `click_bandits.simulate`; pickled as such users,
            and played anew too.

    Returns:
        the result.

    Raises:
        ValueError: what is wrong with the spec and where; an unknown engine; a directory that
            belongs to something else.
        TypeError: policies or users written in Python cannot be pickled.
        ImportError: the engine's package is not installed.
        RuntimeError: all workers have another build.

    Examples:
        >>> import tempfile
        >>> from click_bandits.distributed import simulate
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> users = {"model": "cascade", "attraction": [0.9, 0.1], "positions": 1}
        >>> spec = {"name": "easy", "task": "regret", "horizon": 100, "runs": 3, "seed": 1,
        ...         "instances": [users], "policies": [{"policy": "cascade-ts"}]}
        >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        ...     simulate(spec, shards=2, engine=pool, out=folder + "/out").runs
        3
    """
    overrides = {"runs": runs, "seed": seed, "horizon": horizon, "max_steps": max_steps}
    run = _checked_engine(engine, shards, threads)
    job = _Job(spec, shards, threads, Path(os.path.abspath(out)), overrides, fresh, allow, policies)
    _play([job], run, threads, progress)
    return job.merged(keep_runs)


def sweep(
    specs: Mapping[str, _Spec],
    shards: int = 1,
    engine: Any = "concurrent",
    *,
    out: _Path,
    threads: int = 1,
    fresh: bool = False,
    keep_runs: bool = False,
    allow: Sequence[_Path] = (),
    progress: _Progress = None,
    policies: Optional[_Policies] = None,
) -> Dict[str, Simulation]:
    """Runs several experiments at once: the shards of all of them are tasks of one engine.

    All specs are checked before anything is played. The same call continues after an interrupt, and
    after a change of some specs plays those only if they get names or an `out` of their own.

    Args:
        specs: experiments, as of `simulate`, by names that are names of directories.
        shards: number of shards of each experiment.
        out: directory for the results, each in a directory of its name.
        engine, threads, fresh, keep_runs, allow, progress: as of `simulate`.
        policies: policies written in Python that play in all experiments, as of `simulate`.

    Returns:
        the results by name, in the order of the specs.

    Raises:
        ValueError: as `simulate`, with the name of the spec; a name that is no name of a directory.
        TypeError, ImportError, RuntimeError: as `simulate`.

    Examples:
        >>> import tempfile
        >>> from click_bandits.distributed import sweep
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> def spec(attraction):
        ...     users = {"model": "cascade", "attraction": attraction, "positions": 1}
        ...     policies = [{"policy": "cascade-ts"}]
        ...     return {"name": "easy", "task": "regret", "horizon": 100, "runs": 2, "seed": 1,
        ...             "instances": [users], "policies": policies}
        >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        ...     results = sweep({"far": spec([0.9, 0.1]), "near": spec([0.6, 0.5])}, engine=pool, out=folder)
        >>> [result.runs for result in results.values()]
        [2, 2]
    """
    run = _checked_engine(engine, shards, threads)
    jobs: Dict[str, _Job] = {}
    for name, spec in specs.items():
        if not isinstance(name, str) or name in ("", ".", "..") or name.endswith(".parts") or {"/", "\\"} & set(name):
            raise ValueError(f"specs: {name!r} is no name of a directory")
        try:
            jobs[name] = _Job(spec, shards, threads, Path(os.path.abspath(out), name), {}, fresh, allow, policies)
        except ValueError as error:
            raise ValueError(f"specs[{name!r}]: {error}") from error
    _play(list(jobs.values()), run, threads, progress)
    return {name: job.merged(keep_runs) for name, job in jobs.items()}


def _checked_engine(engine: Any, shards: int, threads: int) -> _Run:
    for name, number, most in (("shards", shards, 1_000_000), ("threads", threads, 1024)):
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"{name}: expected an integer, got {type(number).__name__}")
        if not 1 <= number <= most:
            raise ValueError(f"{name} is {number}: expected an integer from 1 to {most:,}")
    return _engine(engine)


class _Job:
    """An experiment whose shards are played; checked before."""

    def __init__(
        self,
        spec: _Spec,
        shards: int,
        threads: int,
        out: Path,
        overrides: Dict[str, Optional[int]],
        fresh: bool,
        allow: Sequence[_Path],
        policies: Optional[_Policies] = None,
    ) -> None:
        own: Any = policies or {}
        self.files, self.policies = spec_files(spec, allow=allow, policies=own, **overrides), list(own)
        # Users written in Python come with their spec, whose values the overrides replace.
        users = {"spec": spec, **overrides} if _has_own_users(spec) else {}
        pickled = _pickled({**users, "policies": own}) if users or own else None
        # Nothing identifies their code: earlier parts and results may be of other ones.
        self.fresh = fresh or pickled is not None
        self.out, self.shards = out, shards
        self.parts = out.with_name(out.name + ".parts")
        self.play = _Shard(self.files, shards, threads, pickled)
        self.is_complete = not self.fresh and _is_complete(out, self.files)
        if not self.is_complete:
            with tempfile.TemporaryDirectory(prefix="click-bandits-") as folder:
                _put(Path(folder, "spec"), self.files)
                _check_out(str(Path(folder, "spec", _SPEC)), str(out), self.fresh)

    def missing(self) -> List[int]:
        """The shards that are left to play."""
        if self.is_complete:
            return []
        _claim(self.parts, self.files, self.fresh)
        return [number for number in range(1, self.shards + 1) if not self.path(number).exists()]

    def path(self, number: int) -> Path:
        return self.parts / f"shard-{number}-of-{self.shards}"

    def merged(self, keep_runs: bool) -> Simulation:
        if self.is_complete:
            return _simulate(str(self.out / _SPEC), out=str(self.out), keep_runs=keep_runs)
        played = [str(self.path(number)) for number in range(1, self.shards + 1)]
        merged = merge(played, str(self.out), fresh=self.fresh, keep_runs=keep_runs, policies=self.policies)
        shutil.rmtree(self.parts)
        return merged


def _play(jobs: Sequence[_Job], run: _Run, threads: int, progress: _Progress) -> None:
    """Plays all shards that are missing; tasks are numbered from 1, as the shards of one job."""
    tasks: Dict[int, Tuple[_Job, int]] = {}
    for place, job in enumerate(jobs):
        tasks.update((place * job.shards + number, (job, number)) for number in job.missing())
    play = _Tasks({task: (job.play, number) for task, (job, number) in tasks.items()})
    n_shards = sum(job.shards for job in jobs)
    left, refused = set(tasks), set(tasks)
    for _ in range(_ATTEMPTS):
        again, refused = sorted(refused), set()
        for answer in run(play, again, threads):
            task, part, machine = _checked(answer, left)
            job, number = tasks[task]
            program = json.loads(part["part.json"]).get("program")
            if program == _program():
                left.remove(task)
                _put(job.path(number), part)
                _tell(progress, n_shards - len(left), n_shards)
            else:
                build = f"shard {number} of {job.out.name!r} was played by another build, {program}, on {machine}"
                warnings.warn(f"{build}: it is played again", RuntimeWarning, stacklevel=3)
                refused.add(task)
        if left != refused or not left:
            break
    if left:
        names = [f"{tasks[task][1]} of {tasks[task][0].out.name!r}" for task in sorted(left)]
        raise RuntimeError(f"the engine ended without shards {', '.join(names)}; this build is {_program()}")


def _tell(progress: _Progress, ended: int, of: int) -> None:
    if callable(progress):
        progress(ended, of)
    elif progress:
        end = "\n" if ended == of else ""
        print(f"\r{ended} of {of} shards", end=end, file=sys.stderr, flush=True)


class _Tasks:
    """Plays a shard of one of several experiments."""

    def __init__(self, tasks: Dict[int, Tuple[_Shard, int]]) -> None:
        self.tasks = tasks

    def __call__(self, task: int) -> _Part:
        play, number = self.tasks[task]
        return task, play(number), platform.node()


class _Shard:
    """Plays a shard in a folder that only this task has, and returns the files of the part."""

    def __init__(self, files: _Files, of: int, threads: int, own: Optional[bytes] = None) -> None:
        self.files = files
        self.of = of
        self.threads = threads
        #: What is written in Python, as pickled arguments of `simulate`.
        self.own = own

    def __call__(self, number: int) -> _Files:
        with tempfile.TemporaryDirectory(prefix="click-bandits-") as folder:
            spec = Path(folder, "spec")
            _put(spec, self.files)
            part = Path(folder, "part")
            arguments = {"spec": str(spec / _SPEC), **(pickle.loads(self.own) if self.own else {})}
            _simulate(**arguments, shard=(number, self.of), out=str(part), threads=self.threads)
            return _read(part)


def _pickled(own: Dict[str, Any]) -> bytes:
    """Bytes for workers: if it is there, by cloudpickle, which also takes what a notebook
    defines."""
    try:
        dumps = import_module("cloudpickle").dumps
    except ImportError:
        dumps = pickle.dumps
    try:
        pickled: bytes = dumps(own)
        return pickled
    except Exception as error:
        remedy = "define them in a module, or install cloudpickle"
        raise TypeError(f"policies and users written in Python have to be pickled: {error}: {remedy}") from error


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
    if not (isinstance(answer, tuple) and len(answer) == 3):
        raise TypeError(f"the engine returned {type(answer).__name__}, expected a task's number, files and machine")
    number, part, machine = answer
    if number not in left:
        raise ValueError(f"the engine returned task {number!r}, which was not asked for or is there already")
    names = [PurePosixPath(name) for name in part] if isinstance(part, dict) else []
    is_inside = all(not name.is_absolute() and ".." not in name.parts for name in names)
    if not names or "part.json" not in part or not is_inside:
        raise ValueError(f"the engine returned no part for task {number}")
    return number, part, machine


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


def _cores() -> int:
    """Cores that this process may use, of its container as well as of the machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError):
        # No container, or one without a quota.
        return cores


def _on_processes(play: _Play, numbers: Sequence[int], threads: int) -> Iterator[_Part]:
    """Processes of this machine. A pool whose process died is broken: another one plays what is
    left."""
    left = list(numbers)
    deaths = 0
    while left:
        workers = max(1, min(len(left), _cores() // threads))
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
    rest = list(numbers)
    waiting: List[Any] = []
    # Some more than run at once, since every task that waits costs the cluster memory.
    room = max(16, 4 * int(ray.cluster_resources().get("CPU", 1)))
    try:
        while rest or waiting:
            ready, rest = rest[: room - len(waiting)], rest[room - len(waiting) :]
            waiting += [task.remote(shared, number) for number in ready]
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
