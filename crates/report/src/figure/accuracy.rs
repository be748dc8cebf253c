//! Accuracy: share of the runs that would recommend the best item, over rounds.

use super::curves::{FROM, OverRounds, SCALE, VARIANT, Value};
use super::{Kind, Rounds};
use crate::axis::Axis;
use crate::reading::Requirement;
use crate::svg::Curve;
use experiment::result::{Curves, EndValue};
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "accuracy",
    says: "of dueling users: share of the runs that would recommend the best item; the curves of all variants together",
    keys: &[SCALE, FROM, VARIANT],
    relations: Vec::new,
    needs: &[Requirement::Duels, Requirement::Rounds],
    read: |reading| Ok(Arc::new(Accuracy { rounds: Rounds::read(reading)? })),
};

/// Accuracy: share of the runs that would recommend the best item, over rounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Accuracy {
    /// The settings that all figures over rounds share.
    pub rounds: Rounds,
}

impl OverRounds for Accuracy {
    const TITLE: &'static str = "Accuracy of what is recommended";

    fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    fn value(&self, curves: &Curves, index: usize) -> Option<Value> {
        let share = curves.accuracy.get(index)?;
        Some(Value { middle: *share, se: None, spread: None })
    }

    fn vertical(&self, _curves: &mut [Curve], _policies: &[Curve], _unit: &str) -> (Axis, String) {
        (Axis::rounded(0.0, 1.0), EndValue::Accuracy.words().to_owned())
    }
}
