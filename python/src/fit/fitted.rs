//! `Fitted`: the fits of a log, as tables and as users to simulate.

use super::contexts::{content, in_directory, write_content};
use super::source::Source;
use super::state::{of_bytes, to_bytes};
use super::{no_sessions, of_log};
use crate::interrupt::{self, check_signals, interruptible};
use crate::json::{self, dict};
use crate::message::{argument, in_python, none_of, type_error, value_error, warn};
use crate::name::{query_text, typed};
use crate::names::module;
use crate::options::Given;
use crate::reduced::reduced;
use crate::table::{Column, Table};
use crate::watch::{Watch, abandoning};
use answer::{Answer, Decision, FittedUsers, Settings};
use click_logs::fit::{Estimate, Fit, Model, Options, QueryFit, Score, Transfer, Users, score};
use click_logs::parameters::{self, ParameterRow, Parameters, for_each_parameter};
use click_logs::study::{Checks, FilteredLog, Study};
use log_reader::{Id, IdTypes, Part, ReadSettings, Ubi};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyBytes, PyDict, PyList, PyString, PyTuple};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The file in a directory that the command has written.
const FILE: &str = "parameters.json";

/// Click models fitted to a log: made by fit, or read from the file of one.
///
/// It pickles, as it is. The file parameters.json has the parameters alone, with eight digits: what
/// is read from it scores logs, compares, and gives instances and priors; other methods say that
/// they need more.
///
/// Examples:
///     >>> import pickle
///     >>> log = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 30 + [0] * 40}
///     >>> fitted = fit(log, model="pbm")
///     >>> pickle.loads(pickle.dumps(fitted)).counts == fitted.counts
///     True
///     >>> axes = fitted.plot()  # doctest: +SKIP
///     >>> Fitted.from_json(fitted.to_json()).models
///     ['pbm']
#[pyclass(module = "click_bandits", frozen)]
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(super) study: Arc<Study>,
    pub(super) options: Options,
    /// Models of "all" that the log does not support.
    pub(super) left_out: Vec<Model>,
    /// The parameters.json that it was read from: then nothing else is known of the log.
    pub(super) json: Option<Vec<u8>>,
}

#[pymethods]
impl Fitted {
    /// The names of the fitted models.
    #[getter]
    fn models(&self) -> Vec<&'static str> {
        self.study.fits.iter().map(|fit| fit.model().name()).collect()
    }

    /// The parameters with standard errors and intervals, a row for each: the columns of the
    /// command's parameters.csv.
    ///
    /// kind is attraction, satisfaction, examination, leave or continuation. Where a row has no
    /// query, all queries share the parameter; positions count from 1; last_click, of user
    /// browsing, is the position of the last click above, 0 without one.
    #[getter]
    fn parameters(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| {
            let FilteredLog { counts, report, .. } = &self.study.log;
            let mut rows: Vec<ParameterRow> = Vec::new();
            let Ok(()) = for_each_parameter(counts, &self.study.fits, |row| {
                rows.push(row);
                Ok::<(), Infallible>(())
            });
            let names = counts.names();
            let of_ids = |ids: &mut dyn Iterator<Item = Option<Id>>, of| {
                Column::names(ids.map(|id| id.map(|id| names.name(id))), of)
            };
            let number = |value: fn(&Estimate) -> Option<f64>| {
                Column::floats(rows.iter().map(|row| value(&row.estimate)))
            };
            let count =
                |value: fn((u64, u64)) -> u64| Column::counts(rows.iter().map(|row| row.counts.map(value)));
            let place = |value: fn(&ParameterRow) -> Option<usize>| {
                Column::counts(rows.iter().map(|row| value(row).map(|place| place as u64)))
            };
            Table::new([
                ("model", Column::texts(rows.iter().map(|row| Some(row.model.name())))),
                ("query", of_ids(&mut rows.iter().map(|row| row.query), report.ids.of()[1])),
                ("kind", Column::texts(rows.iter().map(|row| Some(row.kind)))),
                ("item", of_ids(&mut rows.iter().map(|row| row.item), report.ids.of()[0])),
                ("position", place(|row| row.position)),
                ("last_click", place(|row| row.last_click)),
                ("estimate", number(|estimate| Some(estimate.value).filter(|value| !value.is_nan()))),
                ("se", number(|estimate| estimate.standard_error)),
                ("lower", number(|estimate| estimate.interval.map(|ends| ends.0))),
                ("upper", number(|estimate| estimate.interval.map(|ends| ends.1))),
                ("clicks", count(|counts| counts.0)),
                ("impressions", count(|counts| counts.1)),
            ])
        })
    }

    /// The models compared on the held-out part, the best first; None if nothing was held out: with
    /// held_out=0, or because the log is too short.
    ///
    /// log_likelihood is in nats an impression, given the clicks above; difference is that to the
    /// best model, with its standard error.
    #[getter]
    fn comparison(&self) -> PyResult<Option<Table>> {
        let Some(comparison) = &self.whole("comparison")?.comparison else { return Ok(None) };
        let scores = &comparison.scores;
        let differences: Vec<_> = (0..scores.len()).map(|place| comparison.difference(place, 0)).collect();
        Table::new([
            ("model", Column::texts(scores.iter().map(|score| Some(score.model.name())))),
            ("impressions", Column::counts(scores.iter().map(|score| score.impressions))),
            ("log_likelihood", Column::floats(scores.iter().map(|score| score.log_likelihood))),
            ("difference", Column::floats(differences.iter().map(|difference| difference.mean))),
            ("difference_se", Column::floats(differences.iter().map(|difference| difference.standard_error))),
            ("perplexity", Column::floats(scores.iter().map(|score| score.perplexity))),
            (
                "conditional_perplexity",
                Column::floats(scores.iter().map(|score| score.conditional_perplexity)),
            ),
        ])
        .map(Some)
    }

    /// The model whose users are simulated, and why, as a dict: `model` is the simplest of `alike`,
    /// the models that are not told apart from `best`, which predicts best; all of them have users,
    /// and differences between lists that the log does not contradict. None without a comparison.
    #[getter]
    fn choice<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.whole("choice")?.choice)
    }

    /// Returns whether the differences between lists that a model predicts happen on lists left out
    /// of its fit, a row for each fitted model; None without several lists to compare.
    ///
    /// slope is the part that happens, with its standard error and interval; squared_error is that
    /// of the clicks of a session, less that of predicting no differences. queries, lists and
    /// sessions are those that were used.
    #[getter]
    fn transfer(&self) -> PyResult<Option<Table>> {
        let Some(transfers) = &self.whole("transfer")?.transfer else { return Ok(None) };
        let all = &transfers.models;
        let number = |value: fn(&Transfer) -> Option<f64>| Column::floats(all.iter().map(value));
        let used = |number: u64| Column::counts(all.iter().map(|_| number));
        Table::new([
            ("model", Column::texts(all.iter().map(|transfer| Some(transfer.model.name())))),
            ("slope", number(|transfer| transfer.slope)),
            ("slope_se", number(|transfer| transfer.standard_error)),
            ("lower", number(|transfer| transfer.interval().map(|ends| ends.0))),
            ("upper", number(|transfer| transfer.interval().map(|ends| ends.1))),
            ("verdict", Column::texts(all.iter().map(|transfer| Some(transfer.verdict().name())))),
            ("needed", number(Transfer::needed)),
            ("squared_error", number(|transfer| Some(transfer.squared_error))),
            ("predicted", number(|transfer| Some(transfer.predicted))),
            ("observed", Column::floats(all.iter().map(|_| transfers.observed))),
            ("queries", used(transfers.queries as u64)),
            ("lists", used(transfers.lists as u64)),
            ("sessions", used(transfers.sessions)),
        ])
        .map(Some)
    }

    /// Doubts about the log, as a dict: sessions with more clicks than the fitted models
    /// make probable, the second half of the log beside a fit of the first, and sessions that
    /// repeat the one before. Keys are those of `checks` in the command's comparison.json.
    #[getter]
    fn checks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.doubts(py)?)
    }

    /// Doubts about the log, in sentences; none if nothing was found.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.doubts(py)?.sentences("max_clicks =").into_iter().map(in_python).collect())
    }

    /// The counts that were fitted: clicks and impressions by query, item and position. fit(table,
    /// format="counts") reads them again.
    #[getter]
    fn counts(&self, py: Python<'_>) -> PyResult<Table> {
        let FilteredLog { counts, report, .. } = &self.whole("counts")?.log;
        py.detach(|| {
            let names = counts.names();
            let cells =
                || counts.queries().flat_map(|query| query.cells().map(move |cell| (query.id(), cell)));
            Table::new([
                (
                    "query",
                    Column::names(cells().map(|(query, _)| Some(names.name(query))), report.ids.of()[1]),
                ),
                (
                    "item",
                    Column::names(cells().map(|(_, cell)| Some(names.name(cell.item))), report.ids.of()[0]),
                ),
                ("position", Column::counts(cells().map(|(_, cell)| cell.position as u64 + 1))),
                ("clicks", Column::counts(cells().map(|(_, cell)| cell.clicks))),
                ("impressions", Column::counts(cells().map(|(_, cell)| cell.impressions))),
            ])
        })
    }

    /// Numbers of read, skipped and fitted data, as a dict.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let FilteredLog { report, n_queries, counts, .. } = &self.whole("report")?.log;
        let skipped = report.skipped.iter().map(|(reason, lines)| {
            let (rows, first) = (lines.lines, lines.first.to_string());
            let (impressions, clicks) = (lines.impressions, lines.clicks);
            let of_reason =
                dict!(py; "rows": rows, "impressions": impressions, "clicks": clicks, "first": first);
            Ok((reason.as_ref(), of_reason))
        });
        let skipped = skipped.collect::<PyResult<Vec<_>>>()?.into_py_dict(py)?;
        let fitted = dict!(py;
            "queries": counts.n_queries(), "cells": counts.n_cells(), "positions": counts.n_positions(),
            "impressions": counts.impressions(), "clicks": counts.clicks(),
        );
        let priors = self.study.fits.iter();
        let priors = priors.map(|fit| (fit.model().name(), fit.attractions.site.prior_strength));
        let left_out: Vec<&str> = self.left_out.iter().map(|model| model.name()).collect();
        Ok(dict!(py;
            "files": report.files, "rows": report.lines, "sessions": report.sessions,
            "sessions_left_out": report.sessions_left_out, "sessions_at_fault": report.sessions_at_fault,
            "sessions_with_repeats": report.sessions_with_repeats, "impressions": report.impressions,
            "clicks": report.clicks, "clicks_outside": report.clicks_outside,
            "clicks_clipped": report.clicks_clipped, "queries": *n_queries, "skipped": skipped,
            "fitted": fitted, "priors": priors.into_py_dict(py)?, "left_out": left_out,
            "users": self.study.simulated().map(|fit| fit.model().name()),
        ))
    }

    /// How well the fitted models predict a log, as a table: a row for each model and all positions
    /// (position is null), then one for each position, counted from 1.
    ///
    /// The log may be any, also one with other items or queries: what the fit has not seen is
    /// predicted as typical. The log's arguments are those of fit. log_likelihood is in nats an
    /// impression, given the clicks above; perplexity is that of a click given the list alone,
    /// conditional_perplexity given the clicks above. That of all positions is the mean over them.
    ///
    /// Raises ValueError, TypeError and OSError as fit, and ValueError for a log without whole
    /// sessions if only models that need them were fitted; otherwise they are left out.
    ///
    /// Examples:
    ///     >>> log = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 30 + [0] * 40}
    ///     >>> week = {"item": ["a", "c"], "position": [1, 2], "click": [1, 0]}
    ///     >>> fit(log, model="pbm", held_out=0).score(week)["impressions"].tolist()
    ///     [2, 1, 1]
    #[pyo3(text_signature = "($self, log, *, format=None, columns=None, clip_clicks=False, **options)", signature = (log, **given))]
    fn score(&self, log: &Bound<'_, PyAny>, given: Option<&Bound<'_, PyDict>>) -> PyResult<Table> {
        let (py, mut given) = (log.py(), Given::new(log.py(), given)?);
        let (format, columns) = (given.one::<String>("format")?, given.take("columns")?);
        let clip_clicks = given.one("clip_clicks")?.unwrap_or(false);
        let (reading, ubi): (ReadSettings, Ubi) = (given.all()?, given.all()?);
        given.end("score")?;
        let (source, format) = Source::new(log, format.as_deref(), columns.as_ref(), ubi, None, &[])?;
        let reader = reading.reader(format.clone()).map_err(value_error)?;
        let reader = if clip_clicks { reader.clip_clicks() } else { reader };
        let none = no_sessions(&format, source.is_counts, false);
        let reader = if none.is_some() { reader } else { reader.keep_sessions() };
        let read = interruptible(py, |stop| reader.read_inputs(source.inputs(stop)?))?;
        let read = read.map_err(|error| of_log(&error, &source))?;
        let (log, names) =
            (Part { counts: read.counts, sessions: read.sessions }, self.study.log.counts.names());
        let usable = |fit: &&Fit| none.is_none() || !fit.model().needs_sessions();
        let scores: Vec<Score> = py
            .detach(|| {
                self.study
                    .fits
                    .iter()
                    .filter(usable)
                    .map(|fit| score(fit, names, &log))
                    .collect::<Result<_, _>>()
            })
            .map_err(|_| value_error("log: nothing to score: it has no impressions"))?;
        if let (true, Some(why)) = (scores.is_empty(), none) {
            return Err(value_error(format!("log: the fitted models predict whole sessions, and {why}")));
        }
        // The sums of all positions, then position by position.
        let rows: Vec<(&Score, Option<usize>)> = scores
            .iter()
            .flat_map(|score| {
                let is_shown = |&rank: &usize| score.impressions_by_rank[rank] > 0;
                let ranks = (0..score.impressions_by_rank.len()).filter(is_shown);
                std::iter::once(None).chain(ranks.map(Some)).map(move |rank| (score, rank))
            })
            .collect();
        let number = |overall: fn(&Score) -> f64, at_rank: fn(&Score, usize) -> f64| {
            let value = |(score, rank): &(&Score, Option<usize>)| {
                rank.map_or_else(|| overall(score), |rank| at_rank(score, rank))
            };
            Column::floats(rows.iter().map(value))
        };
        let impressions = |(score, rank): &(&Score, Option<usize>)| {
            rank.map_or(score.impressions, |rank| score.impressions_by_rank[rank])
        };
        Table::new([
            ("model", Column::texts(rows.iter().map(|(score, _)| Some(score.model.name())))),
            ("position", Column::counts(rows.iter().map(|(_, rank)| rank.map(|rank| rank as u64 + 1)))),
            ("impressions", Column::counts(rows.iter().map(impressions))),
            (
                "log_likelihood",
                number(
                    |score| score.log_likelihood,
                    |score, rank| -confidence::math::ln(score.conditional_by_rank[rank]),
                ),
            ),
            ("perplexity", number(|score| score.perplexity, |score, rank| score.perplexity_by_rank[rank])),
            (
                "conditional_perplexity",
                number(|score| score.conditional_perplexity, |score, rank| score.conditional_by_rank[rank]),
            ),
        ])
    }

    /// The parameters beside those of another fit, matched by name, as a table: a row for each that
    /// either has, with the columns of parameters that name it, estimate, other, difference (other
    /// less estimate) and its standard error, as if the two logs were independent.
    ///
    /// Raises ValueError if no model was fitted to both.
    ///
    /// Examples:
    ///     >>> log = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 30 + [0] * 40}
    ///     >>> fitted = fit(log, model="pbm")
    ///     >>> fitted.compare(fitted)["difference"][:2].tolist()
    ///     [0.0, 0.0]
    fn compare(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Table> {
        let other = other.get();
        if !self.models().iter().any(|model| other.models().contains(model)) {
            let [own, others] = [self, other].map(|fitted| fitted.models().join(", "));
            return Err(value_error(format!("no model was fitted to both: {own} here, {others} there")));
        }
        // Texts, unless both logs have whole numbers.
        let [own, others] = [self, other].map(|fitted| fitted.study.log.report.ids.of());
        let [of_items, of_queries] = [own[0].min(others[0]), own[1].min(others[1])];
        py.detach(|| {
            let mut rows: BTreeMap<ByName, [Option<Estimate>; 2]> = BTreeMap::new();
            for (side, fitted) in [self, other].into_iter().enumerate() {
                fitted.for_each_name(|name, estimate| rows.entry(name).or_default()[side] = Some(estimate));
            }
            let place = |part: fn(&ByName) -> Option<usize>| {
                Column::counts(rows.keys().map(|name| part(name).map(|place| place as u64)))
            };
            let value = |side: usize| {
                let value = |sides: &[Option<Estimate>; 2]| sides[side].map(|estimate| estimate.value);
                Column::floats(rows.values().map(value).map(|value| value.filter(|value| !value.is_nan())))
            };
            let both = |compare: fn(Estimate, Estimate) -> Option<f64>| {
                let number = |&[one, other]: &[Option<Estimate>; 2]| compare(one?, other?);
                Column::floats(
                    rows.values().map(number).map(|number| number.filter(|number| !number.is_nan())),
                )
            };
            Table::new([
                ("model", Column::texts(rows.keys().map(|name| Some(name.model)))),
                ("query", Column::names(rows.keys().map(|name| name.query.as_ref()), of_queries)),
                ("kind", Column::texts(rows.keys().map(|name| Some(name.kind)))),
                ("item", Column::names(rows.keys().map(|name| name.item.as_ref()), of_items)),
                ("position", place(|name| name.position)),
                ("last_click", place(|name| name.last_click)),
                ("estimate", value(0)),
                ("other", value(1)),
                ("difference", both(|one, other| Some(other.value - one.value))),
                ("difference_se", both(|one, other| Some(one.standard_error?.hypot(other.standard_error?)))),
            ])
        })
    }

    /// The bytes of the command's parameters.json, as fit --parameters json writes it.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.json(py)?))
    }

    /// Write the bytes of to_json to a file, or to parameters.json in a directory.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let json = self.json(py)?;
        py.detach(|| write_content(&in_directory(path, FILE), &json))
    }

    /// The parameters in these bytes of parameters.json.
    #[staticmethod]
    fn from_json(py: Python<'_>, data: Vec<u8>) -> PyResult<Self> {
        Self::read(py, "data", data)
    }

    /// The parameters in a file that save or the command `fit` has written, or in parameters.json
    /// in a directory.
    ///
    /// Raises:
    ///     OSError: the file cannot be read.
    ///
    /// Examples:
    ///     >>> import tempfile
    ///     >>> log = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 50}
    ///     >>> with tempfile.TemporaryDirectory() as folder:
    ///     ...     fit(log, model="pbm").save(folder)
    ///     ...     Fitted.load(folder)
    ///     <Fitted pbm from parameters.json>
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let path = in_directory(path, FILE);
        Self::read(py, &path.display().to_string(), content(&path)?)
    }

    #[staticmethod]
    fn _restored(py: Python<'_>, state: &[u8]) -> PyResult<Self> {
        let (study, options, left_out): (Study, _, _) = py.detach(|| of_bytes(state))?;
        Ok(Self { study: Arc::new(study), options, left_out, json: None })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        if let Some(json) = &self.json {
            return reduced::<Self>(py, "from_json", (PyBytes::new(py, json),));
        }
        let state = py.detach(|| to_bytes(&(&*self.study, &self.options, &self.left_out)))?;
        reduced::<Self>(py, "_restored", (PyBytes::new(py, &state),))
    }

    /// The users of queries, as dicts that have the keys of an experiment's instances: {"name": ..,
    /// "model": "pbm", "theta": [..], ..}.
    ///
    /// model is a fitted model, by default the one that the comparison chose (users in report);
    /// queries are names, by default all. Items are in the order of the parameters, positions in
    /// that of the log: "log" has both, {"items": names, "positions": numbers from 1}. `simulate`
    /// takes the dicts as they are.
    ///
    /// Examples:
    ///     >>> log = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 50}
    ///     >>> [users] = fit(log, model="pbm").instances()
    ///     >>> users["model"], users["log"]
    ///     ('pbm', {'items': ['a', 'b'], 'positions': [1, 2]})
    #[pyo3(signature = (model=None, queries=None))]
    fn instances<'py>(
        &self,
        py: Python<'py>,
        model: Option<&str>,
        queries: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let queries = queries.map(|all| argument::<Vec<Bound<'py, PyAny>>>("queries", all)).transpose()?;
        let fit = self.fit(model)?;
        let FilteredLog { counts, report, .. } = &self.study.log;
        let of_query = |query: Bound<'py, PyAny>| query_text(&query, Some(report.ids.of()[1]));
        let queries: Option<Vec<String>> =
            queries.map(|queries| queries.into_iter().map(of_query).collect()).transpose()?;
        let wanted: Vec<&QueryFit> = match queries {
            None => fit.queries().iter().collect(),
            Some(queries) => {
                queries.iter().map(|name| self.query_named(fit, name)).collect::<PyResult<_>>()?
            }
        };
        let list = PyList::empty(py);
        for query in wanted {
            let name = counts.names().name(query.id);
            let n_positions =
                counts.query(query.id).map_or(query.positions.len(), |query| query.n_positions());
            let Some(users) = fit.users(query, n_positions) else {
                let model = fit.model().name();
                return Err(value_error(format!(
                    "query {name:?}: users of model {model:?} cannot be simulated, since it has too many lists"
                )));
            };
            let positions = query.first_positions(n_positions).map(|position| position + 1);
            let positions: Vec<usize> = positions.collect();
            let users = instance(py, fit, &name, users)?;
            users.set_item("log", dict!(py; "items": self.item_names(py, query)?, "positions": positions))?;
            list.append(users)?;
        }
        Ok(list)
    }

    /// The loss of today's ranking, better lists and the gain of a policy, as a dict: the command's
    /// answer.json.
    ///
    /// The answer is about a sample of queries, drawn in proportion to their lists. Users are drawn
    /// from the posterior distribution of the fit, and play in a simulation, which Ctrl-C ends.
    /// seed is that of the sample and the simulation; the answer does not depend on threads. Values
    /// are means with 95 % intervals, in expected clicks per 1,000 lists; "gained" is in clicks
    /// after 10,000 lists. None, with a warning that says why, if the log has no answer, such as
    /// without whole lists. progress is as of `simulate`.
    ///
    /// "all" and each of "queries" have "observed", the clicks of the log; "today", the value of
    /// its ranking; "loss", how far below the best lists that is; and "gain", that of the
    /// recommended lists, a mean of 0 without any; the list to show for one of "queries" is
    /// query["recommended"]["items"], if it has one. "played" has what "policy" gains, and after
    /// how many lists it passes today's ranking. "models" has what of the predicted differences the
    /// log confirms, as `transfer`; "today" which part of the log is today's ranking; "remarks"
    /// what was not decided and why, with codes. "lists" of "lists_of_log" are those that the
    /// answer is about.
    ///
    /// Examples:
    ///     >>> log = {"session": [row // 2 for row in range(400)], "item": ["a", "b"] * 200,
    ///     ...        "position": [1, 2] * 200, "click": [1, 0, 0, 1] * 100}
    ///     >>> answer = fit(log, model="pbm").answer(threads=1)
    ///     >>> answer["lists"], answer["all"]["observed"]
    ///     (200, 1000.0)
    #[pyo3(text_signature = "($self, *, queries=10, seed=1, threads=None, progress=None)",
        signature = (**given))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        given: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let answer = self.decided("answer", Given::new(py, given)?)?;
        let Some(answer) = answer else { return Ok(None) };
        let text = serde_json::to_string(&answer).map_err(value_error)?;
        let [items, queries] = self.study.log.report.ids.of().map(|of| !of.is_text());
        module(py)?.call_method1("answered", (text, items, queries)).map(Some)
    }

    /// The answer in words, as the command prints it: a list of sentences, empty without an answer.
    /// The arguments are those of answer.
    ///
    /// Examples:
    ///     >>> log = {"session": [row // 2 for row in range(400)], "item": ["a", "b"] * 200,
    ///     ...        "position": [1, 2] * 200, "click": [1, 0, 0, 1] * 100}
    ///     >>> fit(log, model="pbm").sentences(threads=1)[0].split(" (")[1].split(").")[0]
    ///     '1,000 were observed'
    #[pyo3(text_signature = "($self, *, queries=10, seed=1, threads=None, progress=None)",
        signature = (**given))]
    fn sentences(&self, py: Python<'_>, given: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
        let answer = self.decided("sentences", Given::new(py, given)?)?;
        Ok(answer.iter().flat_map(Answer::sentences).map(in_python).collect())
    }

    // It does not change.
    fn __copy__(fitted: Bound<'_, Self>) -> Bound<'_, Self> {
        fitted
    }

    fn __deepcopy__<'py>(fitted: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        fitted
    }

    /// Draws attractions with their intervals, of the items with the most impressions. Needs
    /// matplotlib.
    ///
    /// Args:
    ///     ax: the axes to draw on; by default new ones.
    ///     model: the model; by default the one whose users are simulated.
    ///
    /// Returns:
    ///     the axes.
    #[pyo3(signature = (ax=None, model=None))]
    fn plot<'py>(
        slf: Bound<'py, Self>,
        ax: Option<&Bound<'py, PyAny>>,
        model: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if ax.is_some_and(PyAnyMethods::is_instance_of::<PyString>) {
            return Err(type_error("ax: expected axes of matplotlib, got a text: model=.. names a model"));
        }
        let model = slf.get().fit(model)?.model().name();
        slf.py().import("click_bandits._plot")?.call_method1("plot_fit", (&slf, ax, model))
    }

    /// The sentence of repr and a picture of attractions, for notebooks.
    fn _repr_html_(slf: Bound<'_, Self>) -> PyResult<String> {
        // Parameters alone name no choice among several models.
        let model = slf.get().fit(None).ok().or(slf.get().study.fits.first()).map(|fit| fit.model().name());
        slf.py().import("click_bandits._plot")?.call_method1("html_of_fit", (&slf, model))?.extract()
    }

    fn __repr__(&self) -> String {
        if self.json.is_some() {
            return format!("<Fitted {} from parameters.json>", self.models().join(", "));
        }
        let FilteredLog { report, counts, .. } = &self.study.log;
        let users = self.study.simulated().map_or("none", |fit| fit.model().name());
        format!(
            "<Fitted {} to {} rows: {} queries, {} impressions, {} clicks; users: {users}>",
            self.models().join(", "),
            report.lines,
            counts.n_queries(),
            counts.impressions(),
            counts.clicks(),
        )
    }
}

/// The key of a parameter of a fit.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ByName {
    model: &'static str,
    query: Option<String>,
    kind: &'static str,
    item: Option<String>,
    position: Option<usize>,
    last_click: Option<usize>,
}

impl Fitted {
    fn doubts(&self, py: Python<'_>) -> PyResult<Checks> {
        self.whole("checks")?;
        let (study, options) = (Arc::clone(&self.study), self.options);
        let check = move |_: &AtomicBool| Checks::new(&study, &options);
        interrupt::abandoning(py, &Arc::default(), |_| check_signals(), check)?.map_err(value_error)
    }

    /// The answer; none, with a warning, if the log has none.
    fn decided(&self, function: &str, mut given: Given<'_>) -> PyResult<Option<Answer>> {
        let py = given.dict.py();
        let n_queries = given.whole("queries", 1..=1000)?.unwrap_or(10);
        let seed = given.count("seed")?.unwrap_or(1);
        let threads = given.whole("threads", 1..=1024)?;
        let progress = given.take("progress")?;
        given.end(function)?;
        self.whole("answer")?;
        let watch = Arc::new(Watch::new(py, progress.as_ref())?);
        let (study, options, observer) = (Arc::clone(&self.study), self.options, Arc::clone(&watch));
        let made = abandoning(py, &watch, move || {
            let stop = Some(&*observer.stop);
            let settings = Settings { n_queries, seed, threads, observer: &*observer, stop };
            let checks = Checks::new(&study, &options).map_err(anyhow::Error::from)?;
            Decision::new(&study, &checks, &options, &settings).map_err(anyhow::Error::from)
        })?;
        let made = made.map_err(|error| value_error(format!("{error:#}")))?;
        let why = |why| warn(py, format!("no answer: {why}"));
        made.map_or_else(|reason| why(reason).map(|()| None), |decision| Ok(Some(decision.answer)))
    }

    fn for_each_name(&self, mut visit: impl FnMut(ByName, Estimate)) {
        let FilteredLog { counts, .. } = &self.study.log;
        let name = |id: Option<Id>| id.map(|id| counts.names().name(id).into_owned());
        let Ok(()) = for_each_parameter(counts, &self.study.fits, |row| {
            let ParameterRow { model, query, kind, item, position, last_click, estimate, .. } = row;
            let (query, item) = (name(query), name(item));
            visit(ByName { model: model.name(), query, kind, item, position, last_click }, estimate);
            Ok::<(), Infallible>(())
        });
    }

    fn read(py: Python<'_>, name: &str, json: Vec<u8>) -> PyResult<Self> {
        let parameters = py.detach(|| Parameters::from_json(name, &json)).map_err(value_error)?;
        let (counts, fits) = parameters::fits(&parameters);
        let options = Options { scope: parameters.scope, level: parameters.level, ..Options::default() };
        let without_users = vec![0; fits.len()];
        let mut log = FilteredLog { counts, ..FilteredLog::default() };
        log.report.ids = IdTypes::new(parameters.item_type, parameters.query_type);
        let study = Study { log, fits, without_users, ..Study::default() }.into();
        Ok(Self { study, options, left_out: Vec::new(), json: Some(json) })
    }

    pub(super) fn query_named<'a>(&self, fit: &'a Fit, name: &str) -> PyResult<&'a QueryFit> {
        let names = self.study.log.counts.names();
        fit.queries().iter().find(|query| names.name(query.id) == name).ok_or_else(|| {
            let known: Vec<_> = fit.queries().iter().map(|query| names.name(query.id)).collect();
            let fault = format!("query {name:?} was not fitted");
            value_error(none_of(fault, name, known.iter().map(|name| &**name)))
        })
    }

    /// The names of the items of a query, as they are in Python.
    pub(super) fn item_names<'py>(&self, py: Python<'py>, query: &QueryFit) -> PyResult<Bound<'py, PyList>> {
        let (names, of) = (self.study.log.counts.names(), self.study.log.report.ids.of()[0]);
        let items = query.items.iter().map(|item| typed(py, &names.name(item.item), of));
        PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)
    }

    /// All that fit found out, for what needs more than parameters.
    pub(super) fn whole(&self, what: &str) -> PyResult<&Study> {
        match self.json {
            None => Ok(&self.study),
            Some(_) => Err(value_error(format!(
                "{what}: parameters.json does not have it: fit the log again, or pickle what fit returns"
            ))),
        }
    }

    pub(crate) fn json(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        if let Some(json) = &self.json {
            return Ok(json.clone());
        }
        let mut json = Vec::new();
        let Study { log, fits, .. } = &*self.study;
        py.detach(|| parameters::write(log, fits, &self.options, &|_| true, &mut json))
            .map_err(value_error)?;
        Ok(json)
    }

    /// The fit of a model, by default of the one whose users are simulated.
    pub(super) fn fit(&self, model: Option<&str>) -> PyResult<&Fit> {
        let Some(model) = model else {
            if self.json.is_some() && self.study.fits.len() > 1 {
                let models = self.models().join(", ");
                return Err(value_error(format!(
                    "model: give one of {models}: parameters.json names no choice"
                )));
            }
            return self.study.simulated().ok_or_else(|| value_error("no fitted model can be simulated"));
        };
        self.study.fits.iter().find(|fit| fit.model().name() == model).ok_or_else(|| {
            value_error(none_of(format!("model {model:?} was not fitted"), model, self.models()))
        })
    }
}

/// Users with the keys of an experiment's instances, without their reward.
fn instance<'py>(py: Python<'py>, fit: &Fit, name: &str, users: Users) -> PyResult<Bound<'py, PyDict>> {
    let of_fit =
        FittedUsers::of_fit(fit).ok_or_else(|| value_error("users of this model have no instance"))?;
    let instances = of_fit.instances(vec![(None, users)]);
    let dict = dict!(py; "name": name, "model": instances.model().name);
    for (key, value) in instances.parameters().into_iter().flat_map(|parameters| parameters.values) {
        if key != "reward" {
            dict.set_item(key, json::to_python(py, &value)?)?;
        }
    }
    Ok(dict)
}
