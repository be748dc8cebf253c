//! `ctr-document`: a click-through rate for each query and item.
//!
//! Reference: Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 3.
//! Deviations: a rate has a Beta prior with the strength of all priors; its mean is the rate of the
//! query.

use super::ctr_global::of_all;
use super::{Predicts, Row};
use crate::fit::estimate::{Estimate, normal_quantile};
use crate::fit::item_prior::{Item, ItemPrior, ObservedItems, SAMPLE, Trials};
use crate::fit::{Fit, ItemFit, Model, Options, QueryFit};
use log_reader::{Counts, Id, QueryCounts};

pub(super) const ROW: Row = Row {
    model: Model::CtrDocument,
    fit: |counts, _, options, _| fit(counts, options),
    predicts: Predicts::Alone(|fit, query, item, position| fit.attraction(query, item, position).0),
    users: None,
};

/// Every item of a query with its clicks and impressions.
fn totals(query: &QueryCounts<'_>) -> Vec<(Id, u64, u64)> {
    let cells: Vec<_> = query.cells().collect();
    let items = cells.chunk_by(|a, b| a.item == b.item).map(|cells| {
        let clicks = cells.iter().map(|cell| cell.clicks).sum();
        (cells[0].item, clicks, cells.iter().map(|cell| cell.impressions).sum())
    });
    items.collect()
}

fn fit(counts: &Counts, options: &Options) -> Fit {
    let z = normal_quantile(options.level);
    let mut seen = ObservedItems::new(counts.n_cells().div_ceil(SAMPLE).max(1));
    for query in counts.queries() {
        let items = totals(&query);
        let items = || items.iter().map(|&(_, clicks, impressions)| (clicks as f64, impressions as f64));
        seen.push_query(
            items().map(|(clicks, impressions)| Item { clicks, exposure: impressions, lift: 1.0 }),
            items().map(|(clicks, impressions)| Trials::new([(impressions - clicks, 1.0)].into_iter())),
        );
    }
    let prior = ItemPrior::new(&seen, options.prior_strength, None);
    let strength = prior.strength;
    let mut attractions = of_all(counts, options);
    attractions.site.prior_strength = strength;
    attractions.queries.extend(counts.queries().enumerate().map(|(place, query)| {
        let typical = prior.typical(place);
        let item = |(item, clicks, impressions): (Id, u64, u64)| ItemFit {
            item,
            attraction: Estimate::share(clicks as f64 + strength * typical, impressions as f64 + strength, z),
            prior: options.has_priors().then_some(typical),
            clicks,
            impressions,
        };
        let items = totals(&query).into_iter().map(item).collect();
        QueryFit { id: query.id(), items, positions: query.positions(), typical, convergence: None }
    }));
    Fit::new(Model::CtrDocument, attractions)
}
