//! Whether the expected clicks come near those of a best list.

use crate::schema::{Keys, inside_unit, round, series};
use anyhow::Context as _;
use std::sync::Arc;

use super::reading::variants_of;
use super::{Basis, Comparison, Finding, Kind, Reading, Test, finding, number};
use crate::series::Series;
use confidence::Probability;
use experiment::toml_reader::{Error, Field};

pub(super) static KIND: Kind = Kind {
    name: "near-optimum",
    keys: "`policies`: series; `share`; `t`",
    holds: "expected clicks in the rounds 1 to t at least `share` of a best list's",
    schema: || Keys::required([("policies", series(1)), ("share", inside_unit())]).optional([("t", round())]),
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// The expected clicks up to round `t` are at least this share of those of a best list.
#[derive(Debug, Clone, PartialEq)]
pub struct NearOptimum {
    /// The series. Each has to reach the share.
    pub policies: Vec<Series>,
    /// The share, between 0 and 1.
    pub share: f64,
    /// Checkpoint; the last one if absent.
    pub t: Option<u64>,
}

fn read(reading: &Reading<'_, '_>) -> Result<NearOptimum, Error> {
    let panel = reading.panel_with_regret()?;
    let policies = reading.series("policies")?;
    let field: Field<'_> = reading.table.required("share")?;
    for variant in variants_of(panel, &policies) {
        let unit = variant.experiment.instances().unit();
        if unit != "clicks" {
            let fault = format!("the reward of these users is {unit}, and the test needs clicks");
            return Err(reading.kind.error(fault));
        }
    }
    let share = field.get::<Probability>()?.get();
    if share == 0.0 || share == 1.0 {
        return Err(field.error("every policy reaches a share of 0, none a share of 1: expected one between"));
    }
    Ok(NearOptimum { share, t: reading.round(&policies)?, policies })
}

impl Test for NearOptimum {
    fn tests(&self) -> usize {
        self.policies.len()
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let mut comparisons = Vec::new();
        let mut least_freedom = u64::MAX;
        for series in &self.policies {
            let runs = evidence.runs(series)?;
            let result = &runs.measured.result;
            let curves = result.policies[runs.policy].curves().context("the runs have no regret")?;
            let best = result.optimum.as_ref().context("the result has no optimum")?;
            let freedom = result.observations().saturating_sub(1);
            least_freedom = least_freedom.min(freedom);
            let at = runs.checkpoint(self.t)?;
            let round = curves.t[at];
            let in_optimum = best.t.iter().position(|&other| other == round);
            let in_optimum = in_optimum.context("the optimum lacks a checkpoint")?;
            let optimum = (best.clicks.mean[in_optimum], best.clicks.se[in_optimum]);
            let regret = (curves.regret.mean[at], curves.regret.se[at]);
            // The share of the optimum that is lost. The correlation of regret and optimum over the runs is unknown, so their relative
            // errors are added: the error of the ratio cannot be larger.
            let lost = regret.0 / optimum.0;
            let se = regret.1 / optimum.0 + lost.abs() * optimum.1 / optimum.0;
            let excess = lost - (1.0 - self.share);
            comparisons.push(Comparison {
                what: series.to_string(),
                readers: (evidence.reader_name)(series),
                t: Some(round),
                measured: format!("{} %", number::with_error(100.0 * (1.0 - lost), 100.0 * se)),
                ..Comparison::of((excess, se), freedom, levels)
            });
        }
        Ok(finding("expected clicks, share of the optimum", comparisons, levels, least_freedom))
    }
}
