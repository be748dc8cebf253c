//! The estimates of the levels from their sums.
//!
//! `V = sum_k v_k (n_k / n) (sum_i w_ik c_ik) / (sum_i w_ik)`, where `n_k` of the `n` lists reach
//! position `k`; all of them, if lists are as long as the new ones. Rows without lists are a sample
//! of each position.
//!
//! Reference: `docs/evaluation.md`. Numerics: exact sums, then divisions; sums
//! without a group add up those of the others. Complexity: O(groups^2 positions).

use crate::jackknife::{Estimate, GROUPS};
use crate::level::Level;
use crate::tally::{About, CLICKED, SQUARE, Tally, WEIGHT};
use crate::targets::NeverShown;

/// The lists that were shown, and the estimates of each level.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Lists that are compared.
    pub lists: u64,
    /// Groups of users with lists.
    pub groups: usize,
    /// The earnings of what was shown, in the value of clicks for each list.
    pub today: Estimate,
    /// The levels, in the order of [`Level::ALL`].
    pub levels: Vec<LevelEstimate>,
    /// The lists, by how they are compared.
    pub about: About,
    /// The part of the new ranking that the log never shows; `None` for personal ones.
    pub never_shown: Option<NeverShown>,
}

/// The estimates of a level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelEstimate {
    /// The level.
    pub level: Level,
    /// Whether all lists have a weight of this level: the log has the propensities.
    pub has_propensities: bool,
    /// The earnings of the new ranking for each list; `None` if a position has no weight.
    pub value: Option<Estimate>,
    /// Their difference to the earnings of what was shown.
    pub difference: Option<Estimate>,
    /// Number of lists with equal weights that would be as certain: the least `(sum w)^2 / sum w^2`
    /// of a position.
    pub effective_lists: f64,
    /// `sum w / n_k` of each position. 1 is expected, if propensities are right and the log can
    /// show the new lists.
    pub mean_weights: Vec<Estimate>,
    /// The largest share of a single list in the weighted clicks; 0 without any.
    pub largest_share: f64,
}

/// Sums of all threads, for statistics without a group.
struct Sums<'a> {
    tally: &'a Tally<'a>,
    values: &'a [f64],
    are_rows: bool,
}

fn others(without: Option<usize>) -> impl Iterator<Item = usize> {
    (0..GROUPS).filter(move |group| Some(*group) != without)
}

impl Sums<'_> {
    fn lists(&self, without: Option<usize>) -> u64 {
        others(without).map(|group| self.tally.lists[group]).sum()
    }

    fn shown(&self, position: usize, without: Option<usize>) -> f64 {
        others(without).map(|group| self.tally.shown(group, position)).sum::<u64>() as f64
    }

    fn of(&self, level: Level, position: usize, which: usize, without: Option<usize>) -> f64 {
        others(without).map(|group| self.tally.sum(level, group, position, which)).sum()
    }

    /// The sum over positions that lists reach of their values, times a rate that may be unknown.
    fn sum(&self, without: Option<usize>, rate: impl Fn(usize) -> Option<f64>) -> Option<f64> {
        let lists = self.lists(without) as f64;
        let reached = (0..self.values.len()).map(|position| (position, self.shown(position, without)));
        let earned = reached.filter(|(_, shown)| *shown > 0.0).map(|(position, shown)| {
            let share = if self.are_rows { 1.0 } else { shown / lists };
            Some(self.values[position] * share * rate(position)?)
        });
        if lists > 0.0 { earned.sum() } else { None }
    }

    fn today(&self, without: Option<usize>) -> Option<f64> {
        self.sum(without, |position| {
            let earned: f64 = others(without).map(|group| self.tally.earned(group, position)).sum();
            Some(earned / self.shown(position, without))
        })
    }

    fn value(&self, level: Level, without: Option<usize>) -> Option<f64> {
        self.sum(without, |position| {
            let [weight, clicked] = [WEIGHT, CLICKED].map(|which| self.of(level, position, which, without));
            (weight > 0.0).then(|| clicked / weight)
        })
    }

    fn level(&self, level: Level, groups: &[usize]) -> LevelEstimate {
        let difference = |without| Some(self.value(level, without)? - self.today(without)?);
        let reached: Vec<usize> =
            (0..self.values.len()).filter(|&position| self.shown(position, None) > 0.0).collect();
        let mean = |&position: &usize| {
            let mean = |without| {
                let shown = self.shown(position, without);
                (shown > 0.0).then(|| self.of(level, position, WEIGHT, without) / shown)
            };
            Estimate::new(groups, mean)
        };
        let effective = |&position: &usize| {
            let [weight, square] = [WEIGHT, SQUARE].map(|which| self.of(level, position, which, None));
            // Squares beyond all numbers are those of a few lists.
            if square >= f64::MAX {
                1.0
            } else if square > 0.0 {
                weight * (weight / square)
            } else {
                0.0
            }
        };
        let earned = |&position: &usize| self.values[position] * self.of(level, position, CLICKED, None);
        let earned: f64 = reached.iter().map(earned).sum();
        LevelEstimate {
            level,
            has_propensities: self.tally.weighted[level as usize] == self.lists(None),
            value: Estimate::new(groups, |without| self.value(level, without)),
            difference: Estimate::new(groups, difference),
            effective_lists: reached.iter().map(effective).fold(f64::INFINITY, f64::min),
            mean_weights: reached.iter().filter_map(mean).collect(),
            largest_share: if earned > 0.0 { self.tally.largest[level as usize] / earned } else { 0.0 },
        }
    }
}

impl Levels {
    /// `None` if no list is compared.
    pub(crate) fn new(
        tally: &Tally<'_>,
        values: &[f64],
        are_rows: bool,
        never_shown: Option<NeverShown>,
    ) -> Option<Self> {
        let sums = Sums { tally, values, are_rows };
        let groups: Vec<usize> = (0..GROUPS).filter(|&group| tally.lists[group] > 0).collect();
        Some(Self {
            lists: sums.lists(None),
            groups: groups.len(),
            today: Estimate::new(&groups, |without| sums.today(without))?,
            levels: Level::ALL.iter().map(|&level| sums.level(level, &groups)).collect(),
            about: tally.about(are_rows),
            never_shown,
        })
    }

    /// Whether the new ranking shows every list that was shown: it earns the same by definition.
    pub fn are_as_shown(&self) -> bool {
        self.about.as_shown == self.lists && self.about.shorter == 0
    }

    /// The estimate of a level.
    pub fn of(&self, level: Level) -> &LevelEstimate {
        &self.levels[level as usize]
    }
}
