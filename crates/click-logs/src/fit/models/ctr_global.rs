//! `ctr-global`: one click-through rate for all.
//!
//! Reference: Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 3.
//! Deviations: `(clicks + 1/2) / (impressions + 1)`.

use super::{Predicts, Row};
use crate::fit::{Attractions, Fit, Model, Options, Site};
use log_reader::Counts;

pub(super) const ROW: Row = Row {
    model: Model::CtrGlobal,
    fit: |counts, _, options, _| Fit::new(Model::CtrGlobal, of_all(counts, options)),
    predicts: Predicts::Alone(|fit, _, _, _| fit.attractions.site.typical),
    users: None,
};

/// The rate of all impressions; no queries.
pub(super) fn of_all(counts: &Counts, options: &Options) -> Attractions {
    let typical = (counts.clicks() as f64 + 0.5) / (counts.impressions() as f64 + 1.0);
    let prior_strength = options.given_strength();
    let site = Site { typical, lift: Vec::new(), prior_strength, convergence: None };
    Attractions { queries: Vec::new(), site }
}
