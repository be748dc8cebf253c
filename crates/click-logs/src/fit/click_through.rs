//! Click-through rates: baselines for click models.
//!
//! The rate of all impressions, of a position, or of an item of a query.
//!
//! Reference: Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 3.
//! Deviations: a rate has a Beta prior with the strength of all priors. Its mean is the overall
//! rate; for items it is the rate of the query. The overall rate is
//! `(clicks + 1/2) / (impressions + 1)`.
//!
//! | here | meaning |
//! |---|---|
//! | `positions` | rates by position |
//! | `attraction` | rate of the item |
//!
//! Numerics: closed form. Complexity: linear in the counts.

use super::estimate::{Estimate, normal_quantile};
use super::item_prior::{Item, ItemPrior, ObservedItems, SAMPLE, Trials};
use super::options::Options;
use super::{Attractions, Fit, ItemFit, Model, QueryFit, Site};
use crate::counts::Counts;

pub(super) fn fit(model: Model, counts: &Counts, options: &Options) -> Fit {
    let z = normal_quantile(options.level);
    let mut strength = options.given_strength();
    let (clicks, impressions) = (counts.clicks() as f64, counts.impressions() as f64);
    let typical = (clicks + 0.5) / (impressions + 1.0);
    let drawn = |clicks: f64, impressions: f64, to: f64, strength: f64| {
        Estimate::share(clicks + strength * to, impressions + strength, z)
    };
    let mut by_position = vec![(0.0, 0.0); counts.positions().end()];
    for cell in counts.queries().flat_map(|query| query.cells()) {
        by_position[cell.position].0 += cell.clicks as f64;
        by_position[cell.position].1 += cell.impressions as f64;
    }
    let positions = match model {
        Model::CtrRank => by_position
            .iter()
            .map(|&(clicks, impressions)| {
                if impressions > 0.0 {
                    drawn(clicks, impressions, typical, strength)
                } else {
                    Estimate::bare(f64::NAN)
                }
            })
            .collect(),
        _ => Vec::new(),
    };
    let mut queries = Vec::new();
    let mut item_prior = None;
    if model == Model::CtrDocument {
        let mut seen = ObservedItems::new(counts.n_cells().div_ceil(SAMPLE).max(1));
        for query in counts.queries() {
            let cells: Vec<_> = query.cells().collect();
            let totals = || {
                cells.chunk_by(|a, b| a.item == b.item).map(|cells| {
                    let clicks: u64 = cells.iter().map(|cell| cell.clicks).sum();
                    let impressions: u64 = cells.iter().map(|cell| cell.impressions).sum();
                    (clicks as f64, impressions as f64)
                })
            };
            seen.push_query(
                totals().map(|(clicks, impressions)| Item { clicks, exposure: impressions, lift: 1.0 }),
                totals().map(|(clicks, impressions)| Trials::new([(impressions - clicks, 1.0)].into_iter())),
            );
        }
        let found = ItemPrior::new(&seen, options.prior_strength, None);
        strength = found.strength;
        item_prior = Some(found);
    }
    for (place, query) in counts.queries().enumerate().filter(|_| item_prior.is_some()) {
        let item_prior = item_prior.as_ref().map_or(typical, |of: &ItemPrior| of.typical(place));
        let cells: Vec<_> = query.cells().collect();
        let items = cells.chunk_by(|a, b| a.item == b.item).map(|cells| {
            let clicks = cells.iter().map(|cell| cell.clicks).sum();
            let impressions = cells.iter().map(|cell| cell.impressions).sum();
            let attraction = drawn(clicks as f64, impressions as f64, item_prior, strength);
            let prior = options.has_priors().then_some(item_prior);
            ItemFit { item: cells[0].item, attraction, prior, clicks, impressions }
        });
        let items = items.collect();
        let positions = query.positions();
        queries.push(QueryFit { id: query.id(), items, positions, typical: item_prior, convergence: None });
    }
    let site = Site { typical, lift: Vec::new(), prior_strength: strength, convergence: None };
    let attractions = Attractions { queries, site };
    match model {
        Model::CtrRank => Fit::CtrRank { attractions, rates: positions },
        Model::CtrDocument => Fit::CtrDocument { attractions },
        _ => Fit::CtrGlobal { attractions },
    }
}
