//! `ctr-rank`: a click-through rate for each position.
//!
//! Reference: Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 3.
//! Deviations: a rate has a Beta prior with the strength of all priors; its mean is the rate of all
//! impressions.

use super::ctr_global::of_all;
use super::{Predicts, Row};
use crate::fit::estimate::{Estimate, normal_quantile};
use crate::fit::{Estimates, Fit, Model, Options};
use log_reader::Counts;

pub(super) const ROW: Row = Row {
    model: Model::CtrRank,
    fit: |counts, _, options, _| fit(counts, options),
    predicts: Predicts::Alone(|fit, _, _, position| fit.site_position(position)),
    users: None,
};

fn fit(counts: &Counts, options: &Options) -> Fit {
    let z = normal_quantile(options.level);
    let attractions = of_all(counts, options);
    let (strength, mean) = (options.given_strength(), attractions.site.typical);
    let rate = |(clicks, impressions): (u64, u64)| {
        if impressions > 0 {
            Estimate::share(clicks as f64 + strength * mean, impressions as f64 + strength, z)
        } else {
            Estimate::bare(f64::NAN)
        }
    };
    let site = counts.by_position().into_iter().map(rate).collect();
    Fit { positions: Estimates { site, queries: None }, ..Fit::new(Model::CtrRank, attractions) }
}
