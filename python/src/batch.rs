//! Several decisions of one policy, as an array.

use crate::arrays::room;
use crate::decision::{Decision, Origin, SavedDecisions};
use crate::message::value_error;
use crate::names::{self, Names};
use crate::play::{EMPTY, filled};
use crate::reduced::reduced;
use crate::sequence;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use policies::catalogue::Note;
use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyIterator, PyList, PyTuple, PyType};
use std::sync::Arc;

/// Decisions that a policy made one after the other, without an answer in between.
///
/// `batch[i]` is the i-th `Decision`, and a loop goes over all of them; `take` makes a batch of
/// some of them. Batches pickle, and `to_json` and `from_json` are inverse.
///
/// Examples:
///     >>> policy = Policy("cascade-ts", "cascade", items=4, positions=2, seed=1)
///     >>> batch = policy.select_batch(3)
///     >>> batch.actions.shape, len(batch.take([0, 2]))
///     ((3, 2), 2)
///     >>> Batch.from_json(batch.to_json())
///     Batch(policy='cascade-ts', n=3)
#[pyclass(frozen, module = "click_bandits")]
pub(crate) struct Batch {
    pub(crate) origin: Arc<Origin>,
    /// The actions one after the other.
    pub(crate) actions: Vec<u32>,
    pub(crate) notes: Vec<Note>,
    pub(crate) names: Option<Arc<Names>>,
    array: PyOnceLock<Py<PyArray2<i64>>>,
}

impl Batch {
    pub(crate) fn new(
        origin: Arc<Origin>,
        actions: Vec<u32>,
        notes: Vec<Note>,
        names: Option<Arc<Names>>,
    ) -> Self {
        Self { origin, actions, notes, names, array: PyOnceLock::new() }
    }

    fn push(&mut self, action: &[u32], note: Note) {
        self.actions.extend_from_slice(action);
        self.notes.push(note);
        self.actions.resize(self.notes.len() * self.origin.width(), EMPTY);
    }

    fn decision(&self, py: Python<'_>, place: usize) -> PyResult<Decision> {
        let width = self.origin.width();
        let action = filled(&self.actions[place * width..][..width]);
        let shown = self.names.as_ref().map(|names| names.shown(py, action)).transpose()?;
        Ok(Decision {
            origin: Arc::clone(&self.origin),
            action: action.into(),
            note: self.notes[place].clone(),
            propensities: Box::default(),
            shown: shown.map(Bound::unbind),
        })
    }

    fn beyond(&self, index: &impl std::fmt::Display) -> PyErr {
        PyIndexError::new_err(format!("decision {index} of a batch of {}", self.notes.len()))
    }

    /// The place of the decision with this index, which counts from the end if it is negative.
    fn place(&self, index: isize) -> Option<usize> {
        let n = self.notes.len();
        let place = if index < 0 { n.checked_add_signed(index) } else { index.try_into().ok() };
        place.filter(|&place| place < n)
    }
}

#[pymethods]
impl Batch {
    /// The actions: an array of shape (n, positions), items from the top position down; for cells
    /// (n, 2), rows and columns; for pairs (n, 2), the items to compare. Items with names have
    /// these, int64 if all are ints, otherwise objects, None where a short list ends; without names
    /// as `numbers`. Read-only.
    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let numbers = self.numbers(py)?.into_any();
        let Some(names) = &self.names else { return Ok(numbers) };
        names::module(py)?.call_method1("actions", (names.all(py), numbers))
    }

    /// The actions as an int64 array, items by their places in `Policy.items`. Positions that a
    /// short list does not fill are -1. Read-only.
    #[getter]
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let array = self.array.get_or_try_init(py, || -> PyResult<Py<PyArray2<i64>>> {
            let mut numbers = room::<i64>(self.actions.len())?;
            numbers
                .extend(self.actions.iter().map(|&number| if number == EMPTY { -1 } else { number.into() }));
            let array = PyArray1::from_vec(py, numbers).reshape([self.notes.len(), self.origin.width()])?;
            array.try_readwrite()?.make_nonwriteable();
            Ok(array.unbind())
        })?;
        Ok(array.bind(py).clone())
    }

    /// The name of the policy.
    #[getter]
    fn policy(&self) -> &'static str {
        self.origin.spec.name()
    }

    /// The protocol of the users, such as "pbm".
    #[getter]
    fn model(&self) -> &'static str {
        self.origin.protocol.name()
    }

    fn __len__(&self) -> usize {
        self.notes.len()
    }

    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<Decision> {
        match index.extract() {
            Ok(place) => self.decision(index.py(), self.place(place).ok_or_else(|| self.beyond(&place))?),
            // Beyond every index.
            Err(error) if error.is_instance_of::<PyOverflowError>(index.py()) => Err(self.beyond(&index)),
            Err(error) => Err(error),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let decisions: Vec<Decision> =
            (0..self.notes.len()).map(|place| self.decision(py, place)).collect::<PyResult<_>>()?;
        PyList::new(py, decisions)?.try_iter()
    }

    /// The batch of the decisions with these indices, in this order.
    ///
    /// Args:
    ///     indices: sequence of int; negative ones count from the end.
    fn take(&self, indices: &Bound<'_, PyAny>) -> PyResult<Self> {
        let indices: Vec<isize> = sequence::numbers("indices", indices)?;
        let (origin, width) = (Arc::clone(&self.origin), self.origin.width());
        let mut taken = Self::new(origin, Vec::new(), Vec::with_capacity(indices.len()), self.names.clone());
        for index in indices {
            let place = self.place(index).ok_or_else(|| self.beyond(&index))?;
            taken.push(filled(&self.actions[place * width..][..width]), self.notes[place].clone());
        }
        Ok(taken)
    }

    /// The batch as JSON text, with the names of all items.
    ///
    /// Raises:
    ///     ValueError: an item has a name that is no str, int, float or bool; `pickle` keeps it.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.write(self.names.as_ref().map(|names| names.all(py)))
    }

    /// The batch that `to_json` wrote.
    ///
    /// Args:
    ///     text: JSON text.
    ///     items: names of all items, in place of those in the text.
    ///
    /// Raises:
    ///     ValueError: the text is no batch.
    #[classmethod]
    #[pyo3(signature = (text, items=None))]
    fn from_json(
        class: &Bound<'_, PyType>,
        text: &str,
        items: Option<&Bound<'_, PyTuple>>,
    ) -> PyResult<Self> {
        let (origin, SavedDecisions { actions, notes, names, .. }) = SavedDecisions::read(text)?;
        if origin.width() == 0 {
            return Err(value_error("no saved batch: lists without positions"));
        }
        let names = Names::restored(class.py(), names.as_deref(), items, origin.sizes[0])?;
        let mut batch = Self::new(origin, Vec::new(), Vec::new(), names);
        for (action, note) in actions.iter().zip(notes) {
            batch.push(action, note);
        }
        Ok(batch)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let items = self.names.as_ref().map(|names| names.all(py));
        reduced::<Self>(py, "from_json", (self.write(None)?, items))
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        let is_same =
            self.origin == other.origin && self.actions == other.actions && self.notes == other.notes;
        let [own, others] = [self, other].map(|batch| batch.names.as_ref().map(|names| names.all(py)));
        Ok(is_same && names::are_same(own, others)?)
    }

    fn __repr__(&self) -> String {
        format!("Batch(policy='{}', n={})", self.origin.spec.name(), self.notes.len())
    }
}

impl Batch {
    fn write(&self, names: Option<&Bound<'_, PyTuple>>) -> PyResult<String> {
        let actions = self.actions.chunks_exact(self.origin.width()).map(filled);
        SavedDecisions::write(&self.origin, actions, &self.notes, &[], names)
    }
}
