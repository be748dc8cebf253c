use crate::checked::checked;
use crate::error::check_counts;
use crate::exact::float;
use crate::setup::setup;
use crate::{Decision, Error, Select, Update};
use click_models::{Cell, CellClick, TableShape};
use confidence::math::ln;
use num_traits::ToPrimitive as _;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// `UCB1Elim`: cells are separate arms, eliminated in stages if they are certainly worse.
///
/// In stage `m = 0, 1, ..` with `D = 2^-m` every remaining arm is played until it has
/// `n_m = ceil(2 ln(n D^2) / D^2)` plays. Then an arm is eliminated if `mean + r < max (mean - r)`,
/// `r = sqrt(ln(n D^2) / (2 n_m))`. After stage `floor(log2(n / e) / 2)` the remaining arms are
/// played in turn; horizons below 3 have no stage.
///
/// Reference: Auer and Ortner, *UCB revisited: improved regret bounds for the stochastic
/// multi-armed bandit problem*, 2010, figure 1. Deviations: arms are played in turn within a stage,
/// one play each a sweep; the paper leaves the order open. Means and radii have the plays with
/// feedback by the end of the stage.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `left` | `B_m` | at most K L | cell |
/// | `plays`, `clicks` | `n_m`, the sums of rewards | K L | rounds, clicks |
/// | `stage`, `2^-stage` | m, `Delta~_m` | - | - |
/// | `horizon` | n (T) | - | rounds |
///
/// Numerics: an arm with 2^32 - 1 plays is not counted further. Memory: 12 bytes an arm.
#[derive(Debug, Clone, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(remote = "Self")]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Ucb1Elim {
    shape: TableShape,
    horizon: u64,
    /// The current stage, from 0.
    #[field]
    stage: u32,
    /// Completed sweeps over the remaining cells.
    sweep: u64,
    /// Plays of this sweep.
    place: usize,
    /// Numbers of the remaining cells, in order ([`TableShape::cell`]).
    #[field(name = remaining_cells)]
    left: Vec<u32>,
    plays: Vec<u32>,
    clicks: Vec<u32>,
    /// Completed sweeps at the end of this stage; `None` in the last one.
    #[serde(skip)]
    due: Option<u64>,
}

/// `ln(n D^2)`, `D^2` and `n_m` of a stage; `None` after the last.
fn plan(stage: u32, horizon: u64) -> Option<(f64, u64)> {
    // Any horizon is accepted, also one that means "unknown": a plain conversion.
    let horizon = horizon as f64;
    // ln(n / e) / 2 in units of ln 2.
    let last = ((ln(horizon) - 1.0) / (2.0 * std::f64::consts::LN_2)).floor();
    if f64::from(stage) > last {
        return None;
    }
    // At most half of log2 of a 64-bit horizon.
    let squared = 1.0 / float(1 << (2 * stage));
    let log = ln(horizon * squared);
    let plays = (2.0 * log / squared).ceil().to_u64().unwrap_or(u64::MAX);
    Some((log, plays))
}

impl Ucb1Elim {
    /// A fresh policy for `horizon` rounds; it may be played for longer.
    pub fn new(shape: TableShape, horizon: u64) -> Self {
        let n_cells = shape.n_cells();
        let policy = Self {
            shape,
            horizon: horizon.max(1),
            stage: 0,
            sweep: 0,
            place: 0,
            left: (0..).take(n_cells).collect(),
            plays: vec![0; n_cells],
            clicks: vec![0; n_cells],
            due: None,
        };
        policy.prepared()
    }

    /// Plans this stage.
    fn prepared(self) -> Self {
        let due = plan(self.stage, self.horizon).map(|(_, plays)| plays);
        Self { due, ..self }
    }

    /// Whole sweeps before the stage ends or a count is full; 0 in a sweep. Ends a completed stage.
    pub fn whole_sweeps(&mut self) -> u64 {
        if self.place > 0 {
            return 0;
        }
        self.end_stages();
        let before_the_end = self.due.map_or(u64::MAX, |due| due - self.sweep);
        before_the_end.min(self.sweeps_counted())
    }

    /// Number of plays for which every remaining cell is counted, except those with full counts.
    fn sweeps_counted(&self) -> u64 {
        let more = self.left.iter().map(|&cell| u64::from(u32::MAX - self.plays[cell as usize]));
        more.filter(|&more| more > 0).min().unwrap_or(u64::MAX)
    }

    /// Adds `sweeps` whole sweeps with their feedback, at most [`Ucb1Elim::whole_sweeps`] of them;
    /// `clicks` has one entry per remaining cell. Does nothing in the middle of a sweep.
    pub fn add_sweeps(&mut self, sweeps: u64, clicks: &[u64]) {
        if self.place > 0 {
            return;
        }
        let before_the_end = self.due.map_or(u64::MAX, |due| due.saturating_sub(self.sweep));
        let sweeps = sweeps.min(before_the_end).min(self.sweeps_counted());
        for (&cell, &clicks) in self.left.iter().zip(clicks) {
            let (plays, counted) = (&mut self.plays[cell as usize], &mut self.clicks[cell as usize]);
            if *plays < u32::MAX {
                // Both are at most the number of sweeps, for which there is room.
                let narrow = |count: u64| u32::try_from(count.min(sweeps)).unwrap_or(u32::MAX);
                *plays = plays.saturating_add(narrow(sweeps));
                *counted = counted.saturating_add(narrow(clicks)).min(*plays);
            }
        }
        self.sweep = self.sweep.saturating_add(sweeps);
    }

    #[inline]
    fn end_stages(&mut self) {
        while self.due.is_some_and(|due| self.sweep >= due) {
            self.eliminate();
            self.stage += 1;
            self.due = plan(self.stage, self.horizon).map(|(_, plays)| plays);
        }
    }

    fn eliminate(&mut self) {
        let Some((log, _)) = plan(self.stage, self.horizon) else { return };
        let Self { left, plays, clicks, .. } = self;
        let mean_and_radius = |cell: u32| match plays[cell as usize] {
            0 => (0.0, f64::INFINITY),
            plays => {
                let mean = f64::from(clicks[cell as usize]) / f64::from(plays);
                (mean, (log / (2.0 * f64::from(plays))).sqrt())
            }
        };
        let lower = |&cell: &u32| {
            let (mean, radius) = mean_and_radius(cell);
            mean - radius
        };
        let bar = left.iter().map(lower).fold(f64::NEG_INFINITY, f64::max);
        left.retain(|&cell| {
            let (mean, radius) = mean_and_radius(cell);
            mean + radius >= bar
        });
    }
}

checked!(Ucb1Elim, |self| {
    let n_cells = self.shape.n_cells();
    if self.plays.len() != n_cells || self.clicks.len() != n_cells || self.left.len() > n_cells {
        return Err(Error::SavedSizes);
    }
    if self.clicks.iter().zip(&self.plays).any(|(clicks, plays)| clicks > plays) {
        return Err(Error::MoreClicksThanShows);
    }
    check_counts(self.sweep, &[], &[])?;
    let in_order = self.left.windows(2).all(|pair| pair[0] < pair[1]);
    let known = self.left.last().is_some_and(|&cell| (cell as usize) < n_cells);
    if !in_order || !known || self.place >= self.left.len() || self.horizon == 0 {
        return Err(Error::SavedStage);
    }
    let plan_before = self.stage.checked_sub(1).map(|before| plan(before, self.horizon));
    let is_beyond = plan(self.stage, self.horizon).is_some_and(|(_, plays)| self.sweep > plays);
    // There is one stage after the last that ends; its sweeps start after its beginning.
    if plan_before == Some(None) || is_beyond {
        return Err(Error::SavedStage);
    }
    Ok(self.prepared())
});

setup!(Ucb1Elim, &["/horizon"], |policy| [policy.shape.n_rows(), policy.shape.n_columns()]);

impl Select<Cell> for Ucb1Elim {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _rng: &mut R, out: &mut Decision<Cell>) {
        if self.place == 0 {
            self.end_stages();
        }
        out.action = self.shape.cell(self.left[self.place] as usize);
        self.place += 1;
        if self.place == self.left.len() {
            self.place = 0;
            self.sweep = self.sweep.saturating_add(1);
        }
    }
}

impl Update<Cell, CellClick> for Ucb1Elim {
    #[inline]
    fn update(&mut self, decision: &Decision<Cell>, feedback: &CellClick) {
        let Some(cell) = self.shape.number(decision.action) else { return };
        if self.plays[cell] < u32::MAX {
            self.plays[cell] += 1;
            self.clicks[cell] += u32::from(feedback.clicked);
        }
    }
}
