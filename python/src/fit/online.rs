//! `interleaving_test`, `ab_test`, `test_plan`, `judgments`: real users of two rankers, and
//! ratings.

use super::fitted::Fitted;
use super::of_log;
use super::source::{Content, Source, frame_of, pairs, paths};
use crate::interrupt::interruptible;
use crate::json;
use crate::message::{one_of, respelt, value_error};
use crate::options::Given;
use ::evaluation::online::{
    Kind, Metric, OnlineError, Plan, PlanSettings, Settings, miss_of_level, online, row_columns,
};
use click_logs::judgments::{
    JudgmentForm, Scale, examinations, lightgbm, of_attraction, over_expected, write,
};
use click_logs::parameters::record;
use log_reader::formats::is_parquet;
use log_reader::{RowColumn, TakeRows, read_rows};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::ops::RangeInclusive;

/// Which of two rankers users of interleaved lists prefer: the content of the command's
/// verdict.json, as a dict.
///
/// table is a path or a list of paths (CSV or Parquet), or a table in memory, as of fit. A row is a
/// click: user, team of the clicked item, and perhaps list, position and time; columns names them,
/// as a dict or as text, and None (or no name) leaves one of the last three out. baseline is
/// today's team, by default the first name in the alphabet; shares are those of the other one. unit
/// is "user", or "list" if every list was interleaved with a fresh coin. depth credits clicks at
/// the first positions only. level is that of the intervals; the probability of a false alarm is
/// the rest, and 0.05 means the same as 0.95.
///
/// Raises ValueError for what is no test, with the row and the column, TypeError for other types,
/// and OSError for files.
///
/// Examples:
///     >>> clicks = {"user": list(range(100)), "team": ["a", "a", "b", "a"] * 25}
///     >>> interleaving_test(clicks)["clicks"]
///     {'a': 75, 'b': 25}
#[pyfunction]
#[pyo3(text_signature = "(table, *, columns=None, baseline=None, unit='user', depth=None, level=0.95)",
    signature = (table, **given))]
pub(crate) fn interleaving_test<'py>(
    table: &Bound<'py, PyAny>,
    given: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut given = Given::new(table.py(), given)?;
    let settings = Settings {
        by_list: given.word("unit", "user", &[("user", false), ("list", true)])?,
        depth: given.count("depth")?,
        baseline: given.one("baseline")?,
        miss: miss_of(&mut given)?,
        ..Settings::new(Kind::Interleaving)
    };
    verdict("interleaving_test", table, given, &settings)
}

/// Which of two rankers has more clicks a session, users drawn into arms: the content of the
/// command's verdict.json, as a dict.
///
/// table and columns are as of interleaving_test; a row is a session: user, arm, clicks, and
/// perhaps time. With metric "value" the column clicks has their value, such as that of orders:
/// numbers from 0 to 1e9. baseline is today's arm, by default the first name in the alphabet, to
/// which the change is relative, and split its planned share of users; users with
/// more sessions than max_sessions_per_user are left out. The test may be looked at any time and is
/// most powerful at planned users in each arm; or it has looks looks, of which this is number look.
///
/// Raises what interleaving_test raises.
///
/// Examples:
///     >>> sessions = {"user": list(range(200)), "arm": ["a", "b"] * 100, "clicks": [1, 0, 2, 1] * 50}
///     >>> ab_test(sessions)["clicks"]
///     {'a': 150, 'b': 50}
#[pyfunction]
#[pyo3(text_signature = "(table, *, columns=None, metric='clicks', baseline=None, split=0.5, max_sessions_per_user=None, planned=10_000, looks=None, look=None, level=0.95)",
    signature = (table, **given))]
pub(crate) fn ab_test<'py>(
    table: &Bound<'py, PyAny>,
    given: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut given = Given::new(table.py(), given)?;
    let split = given.one("split")?.unwrap_or(0.5);
    if !(split > 0.0 && split < 1.0) {
        return Err(value_error(format!("split is {split}: expected a number above 0 and below 1")));
    }
    let most_sessions = given.whole("max_sessions_per_user", FROM_ONE)?;
    let (look, looks) = (given.whole("look", FROM_ONE)?, given.whole("looks", FROM_ONE)?);
    if looks.is_some() != look.is_some() {
        return Err(value_error("looks and look: give both or none"));
    }
    let settings = Settings {
        metric: given.word("metric", "clicks", &[("clicks", Metric::Clicks), ("value", Metric::Value)])?,
        most_sessions,
        split,
        planned: given.whole("planned", 1..=u64::MAX)?.unwrap_or(10_000),
        look: look.zip(looks),
        baseline: given.one("baseline")?,
        miss: miss_of(&mut given)?,
        ..Settings::new(Kind::Ab)
    };
    verdict("ab_test", table, given, &settings)
}

/// Numbers of sessions and looks.
const FROM_ONE: RangeInclusive<u64> = 1..=0xffff_ffff;

/// The probability of a false alarm of the argument `level`.
fn miss_of(given: &mut Given<'_>) -> PyResult<f64> {
    let level = given.one("level")?.unwrap_or(0.95);
    let wrong =
        || value_error(format!("level is {level}: expected a number above 0 and below 1, such as 0.95"));
    miss_of_level(level).ok_or_else(wrong)
}

fn verdict<'py>(
    function: &str,
    table: &Bound<'py, PyAny>,
    mut given: Given<'py>,
    settings: &Settings,
) -> PyResult<Bound<'py, PyAny>> {
    const NAME: &str = "table";
    let (py, columns) = (table.py(), given.take("columns")?);
    given.end(function)?;
    let named = columns.as_ref().map(|columns| match columns.cast::<PyString>() {
        Ok(text) => Ok(text.to_string_lossy().into_owned()),
        Err(_) => pairs(columns).map(|pairs| {
            pairs.into_iter().map(|(key, column)| format!("{key}={column}")).collect::<Vec<_>>().join(",")
        }),
    });
    let named = named.transpose()?;
    let columns: Vec<RowColumn<'_>> =
        row_columns(settings, named.as_deref()).map_err(|error| value_error(format!("columns: {error}")))?;
    let names: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
    let content = match paths(table)? {
        Some(files) => Content::Files(files),
        None => Content::Frame(frame_of(NAME, table, &|_| Ok(((), names.clone())))?.0),
    };
    let source = Source { name: NAME, content, is_counts: false };
    let outcome = interruptible(py, |stop| {
        online(settings, |_, rows: &mut dyn TakeRows| {
            let is_parquet =
                matches!(&source.content, Content::Files(files) if files.iter().any(|path| is_parquet(path)));
            read_rows(&columns, is_parquet, source.inputs(stop)?, None, rows)
        })
    });
    let outcome = outcome?.map_err(|error| match error {
        OnlineError::Log(error) if error.to_string().contains("no column") => value_error(format!(
            "{}: columns={{\"user\": ..}} names a column",
            of_log(&error, &source).value(py)
        )),
        OnlineError::Log(error) => of_log(&error, &source),
        error => value_error(error),
    })?;
    json::to_python(py, &respelt(outcome.to_json()))
}

/// How many users a test takes, for half an effect, the effect and twice the effect, as a dict: in
/// each arm of kind "ab", and without a tie of kind "interleaving".
///
/// effect is the change of clicks a session relative to their mean, or the share of users won minus
/// 1/2; power the probability of finding it. mean is of clicks a session, and sd a user's standard
/// deviation of them (kind "ab"); ties is the share of users without a winner (kind
/// "interleaving"). per_day users give days, and share, which the better ranker would win if it
/// were interleaved, how many times fewer users that takes. level is as of interleaving_test. Both
/// arms have as many users.
///
/// Raises ValueError for numbers that are no plan.
///
/// Examples:
///     >>> plan = test_plan("ab", effect=0.05, mean=0.4, sd=0.9)
///     >>> plan["rows"][1]["fixed"], plan["users"]
///     (31788, 'in each arm')
#[pyfunction]
#[pyo3(text_signature = "(kind, *, effect=0.05, power=0.8, mean=None, sd=None, ties=0.0, looks=10, per_day=None, share=None, level=0.95)",
    signature = (kind, **given))]
pub(crate) fn test_plan<'py>(
    py: Python<'py>,
    kind: &str,
    given: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut given = Given::new(py, given)?;
    let settings = PlanSettings {
        kind: one_of("kind", kind, &[("interleaving", Kind::Interleaving), ("ab", Kind::Ab)])?,
        effect: given.one("effect")?.unwrap_or(0.05),
        power: given.one("power")?.unwrap_or(0.8),
        miss: miss_of(&mut given)?,
        looks: given.whole("looks", 0..=u64::from(u32::MAX))?.unwrap_or(10),
        per_day: given.one("per_day")?,
        clicks: given.one("mean")?.zip(given.one("sd")?),
        sessions: 1.0,
        ties: given.one("ties")?.unwrap_or(0.0),
        share: given.one("share")?,
    };
    given.end("test_plan")?;
    json::to_python(py, &Plan::new(settings).map_err(value_error)?.to_json())
}

/// Ratings of the items of a fit, as the text of a file that another tool imports.
///
/// form is "quepid", "workbench", "trec", "ltr", "csv" or "topics", the words of the queries that
/// "trec" and "ltr" number; or "lightgbm", labels, groups, positions and weights from clicks and
/// the examination of the model pbm, for which the other arguments do not matter. by is
/// "attraction", of model, by default the one whose users are simulated; or "coec", clicks over
/// expected clicks. scale is "0-1" or "0-3", relative to the largest rating of each query. Items
/// with fewer than min_impressions impressions are left out; name is that of the judgments in the
/// workbench. In "quepid" and "csv", names that a spreadsheet would run as formulas get an
/// apostrophe, unless keep_formulas is true.
///
/// Raises ValueError for names, and for names of items that the form cannot have.
///
/// Examples:
///     >>> log = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 30 + [0] * 40}
///     >>> judgments(fit(log, model="pbm"), "csv").splitlines()[0]
///     'query,item,rating,lower,upper,clicks,impressions'
#[pyfunction]
#[pyo3(text_signature = "(fitted, form='csv', *, by='attraction', model=None, scale=None, min_impressions=1, name='judgments', keep_formulas=False)",
    signature = (fitted, form="csv", **given))]
pub(crate) fn judgments(
    py: Python<'_>,
    fitted: &Fitted,
    form: &str,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let mut given = Given::new(py, given)?;
    let is_over_expected = given.word("by", "attraction", &[("attraction", false), ("coec", true)])?;
    let scale = given.one::<String>("scale")?;
    let scale = scale.map(|word| one_of("scale", &word, &[("0-1", Scale::ToOne), ("0-3", Scale::Grades)]));
    let scale = scale.unwrap_or(Ok(Scale::Plain))?;
    let (model, name) = (given.one::<String>("model")?, given.one::<String>("name")?);
    let (name, keep_formulas) =
        (name.unwrap_or("judgments".into()), given.one("keep_formulas")?.unwrap_or(false));
    let min_impressions = given.count("min_impressions")?.unwrap_or(1);
    given.end("judgments")?;
    let all = JudgmentForm::ALL.map(|(name, form)| (name, Some(form)));
    let Some(form) = one_of("form", form, &[&all[..], &[("lightgbm", None)]].concat())? else {
        let counts = &fitted.whole("form \"lightgbm\"")?.log.counts;
        let pbm = record(fitted.fit(Some("pbm"))?, counts);
        return lightgbm(counts, &examinations(&[pbm])).map_err(value_error);
    };
    let judgments = if is_over_expected {
        over_expected(&fitted.whole("by \"coec\"")?.log.counts, min_impressions).0
    } else {
        let queries = record(fitted.fit(model.as_deref())?, &fitted.study.log.counts).queries;
        let items = queries.iter().flat_map(|of| of.items.iter().map(|item| (&of.query, item)));
        items.filter_map(|(query, item)| of_attraction(query, item, min_impressions)).collect()
    };
    write(&judgments, form, scale, &name, keep_formulas).map(|written| written.text).map_err(value_error)
}
