//! Policies that show the items of the largest indices, with every index computed in every round.

use click_models::{Clicks, ItemId, ListShape, PbmFeedback, PbmKnown, PrefixFeedback, Ranking};
use confidence::math::ln;
use policies::{Decision, Select, Update};
use rand::Rng;

/// The rule that a policy follows, as in the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexRule {
    /// RSF-UCB.
    RsfUcb,
    /// `CascadeUCB1`.
    CascadeUcb1,
    /// `CascadeUCB-V`.
    CascadeUcbV,
    /// PBM-UCB.
    PbmUcb,
}

/// An item's index is `mean + width sqrt(ln t) + bias ln t`.
#[derive(Debug, Clone, Copy)]
struct Arm {
    mean: f64,
    width: f64,
    bias: f64,
}

/// A policy that makes the library's choices, ties included.
#[derive(Debug, Clone)]
pub struct AllItems {
    rule: IndexRule,
    n_positions: usize,
    /// Examination of every position, in decreasing order; empty for rules that read a prefix.
    examination: Vec<f64>,
    round: u64,
    /// Item by item; for PBM-UCB every position.
    shows: Vec<u64>,
    clicks: Vec<u64>,
    arms: Vec<Arm>,
    best: Vec<(f64, u32)>,
}

impl AllItems {
    /// A fresh policy that reads an observed prefix.
    pub fn prefix(rule: IndexRule, shape: ListShape) -> Self {
        Self::new(rule, shape, vec![])
    }

    /// A fresh PBM-UCB; positions are in decreasing order of examination.
    pub fn position_based(known: PbmKnown<'_>) -> Self {
        let examination = known.examination().iter().map(|examined| examined.get()).collect();
        Self::new(IndexRule::PbmUcb, known.shape(), examination)
    }

    fn new(rule: IndexRule, shape: ListShape, examination: Vec<f64>) -> Self {
        let cells = shape.n_items() * examination.len().max(1);
        let fresh = Arm { mean: f64::INFINITY, width: 0.0, bias: 0.0 };
        Self {
            rule,
            n_positions: shape.n_positions(),
            examination,
            round: 0,
            shows: vec![0; cells],
            clicks: vec![0; cells],
            arms: vec![fresh; shape.n_items()],
            best: Vec::with_capacity(shape.n_positions()),
        }
    }

    /// Counts a round whose list another policy chose.
    pub fn skip_round(&mut self) {
        self.round += 1;
    }

    #[inline]
    fn choose(&mut self, key: u64, index: impl Fn(&Arm) -> f64) {
        let Self { arms, best, n_positions, .. } = self;
        best.clear();
        let mut n_equal = 0;
        for (item, arm) in (0_u32..).zip(&*arms) {
            n_equal += usize::from(offer(best, *n_positions, (index(arm), item), key));
        }
        if n_equal + *n_positions > MOST_HASHED {
            draw_equals(best, (0_u32..).zip(arms.iter().map(index)), key);
        }
    }

    fn count(&mut self, item: usize, position: usize, clicked: bool) {
        let columns = self.examination.len().max(1);
        let cell = item * columns + position % columns;
        self.shows[cell] += 1;
        self.clicks[cell] += u64::from(clicked);
        let cells = item * columns..(item + 1) * columns;
        let (shows, clicks) = (&self.shows[cells.clone()], &self.clicks[cells]);
        let (all_shows, all_clicks) = (shows.iter().sum::<u64>() as f64, clicks.iter().sum::<u64>() as f64);
        let mean = all_clicks / all_shows;
        self.arms[item] = match self.rule {
            IndexRule::RsfUcb => Arm { mean, width: (2.0 / 3.0 / all_shows).sqrt(), bias: 0.0 },
            IndexRule::CascadeUcb1 => Arm { mean, width: (1.5 / all_shows).sqrt(), bias: 0.0 },
            IndexRule::CascadeUcbV => {
                Arm { mean, width: (2.0 * (mean * (1.0 - mean)) / all_shows).sqrt(), bias: 3.0 / all_shows }
            }
            IndexRule::PbmUcb => {
                let seen = shows.iter().zip(&self.examination);
                let weighted: f64 = seen.map(|(&shows, examined)| shows as f64 * examined).sum();
                let per_show = 1.0 / weighted;
                Arm { mean: all_clicks * per_show, width: (0.5 * all_shows).sqrt() * per_show, bias: 0.0 }
            }
        };
    }

    fn learn(&mut self, list: &Ranking, clicks: Clicks) {
        for (position, item) in list.by_position().take(clicks.len()) {
            self.count(item.index(), position, clicks.get(position));
        }
    }
}

/// Up to this number of equals their hashes decide.
pub(crate) const MOST_HASHED: usize = 1024;

/// Draws the last of the best anew, if more than [`MOST_HASHED`] items are as good: each of those
/// that are left, in the order of their numbers, has the same chance.
pub(crate) fn draw_equals(best: &mut [(f64, u32)], scores: impl Iterator<Item = (u32, f64)>, key: u64) {
    let Some(&(last, _)) = best.last() else { return };
    let equals = scores.filter(|&(_, score)| score == last);
    let mut equals: Vec<u32> = equals.map(|(item, _)| item).collect();
    if equals.len() > MOST_HASHED {
        for (number, (_, item)) in (0_u32..).zip(best.iter_mut().filter(|&&mut (score, _)| score == last)) {
            let place = (u128::from(hash(key, u32::MAX - number)) * equals.len() as u128) >> 64;
            *item = equals.remove(usize::try_from(place).expect("a place"));
        }
    }
}

/// Puts (score, item) where it belongs among the best. Whether it was as good as the last of all.
#[inline]
pub(crate) fn offer(
    best: &mut Vec<(f64, u32)>,
    capacity: usize,
    (score, item): (f64, u32),
    key: u64,
) -> bool {
    let precedes =
        |other: (f64, u32)| score > other.0 || (score == other.0 && hash(key, item) > hash(key, other.1));
    let mut is_equal = false;
    if best.len() == capacity {
        is_equal = score == best[capacity - 1].0;
        if !precedes(best[capacity - 1]) {
            return is_equal;
        }
        best.pop();
    }
    let place = best.iter().rposition(|&other| !precedes(other)).map_or(0, |place| place + 1);
    best.insert(place, (score, item));
    is_equal
}

/// Rank of an item among equals: the library's. Not inlined, as in the library, since ties are rare
/// once every item has been shown.
#[cold]
#[inline(never)]
fn hash(key: u64, item: u32) -> u64 {
    let mut hash = key ^ u64::from(item).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

impl Select<Ranking> for AllItems {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.round += 1;
        let level = ln(self.round as f64);
        let root = level.sqrt();
        let key = rng.next_u64();
        match self.rule {
            IndexRule::RsfUcb | IndexRule::PbmUcb => self.choose(key, |arm| arm.mean + arm.width * root),
            IndexRule::CascadeUcb1 => self.choose(key, |arm| {
                let index = arm.mean + arm.width * root;
                if arm.mean <= 1.0 { index.min(1.0) } else { index }
            }),
            IndexRule::CascadeUcbV => {
                self.choose(key, |arm| arm.mean + arm.width * root + arm.bias * level);
            }
        }
        let list = out.action.positions_mut(self.n_positions);
        for (place, &(_, item)) in list.iter_mut().zip(&self.best) {
            *place = ItemId::new(item);
        }
    }
}

impl Update<Ranking, PrefixFeedback> for AllItems {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PrefixFeedback) {
        self.learn(&decision.action, feedback.clicks);
    }
}

impl Update<Ranking, PbmFeedback> for AllItems {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PbmFeedback) {
        self.learn(&decision.action, feedback.clicks);
    }
}
