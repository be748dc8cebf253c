//! Click-through rate: clicks so far divided by rounds so far.

use super::curves::{FROM, OverRounds, SCALE, VARIANT, Value, highest, lowest};
use super::{Kind, Rounds};
use crate::axis::Axis;
use crate::keys::optional;
use crate::reading::Requirement;
use crate::svg::Curve;
use experiment::result::{Curves, Optimum, ResultFile};
use spec::schema::names;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "click-through-rate",
    says: "clicks so far by rounds so far; the curves of all variants together",
    keys: &[
        optional("band", || names(&["none", "confidence"]), "`\"confidence\"` by default, or `\"none\"`"),
        SCALE,
        FROM,
        VARIANT,
    ],
    relations: Vec::new,
    needs: &[Requirement::Rounds],
    read: |reading| Ok(Arc::new(ClickThroughRate { rounds: Rounds::read(reading)? })),
};

/// Click-through rate: clicks so far divided by rounds so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClickThroughRate {
    /// The settings that all figures over rounds share.
    pub rounds: Rounds,
}

impl OverRounds for ClickThroughRate {
    const TITLE: &'static str = "Click-through rate";
    const IN_VALUE: &'static str = "Value per round";

    fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    fn value(&self, curves: &Curves, index: usize) -> Option<Value> {
        let (clicks, rounds) = (&curves.clicks, curves.t[index] as f64);
        Some(Value { middle: clicks.mean[index] / rounds, se: Some(clicks.se[index] / rounds), spread: None })
    }

    fn references(&self, result: &ResultFile) -> Vec<(String, Vec<u64>, Vec<f64>)> {
        let Some(Optimum { t, clicks }) = &result.optimum else { return Vec::new() };
        let rate = t.iter().zip(&clicks.mean).map(|(&t, clicks)| clicks / t as f64).collect();
        vec![("optimum".to_owned(), t.clone(), rate)]
    }

    fn vertical(&self, curves: &mut [Curve], _policies: &[Curve], unit: &str) -> (Axis, String) {
        let earned = if unit == "value" { unit } else { "clicks" };
        (Axis::rounded(lowest(curves), highest(curves)), format!("{earned} per round, rounds 1 to t"))
    }

    fn dashed(&self, _dashed: &[&Curve]) -> &'static str {
        "; dashed: always playing a best list"
    }
}
