//! The evidence for claims: the runs of a panel.

use super::JudgeError;
use super::order::ComparedAt;
use crate::series::{Series, VariantRuns};
use confidence::math::ln;
use documents::number;
use experiment::result::{Bound, EndValue};
use experiment::{Measurement, ResultFile};
use std::slice::from_ref;

/// The runs of a panel, by which claims about it are judged.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Evidence<'a> {
    /// Its variants; a panel without variants counts as one.
    pub variants: &'a [VariantRuns],
    /// The value of the runs that is judged.
    pub value: EndValue,
    /// The name for readers of a series.
    pub reader_name: &'a dyn Fn(&Series) -> String,
}

pub(super) struct SeriesRuns<'a> {
    pub(super) measured: &'a Measurement,
    pub(super) policy: usize,
    value: EndValue,
}

impl<'a> Evidence<'a> {
    /// The result of the variant with the fewest independent observations.
    fn shortest(&self) -> Option<&ResultFile> {
        let results = self.variants.iter().map(|variant| &variant.measured.result);
        results.min_by_key(|result| result.observations())
    }

    pub(super) fn fewest_runs(&self) -> u64 {
        self.shortest().map_or(0, |result| result.runs)
    }

    /// The number of runs that make an observation of this variant.
    pub(super) fn runs_per_observation(&self) -> u64 {
        self.shortest().map_or(1, ResultFile::runs_per_observation)
    }

    pub(super) fn runs(&self, series: &Series) -> Result<SeriesRuns<'a>, JudgeError> {
        let variant = self.variants.iter().find(|variant| variant.name == series.variant);
        let runs = variant.and_then(|VariantRuns { measured, .. }| {
            Some(SeriesRuns { measured, policy: measured.policy(&series.policy)?, value: self.value })
        });
        runs.ok_or_else(|| JudgeError::Lacks(format!("the result has no policy `{series}`")))
    }

    /// The runs of one policy in every variant.
    pub(super) fn runs_of_variants(
        &self,
        policy: &str,
    ) -> Result<Vec<(&'a VariantRuns, SeriesRuns<'a>)>, JudgeError> {
        let runs = |variant: &'a VariantRuns| {
            let series = Series { variant: variant.name.clone(), policy: policy.to_owned() };
            Ok((variant, self.runs(&series)?))
        };
        self.variants.iter().map(runs).collect()
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
    fn checkpoint(&self, t: Option<u64>) -> Result<usize, JudgeError> {
        let rounds = self.rounds();
        let found = match t {
            Some(t) => rounds.iter().position(|&round| round == t),
            None => rounds.len().checked_sub(1),
        };
        found.ok_or_else(|| {
            JudgeError::Lacks(match t {
                Some(t) => format!("round {} is not a checkpoint of the result", number::grouped(t)),
                None => "the result has no checkpoint".to_owned(),
            })
        })
    }

    /// A checkpoint, the last one for `None`.
    pub(super) fn round(&self, t: Option<u64>) -> Result<u64, JudgeError> {
        Ok(self.rounds()[self.checkpoint(t)?])
    }

    /// Independent observations of the judged value: after a checkpoint, or of whole runs.
    pub(super) fn values(&self, t: u64) -> Result<Vec<f64>, JudgeError> {
        Ok(self.measured.result.observed(&self.values_of_runs(t)?).into_owned())
    }

    /// The judged value of every run.
    pub(super) fn values_of_runs(&self, t: u64) -> Result<Vec<f64>, JudgeError> {
        Ok(match self.value {
            EndValue::Regret => self.measured.regret(self.policy, self.checkpoint(Some(t))?)?,
            EndValue::Accuracy => self.measured.accuracy(self.policy, self.checkpoint(Some(t))?)?,
            // The round does not matter, so runs of different lengths can be compared.
            EndValue::Answer(_) => self.measured.values(self.policy, self.value)?,
        })
    }

    /// Observations of the compared quantity, and the last round that they are about.
    pub(super) fn compared(&self, at: ComparedAt) -> Result<(Vec<f64>, u64), JudgeError> {
        match at {
            ComparedAt::Round(t) => {
                let t = self.round(t)?;
                Ok((self.values(t)?, t))
            }
            ComparedAt::Slope(from, to) => {
                let (before, after) = (self.values(from)?, self.values(to)?);
                let length = ln(to as f64 / from as f64);
                let slope = before.iter().zip(&after).map(|(before, after)| (after - before) / length);
                Ok((slope.collect(), to))
            }
        }
    }

    /// The first bound of the instances.
    pub(super) fn bound(&self) -> Result<&'a Bound, JudgeError> {
        let bound = self.measured.result.bounds.first();
        bound.ok_or_else(|| JudgeError::Lacks("the result lacks the bound".into()))
    }
}

/// The value of a bound at one of its checkpoints.
pub(super) fn bound_at(bound: &Bound, t: u64) -> Result<f64, JudgeError> {
    let index = bound.t.iter().position(|&round| round == t);
    let value = index.and_then(|index| bound.value.get(index).copied());
    value.ok_or_else(|| JudgeError::Lacks(format!("the bound lacks round {}", number::grouped(t))))
}

/// The number of observations, which all these samples share.
pub(super) fn same_length<'a>(samples: impl IntoIterator<Item = &'a Vec<f64>>) -> Result<usize, JudgeError> {
    let mut lengths = samples.into_iter().map(Vec::len);
    let first = lengths.next().unwrap_or(0);
    lengths.find(|other| *other != first).map_or(Ok(first), |other| {
        let fault = format!("the compared series have different numbers of runs, {first} and {other}");
        Err(JudgeError::Lacks(fault))
    })
}
