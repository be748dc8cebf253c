//! `ContextFit`: what the log of users who differ tells, from `fit` with contexts.

use super::source::{Pairs, Source, frame_of, is_path};
use super::{Texts, of_log, of_log_of};
use crate::interrupt::interruptible;
use crate::json;
use crate::message::{in_row, value_error};
use crate::name::typed;
use crate::reduced::reduced;
use answer::{ContextSettings, fit_contexts};
use click_logs::fit::Model;
use click_logs::settings::{FitSettings, HoldOut};
use click_logs::study::HeldOut;
use documents::{TemporaryFile, read_regular};
use log_reader::{
    Fault, Input, ListNames, PersonalLists, ReadSettings, RowColumn, TakeRows, Ubi, Value, read_rows,
};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyBytes, PyDict, PyTuple};
use spec::FeatureTable;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The file in a directory that the command has written.
const FILE: &str = "context.json";

/// The fit of a policy that sees who asks to a log whose lists have contexts: made by fit, or read
/// from the file that `click-bandits fit --context` writes.
///
/// Policy.from_fit begins with it, as does hybrid-ts with prior=. It has no intervals of
/// coefficients: on the log of a bandit, the deviations of its posterior are not the exact ones.
///
/// Examples:
///     >>> log = {"session": [row // 2 for row in range(200)], "item": ["a", "b"] * 100,
///     ...        "position": [1, 2] * 100, "click": [1, 0, 0, 1] * 50,
///     ...        "country": ["at", "at", "de", "de"] * 50}
///     >>> fitted = fit(log, model="cascade", segment="country")
///     >>> fitted.segments, fitted.items, fitted.report["gain"]["lower"] > 0
///     (('at', 'de'), ('a', 'b'), True)
///     >>> policy = Policy.from_fit(fitted, seed=1)
///     >>> policy.recommend(segment="de")
///     ['b', 'a']
///     >>> policy.select(segment="de").action
///     ('b', 'a')
///     >>> ContextFit.from_json(fitted.to_json()).items
///     ('a', 'b')
///     >>> import tempfile
///     >>> with tempfile.TemporaryDirectory() as folder:
///     ...     fitted.save(folder)
///     ...     ContextFit.load(folder).lists
///     100
#[pyclass(module = "click_bandits", frozen)]
#[derive(Debug)]
pub(crate) struct ContextFit {
    pub(crate) fit: spec::ContextFit,
    /// Skipped rows by reason; nothing is known of them in a file.
    skipped: Option<BTreeMap<String, u64>>,
}

#[pymethods]
impl ContextFit {
    /// The fitted model: cascade, dcm or pbm.
    #[getter]
    fn model(&self) -> &str {
        &self.fit.model
    }

    /// The query, if one was chosen.
    #[getter]
    fn query(&self) -> Option<&str> {
        self.fit.query.as_deref()
    }

    /// The number of lists.
    #[getter]
    fn lists(&self) -> u64 {
        self.fit.lists
    }

    /// The length of the longest list.
    #[getter]
    fn positions(&self) -> usize {
        self.fit.positions
    }

    /// The names of the segments, which select takes, as it takes their places. Empty if the log
    /// has no segments.
    #[getter]
    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.fit.segments)
    }

    /// The names of the items.
    #[getter]
    pub(super) fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let items = self.fit.items.iter().map(|item| typed(py, item, self.fit.item_type));
        PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)
    }

    /// The names of the features of users.
    #[getter]
    fn user_features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.fit.user_features)
    }

    /// The names of the features of items.
    #[getter]
    fn item_features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.fit.item_features)
    }

    /// How well the fit predicts, as a dict: `report` of context.json.
    ///
    /// log_loss is that of a held-out list, in nats, and log_loss_without that of a fit without
    /// contexts; None if nothing was held out. gain is their difference, with an interval of 95 %;
    /// columns has that of each column, with ablate. lists and units (users, or sessions) are those
    /// held out. clicks are those of a list that the fit expects: of the best list for all, of the
    /// best for each segment, and of personal lists. personal_gain is that of personal lists beyond
    /// the best list for all, on users that took no part: they are worth showing if its lower end
    /// is above 0. None if a tenth of the users has no lists.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.fit.report)
    }

    /// The number of skipped rows by reason; None if the fit was read from a file.
    #[getter]
    fn skipped<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.skipped.as_ref().map(|skipped| skipped.into_py_dict(py)).transpose()
    }

    /// The bytes of the command's context.json.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.json()?))
    }

    /// The fit of these bytes.
    ///
    /// Raises:
    ///     ValueError: no context.json, one of another version, or a damaged one.
    #[staticmethod]
    fn from_json(data: &[u8]) -> PyResult<Self> {
        Self::of_bytes("data", data)
    }

    /// Write the bytes of to_json to a file, or to context.json in a directory.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let json = self.json()?;
        py.detach(|| write_content(&in_directory(path, FILE), &json))
    }

    /// The fit in a file, or in context.json in a directory.
    ///
    /// Raises:
    ///     ValueError: as of from_json.
    ///     OSError: the file cannot be read.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        Self::read(&path)
    }

    #[staticmethod]
    fn _restored(json: &[u8], skipped: Option<BTreeMap<String, u64>>) -> PyResult<Self> {
        Ok(Self { skipped, ..Self::of_bytes("data", json)? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        reduced::<Self>(py, "_restored", (self.to_json(py)?, self.skipped.as_ref()))
    }

    fn __repr__(&self) -> String {
        let spec::ContextFit { model, lists, items, segments, user_features, item_features, .. } = &self.fit;
        format!(
            "ContextFit(model='{model}', lists={lists}, items={}, segments={}, user_features={}, item_features={})",
            items.len(),
            segments.len(),
            user_features.len(),
            item_features.len()
        )
    }
}

impl ContextFit {
    pub(crate) fn read(path: &Path) -> PyResult<Self> {
        let path = in_directory(path.to_owned(), FILE);
        Self::of_bytes(&path.display().to_string(), &content(&path)?)
    }

    fn of_bytes(name: &str, bytes: &[u8]) -> PyResult<Self> {
        let fit = spec::ContextFit::read(name, bytes).map_err(value_error)?;
        Ok(Self { fit, skipped: None })
    }

    fn json(&self) -> PyResult<Vec<u8>> {
        serde_json::to_vec(&self.fit).map_err(value_error)
    }
}

/// The path, or that of the file in it if it is a directory.
pub(super) fn in_directory(path: PathBuf, file: &str) -> PathBuf {
    if path.is_dir() { path.join(file) } else { path }
}

/// The error of a file, which it names.
fn of_file<T>(path: &Path, done: io::Result<T>) -> PyResult<T> {
    Ok(done.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?)
}

pub(super) fn content(path: &Path) -> PyResult<Vec<u8>> {
    of_file(path, read_regular(path))
}

pub(super) fn write_content(path: &Path, content: &[u8]) -> PyResult<()> {
    of_file(path, TemporaryFile::write(path, content).and_then(TemporaryFile::rename))
}

/// The arguments of `fit` that are of contexts alone.
#[derive(Default)]
pub(super) struct ContextArguments<'py> {
    pub(super) segment: Option<String>,
    pub(super) features: Option<Vec<String>>,
    pub(super) items: Option<Bound<'py, PyAny>>,
    pub(super) query: Option<String>,
    pub(super) ablate: bool,
}

impl ContextArguments<'_> {
    /// Returns whether the log's contexts are to be fitted.
    ///
    /// # Errors
    ///
    /// `ValueError` for what only such a fit needs.
    pub(super) fn is_asked(&self) -> PyResult<bool> {
        let asked = self.segment.is_some() || self.features.is_some() || self.items.is_some();
        let excess = [("query", self.query.is_some()), ("ablate", self.ablate)];
        match excess.into_iter().find(|(_, given)| *given && !asked) {
            Some((name, _)) => Err(value_error(format!("{name}: only with segment, features or items"))),
            None => Ok(asked),
        }
    }

    fn columns(&self) -> PyResult<Pairs> {
        let features = self.features.as_deref().unwrap_or(&[]);
        if let Some(name) = features.iter().find(|name| name.contains(';')) {
            return Err(value_error(format!(
                "features: {name:?}: expected the name of one column, without `;`"
            )));
        }
        let segment = self.segment.iter().map(|name| ("segment".to_owned(), name.clone()));
        let features = (!features.is_empty()).then(|| ("features".to_owned(), features.join(";")));
        Ok(segment.chain(features).collect())
    }
}

pub(super) fn fit_log(
    (log, format, columns): (&Bound<'_, PyAny>, Option<&str>, Option<&Bound<'_, PyAny>>),
    model: Texts,
    reading: &ReadSettings,
    of_fit: &FitSettings,
    asked: ContextArguments<'_>,
) -> PyResult<ContextFit> {
    let Texts(names) = model;
    let model = names.first().filter(|_| names.len() == 1).and_then(|name| Model::from_name(name));
    let model = model.filter(|model| ContextSettings::MODELS.contains(model));
    let model = model.ok_or_else(|| {
        value_error("model: expected one of \"cascade\", \"dcm\" and \"pbm\" with segment, features or items")
    })?;
    let HoldOut(Some(HeldOut::OneIn(held_out_one_in))) = of_fit.held_out else {
        let found = of_fit.held_out;
        return Err(value_error(format!(
            "held_out is {found}: expected an integer of at least 2 with contexts"
        )));
    };
    let (source, format) =
        Source::new(log, format, columns, Ubi::default(), Some(&asked.columns()?), &["user"])?;
    // Refuses what no reader takes.
    reading.reader(format.clone()).map_err(value_error)?;
    let mut lists = PersonalLists::new(&format, asked.query.as_deref()).map_err(value_error)?;
    if lists.columns().query.is_some() && asked.query.is_none() {
        return Err(value_error("query: missing: the log has queries, and contexts are fitted for one"));
    }
    if reading.first_position == 0 {
        lists = lists.positions_from_zero();
    }
    if let Some(share) = reading.max_skipped {
        lists = lists.lenient(share);
    }
    let settings = ContextSettings {
        model,
        query: asked.query.clone(),
        features: lists.columns().features.clone(),
        items: asked.items.as_ref().map(items).transpose()?,
        held_out_one_in,
        seed: of_fit.seed,
        ablate: asked.ablate,
    };
    let fitted = interruptible(log.py(), |stop| {
        fit_contexts(&settings, |names: &mut ListNames, take| {
            Ok(lists.read(source.inputs(stop)?, names, take)?)
        })
    });
    let (fit, report) = fitted?.map_err(|error: anyhow::Error| match error.downcast() {
        Ok(error) => of_log(&error, &source),
        Err(error) => value_error(format!("{error:#}")),
    })?;
    let skipped =
        report.skipped.iter().map(|(reason, skipped)| (reason.to_string(), skipped.lines)).collect();
    Ok(ContextFit { fit, skipped: Some(skipped) })
}

/// The features of items, from a CSV file or a table in memory.
fn items(given: &Bound<'_, PyAny>) -> PyResult<FeatureTable> {
    const NAME: &str = "items";
    if is_path(given)? {
        let path: PathBuf = given.extract()?;
        return FeatureTable::of_items(&path.display().to_string(), &content(&path)?).map_err(value_error);
    }
    let (frame, names) = frame_of(NAME, given, &|there: &[String]| {
        let others = there.iter().filter(|name| *name != "item").cloned();
        let names: Vec<String> = std::iter::once("item".to_owned()).chain(others).collect();
        Ok((names.clone(), names))
    })?;
    let columns: Vec<RowColumn<'_>> = names.iter().map(|name| RowColumn { name, optional: false }).collect();
    let features = names[1..].to_vec();
    let mut rows =
        Items { table: FeatureTable { features, ..FeatureTable::default() }, numbers: BTreeMap::new() };
    read_rows(&columns, false, vec![Input::frame(NAME, &frame)], None, &mut rows)
        .map_err(|error| of_log_of(&error, NAME, true))?;
    let Items { table, numbers } = rows;
    match (0..table.rows.len()).find(|row| numbers[&table.rows[*row]] != *row) {
        Some(row) => {
            let fault = format!("{:?} is there twice", table.rows[row]);
            Err(value_error(in_row(NAME, row, "item", fault)))
        }
        None => Ok(table),
    }
}

struct Items {
    table: FeatureTable,
    /// The first row of each name.
    numbers: BTreeMap<String, usize>,
}

impl TakeRows for Items {
    fn row(&mut self, values: &[Option<Value<'_>>; 6], further: &[Value<'_>]) -> Result<(), (usize, Fault)> {
        let mut values = values.iter().copied().flatten().chain(further.iter().copied());
        let name = values.next().unwrap_or(Value::Missing);
        let name = String::from_utf8(name.bytes().into_owned()).map_err(|_| (0, Fault::NotUtf8))?;
        if name.is_empty() {
            return Err((0, Fault::Empty));
        }
        for (column, value) in values.enumerate() {
            self.table.values.push(value.finite().map_err(|fault| (column + 1, fault))?);
        }
        self.numbers.entry(name.clone()).or_insert(self.table.rows.len());
        self.table.rows.push(name);
        Ok(())
    }
}
