//! The gain of personal lists over one list for all, judged on users that took no part.
//!
//! Users are dealt into [`FOLDS`] parts. Personal lists, and the one list of a fit without
//! contexts, are learned from the users outside a part. The users of the part value both, with an
//! attraction of each item that is linear in the context, by least squares without prior: a prior
//! would pull it to the mean, and the fit that learned the lists would like its own errors. The
//! gain may be below 0.
//!
//! The interval is that of a jackknife over the parts.
//!
//! Reference: Efron, *The jackknife, the bootstrap and other resampling plans*, 1982, chapter 3.
//! Deviations: the fits of other parts are not repeated without a part. Numerics: normal equations
//! with 1e-3 on the diagonal. Complexity: that of the fits, and O(items columns^3) for each part.

use super::{ContextError, HeldOut, LogList, Replay, SeenColumns, World, drawn, ratio};
use click_logs::fit::{Cholesky, Model};
use click_models::Context;
use log_reader::PersonalList;
use spec::Gain;

/// Parts of the users.
const FOLDS: usize = 10;
/// `t_{FOLDS - 1}(.975)`.
const QUANTILE: f64 = 2.262_157_162_798_2;
/// The most lists of a part that value lists.
const MOST_JUDGED: usize = 2_000;
/// The most numbers in the normal equations of a part.
const MOST_NUMBERS: usize = 1 << 24;
/// Ridge of the intercept and of other columns.
const RIDGE: [f64; 2] = [1e-6, 1e-3];

/// Fits without each part of the users, and the lists of the parts.
pub(super) struct Judge<'a> {
    world: &'a World,
    seed: u64,
    /// With contexts and without, by part.
    learners: Vec<[Replay<'a>; 2]>,
    left_out: Vec<Vec<HeldOut>>,
}

impl<'a> Judge<'a> {
    /// `None` if the normal equations would be too many.
    pub(super) fn new(
        world: &'a World,
        seen: [&SeenColumns; 2],
        seed: u64,
    ) -> Result<Option<Self>, ContextError> {
        let width = world.width();
        if world.shape.n_items().saturating_mul(width * width) > MOST_NUMBERS {
            return Ok(None);
        }
        let both = || Ok([Replay::new(world, seen[0].clone())?, Replay::new(world, seen[1].clone())?]);
        let learners: Result<Vec<_>, ContextError> = (0..FOLDS).map(|_| both()).collect();
        let left_out = (0..FOLDS).map(|_| Vec::new()).collect();
        Ok(Some(Self { world, seed, learners: learners?, left_out }))
    }

    pub(super) fn add(&mut self, list: &PersonalList<'_>) {
        let part = drawn(list.unit, self.seed, &[1]) % FOLDS as u64;
        let part = usize::try_from(part).unwrap_or(0);
        for (_, learners) in self.learners.iter_mut().enumerate().filter(|(other, _)| *other != part) {
            for learner in learners {
                learner.learn(list);
            }
        }
        if self.left_out[part].len() < MOST_JUDGED {
            self.left_out[part].push(HeldOut { unit: list.unit, list: LogList::new(list) });
        }
    }

    /// The gain in expected clicks of a list; `None` if a part has no lists.
    pub(super) fn gain(&mut self) -> Result<Option<Gain>, ContextError> {
        let mut parts = Vec::with_capacity(FOLDS);
        for ([personal, one], lists) in self.learners.iter_mut().zip(&self.left_out) {
            if lists.is_empty() {
                return Ok(None);
            }
            let contexts: Vec<&Context> = lists.iter().map(|held| &held.list.context).collect();
            let values = Attractions::new(self.world, lists);
            let of_all = one.best_lists(&contexts[..1])?;
            let mut gained = 0.0;
            for (context, list) in contexts.iter().zip(personal.best_lists(&contexts)?) {
                let [personal, one] = [&list, &of_all[0]].map(|list| values.clicks(context, list));
                gained += personal - one;
            }
            parts.push([gained, lists.len() as f64]);
        }
        Ok(ratio(&parts, QUANTILE))
    }
}

/// Attractions of the items that are linear in the context, from some lists.
struct Attractions<'a> {
    world: &'a World,
    /// By item.
    coefficients: Vec<Vec<f64>>,
}

impl<'a> Attractions<'a> {
    fn new(world: &'a World, lists: &[HeldOut]) -> Self {
        let (width, n_items) = (world.width(), world.shape.n_items());
        // A matrix and a right side for each item.
        let mut matrix = vec![0.0; width * width];
        for column in 0..width {
            matrix[column * (width + 1)] = RIDGE[usize::from(column > 0)];
        }
        let mut equations = vec![(matrix, vec![0.0; width]); n_items];
        for HeldOut { list, .. } in lists {
            let columns = world.columns(&list.context);
            for (position, &item) in list.items.iter().enumerate().take(world.observed(list)) {
                let examined = world.examined(position);
                let click = f64::from(u8::from(list.clicks >> position & 1 == 1));
                let (matrix, right) = &mut equations[item as usize];
                for (row, value) in columns.iter().enumerate() {
                    for (number, other) in matrix[row * width..][..width].iter_mut().zip(&columns) {
                        *number += examined * examined * value * other;
                    }
                    right[row] += examined * value * click;
                }
            }
        }
        let solved = |(matrix, mut right): (Vec<f64>, Vec<f64>)| {
            // With a ridge the matrix is positive definite, but for rounding.
            match Cholesky::new(width, matrix) {
                Some(factor) => factor.solve(&mut right),
                None => right.fill(0.0),
            }
            right
        };
        let coefficients = equations.into_iter().map(solved).collect();
        Self { world, coefficients }
    }

    /// The expected clicks on a list.
    fn clicks(&self, context: &Context, list: &[usize]) -> f64 {
        let columns = self.world.columns(context);
        let (mut there, mut clicks) = (1.0, 0.0);
        for (position, &item) in list.iter().enumerate() {
            let attraction: f64 = self.coefficients[item].iter().zip(&columns).map(|(a, b)| a * b).sum();
            let of_position = self.world.of_position(position);
            if self.world.model == Model::Pbm {
                // Sums of attractions need no limits.
                clicks += of_position * attraction;
            } else {
                let inside = attraction.clamp(0.0, 1.0);
                let leaves = if self.world.model == Model::Dcm { of_position } else { 1.0 };
                clicks += there * inside;
                there *= 1.0 - leaves * inside;
            }
        }
        clicks
    }
}
