//! Experiments: `simulate` and `merge`, with the files of the commands of the same names.

mod contender;
mod own_users;
mod result;
mod spec;

pub(crate) use self::contender::InPython;
pub(crate) use self::result::Simulation;

use self::contender::{Fault, with_contender};
use self::spec::OwnObjects;
use crate::message::{existing, type_error, value_error};
use crate::models::with_protocol;
use crate::options::Given;
use crate::task::seed_of;
use crate::watch::{Watch, watched};
use ::spec::models::OwnAnswers;
use ::spec::{Experiment, Overrides};
use experiment::manifest::Program;
use experiment::{Claim, Parts, ResultDir, RunError, Runner, SPEC, Shard};
use policies::catalogue::PolicySpec;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyBytes, PyDict, PyTuple};
use report::Drawing;
use std::path::PathBuf;
use std::sync::Arc;

/// This package, for manifests.
fn program() -> Program {
    Program { name: "click_bandits (Python)".to_owned(), ..Program::library() }
}

fn failure(error: &(dyn std::error::Error + 'static)) -> PyErr {
    let text = error.to_string().replace("`click-bandits merge`", "`merge`");
    match error.downcast_ref::<RunError>() {
        Some(RunError::File(_)) => PyOSError::new_err(text),
        _ => value_error(text),
    }
}

/// A shard as `"2/8"` or `(2, 8)`.
fn shard_of(given: &Bound<'_, PyAny>) -> PyResult<Shard> {
    if let Ok(text) = given.extract::<String>() {
        return text.parse().map_err(|fault| value_error(format!("shard: {fault}")));
    }
    let pair = given.cast::<PyTuple>().ok().and_then(|pair| pair.extract::<(u64, u64)>().ok());
    let shard = pair.and_then(|(number, of)| Shard::new(number, of));
    shard.ok_or_else(|| value_error(format!("shard is {given}: expected \"I/N\" or (I, N) with 1 <= I <= N")))
}

/// The arguments of `simulate` besides the experiment.
struct Options {
    out: Option<PathBuf>,
    fresh: bool,
    keep_runs: bool,
}

impl Options {
    fn claim<'a>(&self, extra: Vec<String>, parts: Option<&'a Parts>) -> Claim<'a> {
        let (fresh, keep_runs) = (self.fresh, self.keep_runs);
        Claim { extra, keep_runs, fresh, parts, ..Claim::by(program()) }
    }
}

/// Runs an experiment: the same numbers, and the same files in `out`, as the command
/// `click-bandits simulate`.
///
/// The interpreter's lock is released. Ctrl-C stops the runs within a second; what a directory has
/// then, the same call continues.
///
/// Args:
///     spec: an experiment: a path of a TOML file, such a text (of more than one line), or a dict
///         with the same keys, where a policy may be its name alone. Files that it names are found
///         from the folder of the file, or from the current one. Among the instances of a dict,
///         objects of `models` stand for their parameters, and users written in Python for
///         themselves; with a name as {"name": .., "users": object}. Such users have known(), a
///         dict with model, items, positions and, for "pbm", examination; respond(list), the clicks
///         as `Policy.update` takes them (for "semi-bandit" clicks and observed); expected(list),
///         the mean reward; and best_list or, without one, best, the largest expected: then
///         "oracle" cannot play. Every run and policy has a copy of the object, whose attribute
///         `random` is a generator of numpy with the same seed for all policies. They are played
///         anew in every call.
///     runs: replaces the number of runs; those of each instance if the spec has `per-instance`.
///     seed: replaces the seed.
///     horizon: replaces the number of rounds.
///     max_steps: replaces the number of rounds after which a policy that has not stopped is
///         stopped.
///     threads: number of threads, by default one per core. Results do not depend on it.
///     shard: "I/N" or (I, N): play only this share of the runs into `out`, for `merge`.
///     out: directory for the files; it keeps finished runs, so that the same call resumes, and
///         more runs or policies extend it. By default everything stays in memory.
///     fresh: play everything again, even if `out` has runs of this experiment.
///     keep_runs: also write runs.csv, with one row for each run, policy and checkpoint.
///     policies: policies written in Python, a dict from labels to functions. A function gets the
///         arguments of `Policy` that users of the run let a policy know (such as model, items,
///         positions), and seed, as far as it takes them; it returns an object with `select()`,
///         which returns a decision or a list of items, and `update(decision, clicks)`, or
///         `update(decision, clicks, observed)` for "semi-bandit". For users who differ (`context`
///         in the spec) functions also get item_features, user_features and segments, and `select`
///         gets what it takes of `features`, an array, and `segment`, or both in a dict, as
///         `context`. The task has to be "regret". They run one at a time, and again in every call,
///         since a label does not identify code; Ctrl-C waits for the call in progress.
///     progress: True for a line on standard error, or a function that gets the number of runs that
///         have ended and of all runs.
///     allow: folders whose files the spec may name, besides those beside it and below (of a dict
///         or text: in the working directory).
///
/// Returns:
///     the result, or None for a shard.
///
/// Raises:
///     ValueError: what is wrong with the spec and where; a directory that belongs to something
///         else, or is damaged.
///     OSError: a file cannot be written.
///     KeyboardInterrupt: the runs were stopped.
///
/// Examples:
///     >>> users = {"model": "cascade", "attraction": [0.9, 0.1], "positions": 1}
///     >>> spec = {"name": "easy", "task": "regret", "horizon": 100, "runs": 2, "seed": 1,
///     ...         "instances": [users], "policies": [{"policy": "cascade-ts"}]}
///     >>> simulate(spec).regret("cascade-ts").shape[0]
///     2
#[pyfunction]
#[pyo3(text_signature = "(spec, *, runs=None, seed=None, horizon=None, max_steps=None, threads=None, shard=None, out=None, fresh=False, keep_runs=False, policies=None, progress=None, allow=None)",
    signature = (spec, **given))]
pub(crate) fn simulate(
    spec: &Bound<'_, PyAny>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Simulation>> {
    let (py, mut given) = (spec.py(), Given::new(spec.py(), given)?);
    let (progress, threads) = (given.take("progress")?, given.whole("threads", 1..=1024)?);
    let shard = given.take("shard")?.map(|shard| shard_of(&shard)).transpose()?;
    let (out, fresh) = (given.one("out")?, given.one("fresh")?.unwrap_or(false));
    let keep_runs = given.one("keep_runs")?.unwrap_or(false);
    let (mut experiment, own, policies) = read("simulate", spec, given)?;
    let watch = Watch::new(py, progress.as_ref())?;
    let fault = Arc::new(Fault::new(Arc::clone(&watch.stop)));
    // Runs in the directory may be of other code under the same name.
    let fresh = fresh || !own.is_empty();
    give_answers(&mut experiment, own, &fault)?;
    let options = Options { out, fresh, keep_runs };
    let mut runner = runner(&experiment, threads, &watch);
    for (label, factory) in policies.into_iter().flatten() {
        let label = label.extract().map_err(|_| type_error("policies: expected labels that are texts"))?;
        runner = with_contender(runner, label, factory.unbind(), &fault)?;
    }
    if let Some(shard) = shard {
        let Some(out) = &options.out else {
            return Err(value_error("shard: needs out, the directory of this part"));
        };
        let claim = options.claim(Vec::new(), None);
        let played = watched(py, &watch, || runner.run_part(out, shard, &claim));
        fault.check()?;
        played?.map_err(|error| failure(&error))?;
        return Ok(None);
    }
    played(py, &runner, &options, None, &watch, &fault).map(Some)
}

/// The experiment, objects among its users, and the argument `policies`.
type ReadSpec<'py> = (Experiment, OwnObjects, Option<Bound<'py, PyDict>>);

/// Reads a spec and the arguments that replace its values, which are the last ones.
fn read<'py>(function: &str, spec: &Bound<'py, PyAny>, mut given: Given<'py>) -> PyResult<ReadSpec<'py>> {
    let policies = given.take("policies")?.map(own_policies).transpose()?;
    let overrides = Overrides {
        runs: given.count("runs")?,
        seed: seed_of(given.take("seed")?.as_ref())?,
        horizon: given.count("horizon")?,
        max_steps: given.count("max_steps")?,
        without_policies: policies.as_ref().is_some_and(|policies| !policies.is_empty()),
        ..Overrides::default()
    };
    let allow: Vec<PathBuf> = given.one("allow")?.unwrap_or_default();
    given.end(function)?;
    let (experiment, own) = spec::read(spec, overrides, &allow)?;
    Ok((experiment, own, policies))
}

fn own_policies(given: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyDict>> {
    given.cast_into().map_err(|error| {
        let found = error.into_inner().get_type();
        type_error(format!(
            "policies: expected policies written in Python as a dict, {{\"mine\": Mine}}, got {found}: \
             those of the catalogue are in the spec, {{\"policies\": [\"pbm-ts\"]}}"
        ))
    })
}

/// Gives the users written in Python their answers.
fn give_answers(experiment: &mut Experiment, own: OwnObjects, fault: &Arc<Fault>) -> PyResult<()> {
    if own.is_empty() {
        return Ok(());
    }
    let mut known = None;
    with_protocol!(experiment.instances(), I, list => known = Some(own_users::best::<I>(list)));
    let plays_oracle = experiment.policies().iter().any(|entrant| entrant.spec == PolicySpec::Oracle {});
    if plays_oracle
        && let Some(number) = Python::attach(|py| {
            own.iter().position(|users| !users.bind(py).hasattr("best_list").unwrap_or(false))
        })
    {
        return Err(value_error(format!(
            "policies: `oracle` plays the best list, and the users of instance {number} tell only its reward: give them best_list"
        )));
    }
    let Some((protocol, best)) = known else { return Err(value_error("instances: users of other models")) };
    let answers = own.into_iter().zip(best).map(|(users, best)| -> Arc<dyn OwnAnswers> {
        Arc::new(own_users::InPython::new(users, protocol, best, fault))
    });
    if experiment.answer_with(&answers.collect::<Vec<_>>()) {
        Ok(())
    } else {
        Err(value_error("instances: expected users written in Python in all instances, or in none"))
    }
}

/// Plays all runs that are missing, and writes the files.
fn played(
    py: Python<'_>,
    runner: &Runner<'_>,
    options: &Options,
    parts: Option<&Parts>,
    watch: &Watch,
    fault: &Fault,
) -> PyResult<Simulation> {
    let experiment = runner.experiment();
    let Some(out) = &options.out else {
        let measured = watched(py, watch, || runner.run());
        fault.check()?;
        let measured = measured?.map_err(|error| failure(&error))?;
        return Ok(Simulation::new(measured, experiment, None));
    };
    let drawing = Drawing::of(runner);
    let claim = options.claim(drawing.files(), parts);
    let claimed = ResultDir::claim(runner, out, claim).map_err(|error| failure(&error))?;
    let measured = watched(py, watch, || runner.run_in(&claimed));
    // A policy that failed has recorded nothing on disk, and its result must not be written.
    fault.check()?;
    let measured = measured?.map_err(|error| failure(&error))?;
    let written = py.detach(|| report::write_simulation(claimed, measured, &drawing));
    let (ran, _) = written.map_err(|error| failure(&error))?;
    Ok(Simulation::new(ran.measured, experiment, Some(out.clone())))
}

fn runner<'a>(experiment: &'a Experiment, threads: Option<usize>, watch: &'a Watch) -> Runner<'a> {
    let runner = Runner::new(experiment).observer(watch).stop_when(&watch.stop);
    match threads {
        Some(threads) => runner.threads(threads),
        None => runner,
    }
}

/// Joins the parts of an experiment, which were played with `shard`, into the result of one
/// process: the same files, byte for byte.
///
/// Args:
///     parts: directories of the parts, in any order.
///     out: directory for the result.
///     fresh: replace runs that the directory has already.
///     keep_runs: also write runs.csv.
///     policies: labels of policies written in Python, in the order in which `simulate` got them.
///
/// Returns:
///     the result.
///
/// Raises:
///     ValueError: parts that do not belong together or are not complete, a directory that belongs
///         to something else.
///     OSError: a file cannot be written.
///
/// Examples:
///     >>> import tempfile
///     >>> users = {"model": "cascade", "attraction": [0.9, 0.1], "positions": 1}
///     >>> spec = {"name": "easy", "task": "regret", "horizon": 100, "runs": 2, "seed": 1,
///     ...         "instances": [users], "policies": [{"policy": "cascade-ts"}]}
///     >>> with tempfile.TemporaryDirectory() as folder:
///     ...     parts = [f"{folder}/{number}" for number in (1, 2)]
///     ...     for number, part in enumerate(parts, 1):
///     ...         simulate(spec, shard=(number, 2), out=part)
///     ...     result = merge(parts, folder + "/out")
///     >>> result.to_json() == simulate(spec).to_json()
///     True
#[pyfunction]
#[pyo3(signature = (parts, out, *, fresh=false, keep_runs=false, policies=None))]
pub(crate) fn merge(
    py: Python<'_>,
    parts: Vec<PathBuf>,
    out: PathBuf,
    fresh: bool,
    keep_runs: bool,
    policies: Option<Vec<String>>,
) -> PyResult<Simulation> {
    let part = |part| existing("parts", part, "directories that `simulate` wrote with shard", &[]);
    let parts = parts.into_iter().map(part).collect::<PyResult<Vec<_>>>()?;
    let Some(first) = parts.first() else {
        return Err(value_error("parts: expected at least one directory"));
    };
    let policies = policies.unwrap_or_default();
    let overrides = Overrides { without_policies: !policies.is_empty(), ..Overrides::default() };
    let read = Parts::read(&parts).map_err(|error| failure(&RunError::from(error)))?;
    let (experiment, _) = spec::read(first.join(SPEC).into_pyobject(py)?.as_any(), overrides, &[])?;
    let options = Options { out: Some(out), fresh, keep_runs };
    let watch = Watch::new(py, None)?;
    let fault = Arc::new(Fault::new(Arc::clone(&watch.stop)));
    let mut runner = runner(&experiment, None, &watch);
    for label in policies {
        // Nothing calls it: their runs are in the parts.
        let nobody = py.get_type::<Simulation>().into_any().unbind();
        runner = with_contender(runner, label, nobody, &fault)?;
    }
    played(py, &runner, &options, Some(&read), &watch, &fault)
}

/// An experiment as files: the text of its spec, and the files that it names. For machines that do
/// not have the spec's folder.
///
/// Args:
///     spec, runs, seed, horizon, max_steps, allow, policies: as of `simulate`.
///
/// Returns:
///     a dict from names to bytes; the spec is "spec.toml".
///
/// Examples:
///     >>> users = {"model": "cascade", "attraction": [0.9, 0.1], "positions": 1}
///     >>> spec = {"name": "easy", "task": "regret", "horizon": 100, "runs": 2, "seed": 1,
///     ...         "instances": [users], "policies": [{"policy": "cascade-ts"}]}
///     >>> sorted(spec_files(spec))
///     ['spec.toml']
#[pyfunction]
#[pyo3(text_signature = "(spec, *, runs=None, seed=None, horizon=None, max_steps=None, allow=None, policies=None)",
    signature = (spec, **given))]
pub(crate) fn spec_files<'py>(
    py: Python<'py>,
    spec: &Bound<'py, PyAny>,
    given: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (experiment, ..) = read("spec_files", spec, Given::new(py, given)?)?;
    let toml = experiment.to_toml();
    let files = experiment.inputs().into_iter().chain([(SPEC, toml.as_bytes())]);
    files.map(|(name, content)| (name, PyBytes::new(py, content))).into_py_dict(py)
}

/// The version of all that results depend on, as parts of experiments name it.
#[pyfunction]
#[pyo3(name = "_program")]
pub(crate) fn program_of_results() -> String {
    program().results()
}

/// Checks that a directory may hold the result of an experiment, as `simulate` and `merge` do
/// before they begin; changes nothing.
///
/// Raises:
///     ValueError: what is wrong with the spec and where; the directory belongs to something else.
#[pyfunction]
#[pyo3(name = "_check_out", signature = (spec, out, fresh))]
pub(crate) fn check_out(spec: &Bound<'_, PyAny>, out: PathBuf, fresh: bool) -> PyResult<()> {
    // Those written in Python may be all there are.
    let overrides = Overrides { without_policies: true, ..Overrides::default() };
    let (experiment, _) = spec::read(spec, overrides, &[])?;
    let options = Options { out: None, fresh, keep_runs: false };
    let runner = Runner::new(&experiment);
    let claim = options.claim(Drawing::of(&runner).files(), None);
    ResultDir::claim(&runner, &out, claim).map_err(|error| failure(&error))?;
    Ok(())
}
