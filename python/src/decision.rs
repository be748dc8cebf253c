//! A policy's decision: an action, and the policy's note about it.

use crate::message::value_error;
use crate::task::protocol_named;
use click_models::{ListShape, Ranking};
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
}

impl Origin {
    /// How many numbers an action has.
    pub(crate) fn width(&self) -> usize {
        if self.protocol.has_lists() { self.sizes[1] } else { 2 }
    }

    /// Refuses a decision of another policy.
    pub(crate) fn check(self: &Arc<Self>, other: &Arc<Self>) -> PyResult<()> {
        if Arc::ptr_eq(self, other) || self == other {
            return Ok(());
        }
        Err(value_error(format!("a decision of {other}: expected one of {self}")))
    }

    /// Whether the numbers are an action of this policy.
    fn admits(&self, action: &[u32]) -> bool {
        let below = |number: u32, size: usize| usize::try_from(number).is_ok_and(|number| number < size);
        let [first, second] = self.sizes;
        match (self.protocol, action) {
            (Protocol::RankOne, &[row, column]) => below(row, first) && below(column, second),
            (Protocol::Dueling, &[one, other]) => below(one, first) && below(other, first),
            (Protocol::RankOne | Protocol::Dueling, _) => false,
            _ => {
                let list: Ranking = action.iter().copied().map(click_models::ItemId::new).collect();
                // A policy may show fewer items than there are positions.
                let length = list.len();
                length <= second && ListShape::new(first, length).is_ok_and(|shape| list.fits(shape))
            }
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { spec, protocol, sizes: [first, second] } = self;
        write!(f, "`{spec}` (model \"{}\", sizes {first} and {second})", protocol.name())
    }
}

/// Decisions of one policy in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    format: u32,
    policy: String,
    model: String,
    sizes: [usize; 2],
    actions: Vec<Vec<u32>>,
    notes: Vec<Note>,
    /// Of a single decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    propensities: Vec<Propensity>,
}

impl Saved {
    pub(crate) fn write<'a>(
        origin: &Origin,
        actions: impl Iterator<Item = &'a [u32]>,
        notes: &[Note],
        propensities: &[Propensity],
    ) -> PyResult<String> {
        let saved = Self {
            format: FORMAT,
            policy: origin.spec.to_string(),
            model: origin.protocol.name().to_owned(),
            sizes: origin.sizes,
            actions: actions.map(<[u32]>::to_vec).collect(),
            notes: notes.to_vec(),
            propensities: propensities.to_vec(),
        };
        serde_json::to_string(&saved).map_err(value_error)
    }

    /// The policy, the actions, the notes, and the propensities.
    #[expect(clippy::type_complexity, reason = "four results of one reading")]
    pub(crate) fn read(text: &str) -> PyResult<(Arc<Origin>, Vec<Vec<u32>>, Vec<Note>, Vec<Propensity>)> {
        let invalid = |fault: &dyn std::fmt::Display| value_error(format!("no saved decision: {fault}"));
        let saved: Self = serde_json::from_str(text).map_err(|error| invalid(&error))?;
        if saved.format != FORMAT {
            return Err(invalid(&format!("format {}: expected {FORMAT}", saved.format)));
        }
        let spec: PolicySpec = saved.policy.parse().map_err(|error| invalid(&error))?;
        let protocol = protocol_named(&saved.model)
            .filter(|&protocol| spec.speaks(protocol))
            .ok_or_else(|| invalid(&format!("`{spec}` does not play \"{}\"", saved.model)))?;
        let origin = Origin { spec, protocol, sizes: saved.sizes };
        if protocol.has_lists() {
            ListShape::new(saved.sizes[0], saved.sizes[1]).map_err(|error| invalid(&error))?;
        }
        if saved.notes.len() != saved.actions.len() {
            return Err(invalid(&"one note for each action is needed"));
        }
        if let Some(action) = saved.actions.iter().find(|action| !origin.admits(action)) {
            return Err(invalid(&format!("{action:?} is no action of {origin}")));
        }
        let propensities = saved.propensities;
        if !propensities.is_empty() {
            let is_probability = |value: f64| value > 0.0 && value <= 1.0;
            let all = propensities.iter().all(|of| is_probability(of.item) && is_probability(of.prefix));
            let falls = propensities.is_sorted_by(|above, below| above.prefix >= below.prefix);
            let belongs = matches!(&*saved.actions, [action] if action.len() == propensities.len());
            if !(protocol.has_lists() && all && falls && belongs) {
                return Err(invalid(&"the propensities are not those of its list"));
            }
        }
        Ok((Arc::new(origin), saved.actions, saved.notes, propensities))
    }
}

/// A policy's decision: what to show, and the policy's note for `update`.
///
/// Decisions may be answered late, in any order, or in another process: they pickle, and `to_json`
/// and `from_json` are inverse. A policy refuses decisions of a policy with another name, other
/// parameters or other sizes.
#[pyclass(frozen, module = "click_bandits")]
pub(crate) struct Decision {
    pub(crate) origin: Arc<Origin>,
    pub(crate) action: Box<[u32]>,
    pub(crate) note: Note,
    /// Position by position; empty if they are not known.
    pub(crate) propensities: Box<[Propensity]>,
}

impl Decision {
    fn propensities_of<'py>(
        &self,
        py: Python<'py>,
        of: fn(&Propensity) -> f64,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let known = (!self.propensities.is_empty()).then_some(&self.propensities);
        known.map(|propensities| PyTuple::new(py, propensities.iter().map(of))).transpose()
    }
}

#[pymethods]
impl Decision {
    /// The action: the items from the top position down; the row and the column; or the two items
    /// to compare. All count from 0.
    ///
    /// tuple of int, of length `positions`, or of length 2.
    #[getter]
    fn action<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.action.iter())
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
    /// `propensity` of `evaluate`: tuple of float, of the length of the list, above 0 and at most 1.
    /// None unless `select(propensities=True)` made the decision.
    #[getter]
    fn propensities<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.propensities_of(py, |of| of.item)
    }

    /// The probability that each position and all above it got their items, for the column
    /// `prefix-propensity` of `evaluate`: as `propensities`.
    #[getter]
    fn prefix_propensities<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.propensities_of(py, |of| of.prefix)
    }

    /// The probability of the list, for the column `list-propensity` of `evaluate`; None as
    /// `propensities`.
    #[getter]
    fn list_propensity(&self) -> Option<f64> {
        self.propensities.last().map(|of| of.prefix)
    }

    /// The decision as JSON text.
    fn to_json(&self) -> PyResult<String> {
        let (action, note) = (std::iter::once(&*self.action), std::slice::from_ref(&self.note));
        Saved::write(&self.origin, action, note, &self.propensities)
    }

    /// The decision that `to_json` wrote.
    ///
    /// Raises:
    ///     ValueError: the text is no decision.
    #[classmethod]
    fn from_json(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        let (origin, mut actions, mut notes, propensities) = Saved::read(text)?;
        match (actions.pop(), notes.pop(), notes.is_empty()) {
            (Some(action), Some(note), true) => {
                Ok(Self { origin, action: action.into(), note, propensities: propensities.into() })
            }
            _ => Err(value_error("no saved decision: expected one, got a batch")),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.to_json()?,)))
    }

    fn __eq__(&self, other: &Self) -> bool {
        let is_same = self.origin == other.origin && self.action == other.action && self.note == other.note;
        is_same && self.propensities == other.propensities
    }

    fn __repr__(&self) -> String {
        let action: Vec<String> = self.action.iter().map(u32::to_string).collect();
        format!("Decision(policy='{}', action=({}))", self.origin.spec.name(), action.join(", "))
    }
}
