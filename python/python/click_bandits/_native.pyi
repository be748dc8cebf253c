import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex, TypedDict, Union, final, overload

import numpy as np
import numpy.typing as npt

from .models import _FittedModel, _Model

# The docstrings are in the module: `help(click_bandits.Policy)`.

bounds: ModuleType
confidence: ModuleType
models: ModuleType

_Clicks = npt.NDArray[np.bool_]
_Integers = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]

# A Series of pandas or polars.
class _Series(Protocol):
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def to_numpy(self) -> Any: ...

_Numbers = Union[Sequence[float], npt.NDArray[np.floating[Any]], _Series]
_Matrix = Union[Sequence[Sequence[float]], npt.NDArray[np.floating[Any]]]
_Features = Union[Sequence[float], Sequence[Sequence[float]], npt.NDArray[Any], _DataFrame, Mapping[str, Any]]
_Segment = Union[SupportsIndex, str]
_Name = Union[int, str]
_Parameter = Union[SupportsFloat, SupportsIndex, str, None]

class _ParameterRow(TypedDict):
    name: str
    default: float | str | None
    values: str
    choices: list[str] | None
    meaning: str

class _PolicyRow(TypedDict):
    name: str
    sentence: str
    plays: list[str]
    parameters: list[_ParameterRow]
    task: str
    told: str
    contexts: str
    needs_horizon: bool
    late_answers: str
    live: str
    cost: str
    guarantee: str
    dominated_by: list[str]
    source: str

def policies() -> list[_PolicyRow]: ...
_Path = Union[str, os.PathLike[str]]
_Spec = Union[str, os.PathLike[str], Mapping[str, Any]]
_Progress = Union[bool, Callable[[int, int], object], None]
_Seed = Union[SupportsIndex, np.random.Generator, np.random.SeedSequence, np.random.BitGenerator]

class _Answers(TypedDict):
    steps: _Integers
    observations: _Integers
    answered: _Clicks
    correct: _Clicks

@overload
def simulate(
    spec: _Spec,
    *,
    runs: SupportsIndex | None = None,
    seed: _Seed | None = None,
    horizon: SupportsIndex | None = None,
    max_steps: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    shard: None = None,
    out: _Path | None = None,
    fresh: bool = False,
    keep_runs: bool = False,
    policies: dict[str, Callable[..., Any]] | None = None,
    progress: _Progress = None,
    allow: Sequence[_Path] | None = None,
) -> Simulation: ...
@overload
def simulate(
    spec: _Spec,
    *,
    runs: SupportsIndex | None = None,
    seed: _Seed | None = None,
    horizon: SupportsIndex | None = None,
    max_steps: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    shard: str | tuple[int, int],
    out: _Path,
    fresh: bool = False,
    keep_runs: bool = False,
    policies: dict[str, Callable[..., Any]] | None = None,
    progress: _Progress = None,
    allow: Sequence[_Path] | None = None,
) -> None: ...
def merge(
    parts: Sequence[_Path],
    out: _Path,
    *,
    fresh: bool = False,
    keep_runs: bool = False,
    policies: Sequence[str] | None = None,
) -> Simulation: ...
def spec_files(
    spec: _Spec,
    *,
    runs: SupportsIndex | None = None,
    seed: _Seed | None = None,
    horizon: SupportsIndex | None = None,
    max_steps: SupportsIndex | None = None,
    allow: Sequence[_Path] | None = None,
    policies: dict[str, Callable[..., Any]] | None = None,
) -> dict[str, bytes]: ...
def _program() -> str: ...
def _options() -> str: ...
def _check_out(spec: _Spec, out: _Path, fresh: bool) -> None: ...
@final
class Simulation:
    @staticmethod
    def open(dir: _Path) -> Simulation: ...
    @staticmethod
    def _restored(
        files: Sequence[tuple[str, bytes]],
        own: Sequence[str],
        records: Sequence[Sequence[bytes]],
        out: _Path | None,
    ) -> Simulation: ...
    def __reduce__(
        self,
    ) -> tuple[Any, tuple[list[tuple[str, bytes]], list[str], list[list[bytes]], Path | None]]: ...
    def frame(self) -> Table: ...
    def plot(self, ax: Any = None) -> Any: ...
    @property
    def sentences(self) -> list[str]: ...
    def _repr_svg_(self) -> str | None: ...
    def _repr_html_(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def policies(self) -> list[str]: ...
    @property
    def runs(self) -> int: ...
    @property
    def new_runs(self) -> int: ...
    @property
    def out(self) -> Path | None: ...
    @property
    def checkpoints(self) -> _Integers | None: ...
    @property
    def instances(self) -> _Integers: ...
    @property
    def figures(self) -> dict[str, str]: ...
    def regret(self, policy: str) -> _Floats: ...
    def clicks(self, policy: str) -> _Floats: ...
    def accuracy(self, policy: str) -> _Floats: ...
    def answers(self, policy: str) -> _Answers: ...
    def summary(self) -> Table: ...
    def table(self, policy: str) -> Table: ...
    def to_json(self) -> bytes: ...

@final
class Decision:
    @property
    def action(self) -> tuple[Any, ...]: ...
    @property
    def policy(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def propensities(self) -> tuple[float, ...] | None: ...
    @property
    def prefix_propensities(self) -> tuple[float, ...] | None: ...
    @property
    def list_propensity(self) -> float | None: ...
    def to_json(self) -> str: ...
    @classmethod
    def from_json(cls, text: str, action: tuple[Any, ...] | None = None) -> Decision: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str, tuple[Any, ...] | None]]: ...
    __hash__: None  # type: ignore[assignment]

@final
class Batch:
    @property
    def actions(self) -> npt.NDArray[Any]: ...
    @property
    def numbers(self) -> _Integers: ...
    @property
    def policy(self) -> str: ...
    @property
    def model(self) -> str: ...
    def take(self, indices: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Batch: ...
    def to_json(self) -> str: ...
    @classmethod
    def from_json(cls, text: str, items: tuple[Any, ...] | None = None) -> Batch: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: SupportsIndex, /) -> Decision: ...
    def __iter__(self) -> Iterator[Decision]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str, tuple[Any, ...] | None]]: ...
    __hash__: None  # type: ignore[assignment]

@final
class Policy:
    def __new__(
        cls,
        name: str,
        model: _Model | str | None = None,
        *,
        items: SupportsIndex | Iterable[Hashable] | None = None,
        positions: SupportsIndex | None = None,
        rows: SupportsIndex | None = None,
        columns: SupportsIndex | None = None,
        examination: _Numbers | None = None,
        order: Sequence[int] | npt.NDArray[np.integer[Any]] | str | None = None,
        item_features: _Features | None = None,
        user_features: SupportsIndex | None = None,
        segments: SupportsIndex | None = None,
        horizon: SupportsIndex | None = None,
        prior: tuple[float, float] | Fitted | ContextFit | _Path | None = None,
        query: _Name | None = None,
        seed: _Seed | None = None,
        rng: _Seed | None = None,
        **parameters: _Parameter,
    ) -> Policy: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def parameters(self) -> dict[str, float | str]: ...
    @property
    def sizes(self) -> tuple[int, int]: ...
    @property
    def items(self) -> tuple[Any, ...]: ...
    @property
    def answer(self) -> list[Any] | None: ...
    def recommend(
        self, *, features: _Features | None = None, segment: _Segment | None = None
    ) -> list[Any] | None: ...
    def table(self) -> dict[Any, list[tuple[int, int]]]: ...
    def scores(
        self, *, features: _Features | None = None, segment: _Segment | None = None
    ) -> dict[Any, Any]: ...
    def posterior(self) -> dict[str, _Floats]: ...
    def items_frame(self) -> Table: ...
    @classmethod
    def from_fit(
        cls,
        fitted: Fitted | ContextFit,
        query: _Name | None = None,
        *,
        policy: str | None = None,
        model: Literal["pbm", "cascade", "dcm"] | None = None,
        horizon: SupportsIndex | None = None,
        seed: _Seed | None = None,
        rng: _Seed | None = None,
        **parameters: _Parameter,
    ) -> Policy: ...
    def learn(
        self,
        items: Sequence[Any] | npt.ArrayLike | _DataFrame,
        clicks: npt.ArrayLike | _DataFrame,
        observed: npt.ArrayLike | None = None,
        *,
        features: _Features | None = None,
        segments: npt.ArrayLike | None = None,
    ) -> None: ...
    def select(
        self,
        *,
        features: _Features | None = None,
        segment: _Segment | None = None,
        propensities: bool = False,
        draws: SupportsIndex | None = None,
        epsilon: SupportsFloat = 0.05,
    ) -> Decision: ...
    def update(
        self,
        decision: Decision,
        clicks: npt.ArrayLike,
        observed: SupportsIndex | None = None,
    ) -> None: ...
    def select_batch(
        self,
        n: SupportsIndex,
        *,
        features: _Features | None = None,
        segments: npt.ArrayLike | None = None,
    ) -> Batch: ...
    def update_batch(self, batch: Batch, clicks: npt.ArrayLike, observed: npt.ArrayLike | None = None) -> None: ...
    def save(self) -> bytes: ...
    @classmethod
    def load(cls, data: bytes, items: tuple[Any, ...] | None = None) -> Policy: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes, tuple[Any, ...] | None]]: ...
    def __copy__(self) -> Policy: ...
    def __deepcopy__(self, _memo: Any) -> Policy: ...

_Taken = Literal["counted", "repeated", "unknown", "no such position", "closed"]

@final
class Live:
    def __new__(
        cls,
        name: str,
        model: _Model | str | None = None,
        *,
        items: Iterable[_Name] | Mapping[_Name, _Numbers] | None = None,
        item_features: SupportsIndex | None = None,
        user_features: SupportsIndex | None = None,
        segments: SupportsIndex | None = None,
        positions: SupportsIndex | None = None,
        examination: _Numbers | None = None,
        order: Sequence[int] | npt.NDArray[np.integer[Any]] | str | None = None,
        prior: tuple[float, float] | Fitted | ContextFit | _Path | None = None,
        query: _Name | None = None,
        window: SupportsIndex | None = None,
        explore: SupportsFloat = 0.0,
        propensities: bool = False,
        draws: SupportsIndex | None = None,
        epsilon: SupportsFloat = 0.05,
        skips: Literal["at-close", "at-once"] = "at-close",
        values: Mapping[Any, SupportsFloat] | Literal["answers"] | None = None,
        cap: SupportsFloat | None = None,
        keep_open: SupportsIndex | None = None,
        keep_retired: SupportsIndex | None = None,
        seed: _Seed | None = None,
        rng: _Seed | None = None,
        **parameters: _Parameter,
    ) -> Live: ...
    @property
    def items(self) -> list[Any]: ...
    @property
    def values(self) -> dict[Any, float]: ...
    @property
    def prior(self) -> tuple[float, float] | None: ...
    def add(
        self,
        item: _Name,
        features: _Numbers | None = None,
        *,
        value: SupportsFloat | None = None,
        group: str | None = None,
    ) -> bool: ...
    def begin_with(self, fitted: Fitted, query: _Name | None = None) -> int: ...
    def retire(self, item: _Name) -> bool: ...
    def forget(self, item: _Name) -> None: ...
    def decide(
        self,
        id: _Name,
        only: Iterable[_Name] | None = None,
        except_: Iterable[_Name] | None = None,
        *,
        features: _Numbers | Mapping[str, SupportsFloat] | None = None,
        segment: _Segment | None = None,
        values: Mapping[Any, SupportsFloat] | None = None,
        most: SupportsIndex | None = None,
        pins: Mapping[int, _Name] | None = None,
    ) -> list[Any]: ...
    def show(
        self,
        id: _Name,
        items: Iterable[_Name],
        *,
        features: _Numbers | Mapping[str, SupportsFloat] | None = None,
        segment: _Segment | None = None,
    ) -> _Taken: ...
    def click(
        self,
        id: _Name,
        position: SupportsIndex,
        *,
        value: SupportsFloat | None = None,
        revision: int | None = None,
    ) -> _Taken: ...
    def close(self, id: _Name, seen: SupportsIndex | None = None) -> _Taken: ...
    def propensities(self, id: _Name) -> list[tuple[float, float]] | None: ...
    def table(self) -> dict[Any, list[tuple[int, int]]]: ...
    def intervals(self) -> dict[Any, list[tuple[float, float]]]: ...
    def save(self) -> bytes: ...
    @classmethod
    def load(cls, data: bytes) -> Live: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _DataFrame(Protocol):
    @property
    def columns(self) -> Any: ...
    def __getitem__(self, name: Any, /) -> Any: ...

# A LazyFrame of polars, a Dataset or Scanner of pyarrow, a connection of DuckDB that has executed.
class _Lazy(Protocol):
    def collect_schema(self) -> Any: ...

class _Dataset(Protocol):
    def to_table(self) -> Any: ...

class _Executed(Protocol):
    def to_arrow_reader(self) -> Any: ...

_Rows = Union[
    _Path, _ArrowStream, _DataFrame, dict[str, Any], Sequence[dict[str, Any]], npt.NDArray[np.void], _Lazy, _Dataset, _Executed
]
_Log = Union[Sequence[_Path], _Rows]
_Format = Literal["kdd2012", "yandex", "sessions", "obd", "delimited", "csv", "parquet", "ubi", "counts"]

# Without segment, features and items it is a Fitted, so the second may allow for all three.
@overload
def fit(  # type: ignore[overload-overlap]
    log: _Log,
    *,
    format: _Format | None = None,
    columns: dict[str, str] | str | None = None,
    model: _FittedModel | Literal["all"] | Sequence[_FittedModel | Literal["all"]] = "all",
    first_position: int = 1,
    clip_clicks: bool = False,
    max_clicks: int | None = None,
    min_impressions: int = 0,
    min_total_impressions: int = 0,
    min_items: int = 1,
    top_queries: int | None = None,
    positions: int | None = None,
    scope: Literal["query", "site"] = "query",
    prior: float | None = None,
    max_skipped: float | None = None,
    held_out: int | Literal["last"] = 10,
    seed: int = 1,
    today: float | Literal["all"] | None = None,
    intervals: bool = True,
    threads: int | None = None,
    application: str | None = None,
    impression: str | None = None,
    click: str | None = None,
    position_base: Literal[0, 1] | None = None,
    exact_queries: bool = False,
    segment: None = None,
    features: None = None,
    items: None = None,
    query: None = None,
    ablate: Literal[False] = False,
) -> Fitted: ...
@overload
def fit(
    log: _Log,
    *,
    format: Literal["delimited", "parquet"] | None = None,
    columns: dict[str, str] | str | None = None,
    model: Literal["pbm", "cascade", "dcm"],
    first_position: int = 1,
    max_skipped: float | None = None,
    held_out: int = 10,
    seed: int = 1,
    segment: str | None = None,
    features: Sequence[str] | None = None,
    items: _Rows | None = None,
    query: _Name | None = None,
    ablate: bool = False,
) -> ContextFit: ...
def evaluate(
    log: _Log,
    ranking: _Rows,
    *,
    format: _Format | None = None,
    columns: dict[str, str] | str | None = None,
    values: Sequence[float] | None = None,
    model: _FittedModel | Literal["all", "none"] | Sequence[_FittedModel | Literal["all"]] | None = "all",
    first_position: int = 1,
    max_skipped: float | None = None,
    threads: int | None = None,
    application: str | None = None,
    impression: str | None = None,
    click: str | None = None,
    position_base: Literal[0, 1] | None = None,
    exact_queries: bool = False,
) -> Evaluation: ...
def interleaving_test(
    table: _Log,
    *,
    columns: dict[str, str] | str | None = None,
    baseline: str | None = None,
    unit: Literal["user", "list"] = "user",
    depth: int | None = None,
    level: float = 0.95,
) -> dict[str, Any]: ...
def ab_test(
    table: _Log,
    *,
    columns: dict[str, str] | str | None = None,
    metric: Literal["clicks", "value"] = "clicks",
    baseline: str | None = None,
    split: float = 0.5,
    max_sessions_per_user: int | None = None,
    planned: int = 10000,
    looks: int | None = None,
    look: int | None = None,
    level: float = 0.95,
) -> dict[str, Any]: ...
def test_plan(
    kind: Literal["interleaving", "ab"],
    *,
    effect: float = 0.05,
    power: float = 0.8,
    mean: float | None = None,
    sd: float | None = None,
    ties: float = 0.0,
    looks: int = 10,
    per_day: float | None = None,
    share: float | None = None,
    level: float = 0.95,
) -> dict[str, Any]: ...
def judgments(
    fitted: Fitted,
    form: Literal["quepid", "workbench", "trec", "topics", "ltr", "csv", "lightgbm"] = "csv",
    *,
    by: Literal["attraction", "coec"] = "attraction",
    model: _FittedModel | None = None,
    scale: Literal["0-1", "0-3"] | None = None,
    min_impressions: int = 1,
    name: str = "judgments",
    keep_formulas: bool = False,
) -> str: ...
@final
class Evaluation:
    @property
    def sentence(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def levels(self) -> Table | None: ...
    @property
    def models(self) -> Table | None: ...
    def to_json(self) -> bytes: ...
    @staticmethod
    def _restored(sentence: str, warnings: list[str], json: bytes) -> Evaluation: ...
    def __reduce__(self) -> tuple[Any, tuple[str, list[str], bytes]]: ...

@final
class ContextFit:
    @property
    def model(self) -> Literal["pbm", "cascade", "dcm"]: ...
    @property
    def query(self) -> str | None: ...
    @property
    def lists(self) -> int: ...
    @property
    def positions(self) -> int: ...
    @property
    def segments(self) -> tuple[str, ...]: ...
    @property
    def items(self) -> tuple[Any, ...]: ...
    @property
    def user_features(self) -> tuple[str, ...]: ...
    @property
    def item_features(self) -> tuple[str, ...]: ...
    @property
    def report(self) -> dict[str, Any]: ...
    @property
    def skipped(self) -> dict[str, int] | None: ...
    def to_json(self) -> bytes: ...
    @staticmethod
    def from_json(data: bytes) -> ContextFit: ...
    def save(self, path: _Path) -> None: ...
    @staticmethod
    def load(path: _Path) -> ContextFit: ...
    @staticmethod
    def _restored(json: bytes, skipped: dict[str, int] | None) -> ContextFit: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes, dict[str, int] | None]]: ...

@final
class Fitted:
    def plot(self, ax: Any = None, model: _FittedModel | None = None) -> Any: ...
    def _repr_html_(self) -> str: ...
    @property
    def models(self) -> list[str]: ...
    @property
    def parameters(self) -> Table: ...
    @property
    def comparison(self) -> Table | None: ...
    @property
    def choice(self) -> dict[str, Any] | None: ...
    @property
    def transfer(self) -> Table | None: ...
    @property
    def checks(self) -> dict[str, Any]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def counts(self) -> Table: ...
    @property
    def report(self) -> dict[str, Any]: ...
    def score(
        self,
        log: _Log,
        *,
        format: _Format | None = None,
        columns: dict[str, str] | str | None = None,
        first_position: int = 1,
        clip_clicks: bool = False,
        max_skipped: float | None = None,
        threads: int | None = None,
        application: str | None = None,
        impression: str | None = None,
        click: str | None = None,
        position_base: Literal[0, 1] | None = None,
        exact_queries: bool = False,
    ) -> Table: ...
    def compare(self, other: Fitted) -> Table: ...
    def __copy__(self) -> Fitted: ...
    def __deepcopy__(self, _memo: Any) -> Fitted: ...
    def to_json(self) -> bytes: ...
    def save(self, path: _Path) -> None: ...
    @staticmethod
    def from_json(data: bytes) -> Fitted: ...
    @staticmethod
    def load(path: _Path) -> Fitted: ...
    @staticmethod
    def _restored(state: bytes) -> Fitted: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def instances(
        self, model: str | None = None, queries: Sequence[_Name] | None = None
    ) -> list[dict[str, Any]]: ...
    def answer(
        self, *, queries: int = 10, seed: int = 1, threads: int | None = None, progress: _Progress = None
    ) -> dict[str, Any] | None: ...
    def sentences(
        self, *, queries: int = 10, seed: int = 1, threads: int | None = None, progress: _Progress = None
    ) -> list[str]: ...

@final
class Table:
    @property
    def columns(self) -> list[str]: ...
    def to_numpy(self) -> dict[str, npt.NDArray[Any]]: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def head(self, n: int = 5) -> Table: ...
    def _repr_html_(self) -> str: ...
    @staticmethod
    def _restored(columns: Sequence[tuple[str, str, Any]]) -> Table: ...
    def __reduce__(self) -> tuple[Any, tuple[list[tuple[str, str, list[Any]]]]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: str, /) -> npt.NDArray[Any]: ...
    @overload
    def __getitem__(self, key: slice, /) -> Table: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
