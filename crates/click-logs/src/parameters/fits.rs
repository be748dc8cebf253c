//! Fits from records.

use super::{EstimateRecord, ModelRecord, Parameters, PositionRecord, QueryRecord};
use crate::fit::{Attractions, Estimate, Estimates, Fit, ItemFit, QueryFit, Site, browsing_column};
use log_reader::{Counts, Names, Positions};

/// The fits in parameters, with eight significant digits, and the names of their queries and items;
/// the counts themselves are not in a file. Unknown to them is the probability of leaving at a
/// position that has none, of the dependent click model without a prior.
pub fn fits(parameters: &Parameters) -> (Counts, Vec<Fit>) {
    let queries = || parameters.models.iter().flat_map(|model| &model.queries);
    let names = queries().flat_map(|query| {
        std::iter::once(&query.query).chain(query.items.iter().map(|item| &item.item)).map(String::as_str)
    });
    let counts = Counts::of_nothing(Names::of(names));
    let fits = parameters.models.iter().map(|model| fit(model, counts.names())).collect();
    (counts, fits)
}

/// A query, with its satisfaction, positions and continuation.
type OfQuery = (QueryFit, [Vec<Estimate>; 3]);

fn fit(record: &ModelRecord, names: &Names) -> Fit {
    let ModelRecord { model, site, queries } = record;
    let mut all: Vec<OfQuery> = queries.iter().filter_map(|record| query(record, names)).collect();
    // Another program may have changed the order.
    all.sort_by_key(|(query, _)| query.id);
    let own = |place: usize| {
        let lists: Vec<Vec<Estimate>> = all.iter().map(|(_, lists)| lists[place].clone()).collect();
        Some(lists).filter(|lists| lists.iter().any(|list| !list.is_empty()))
    };
    let [satisfaction, of_positions, of_continuation] = [own(0), own(1), own(2)];
    let attractions = Attractions {
        site: Site {
            typical: site.typical,
            lift: site.lift.clone(),
            prior_strength: site.prior,
            convergence: site.convergence,
        },
        queries: all.into_iter().map(|(query, _)| query).collect(),
    };
    let mut fit = Fit::new(*model, attractions);
    fit.satisfaction = satisfaction.unwrap_or_default();
    fit.positions = Estimates { site: positions(&site.positions), queries: of_positions };
    fit.continuation = Estimates { site: estimates(&site.continuation), queries: of_continuation };
    (fit.typical_leave, fit.below_first_click) = (site.typical_satisfaction, site.below_first_click);
    fit
}

/// A query of these names.
fn query(record: &QueryRecord, names: &Names) -> Option<OfQuery> {
    let mut items = Vec::with_capacity(record.items.len());
    for record in &record.items {
        let attraction = estimate(&record.attraction);
        let (item, prior) = (names.find(&record.item)?, record.prior);
        let item =
            ItemFit { item, attraction, prior, clicks: record.clicks, impressions: record.impressions };
        items.push((item, record.satisfaction.as_ref().map(estimate)));
    }
    items.sort_by_key(|(item, _)| item.item);
    let shown = match record.shown.as_slice() {
        [] => Positions::first(record.n_positions.unwrap_or(1)),
        shown => shown.iter().map(|position| position - 1).collect(),
    };
    let query = QueryFit {
        id: names.find(&record.query)?,
        items: items.iter().map(|(item, _)| *item).collect(),
        positions: shown,
        typical: record.typical,
        convergence: record.convergence,
    };
    let satisfaction = items.into_iter().filter_map(|(_, satisfaction)| satisfaction).collect();
    Some((query, [satisfaction, positions(&record.positions), estimates(&record.continuation)]))
}

/// The parameters of positions; NaN in gaps.
fn positions(records: &[PositionRecord]) -> Vec<Estimate> {
    let mut all = Vec::new();
    for record in records {
        let position = record.position - 1;
        let place = match record.last_click {
            None => position,
            Some(last) => browsing_column(position, last.checked_sub(1)).unwrap_or(all.len()),
        };
        all.resize(place.max(all.len()), Estimate::bare(f64::NAN));
        all.push(estimate(&record.estimate));
    }
    all
}

fn estimates(records: &[EstimateRecord]) -> Vec<Estimate> {
    records.iter().map(estimate).collect()
}

fn estimate(&EstimateRecord { value, se, lower, upper }: &EstimateRecord) -> Estimate {
    Estimate { value, standard_error: se, interval: lower.zip(upper) }
}
