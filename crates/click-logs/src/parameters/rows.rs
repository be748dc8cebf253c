//! Parameters as rows of a table, for files and data frames.

use crate::fit::{Estimate, Fit, Model};
use log_reader::{Counts, Id};

/// A parameter of a fitted model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterRow {
    /// The model.
    pub model: Model,
    /// The query; `None` if all queries share the parameter.
    pub query: Option<Id>,
    /// `attraction`, `satisfaction`, or a name of
    /// [`ModelParameters`](documents::parameters::ModelParameters).
    pub kind: &'static str,
    /// The item, of attraction and satisfaction.
    pub item: Option<Id>,
    /// The position, from 1, of parameters of positions.
    pub position: Option<usize>,
    /// The position of the last click above, from 1; 0 without one. `None` for models whose
    /// parameters do not depend on it.
    pub last_click: Option<usize>,
    /// The estimate, with eight significant digits.
    pub estimate: Estimate,
    /// Clicks and impressions of the item or the position; `None` with a last click, by which they
    /// are not split.
    pub counts: Option<(u64, u64)>,
}

/// Calls `each` for every parameter: by fit, first of all queries together and then of each query.
///
/// # Errors
///
/// The first error of `each`.
pub fn for_each_parameter<E>(
    counts: &Counts,
    fits: &[Fit],
    mut each: impl FnMut(ParameterRow) -> Result<(), E>,
) -> Result<(), E> {
    let by_position = counts.by_position();
    for fit in fits {
        positions(fit, None, &fit.positions.site, &by_position).try_for_each(&mut each)?;
        continuation(fit, None, &fit.continuation.site).try_for_each(&mut each)?;
        for query in fit.queries() {
            let (satisfaction, own) = (fit.satisfaction(query.id), fit.own_positions(query.id));
            for (place, item) in query.items.iter().enumerate() {
                let attraction = ParameterRow {
                    model: fit.model(),
                    query: Some(query.id),
                    kind: "attraction",
                    item: Some(item.item),
                    position: None,
                    last_click: None,
                    estimate: rounded(&item.attraction),
                    counts: Some((item.clicks, item.impressions)),
                };
                each(attraction)?;
                if let Some(estimate) = satisfaction.get(place) {
                    each(ParameterRow { kind: "satisfaction", estimate: rounded(estimate), ..attraction })?;
                }
            }
            continuation(fit, Some(query.id), fit.own_continuation(query.id)).try_for_each(&mut each)?;
            if !own.is_empty() {
                let mut of_query = vec![(0, 0); by_position.len()];
                counts.query(query.id).iter().for_each(|query| query.add_to(&mut of_query));
                positions(fit, Some(query.id), own, &of_query).try_for_each(&mut each)?;
            }
        }
    }
    Ok(())
}

/// The rows of positions; `counts` has clicks and impressions at each.
fn positions(
    fit: &Fit,
    query: Option<Id>,
    estimates: &[Estimate],
    counts: &[(u64, u64)],
) -> impl Iterator<Item = ParameterRow> {
    let model = fit.model();
    let kind = model.parameters().positions.map_or("", |positions| positions.name);
    let browsing = model.has_last_clicks();
    fit.rows(estimates).map(move |(position, last_click, estimate)| ParameterRow {
        model,
        query,
        kind,
        item: None,
        position: Some(position + 1),
        last_click: browsing.then(|| last_click.map_or(0, |click| click + 1)),
        estimate: rounded(estimate),
        counts: counts.get(position).copied().filter(|_| !browsing),
    })
}

fn continuation(fit: &Fit, query: Option<Id>, estimates: &[Estimate]) -> impl Iterator<Item = ParameterRow> {
    let model = fit.model();
    model.parameters().continuation.iter().zip(estimates).map(move |(kind, estimate)| ParameterRow {
        model,
        query,
        kind,
        item: None,
        position: None,
        last_click: None,
        estimate: rounded(estimate),
        counts: None,
    })
}

/// The number with eight significant digits: more carry no information on a fit. It is unchanged if
/// it is below 1e-14, or no positive number.
pub(super) fn digits(number: f64) -> f64 {
    // Powers of ten up to this one are floating-point numbers.
    let (mut scale, largest) = (1.0, 1e22);
    while number * scale < 1e7 && scale < largest {
        scale *= 10.0;
    }
    if scale < largest { (number * scale).round() / scale } else { number }
}

/// The estimate with eight significant digits.
pub(super) fn rounded(estimate: &Estimate) -> Estimate {
    Estimate {
        value: digits(estimate.value),
        standard_error: estimate.standard_error.map(digits),
        interval: estimate.interval.map(|(lower, upper)| (digits(lower), digits(upper))),
    }
}
