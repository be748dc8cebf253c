//! Predicts clicks on lists, seen in the fit or not.
//!
//! Every impression has two probabilities: a *conditional* one, given the clicks above it, and a
//! *marginal* one, given the list alone. The conditional probabilities of a list multiply to the
//! probability of its clicks. Both are the same in the PBM and for click-through rates.
//!
//! Unseen items are predicted as the typical item of their query at their position, unseen queries
//! as the typical query of the site, and positions below the last one, and gaps, as the last one
//! above. All probabilities are kept between 1e-6 and 1 - 1e-6, which matters only without priors.
//!
//! Reference: Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 3.
//! Deviations: clicks below the cascade's first click ([`super::models`]).
//!
//! | here | meaning |
//! |---|---|
//! | `there` | probability that the user has not left, given the clicks above; for marginals without them |
//!
//! Numerics: sums and products of probabilities. Complexity: O(length of the list), O(length^2) for
//! the marginals of the UBM; a binary search for every item.

use super::estimate::Estimate;
use super::fitted::{Fit, QueryFit, browsing_column};
use click_models::Clicks;
use log_reader::Id;

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

/// The probability between `EDGE` and its distance from 1.
pub(super) fn inside(probability: f64) -> f64 {
    // NaN comes from a fit without priors, for parameters without data.
    if probability.is_nan() { 0.5 } else { probability.clamp(EDGE, 1.0 - EDGE) }
}

/// The known number at a position, or else the next one above it, or else the next one below it.
fn nearest(number: impl Fn(usize) -> f64, n: usize, position: usize) -> Option<f64> {
    let above = (0..n.min(position + 1)).rev();
    above.chain(position..n).map(number).find(|number| !number.is_nan())
}

/// The value at a position, or at the last one above it.
pub(super) fn value_at(estimates: &[Estimate], position: usize) -> f64 {
    estimates.get(position).or(estimates.last()).map_or(1.0, |estimate| estimate.value)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct List<'a> {
    pub(super) fit: &'a Fit,
    /// The fit of its query, if there is one.
    pub(super) known: Option<&'a QueryFit>,
    pub(super) items: &'a [Id],
    pub(super) clicks: Clicks,
}

impl<'a> List<'a> {
    /// For every position: the attraction of its item, and the item's index in the query.
    pub(super) fn attractions(self) -> impl Iterator<Item = (usize, f64, Option<usize>)> {
        self.items.iter().enumerate().map(move |(position, &item)| {
            let (attraction, place) = self.fit.attraction(self.known, item, position);
            (position, attraction, place)
        })
    }

    pub(super) fn positions(self) -> &'a [Estimate] {
        self.known.map_or(&self.fit.positions.site[..], |query| self.fit.positions(query))
    }

    /// The probabilities of examining the next position.
    pub(super) fn continuation(self) -> &'a [Estimate] {
        self.known.map_or(&self.fit.continuation.site[..], |query| self.fit.continuation(query))
    }

    /// Users who scan from the top. `continues` has the probabilities of examining the next
    /// position after no click and after a click, given the position, the attraction of its item
    /// and the item's index in the query.
    pub(super) fn scan(
        self,
        out: &mut Prediction,
        continues: impl Fn(usize, f64, Option<usize>) -> [f64; 2],
    ) {
        // Given the clicks above, and without them.
        let (mut there, mut on_average) = (1.0, 1.0);
        for (position, attraction, place) in self.attractions() {
            let [after_skip, after_click] = continues(position, attraction, place);
            let probability = inside(there * attraction);
            out.conditional.push(probability);
            out.marginal.push(inside(on_average * attraction));
            on_average *= (1.0 - attraction) * after_skip + attraction * after_click;
            there = if self.clicks.get(position) {
                after_click
            } else {
                there * (1.0 - attraction) / (1.0 - probability) * after_skip
            };
        }
    }

    /// Users whose clicks depend on the last click above.
    pub(super) fn by_last_click(self, out: &mut Prediction) {
        let positions = self.positions();
        let longest = (0..=64).take_while(|l| l * (l + 1) / 2 < positions.len()).count();
        let examination = |position: usize, last_click: Option<usize>| {
            // Positions below all fitted ones: as at the last position, with the last click at the
            // same distance.
            let beyond = (position + 1).saturating_sub(longest);
            let last_click = last_click.and_then(|click| click.checked_sub(beyond));
            browsing_column(position - beyond, last_click).map_or(1.0, |column| value_at(positions, column))
        };
        let mut last_click = None;
        // Position of the last click (or none), and its probability.
        let mut last_clicks = vec![(None, 1.0)];
        for (position, attraction, _) in self.attractions() {
            let click = |last_click| inside(attraction * examination(position, last_click));
            out.conditional.push(click(last_click));
            let mut here = 0.0;
            for (last_click, probability) in &mut last_clicks {
                let clicked = *probability * click(*last_click);
                here += clicked;
                *probability -= clicked;
            }
            out.marginal.push(inside(here));
            last_clicks.push((Some(position), here));
            if self.clicks.get(position) {
                last_click = Some(position);
            }
        }
    }
}

impl Fit {
    /// Attraction of an item, and its index in the query; the typical attraction at the position if
    /// the item is unseen.
    pub(super) fn attraction(
        &self,
        query: Option<&QueryFit>,
        item: Id,
        position: usize,
    ) -> (f64, Option<usize>) {
        let place = query.and_then(|query| {
            let place = query.items.binary_search_by_key(&item, |known| known.item).ok()?;
            Some((query.items[place].attraction.value, Some(place)))
        });
        place.unwrap_or_else(|| {
            let lifts = &self.attractions.site.lift;
            let lift = nearest(|place| lifts[place], lifts.len(), position).unwrap_or(1.0);
            let typical = query.map_or(self.attractions.site.typical, |query| query.typical);
            ((typical * lift).min(1.0), None)
        })
    }

    /// The site's parameter of a position, or of the nearest known one.
    pub(super) fn site_position(&self, position: usize) -> f64 {
        let positions = &self.positions.site;
        nearest(|place| positions[place].value, positions.len(), position).unwrap_or(1.0)
    }
}
