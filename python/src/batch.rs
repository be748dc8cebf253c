//! Several decisions of one policy, as an array.

use crate::arrays::room;
use crate::decision::{Decision, Origin, Saved};
use crate::message::value_error;
use crate::play::{EMPTY, filled};
use crate::sequence;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use policies::catalogue::Note;
use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyIterator, PyList, PyType};
use std::sync::Arc;

/// Decisions that a policy made one after the other, without an answer in between.
///
/// `batch[i]` is the i-th `Decision`, and a loop goes over all of them; `take` makes a batch of
/// some of them. Batches pickle, and `to_json` and `from_json` are inverse.
#[pyclass(frozen, module = "click_bandits")]
pub(crate) struct Batch {
    pub(crate) origin: Arc<Origin>,
    /// The actions one after the other.
    pub(crate) actions: Vec<u32>,
    pub(crate) notes: Vec<Note>,
    array: PyOnceLock<Py<PyArray2<i64>>>,
}

impl Batch {
    pub(crate) fn new(origin: Arc<Origin>, actions: Vec<u32>, notes: Vec<Note>) -> Self {
        Self { origin, actions, notes, array: PyOnceLock::new() }
    }

    fn push(&mut self, action: &[u32], note: Note) {
        self.actions.extend_from_slice(action);
        self.notes.push(note);
        self.actions.resize(self.notes.len() * self.origin.width(), EMPTY);
    }

    fn decision(&self, place: usize) -> Decision {
        let width = self.origin.width();
        Decision {
            origin: Arc::clone(&self.origin),
            action: filled(&self.actions[place * width..][..width]).into(),
            note: self.notes[place].clone(),
            propensities: Box::default(),
        }
    }

    fn at(&self, index: isize) -> PyResult<Decision> {
        let place = self.place(index);
        place.map(|place| self.decision(place)).ok_or_else(|| self.beyond(&index))
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
    /// The actions: int64 array of shape (n, positions), items from the top position down; for
    /// cells (n, 2), rows and columns; for pairs (n, 2), the items to compare. Positions that a
    /// short list does not fill are -1. Read-only.
    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
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
            Ok(index) => self.at(index),
            // Beyond every index.
            Err(error) if error.is_instance_of::<PyOverflowError>(index.py()) => Err(self.beyond(&index)),
            Err(error) => Err(error),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, (0..self.notes.len()).map(|place| self.decision(place)))?.try_iter()
    }

    /// The batch of the decisions with these indices, in this order.
    ///
    /// Args:
    ///     indices: sequence of int; negative ones count from the end.
    ///
    /// Raises:
    ///     IndexError: there is no such decision.
    fn take(&self, indices: &Bound<'_, PyAny>) -> PyResult<Self> {
        let indices: Vec<isize> = sequence::numbers("indices", indices)?;
        let mut taken = Self::new(Arc::clone(&self.origin), Vec::new(), Vec::with_capacity(indices.len()));
        for index in indices {
            let decision = self.at(index)?;
            taken.push(&decision.action, decision.note);
        }
        Ok(taken)
    }

    /// The batch as JSON text.
    fn to_json(&self) -> PyResult<String> {
        let actions = self.actions.chunks_exact(self.origin.width()).map(filled);
        Saved::write(&self.origin, actions, &self.notes, &[])
    }

    /// The batch that `to_json` wrote.
    ///
    /// Raises:
    ///     ValueError: the text is no batch.
    #[classmethod]
    fn from_json(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        let (origin, actions, notes, _) = Saved::read(text)?;
        if origin.width() == 0 {
            return Err(value_error("no saved batch: lists without positions"));
        }
        let mut batch = Self::new(origin, Vec::new(), Vec::new());
        for (action, note) in actions.iter().zip(notes) {
            batch.push(action, note);
        }
        Ok(batch)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.to_json()?,)))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.origin == other.origin && self.actions == other.actions && self.notes == other.notes
    }

    fn __repr__(&self) -> String {
        format!("Batch(policy='{}', n={})", self.origin.spec.name(), self.notes.len())
    }
}
