//! Accuracy: share of the runs that would recommend the best item, over rounds.

use super::curves::{OverRounds, Value};
use super::summary::Best;
use super::{Band, Kind, Reading, Requirement, Rounds};
use crate::axis::Axis;
use crate::schema::{Keys, names, rounds};
use crate::svg::Curve;
use experiment::result::{Curves, EndValue};
use experiment::toml_reader::Error;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "accuracy",
    shows: "of dueling users: share of the runs that would recommend the best item; the curves of all variants together",
    is_wide: false,
    needs: &[Requirement::Duels, Requirement::Rounds],
    schema: || Keys::none().optional([("band", names([("none", Band::None)]))]).optional(rounds()),
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// Accuracy: share of the runs that would recommend the best item, over rounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Accuracy {
    /// The settings that all figures over rounds share.
    pub rounds: Rounds,
}

fn read(reading: &Reading<'_, '_>) -> Result<Accuracy, Error> {
    let (band, scale) = (reading.band(&[("none", Band::None)])?, reading.scale("scale")?);
    reading.refuse_y_scale()?;
    Ok(Accuracy { rounds: Rounds::read(reading, band, scale)? })
}

impl OverRounds for Accuracy {
    const ROW: &'static Kind = &KIND;
    const TITLE: &'static str = "Accuracy of what is recommended";
    const BEST: Best = Best::Highest;

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
