//! A policy's decision: an action, and the policy's note about it.

use crate::context::ContextFacts;
use crate::message::value_error;
use crate::names::{self, Names};
use crate::reduced::reduced;
use crate::task::{plays, protocol_named};
use click_models::ListShape;
use documents::read_json;
use policies::Propensity;
use policies::catalogue::{Note, PolicySpec, Protocol};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Version of the format of saved decisions and batches.
const FORMAT: u32 = 1;

/// The policy that a decision belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Origin {
    pub(crate) spec: PolicySpec,
    pub(crate) protocol: Protocol,
    /// Numbers of items and positions, of rows and columns, or of items and the two items compared
    /// (2).
    pub(crate) sizes: [usize; 2],
    /// The knowledge of users who differ.
    pub(crate) told: Option<ContextFacts>,
}

impl Origin {
    /// Returns whether the policy can have written the note.
    fn wrote(&self, note: &Note) -> bool {
        let sees = self.spec.sees_contexts(self.protocol);
        let is_segmented = matches!(self.spec, PolicySpec::Segmented { .. });
        match note {
            Note::Segment(_) => is_segmented,
            Note::Context(context) => {
                // Told nothing, it sees nobody.
                let n_features = self.told.map_or(0, |told| told.user_features);
                sees && !is_segmented && context.features.len() == n_features
            }
            _ => !sees,
        }
    }

    /// How many numbers an action has.
    pub(crate) fn width(&self) -> usize {
        if self.protocol.has_lists() { self.sizes[1] } else { 2 }
    }

    pub(crate) fn check(self: &Arc<Self>, other: &Arc<Self>) -> PyResult<()> {
        if Arc::ptr_eq(self, other) || self == other {
            return Ok(());
        }
        Err(value_error(format!("a decision of {other}: expected one of {self}")))
    }

    /// Why the numbers are no action of this policy.
    pub(crate) fn fault(&self, action: &[u32]) -> Option<String> {
        // A policy may show fewer items than there are positions.
        let is_short = self.protocol.has_lists() && !action.is_empty() && action.len() < self.width();
        fault(self.protocol, self.sizes, if is_short { action.len() } else { self.width() }, action)
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { spec, protocol, sizes: [first, second], told } = self;
        write!(f, "`{spec}` (model \"{}\", sizes {first} and {second}", protocol.name())?;
        if let Some(ContextFacts { segments, user_features }) = told {
            write!(f, ", segments {segments}, user features {user_features}")?;
        }
        f.write_str(")")
    }
}

/// Why the numbers are no action of users with this protocol and these sizes, of `width` numbers.
pub(crate) fn fault(protocol: Protocol, sizes: [usize; 2], width: usize, action: &[u32]) -> Option<String> {
    if action.len() != width {
        return Some(format!("expected {width} numbers, got {}", action.len()));
    }
    let is_cell = protocol == Protocol::RankOne;
    for (place, &number) in action.iter().enumerate() {
        let (what, size) = match (is_cell, place) {
            (false, _) => ("item", sizes[0]),
            (true, 0) => ("row", sizes[0]),
            (true, _) => ("column", sizes[1]),
        };
        if usize::try_from(number).is_ok_and(|number| number >= size) {
            return Some(format!("{number} is no {what}: expected from 0 to {}", size.saturating_sub(1)));
        }
        if protocol.has_lists() && action[..place].contains(&number) {
            return Some(format!("item {number} is there twice"));
        }
    }
    None
}

/// Decisions of one policy in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedDecisions {
    format: u32,
    policy: String,
    model: String,
    sizes: [usize; 2],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<ContextFacts>,
    pub(crate) actions: Vec<Vec<u32>>,
    pub(crate) notes: Vec<Note>,
    /// For a single decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) propensities: Vec<Propensity>,
    /// For a single decision the names of its items, for a batch those of all items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) names: Option<Vec<serde_json::Value>>,
}

impl SavedDecisions {
    pub(crate) fn write<'a>(
        origin: &Origin,
        actions: impl Iterator<Item = &'a [u32]>,
        notes: &[Note],
        propensities: &[Propensity],
        names: Option<&Bound<'_, PyTuple>>,
    ) -> PyResult<String> {
        let saved = Self {
            format: FORMAT,
            policy: origin.spec.to_string(),
            model: origin.protocol.name().to_owned(),
            sizes: origin.sizes,
            told: origin.told,
            actions: actions.map(<[u32]>::to_vec).collect(),
            notes: notes.to_vec(),
            propensities: propensities.to_vec(),
            names: names.map(names::to_json).transpose()?,
        };
        serde_json::to_string(&saved).map_err(value_error)
    }

    /// The policy that the decisions belong to, and what was saved of them.
    pub(crate) fn read(text: &str) -> PyResult<(Arc<Origin>, Self)> {
        let invalid = |fault: &dyn std::fmt::Display| value_error(format!("no saved decision: {fault}"));
        let saved = read_json("no saved decision", text.as_bytes(), "a `Decision` or a `Batch`");
        let saved: Self = saved.map_err(value_error)?;
        if saved.format != FORMAT {
            return Err(invalid(&format!("format {}: expected {FORMAT}", saved.format)));
        }
        let spec: PolicySpec = saved.policy.parse().map_err(|error| invalid(&error))?;
        let protocol = protocol_named(&saved.model)
            .filter(|&protocol| plays(&spec, protocol))
            .ok_or_else(|| invalid(&format!("`{spec}` does not play \"{}\"", saved.model)))?;
        let origin = Origin { spec, protocol, sizes: saved.sizes, told: saved.told };
        if protocol.has_lists() {
            ListShape::new(saved.sizes[0], saved.sizes[1]).map_err(|error| invalid(&error))?;
        }
        if saved.notes.len() != saved.actions.len() {
            return Err(invalid(&"one note for each action is needed"));
        }
        if !saved.notes.iter().all(|note| origin.wrote(note)) {
            return Err(invalid(&format!("a note that {origin} does not write")));
        }
        let faults = |action: &Vec<u32>| Some((origin.fault(action)?, action.clone()));
        if let Some((fault, action)) = saved.actions.iter().find_map(faults) {
            return Err(invalid(&format!("{action:?} is no action of {origin}: {fault}")));
        }
        let propensities = &saved.propensities;
        if !propensities.is_empty() {
            let is_probability = |value: f64| value > 0.0 && value <= 1.0;
            let all = propensities.iter().all(|one| is_probability(one.item) && is_probability(one.prefix));
            let falls = propensities.is_sorted_by(|above, below| above.prefix >= below.prefix);
            let belongs = matches!(&*saved.actions, [action] if action.len() == propensities.len());
            if !(protocol.has_lists() && all && falls && belongs) {
                return Err(invalid(&"the propensities are not those of its list"));
            }
        }
        Ok((Arc::new(origin), saved))
    }
}

/// A policy's decision: what to show, and the policy's note for `update`.
///
/// Decisions may be answered late, in any order, or in another process: they pickle, and `to_json`
/// and `from_json` are inverse. A policy refuses decisions of a policy with another name, other
/// parameters, other sizes or other contexts. A decision for a user who differs carries the user's
/// segment and features.
///
/// Examples:
///     >>> policy = Policy("cascade-ts", "cascade", items=["a", "b", "c"], positions=2, seed=1)
///     >>> text = policy.select().to_json()
///     >>> Decision.from_json(text)
///     Decision(policy='cascade-ts', action=('a', 'c'))
///     >>> policy.update(Decision.from_json(text), [False, True])
#[pyclass(frozen, module = "click_bandits")]
pub(crate) struct Decision {
    pub(crate) origin: Arc<Origin>,
    pub(crate) action: Box<[u32]>,
    pub(crate) note: Note,
    /// Position by position; empty if they are not known.
    pub(crate) propensities: Box<[Propensity]>,
    /// The names of the items, if the policy has them.
    pub(crate) shown: Option<Py<PyTuple>>,
}

impl Decision {
    /// Refuses names that are not those of the policy.
    pub(crate) fn check_names(&self, py: Python<'_>, names: Option<&Names>) -> PyResult<()> {
        let own = names.map(|names| names.shown(py, &self.action)).transpose()?;
        let (own, shown) = (own.as_ref(), self.shown.as_ref().map(|shown| shown.bind(py)));
        if names::are_same(own, shown)? {
            return Ok(());
        }
        let [shown, own] = [shown, own].map(|names| names.map_or("numbers".to_owned(), ToString::to_string));
        Err(value_error(format!("a decision on other items: {shown}, here {own}")))
    }

    fn propensities_of<'py>(
        &self,
        py: Python<'py>,
        part: fn(&Propensity) -> f64,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let known = (!self.propensities.is_empty()).then_some(&self.propensities);
        known.map(|propensities| PyTuple::new(py, propensities.iter().map(part))).transpose()
    }
}

#[pymethods]
impl Decision {
    /// The action: the items from the top position down; the row and the column; or the two items
    /// to compare. Items have the names that the policy was given; without names all count from 0.
    ///
    /// tuple of length `positions`, or of length 2.
    #[getter]
    fn action<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.shown {
            Some(shown) => Ok(shown.bind(py).clone()),
            None => PyTuple::new(py, self.action.iter()),
        }
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

    /// The probability that each position got its item, whatever the others got, for the column
    /// `propensity` of `evaluate`: tuple of float, of the length of the list, above 0 and at
    /// most 1. None unless `select(propensities=True)` made the decision.
    #[getter]
    fn propensities<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.propensities_of(py, |one| one.item)
    }

    /// The probability that each position and all above it got their items, for the column
    /// `prefix-propensity` of `evaluate`: as `propensities`.
    #[getter]
    fn prefix_propensities<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.propensities_of(py, |one| one.prefix)
    }

    /// The probability of the list, for the column `list-propensity` of `evaluate`; None as
    /// `propensities`.
    #[getter]
    fn list_propensity(&self) -> Option<f64> {
        self.propensities.last().map(|last| last.prefix)
    }

    /// The decision as JSON text.
    ///
    /// Raises:
    ///     ValueError: an item has a name that is no str, int, float or bool; `pickle` keeps it.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.write(self.shown.as_ref().map(|shown| shown.bind(py)))
    }

    /// The decision that `to_json` wrote.
    ///
    /// Args:
    ///     text: JSON text.
    ///     action: names of its items, in place of those in the text.
    #[classmethod]
    #[pyo3(signature = (text, action=None))]
    fn from_json(
        class: &Bound<'_, PyType>,
        text: &str,
        action: Option<Bound<'_, PyTuple>>,
    ) -> PyResult<Self> {
        let (origin, SavedDecisions { mut actions, mut notes, propensities, names, .. }) =
            SavedDecisions::read(text)?;
        let names = names.map(|names| names::from_json(class.py(), &names)).transpose()?;
        let shown = action.or(names);
        match (actions.pop(), notes.pop(), notes.is_empty()) {
            (Some(action), Some(note), true) => {
                if shown.as_ref().is_some_and(|shown| shown.len() != action.len()) {
                    return Err(value_error("no saved decision: its items and their names differ in number"));
                }
                let (action, propensities) = (action.into(), propensities.into());
                Ok(Self { origin, action, note, propensities, shown: shown.map(Bound::unbind) })
            }
            _ => Err(value_error("no saved decision: expected one, got a batch")),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        reduced::<Self>(py, "from_json", (self.write(None)?, self.shown.as_ref()))
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        let is_same = self.origin == other.origin && self.action == other.action && self.note == other.note;
        let [own, others] = [self, other].map(|decision| decision.shown.as_ref().map(|shown| shown.bind(py)));
        Ok(is_same && self.propensities == other.propensities && names::are_same(own, others)?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Decision(policy='{}', action={})", self.origin.spec.name(), self.action(py)?))
    }
}

impl Decision {
    fn write(&self, names: Option<&Bound<'_, PyTuple>>) -> PyResult<String> {
        let (action, note) = (std::iter::once(&*self.action), std::slice::from_ref(&self.note));
        SavedDecisions::write(&self.origin, action, note, &self.propensities, names)
    }
}
