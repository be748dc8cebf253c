//! The evidence for claims: the runs of a panel.

use crate::series::{Series, Simulated};
use anyhow::{Context as _, Result};
use confidence::math::ln;
use experiment::result::{Bound, EndValue};
use experiment::{Measured, ResultFile, number};
use std::slice::from_ref;

/// The runs of a panel, by which claims about it are judged.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Evidence<'a> {
    /// Its variants; a panel without variants counts as one.
    pub variants: &'a [Simulated],
    /// The value of the runs that is judged.
    pub value: EndValue,
    /// The name for readers of a series.
    pub reader_name: &'a dyn Fn(&Series) -> String,
}

/// The runs of one series.
pub(super) struct SeriesRuns<'a> {
    pub(super) measured: &'a Measured,
    pub(super) policy: usize,
    value: EndValue,
}

impl Evidence<'_> {
    /// The result of the variant with the fewest independent observations.
    fn shortest(&self) -> Option<&ResultFile> {
        let results = self.variants.iter().map(|variant| &variant.measured.result);
        results.min_by_key(|result| result.observations())
    }

    /// The number of runs of this variant.
    pub(super) fn fewest_runs(&self) -> u64 {
        self.shortest().map_or(0, |result| result.runs)
    }

    /// The number of runs that make an observation of this variant.
    pub(super) fn runs_per_observation(&self) -> u64 {
        self.shortest().map_or(1, ResultFile::runs_per_observation)
    }

    pub(super) fn runs(&self, series: &Series) -> Result<SeriesRuns<'_>> {
        let variant = self.variants.iter().find(|variant| variant.name == series.variant);
        let runs = variant.and_then(|variant| {
            let policy = variant.measured.policy(&series.policy)?;
            Some(SeriesRuns { measured: &variant.measured, policy, value: self.value })
        });
        runs.with_context(|| format!("the result has no policy `{series}`"))
    }
}

impl<'a> SeriesRuns<'a> {
    /// The checkpoints; if runs are judged as a whole, the last round that they may have.
    pub(super) fn rounds(&self) -> &'a [u64] {
        let result = &self.measured.result;
        match self.value {
            EndValue::Regret | EndValue::Accuracy => {
                result.policies[self.policy].curves().map_or(&[], |curves| &curves.t)
            }
            EndValue::Answer(_) => {
                result.horizon.as_ref().or(result.max_steps.as_ref()).map_or(&[], from_ref)
            }
        }
    }

    /// The index of a checkpoint; of the last one for `None`.
    pub(super) fn checkpoint(&self, t: Option<u64>) -> Result<usize> {
        let rounds = self.rounds();
        let found = match t {
            Some(t) => rounds.iter().position(|&round| round == t),
            None => rounds.len().checked_sub(1),
        };
        found.with_context(|| match t {
            Some(t) => format!("round {} is not a checkpoint of the result", number::grouped(t)),
            None => "the result has no checkpoint".to_owned(),
        })
    }

    /// Independent observations of the judged value: regret or accuracy after a checkpoint, or a value of whole runs.
    pub(super) fn regret(&self, t: u64) -> Result<Vec<f64>> {
        Ok(self.measured.result.observed(&self.regret_of_runs(t)?).into_owned())
    }

    /// The judged value of every run.
    pub(super) fn regret_of_runs(&self, t: u64) -> Result<Vec<f64>> {
        Ok(match self.value {
            EndValue::Regret => self.measured.regret(self.policy, self.checkpoint(Some(t))?)?,
            EndValue::Accuracy => self.measured.accuracy(self.policy, self.checkpoint(Some(t))?)?,
            // The round does not matter, so runs of different lengths can be compared.
            EndValue::Answer(_) => self.measured.values(self.policy, self.value)?,
        })
    }

    /// Growth of the regret of every observation between two checkpoints, per unit of `ln t`.
    pub(super) fn slope(&self, (from, to): (u64, u64)) -> Result<Vec<f64>> {
        let (before, after) = (self.regret(from)?, self.regret(to)?);
        let length = ln(to as f64 / from as f64);
        Ok(before.iter().zip(&after).map(|(before, after)| (after - before) / length).collect())
    }

    /// A bound by its label, or the first one.
    pub(super) fn bound(&self, label: Option<&str>) -> Result<&'a Bound> {
        let bounds = &self.measured.result.bounds;
        let wanted = bounds.iter().find(|bound| label.is_none_or(|label| bound.label == label));
        // The reader of the claim has checked that the instances have it.
        wanted.context("the result lacks the bound")
    }
}

/// The value of a bound at one of its checkpoints.
pub(super) fn bound_at(bound: &Bound, t: u64) -> Result<f64> {
    let at = bound.t.iter().position(|&round| round == t);
    let value = at.and_then(|at| bound.value.get(at).copied());
    value.with_context(|| format!("the bound lacks round {}", number::grouped(t)))
}
