use crate::checked::{checked, with_state};
use crate::error::{MAX_COUNT, check_counts};
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Error, Select, Update};
use click_models::{Cell, CellClick, TableShape};
use confidence::math::ln;
use confidence::{Rate, kl_ucb_lower, kl_ucb_upper};
use num_traits::ToPrimitive as _;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// The purpose of a play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Comparing rows, on a random column.
    #[default]
    Rows,
    /// Comparing columns, on a random row.
    Columns,
}

/// The lengths of stages and intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Bounds {
    Kl,
    Hoeffding,
}

/// Largest length of a stage: far beyond every horizon, and further counting does not overflow.
const LAST_STAGE: u32 = 24;

impl Bounds {
    /// `n_l`: plays of every row and column when stage `l` ends.
    fn plays(self, stage: u32, horizon: u64) -> u64 {
        let factor = match self {
            Self::Kl => 16.0,
            Self::Hoeffding => 4.0,
        };
        // Any horizon is accepted, also one that means "unknown": a plain conversion.
        let plays = factor * float(1 << (2 * stage.min(LAST_STAGE))) * ln(horizon as f64);
        // Not negative, and below 2^58.
        plays.ceil().to_u64().unwrap_or(0)
    }

    /// The ends of the interval after these plays and clicks.
    pub(super) fn interval(self, plays: u64, clicks: u64, horizon: u64) -> [f64; 2] {
        if plays == 0 {
            return [0.0, 1.0];
        }
        let (n, mean) = (float(plays), float(clicks) / float(plays));
        match self {
            Self::Kl => {
                let level = Rate::LOG_PLUS_3_LOG_LOG.level(horizon);
                [kl_ucb_lower(mean, n, level), kl_ucb_upper(mean, n, level)]
            }
            Self::Hoeffding => {
                let radius = (ln(horizon as f64) / n).sqrt();
                [mean - radius, mean + radius]
            }
        }
    }
}

with_state! {
/// Rows or columns: the remaining ones, and their counts.
struct Line {
    /// The representative of each: itself, or the one that replaced it.
    stand_in: Vec<u32>,
    plays: Vec<u64>,
    clicks: Vec<u64>,
} derived {
    /// Those that represent themselves, in order.
    left: Vec<u32> = Vec::with_capacity(stand_in.len()),
    /// Number of rows (columns) that each of them represents.
    weights: Vec<u32> = Vec::with_capacity(stand_in.len()),
    intervals: Vec<[f64; 2]> = Vec::with_capacity(stand_in.len()),
} then count_left
}

impl Line {
    fn new(n: usize) -> Self {
        Self::assemble(State { stand_in: (0..).take(n).collect(), plays: vec![0; n], clicks: vec![0; n] })
    }

    fn count_left(&mut self) {
        let Self { stand_in, left, weights, .. } = self;
        left.clear();
        left.extend((0..).zip(&*stand_in).filter(|&(own, &other)| own == other).map(|(own, _)| own));
        weights.clear();
        weights.resize(left.len(), 0);
        for &other in &*stand_in {
            // A representative remains.
            weights[left.partition_point(|&member| member < other)] += 1;
        }
    }

    /// The representative of a uniformly random row (column).
    fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> u32 {
        self.stand_in[rng.random_range(0..self.stand_in.len())]
    }

    #[inline]
    fn count(&mut self, member: u32, clicked: bool) {
        if let (Some(plays), Some(clicks)) =
            (self.plays.get_mut(member as usize), self.clicks.get_mut(member as usize))
        {
            *plays += 1;
            *clicks += u64::from(clicked);
        }
    }

    /// Replaces those that are certainly no better than the one of largest lower end.
    fn eliminate<R: Rng + ?Sized>(&mut self, bounds: Bounds, horizon: u64, rng: &mut R) {
        let ties = Ties::draw(rng);
        let Self { stand_in, plays, clicks, left, intervals, .. } = self;
        intervals.clear();
        intervals.extend(
            left.iter()
                .map(|&member| bounds.interval(plays[member as usize], clicks[member as usize], horizon)),
        );
        let ahead = (0..left.len()).reduce(|best, place| {
            let precedes = ties.precedes(intervals[place][0], left[place], intervals[best][0], left[best]);
            if precedes { place } else { best }
        });
        let Some(ahead) = ahead else { return };
        let (winner, bar) = (left[ahead], intervals[ahead][0]);
        // The upper end of the winner may equal its lower end; the winner stays.
        let is_out = |place: usize| intervals[place][1] <= bar && left[place] != winner;
        if !(0..left.len()).any(is_out) {
            return;
        }
        for other in stand_in {
            if is_out(left.partition_point(|member| member < other)) {
                *other = winner;
            }
        }
        self.count_left();
    }

    /// Adds the plays of whole sweeps; `clicks` has one entry per remaining member.
    fn add(&mut self, sweeps: u64, clicks: &[u64]) {
        for (&member, &clicks) in self.left.iter().zip(clicks) {
            self.plays[member as usize] += sweeps;
            self.clicks[member as usize] += clicks.min(sweeps);
        }
    }
}

restored!(Line, |saved| {
    if saved.stand_in.len() != saved.plays.len() {
        return Err(Error::SavedSizes);
    }
    check_counts(0, &saved.plays, &saved.clicks)?;
    let stands_for_itself = |&other: &u32| saved.stand_in.get(other as usize) == Some(&other);
    if !saved.stand_in.iter().all(stands_for_itself) {
        return Err(Error::SavedStandIns);
    }
    Ok(Self::assemble(saved))
});

/// `Rank1Elim` and `Rank1ElimKL`: compare rows on shared random columns and columns on shared
/// random rows, in stages, and eliminate rows and columns that are certainly worse.
///
/// Stage `l` has `n_l - n_(l-1)` sweeps. A sweep draws a column and plays every remaining row on
/// it, then draws a row and plays every remaining column on it. Draws are uniform among *all*
/// columns (rows); an eliminated one is represented by the one that replaced it, so means do not
/// fall from stage to stage. After the stage every row has an interval around its mean over all of
/// its `n_l` plays. A row whose upper end is at most the largest lower end is replaced by the row
/// with that lower end. Columns are treated likewise.
///
/// | | `n_l` | interval |
/// |---|---|---|
/// | [`Rank1Elim::kl`] | `ceil(16 4^l ln n)` | `n_l d(mean, q) <= ln n + 3 ln ln n` |
/// | [`Rank1Elim::hoeffding`] | `ceil(4 4^l ln n)` | `mean +- sqrt(ln n / n_l)` |
///
/// Reference: Katariya, Kveton, Szepesvari, Vernade, Wen, *Bernoulli rank-1 bandits for click
/// feedback*, IJCAI 2017, Algorithm 1; the second row is `Rank1Elim` of the same authors,
/// *Stochastic rank-1 bandits*, AISTATS 2017. Deviations: only sums of rows and columns are stored,
/// not the K x L tables. Ties for the largest lower end are random. A horizon below 2 counts as 2,
/// and a negative `ln n + 3 ln ln n` as 0.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `rows.stand_in` | `h^U` | `n_rows` (K) | row |
/// | `rows.left` | `I` | at most K | row |
/// | `rows.clicks`, `rows.plays` | sums of `C^U` over columns, `n_l` | K | clicks, rounds |
/// | `columns` | the same for `h^V`, `J`, `C^V` | L | - |
/// | `stage`, `sweep` | `l`, the loop of line 11 | - | - |
/// | `horizon` | n | - | rounds |
///
/// The decision's note says whether the play was for rows or for columns, and late feedback counts
/// there, in any stage. Numerics: the ends of an interval err on the safe side. Memory: O(K + L).
#[derive(Debug, Clone, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(remote = "Self")]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Rank1Elim {
    bounds: Bounds,
    horizon: u64,
    /// The current stage, from 0.
    #[field]
    stage: u32,
    /// Completed sweeps of all stages.
    sweep: u64,
    side: Side,
    /// Plays of the current half of the sweep.
    place: usize,
    /// The shared column, or row, of the current half of the sweep.
    partner: u32,
    rows: Line,
    columns: Line,
    /// Completed sweeps of all stages at the end of this stage.
    #[serde(skip)]
    due: u64,
}

impl Rank1Elim {
    /// `Rank1ElimKL` for `horizon` rounds; it may be played for longer.
    pub fn kl(shape: TableShape, horizon: u64) -> Self {
        Self::fresh(Bounds::Kl, shape, horizon)
    }

    /// `Rank1Elim` for `horizon` rounds; it may be played for longer.
    pub fn hoeffding(shape: TableShape, horizon: u64) -> Self {
        Self::fresh(Bounds::Hoeffding, shape, horizon)
    }

    fn fresh(bounds: Bounds, shape: TableShape, horizon: u64) -> Self {
        let policy = Self {
            bounds,
            horizon: horizon.max(2),
            stage: 0,
            sweep: 0,
            side: Side::Rows,
            place: 0,
            partner: 0,
            rows: Line::new(shape.n_rows()),
            columns: Line::new(shape.n_columns()),
            due: 0,
        };
        policy.prepared()
    }

    /// Plans this stage.
    fn prepared(self) -> Self {
        Self { due: self.bounds.plays(self.stage, self.horizon), ..self }
    }

    /// Remaining rows, in order.
    pub fn remaining_rows(&self) -> &[u32] {
        &self.rows.left
    }

    /// Remaining columns, in order.
    pub fn remaining_columns(&self) -> &[u32] {
        &self.columns.left
    }

    /// Number of rows that each remaining one represents.
    pub fn row_weights(&self) -> &[u32] {
        &self.rows.weights
    }

    /// Number of columns that each remaining one represents.
    pub fn column_weights(&self) -> &[u32] {
        &self.columns.weights
    }

    /// Whole sweeps before the stage ends; 0 in a sweep. Ends a completed stage, as `select` would.
    pub fn whole_sweeps<R: Rng + ?Sized>(&mut self, rng: &mut R) -> u64 {
        if self.side != Side::Rows || self.place > 0 {
            return 0;
        }
        self.end_stages(rng);
        self.due - self.sweep
    }

    /// Adds `sweeps` whole sweeps with their feedback, at most [`Rank1Elim::whole_sweeps`] of them.
    /// `row_clicks` are the clicks of the remaining rows on random columns, `column_clicks` the
    /// clicks of the remaining columns on random rows. Does nothing in the middle of a sweep.
    pub fn add_sweeps(&mut self, sweeps: u64, row_clicks: &[u64], column_clicks: &[u64]) {
        if self.side != Side::Rows || self.place > 0 {
            return;
        }
        let sweeps = sweeps.min(self.due.saturating_sub(self.sweep));
        self.rows.add(sweeps, row_clicks);
        self.columns.add(sweeps, column_clicks);
        self.sweep += sweeps;
    }

    /// The line that is compared, and the other one.
    fn lines(&self) -> [&Line; 2] {
        match self.side {
            Side::Rows => [&self.rows, &self.columns],
            Side::Columns => [&self.columns, &self.rows],
        }
    }

    /// Ends the stage when all of its sweeps have been played.
    fn end_stages<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        while self.sweep >= self.due && self.stage < LAST_STAGE {
            self.rows.eliminate(self.bounds, self.horizon, rng);
            self.columns.eliminate(self.bounds, self.horizon, rng);
            self.stage += 1;
            self.due = self.bounds.plays(self.stage, self.horizon);
        }
        // The last stage has no end.
        self.due = self.due.max(self.sweep + 1);
    }
}

checked!(Rank1Elim, |self| {
    TableShape::new(self.rows.stand_in.len(), self.columns.stand_in.len())?;
    check_counts(self.sweep, &[], &[])?;
    if self.stage > LAST_STAGE || self.horizon < 2 {
        return Err(Error::SavedStage);
    }
    let [own, other] = self.lines();
    // The first play of a sweep has no partner yet.
    let started = self.place > 0;
    if self.place >= own.left.len() || (started && other.left.binary_search(&self.partner).is_err()) {
        return Err(Error::SavedStage);
    }
    if self.sweep > self.bounds.plays(self.stage, self.horizon).min(MAX_COUNT) {
        return Err(Error::SavedStage);
    }
    Ok(self.prepared())
});

setup!(Rank1Elim, &["/bounds", "/horizon"], |policy| [
    policy.rows.stand_in.len(),
    policy.columns.stand_in.len()
]);

impl Select<Cell> for Rank1Elim {
    /// The purpose of the play.
    type Note = Side;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell, Side>) {
        if self.place == 0 {
            if self.side == Side::Rows {
                self.end_stages(rng);
            }
            self.partner = self.lines()[1].draw(rng);
        }
        out.note = self.side;
        let left = &self.lines()[0].left;
        let (own, is_last) = (left[self.place], self.place + 1 == left.len());
        let (action, next) = match self.side {
            Side::Rows => (Cell::new(own, self.partner), Side::Columns),
            Side::Columns => (Cell::new(self.partner, own), Side::Rows),
        };
        out.action = action;
        self.place += 1;
        if is_last {
            self.place = 0;
            self.sweep += u64::from(next == Side::Rows);
            self.side = next;
        }
    }
}

impl Update<Cell, CellClick> for Rank1Elim {
    #[inline]
    fn update(&mut self, decision: &Decision<Cell, Side>, feedback: &CellClick) {
        let Cell { row, column } = decision.action;
        if row as usize >= self.rows.stand_in.len() || column as usize >= self.columns.stand_in.len() {
            return;
        }
        match decision.note {
            Side::Rows => self.rows.count(row, feedback.clicked),
            Side::Columns => self.columns.count(column, feedback.clicked),
        }
    }
}
