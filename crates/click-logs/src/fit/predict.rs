//! Predicts clicks on lists, seen in the fit or not.
//!
//! Every impression has two probabilities: a *conditional* one, given the clicks above it, and a
//! *marginal* one, given the list alone. The conditional probabilities of a list multiply to the
//! probability of its clicks. Both are the same in the PBM and for click-through rates.
//!
//! Unseen items are predicted as the typical item of their query at their position, unseen queries
//! as the typical query of the site, and positions below the last one, and gaps, as the last one
//! above. The cascade model excludes clicks below the first one; the prediction uses the rate of
//! such clicks in the fitted sessions. All probabilities are kept between 1e-6 and 1 - 1e-6, which
//! matters only without priors.
//!
//! Reference: Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 3.
//! Deviations: clicks below the cascade's first click.
//!
//! | here | meaning |
//! |---|---|
//! | `there` | probability that the user has not left, given the clicks above; for marginals without them |
//!
//! Numerics: sums and products of probabilities. Complexity: O(length of the list), O(length^2) for
//! the marginals of the UBM and the logistic regression; a binary search for every item.

use super::fitted::browsing_column;
use super::{Estimate, Fit, QueryFit};
use crate::names::Id;
use click_models::Clicks;

/// Smallest probability, and its distance from 1.
const EDGE: f64 = 1e-6;

/// Probabilities of a click, one per position.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prediction {
    /// Given the clicks above.
    pub conditional: Vec<f64>,
    /// Given the list alone.
    pub marginal: Vec<f64>,
}

fn inside(probability: f64) -> f64 {
    // NaN comes from a fit without priors, for parameters without data.
    if probability.is_nan() { 0.5 } else { probability.clamp(EDGE, 1.0 - EDGE) }
}

/// The known number at a position, or else the next one above it, or else the next one below it.
fn nearest(number: impl Fn(usize) -> f64, n: usize, position: usize) -> Option<f64> {
    let above = (0..n.min(position + 1)).rev();
    above.chain(position..n).map(number).find(|number| !number.is_nan())
}

/// The value at a position, or at the last one above it.
fn value_at(estimates: &[Estimate], position: usize) -> f64 {
    estimates.get(position).or(estimates.last()).map_or(1.0, |estimate| estimate.value)
}

impl Fit {
    /// Attraction of an item, and its index in the query; the typical attraction at the position if
    /// the item is unseen.
    fn attraction(&self, query: Option<&QueryFit>, item: Id, position: usize) -> (f64, Option<usize>) {
        let place = query.and_then(|query| {
            let place = query.items.binary_search_by_key(&item, |known| known.item).ok()?;
            Some((query.items[place].attraction.value, Some(place)))
        });
        place.unwrap_or_else(|| {
            let lifts = &self.site().lift;
            let lift = nearest(|place| lifts[place], lifts.len(), position).unwrap_or(1.0);
            let typical = query.map_or(self.site().typical, |query| query.typical);
            ((typical * lift).min(1.0), None)
        })
    }

    /// The probability of a click on an item at a position, for models in which it does not depend
    /// on the rest of the list.
    pub fn click_probability(&self, query: Id, item: Id, position: usize) -> Option<f64> {
        let known = self.query(query);
        let of_site = |position: usize| {
            let positions = self.site_positions();
            nearest(|place| positions[place].value, positions.len(), position).unwrap_or(1.0)
        };
        match self {
            Self::Pbm { .. } => {
                let own = known.filter(|query| !self.own_positions(query.id).is_empty());
                let examined = own.map_or_else(
                    || of_site(position),
                    |query| {
                        let own = self.own_positions(query.id).get(position);
                        // Where the log does not show the query, as for others, relative to its
                        // first position.
                        let first = query.positions.iter().next().map(of_site).filter(|first| *first > 0.0);
                        let of_others = || of_site(position) / first.unwrap_or(1.0);
                        own.map(|own| own.value).filter(|own| !own.is_nan()).unwrap_or_else(of_others)
                    },
                );
                Some(self.attraction(known, item, position).0 * examined)
            }
            Self::CtrGlobal { .. } => Some(self.site().typical),
            Self::CtrRank { .. } => Some(of_site(position)),
            Self::CtrDocument { .. } => Some(self.attraction(known, item, position).0),
            _ => None,
        }
        .map(inside)
    }

    /// Probabilities of clicks on a list. `clicks` are the observed clicks; every conditional
    /// probability depends on those above its position.
    pub fn predict(&self, query: Id, items: &[Id], clicks: Clicks, out: &mut Prediction) {
        out.conditional.clear();
        out.marginal.clear();
        let known = self.query(query);
        let positions = known.map_or(self.site_positions(), |query| self.positions(query));
        match self {
            Self::Pbm { .. } | Self::CtrGlobal { .. } | Self::CtrRank { .. } | Self::CtrDocument { .. } => {
                for (position, &item) in items.iter().enumerate() {
                    let probability = self.click_probability(query, item, position).unwrap_or(0.5);
                    out.conditional.push(probability);
                    out.marginal.push(probability);
                }
            }
            &Self::Cascade { below_first_click: below, .. } => {
                let (mut there, mut clicked) = (1.0, false);
                for (position, &item) in items.iter().enumerate() {
                    let attraction = self.attraction(known, item, position).0;
                    out.conditional.push(inside(if clicked { below } else { attraction }));
                    out.marginal.push(inside(there * attraction + (1.0 - there) * below));
                    there *= 1.0 - attraction;
                    clicked |= clicks.get(position);
                }
            }
            Self::Dcm { .. } | Self::Sdbn { .. } | Self::Dbn { .. } | Self::Ccm { .. } => {
                let continuation = known.map_or(self.site_continuation(), |query| self.continuation(query));
                let satisfaction = self.satisfaction(query);
                // Given the clicks above, and without them.
                let (mut there, mut on_average) = (1.0, 1.0);
                for (position, &item) in items.iter().enumerate() {
                    let (attraction, place) = self.attraction(known, item, position);
                    let satisfied = |typical| place.map_or(typical, |place| satisfaction[place].value);
                    let [after_skip, after_click] = match self {
                        &Self::Sdbn { typical_satisfaction, .. } => {
                            [1.0, 1.0 - satisfied(typical_satisfaction)]
                        }
                        &Self::Dbn { typical_satisfaction, .. } => {
                            [1.0, 1.0 - satisfied(typical_satisfaction)]
                                .map(|on| on * value_at(continuation, 0))
                        }
                        Self::Ccm { .. } => {
                            let [skip, bad, good] = [0, 1, 2].map(|outcome| value_at(continuation, outcome));
                            [skip, bad * (1.0 - attraction) + good * attraction]
                        }
                        _ => [1.0, 1.0 - value_at(positions, position)],
                    };
                    let probability = inside(there * attraction);
                    out.conditional.push(probability);
                    out.marginal.push(inside(on_average * attraction));
                    on_average *= (1.0 - attraction) * after_skip + attraction * after_click;
                    there = if clicks.get(position) {
                        after_click
                    } else {
                        there * (1.0 - attraction) / (1.0 - probability) * after_skip
                    };
                }
            }
            Self::Ubm { .. } | Self::CtrLogistic { .. } => {
                let place = |position: usize, last_click: Option<usize>| {
                    // Positions below all fitted ones: as at the last position, with the last click
                    // at the same distance.
                    let longest = (0..=64).take_while(|l| l * (l + 1) / 2 < positions.len()).count();
                    let beyond = (position + 1).saturating_sub(longest);
                    let last_click = last_click.and_then(|click| click.checked_sub(beyond));
                    browsing_column(position - beyond, last_click)
                        .map_or(1.0, |column| value_at(positions, column))
                };
                let multiplies_odds = matches!(self, Self::CtrLogistic { .. });
                let mut last_click = None;
                // Position of the last click (or none), and its probability.
                let mut last_clicks = vec![(None, 1.0)];
                for (position, &item) in items.iter().enumerate() {
                    let attraction = self.attraction(known, item, position).0;
                    let click = |last_click| {
                        let product = attraction * place(position, last_click);
                        inside(if multiplies_odds { product / (1.0 - attraction + product) } else { product })
                    };
                    out.conditional.push(click(last_click));
                    let mut here = 0.0;
                    for (last_click, probability) in &mut last_clicks {
                        let clicked = *probability * click(*last_click);
                        here += clicked;
                        *probability -= clicked;
                    }
                    out.marginal.push(inside(here));
                    last_clicks.push((Some(position), here));
                    if clicks.get(position) {
                        last_click = Some(position);
                    }
                }
            }
        }
    }
}
