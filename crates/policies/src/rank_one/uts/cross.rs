//! The cells of the leader's row and column, and the largest of their draws by thinning.

use crate::Error;
use crate::sampling::Sampler;
use crate::sampling::beta_posteriors::BetaPosteriors;
use crate::sampling::thinning::{Pace, Posteriors, SavedThinning, Thinning, Threshold};
use crate::top_l::TopL;
use click_models::TableShape;
use rand::Rng;
use serde::{Deserialize, Serialize, Serializer};

/// The posteriors of a leader's row, by column, then of the rest of its column, by row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cross<'a> {
    posteriors: &'a BetaPosteriors,
    leader: usize,
    n_rows: usize,
    n_columns: usize,
}

impl<'a> Cross<'a> {
    pub(super) fn new(posteriors: &'a BetaPosteriors, shape: TableShape, leader: usize) -> Self {
        Self { posteriors, leader, n_rows: shape.n_rows(), n_columns: shape.n_columns() }
    }

    #[inline]
    pub(super) fn cell(&self, item: usize) -> usize {
        let (row, column) = (self.leader / self.n_columns, self.leader % self.n_columns);
        match item.checked_sub(self.n_columns) {
            None => row * self.n_columns + item,
            Some(other) => (other + usize::from(other >= row)) * self.n_columns + column,
        }
    }

    /// The item of a cell; `None` if it is neither in the row nor in the column.
    #[inline]
    fn item(&self, cell: usize) -> Option<usize> {
        let (row, column) = (self.leader / self.n_columns, self.leader % self.n_columns);
        let (cell_row, cell_column) = (cell / self.n_columns, cell % self.n_columns);
        if cell_row == row {
            Some(cell_column)
        } else {
            (cell_column == column).then(|| self.n_columns + cell_row - usize::from(cell_row > row))
        }
    }
}

impl Posteriors for Cross<'_> {
    #[inline]
    fn n_items(&self) -> usize {
        self.n_rows + self.n_columns - 1
    }

    fn draw<R: Rng + ?Sized>(&self, item: usize, sampler: Sampler, rng: &mut R) -> f64 {
        self.posteriors.draw(self.cell(item), sampler, rng)
    }

    #[inline]
    fn bound(&self, item: usize, threshold: &Threshold) -> f64 {
        self.posteriors.bound(self.cell(item), threshold)
    }

    fn draw_above<R: Rng + ?Sized>(
        &self,
        item: usize,
        threshold: &Threshold,
        least: f64,
        rng: &mut R,
    ) -> Option<f64> {
        self.posteriors.draw_above(self.cell(item), threshold, least, rng)
    }

    fn chance(&self, item: usize, threshold: &Threshold) -> f64 {
        self.posteriors.chance(self.cell(item), threshold)
    }

    #[inline]
    fn hash(&self, item: usize) -> u64 {
        self.posteriors.hash(self.cell(item))
    }

    #[inline]
    fn is_like(&self, item: usize, other: usize) -> bool {
        self.posteriors.is_like(self.cell(item), self.cell(other))
    }
}

/// The cells of a leader are all drawn in this number of rounds, before they are thinned: most
/// leaders do not last, and to find a threshold takes as long as a few rounds.
const YOUNG: u32 = 32;

/// The largest draw of a leader's cells; those of one leader at a time are thinned.
#[derive(Debug, Clone)]
pub(super) struct LeaderDraws {
    /// The leader whose cells are thinned.
    pub(super) settled: Option<usize>,
    /// Belongs to the settled leader.
    thinning: Thinning,
    /// The last unsettled leader, and the rounds in a row in which its cells were all drawn.
    young: usize,
    n_young: u32,
    top: TopL,
}

/// A saved [`LeaderDraws`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedLeaderDraws<'a> {
    settled: Option<(usize, SavedThinning<'a>)>,
    young: usize,
    n_young: u32,
}

impl LeaderDraws {
    pub(super) fn new(posteriors: &BetaPosteriors, shape: TableShape) -> Self {
        let thinning = Thinning::new(&Cross::new(posteriors, shape, 0), 1, Pace::Eager);
        Self { settled: None, thinning, young: 0, n_young: 0, top: TopL::new(1) }
    }

    pub(super) fn restore(
        saved: &SavedLeaderDraws<'_>,
        posteriors: &BetaPosteriors,
        shape: TableShape,
    ) -> Result<Self, Error> {
        let &SavedLeaderDraws { ref settled, young, n_young } = saved;
        let mut cells = settled.iter().map(|&(leader, _)| leader).chain([young]);
        if cells.any(|cell| cell >= shape.n_cells()) || n_young > YOUNG {
            return Err(Error::SavedThinning);
        }
        let mut draws = Self { young, n_young, ..Self::new(posteriors, shape) };
        if let &Some((leader, ref thinning)) = settled {
            let cross = Cross::new(posteriors, shape, leader);
            draws.thinning = Thinning::restore(thinning, &cross, 1, Pace::Eager)?;
            draws.settled = Some(leader);
        }
        Ok(draws)
    }

    /// The cell of the largest draw; `None`, without a draw, if all cells are to be drawn.
    #[inline]
    pub(super) fn select<R: Rng + ?Sized>(&mut self, cross: &Cross<'_>, rng: &mut R) -> Option<usize> {
        if self.settled != Some(cross.leader) && !self.settles(cross) {
            return None;
        }
        self.thinning.select(cross, &mut self.top, rng);
        self.top.best.first().map(|&(_, item)| cross.cell(item as usize))
    }

    /// Settles the leader, if it has lasted. Otherwise counts the round.
    #[cold]
    fn settles(&mut self, cross: &Cross<'_>) -> bool {
        if self.young != cross.leader {
            (self.young, self.n_young) = (cross.leader, 0);
        }
        if self.n_young < YOUNG {
            self.n_young += 1;
            return false;
        }
        self.thinning.restart(cross);
        self.settled = Some(cross.leader);
        true
    }

    /// The posterior of `cell` has changed.
    #[inline]
    pub(super) fn update(&mut self, posteriors: &BetaPosteriors, shape: TableShape, cell: usize) {
        if let Some(leader) = self.settled {
            let cross = Cross::new(posteriors, shape, leader);
            if let Some(item) = cross.item(cell) {
                self.thinning.update(&cross, item);
            }
        }
    }
}

impl Serialize for LeaderDraws {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let settled = self.settled.map(|leader| (leader, self.thinning.to_save()));
        SavedLeaderDraws { settled, young: self.young, n_young: self.n_young }.serialize(serializer)
    }
}
