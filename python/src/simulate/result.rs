//! The class `Simulation`: the result of an experiment.

use crate::message::{existing, none_of, value_error};
use crate::reduced::reduced;
use crate::table::{Column, Table, escaped};
use experiment::{FinishedResult, Measurement, Quantity, Runs, SPEC};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyBytes, PyDict, PyTuple};
use report::Leaderboard;
use report::figure::{self, Figure, FigureData, PolicyStyles};
use sim::{Identification, Summary};
use spec::models::OWN;
use spec::{Experiment, Overrides};
use std::iter::repeat_n;
use std::path::{Path, PathBuf};

/// The result of an experiment.
///
/// Examples:
///     >>> users = {"model": "cascade", "attraction": [0.9, 0.1], "positions": 1}
///     >>> spec = {"name": "easy", "task": "regret", "horizon": 100, "runs": 2, "seed": 1,
///     ...         "instances": [users], "policies": [{"policy": "cascade-ts"}]}
///     >>> result = simulate(spec)
///     >>> result
///     Simulation("easy", 2 runs of cascade-ts)
///     >>> result.regret("cascade-ts").shape == result.clicks("cascade-ts").shape == (2, 79)
///     True
///     >>> result.table("cascade-ts").columns
///     ['run', 'instance', 't', 'regret', 'clicks']
///     >>> result.frame().columns[0], result.summary()["statistic"][0], len(result.to_json()) > 100
///     ('policy', 'regret', True)
///     >>> len(result.sentences)
///     1
///     >>> axes = result.plot()  # doctest: +SKIP
#[pyclass(frozen, module = "click_bandits")]
pub(crate) struct Simulation {
    measured: Measurement,
    figures: Vec<Figure>,
    out: Option<PathBuf>,
    /// The experiment: `spec.toml`, and the files that it names.
    files: Vec<(String, Vec<u8>)>,
}

/// A number of rounds, observations or runs, all below 2^63.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A quantity that cannot be read back from the directory.
fn unreadable(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

impl Simulation {
    pub(super) fn new(measured: Measurement, experiment: &Experiment, out: Option<PathBuf>) -> Self {
        let figures = Figure::defaults(experiment.task(), experiment.has_duels());
        let inputs =
            experiment.inputs().into_iter().map(|(name, content)| (name.to_owned(), content.to_vec()));
        let spec = (SPEC.to_owned(), experiment.to_toml().into_bytes());
        Self { measured, figures, out, files: inputs.chain([spec]).collect() }
    }

    fn index(&self, label: &str) -> PyResult<usize> {
        self.measured
            .policy(label)
            .ok_or_else(|| value_error(none_of(format!("no policy {label:?}"), label, self.policies())))
    }

    /// A quantity in every run at every checkpoint.
    fn curves<'py>(
        &self,
        py: Python<'py>,
        label: &str,
        quantity: Quantity,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let index = self.index(label)?;
        let Some(n_checkpoints) = self.measured.runs.n_checkpoints() else {
            return Err(value_error("runs end with an answer: see answers"));
        };
        let values = py.detach(|| self.run_by_run(index, quantity))?;
        if values.is_empty() {
            return Err(value_error(format!("policy {label:?} has no such values")));
        }
        PyArray1::from_vec(py, values).reshape([self.runs(), n_checkpoints])
    }

    /// Every run of these policies, perhaps with their labels in a first column.
    fn rows(&self, policies: &[usize], label: Option<&'static str>) -> PyResult<Table> {
        let Measurement { runs, result, .. } = &self.measured;
        let curves = |policy: usize| result.policies[policy].curves();
        let rounds = |policy: usize| curves(policy).map_or(&[][..], |curves| &curves.t);
        // A run has a row for each checkpoint, or one for its answer.
        let n_rows = |policy: usize| if runs.n_checkpoints().is_some() { rounds(policy).len() } else { 1 };
        let of_runs = |values: &dyn Fn(usize) -> i64| {
            let of_run = |policy| move |run| repeat_n(values(run), n_rows(policy));
            Column::integers(policies.iter().flat_map(|&policy| (0..runs.n_runs()).flat_map(of_run(policy))))
        };
        let labels =
            |&policy: &usize| repeat_n(Some(&result.policies[policy].label), runs.n_runs() * n_rows(policy));
        let first = label.map(|name| (name, Column::texts(policies.iter().flat_map(labels))));
        let mut columns: Vec<(&str, Column)> = first.into_iter().collect();
        columns.push(("run", of_runs(&|run| signed(run as u64))));
        columns.push(("instance", of_runs(&|run| signed(runs.instances()[run] as u64))));
        if runs.n_checkpoints().is_some() {
            let numbers = |quantity| {
                let numbers = policies.iter().map(|&policy| self.run_by_run(policy, quantity));
                numbers.collect::<PyResult<Vec<_>>>().map(|numbers| Column::floats(numbers.concat()))
            };
            let rounds =
                policies.iter().flat_map(|&policy| (0..runs.n_runs()).flat_map(move |_| rounds(policy)));
            columns.push(("t", Column::integers(rounds.copied().map(signed))));
            columns.push(("regret", numbers(Quantity::Regret)?));
            columns.push(("clicks", numbers(Quantity::Clicks)?));
        } else {
            let answers = policies.iter().map(|&policy| runs.answers(policy).map_err(unreadable));
            let answers = answers.collect::<PyResult<Vec<_>>>()?.concat();
            let number =
                |value: fn(&Identification) -> u64| Column::integers(answers.iter().map(value).map(signed));
            let flag = |value: fn(&Identification) -> bool| Column::flags(answers.iter().map(value));
            columns.push(("steps", number(|answer| answer.steps)));
            columns.push(("observations", number(|answer| answer.observations)));
            columns.push(("answered", flag(|answer| answer.answered)));
            columns.push(("correct", flag(|answer| answer.correct)));
        }
        Table::new(columns)
    }

    fn run_by_run(&self, index: usize, quantity: Quantity) -> PyResult<Vec<f64>> {
        let runs = &self.measured.runs;
        let columns = runs.columns(index, quantity, 0..runs.n_checkpoints().unwrap_or(0));
        let columns = columns.map_err(unreadable)?;
        let run = |run: usize| columns.iter().map(move |column| column[run]);
        Ok((0..runs.n_runs()).flat_map(run).collect())
    }
}

#[pymethods]
impl Simulation {
    /// The result in a directory that `simulate` or its command has written. Nothing in it changes.
    ///
    /// Raises:
    ///     ValueError: the directory has no finished result, or not all of its runs: those of
    ///         policies and users written in Python are in no directory.
    ///
    /// Examples:
    ///     >>> import tempfile
    ///     >>> users = {"model": "cascade", "attraction": [0.4, 0.2, 0.1], "positions": 2}
    ///     >>> spec = {"name": "small", "task": "regret", "horizon": 100, "runs": 3, "seed": 1,
    ///     ...         "instances": [users], "policies": [{"policy": "cascade-ts"}]}
    ///     >>> with tempfile.TemporaryDirectory() as folder:
    ///     ...     result = simulate(spec, out=folder)
    ///     ...     Simulation.open(folder).to_json() == result.to_json()
    ///     True
    #[staticmethod]
    fn open(dir: PathBuf) -> PyResult<Self> {
        let dir = existing("dir", dir, "the directory of a result", &[])?;
        let finished = FinishedResult::open(&dir).map_err(value_error)?;
        let experiment = finished.experiment().map_err(value_error)?;
        let runs = finished.runs().map_err(value_error)?;
        let measured = Measurement::of_runs(&experiment, &[], runs).map_err(value_error)?;
        Ok(Self::new(measured, &experiment, Some(dir)))
    }

    /// The result that `__reduce__` wrote.
    #[staticmethod]
    fn _restored(
        py: Python<'_>,
        files: Vec<(String, Vec<u8>)>,
        own: Vec<String>,
        records: Vec<Vec<Vec<u8>>>,
        out: Option<PathBuf>,
    ) -> PyResult<Self> {
        let folder = py.import("tempfile")?.call_method0("TemporaryDirectory")?;
        let path: PathBuf = folder.getattr("name")?.extract()?;
        let restored = (|| {
            for (name, content) in &files {
                // A name of a file beside the spec, and no path.
                let name = Path::new(name).file_name().ok_or_else(|| value_error("a file without a name"))?;
                std::fs::write(path.join(name), content)?;
            }
            let overrides = Overrides { without_policies: true, ..Overrides::default() };
            let (experiment, _) =
                super::spec::read(path.join(SPEC).into_pyobject(py)?.as_any(), overrides, &[])?;
            let runs = Runs::restored(&experiment, &records).map_err(value_error)?;
            let measured = Measurement::of_runs(&experiment, &own, runs).map_err(value_error)?;
            Ok(Self::new(measured, &experiment, out))
        })();
        folder.call_method0("cleanup")?;
        restored
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let bytes = |content: &Vec<u8>| PyBytes::new(py, content);
        let files: Vec<_> = self.files.iter().map(|(name, content)| (name, bytes(content))).collect();
        let own = self.measured.result.policies.iter().filter(|policy| policy.policy == OWN);
        let own: Vec<&str> = own.map(|policy| policy.label.as_str()).collect();
        let records = self.measured.runs.records().map_err(unreadable)?;
        let records: Vec<Vec<_>> = records.iter().map(|runs| runs.iter().map(bytes).collect()).collect();
        reduced::<Self>(py, "_restored", (files, own, records, self.out.as_ref()))
    }

    /// A table with every run of every policy: policy, and the columns of `table`.
    ///
    /// Raises:
    ///     RuntimeError: the runs cannot be read from the directory.
    fn frame(&self) -> PyResult<Table> {
        let all: Vec<usize> = (0..self.policies().len()).collect();
        self.rows(&all, Some("policy"))
    }

    /// Draws the regret of all policies over rounds with matplotlib: means, and bands from the 10 %
    /// to the 90 % quantile over the runs.
    ///
    /// Args:
    ///     ax: the axes to draw on; by default new ones.
    ///
    /// Returns:
    ///     the axes.
    ///
    /// Raises:
    ///     ImportError: matplotlib is not installed.
    ///     ValueError: runs end with an answer.
    #[pyo3(signature = (ax=None))]
    fn plot<'py>(slf: Bound<'py, Self>, ax: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("click_bandits._plot")?.call_method1("plot", (&slf, ax))
    }

    /// The first figure, for notebooks.
    #[pyo3(name = "_repr_svg_")]
    fn first_figure(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.figures(py)?.values().iter().next().map(|svg| svg.extract()).transpose()
    }

    /// Which policy is best, by how much and how surely, as the command ends: a list of sentences.
    #[getter]
    fn sentences(&self) -> PyResult<Vec<String>> {
        Ok(Leaderboard::of_runs(&self.measured).map_err(unreadable)?.sentences())
    }

    /// `repr`, the first of the sentences and the first figure, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let first = self.sentences()?.into_iter().next().unwrap_or_default();
        let words = escaped(&format!("{}. {first}", self.__repr__()));
        Ok(format!("<p>{words}</p>{}", self.first_figure(py)?.unwrap_or_default()))
    }

    /// Name of the experiment.
    #[getter]
    fn name(&self) -> &str {
        &self.measured.result.name
    }

    /// Labels of the policies.
    #[getter]
    fn policies(&self) -> Vec<&str> {
        self.measured.result.policies.iter().map(|policy| policy.label.as_str()).collect()
    }

    /// Number of runs of each policy.
    #[getter]
    fn runs(&self) -> usize {
        self.measured.runs.n_runs()
    }

    /// Number of runs that were played now; the others were in the directory already.
    #[getter]
    fn new_runs(&self) -> u64 {
        self.measured.n_new_runs
    }

    /// The directory of the files, or None.
    #[getter]
    fn out(&self) -> Option<PathBuf> {
        self.out.clone()
    }

    /// Rounds after which regret and clicks are recorded, shape (checkpoints,); None if runs end
    /// with an answer.
    #[getter]
    fn checkpoints<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        let policies = &self.measured.result.policies;
        let curves = policies.first().and_then(|policy| policy.curves());
        curves.map(|curves| PyArray1::from_vec(py, curves.t.iter().copied().map(signed).collect()))
    }

    /// Index of the instance of every run, shape (runs,).
    #[getter]
    fn instances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let instances = self.measured.runs.instances().iter().map(|&index| signed(index as u64));
        PyArray1::from_vec(py, instances.collect())
    }

    /// Cumulative regret of a policy, in the unit of the model's reward, shape (runs, checkpoints).
    ///
    /// Raises:
    ///     ValueError: there is no such policy, or runs end with an answer.
    fn regret<'py>(&self, py: Python<'py>, policy: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.curves(py, policy, Quantity::Regret)
    }

    /// Clicks on the lists of a policy so far, shape (runs, checkpoints).
    ///
    /// Raises:
    ///     ValueError: there is no such policy, or runs end with an answer.
    fn clicks<'py>(&self, py: Python<'py>, policy: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.curves(py, policy, Quantity::Clicks)
    }

    /// 1 where a policy would recommend the best item, otherwise 0, shape (runs, checkpoints).
    ///
    /// Raises:
    ///     ValueError: there is no such policy, or it recommends no item.
    ///
    /// Examples:
    ///     >>> duels = {"model": "dueling", "preferences": [[0.5, 0.9], [0.1, 0.5]]}
    ///     >>> spec = {"name": "duels", "task": "regret", "horizon": 100, "runs": 2, "seed": 1,
    ///     ...         "instances": [duels], "policies": [{"policy": "rucb"}]}
    ///     >>> simulate(spec).accuracy("rucb")[:, -1].tolist()
    ///     [1.0, 1.0]
    fn accuracy<'py>(&self, py: Python<'py>, policy: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.curves(py, policy, Quantity::Accuracy)
    }

    /// The answers of a policy, if runs end with one: a dict of arrays of shape (runs,). "steps":
    /// rounds played; "observations": items observed; "answered": whether there is an answer;
    /// "correct": whether it is right.
    ///
    /// Raises:
    ///     ValueError: there is no such policy, or runs do not end with an answer.
    ///
    /// Examples:
    ///     >>> users = {"model": "cascade", "attraction": [0.9, 0.1], "positions": 1}
    ///     >>> spec = {"name": "best", "task": "identify", "max_steps": 100_000, "runs": 2,
    ///     ...         "seed": 1, "instances": [users], "policies": [{"policy": "kl-lucb", "delta": 0.1}]}
    ///     >>> simulate(spec).answers("kl-lucb")["correct"].tolist()
    ///     [True, True]
    fn answers<'py>(&self, py: Python<'py>, policy: &str) -> PyResult<Bound<'py, PyDict>> {
        let columns = self.table(policy)?.to_numpy(py)?;
        if self.measured.runs.n_checkpoints().is_some() {
            return Err(value_error("runs do not end with an answer: see regret and clicks"));
        }
        columns.del_item("run")?;
        columns.del_item("instance")?;
        Ok(columns)
    }

    /// A table with the content of curves.csv: policy, round (t), statistic ("regret", "clicks",
    /// ..), and its mean, standard error, minimum, quantiles and maximum over the runs.
    ///
    /// Raises:
    ///     RuntimeError: the runs cannot be read from the directory.
    fn summary(&self) -> PyResult<Table> {
        let rows = self.measured.summaries().map_err(unreadable)?;
        let number = |value: fn(&Summary) -> f64| Column::floats(rows.iter().map(|row| value(&row.summary)));
        Table::new([
            ("policy", Column::texts(rows.iter().map(|row| Some(row.policy)))),
            ("t", Column::integers(rows.iter().map(|row| signed(row.t)))),
            ("statistic", Column::texts(rows.iter().map(|row| Some(row.statistic)))),
            ("mean", number(|summary| summary.mean)),
            ("se", number(|summary| summary.standard_error)),
            ("min", number(|summary| summary.min)),
            ("q10", number(|summary| summary.q10)),
            ("q90", number(|summary| summary.q90)),
            ("max", number(|summary| summary.max)),
        ])
    }

    /// A table with every run of a policy: run, instance, round (t), regret and clicks; if runs end
    /// with an answer, steps, observations, answered and correct.
    ///
    /// Raises:
    ///     ValueError: there is no such policy.
    ///     RuntimeError: the runs cannot be read from the directory.
    fn table(&self, policy: &str) -> PyResult<Table> {
        self.rows(&[self.index(policy)?], None)
    }

    /// The content of result.json: the same bytes as of the command.
    fn to_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.measured.result.to_json())
    }

    /// The figures that `simulate` writes: a dict from names to SVG texts.
    #[getter]
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let styles = PolicyStyles::of(self.policies());
        let pictures = figure::draw(&self.figures, FigureData::Result(&self.measured.result), &styles);
        pictures.into_iter().map(|picture| (picture.file, picture.svg)).into_py_dict(py)
    }

    fn __repr__(&self) -> String {
        let (name, policies) = (self.name(), self.policies().join(", "));
        format!("Simulation({name:?}, {} runs of {policies})", self.runs())
    }
}
