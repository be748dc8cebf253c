//! Users in two sides, compared by clicks a session: constant memory, whatever their number.
//!
//! A hash of the user decides the side, and one of 1,024 groups in it. Users are independent, so
//! groups are. With `T_g` clicks in `m_g` sessions of group `g`, a side of `G` groups that have
//! sessions has
//!
//! ```text
//! rate r = sum T_g / sum m_g,      se^2 = G / (G - 1) sum (u_g - theta w_g)^2,
//! u_g = (T_g - r m_g) / sum m_g,   w_g: the same of these users before the split, or 0,
//! difference d = (r_1 - theta r_1') - (r_0 - theta r_0'),   theta = sum u w / sum w^2 over both sides,
//! ```
//!
//! where `r'` are the rates before. The error of the side with fewer sessions is at least that of
//! the other one, scaled by sessions: a small side is skewed, and where its rate is low by chance
//! its error is low as well. Groups with more than eight times the median sessions of a group are
//! left out on both sides: one robot would decide.
//!
//! Reference: the ratio's error as in [`ab_test`](crate::ab_test); Deng, Xu, Kohavi, Walker,
//! *Improving the sensitivity of online controlled experiments by utilizing pre-experiment data*,
//! WSDM 2013 (`theta`). Deviations: groups in place of users. Complexity: O(1) a session,
//! O(groups) a comparison.

use confidence::math::sqrt;
use serde::{Deserialize, Serialize};

/// Groups of users on a side.
pub const GROUPS: usize = 1_024;
/// Groups with more than this number of times the median sessions are left out.
const ROBOT: f64 = 8.0;
/// Groups with more than that of one side alone are left out if they have this share of it: users
/// of a small side are few.
const SHARE_OF_ROBOT: f64 = 0.05;
/// Shares at which the users of the time before the split are told apart. A share between two of
/// them knows the users before of its whole brackets alone.
const BRACKETS: [f64; 20] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8,
    0.9, 1.0,
];

/// Where a user stands: the same place for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The side is 1 while this, as a fraction of 2^32, is below its share.
    at: u32,
    /// The group, below [`GROUPS`].
    group: u16,
}

impl Place {
    /// The place of a user in a split with a name.
    ///
    /// Bytes of the name, a zero byte and bytes of the user pass FNV-1a in 64 bits; the result
    /// passes the finalizer of `SplitMix64`. The upper 32 bits are compared with the share, the
    /// lowest 10 are the group.
    ///
    /// ```
    /// use interleaving::split::Place;
    ///
    /// let users = (0..100_000).map(|user| Place::new("autumn", &format!("u{user}")));
    /// let below = users.filter(|place| place.is_below(0.25)).count();
    /// assert!((24_500..25_500).contains(&below));
    /// ```
    #[expect(clippy::cast_possible_truncation, reason = "32 bits, and 10 bits")]
    pub fn new(name: &str, user: &str) -> Self {
        let bytes = name.bytes().chain([0]).chain(user.bytes());
        let fnv = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let mut hash = bytes.fold(0xcbf2_9ce4_8422_2325, fnv);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^= hash >> 31;
        Self { at: (hash >> 32) as u32, group: (hash & (GROUPS as u64 - 1)) as u16 }
    }

    /// Returns whether the user is on side 1 at this share of all users.
    pub fn is_below(self, share: f64) -> bool {
        f64::from(self.at) < share * 4_294_967_296.0
    }

    /// The user's cell: all that sums have to know.
    pub fn cell(self) -> Cell {
        let bracket = BRACKETS.iter().take_while(|share| !self.is_below(**share)).count();
        let last = BRACKETS.len() - 1;
        Cell { group: self.group, bracket: u8::try_from(bracket.min(last)).unwrap_or(0) }
    }
}

/// A group of users, and the bracket of shares from which on they are on side 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The group, below [`GROUPS`].
    pub group: u16,
    /// The number of the bracket, below 32.
    pub bracket: u8,
}

/// Sums over the sessions of one group: how many they are, and their clicks or another number.
type Sum = [f64; 2];

/// Sums by group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Sums(Vec<Sum>);

impl Sums {
    fn new() -> Self {
        Self(vec![[0.0; 2]; GROUPS])
    }

    fn add(&mut self, group: u16, [sessions, sum]: Sum) {
        let of_group = &mut self.0[usize::from(group) % GROUPS];
        of_group[0] += sessions;
        of_group[1] += sum;
    }
}

/// Sums of both sides while the share stays the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sides([Sums; 2]);

impl Default for Sides {
    fn default() -> Self {
        Self([Sums::new(), Sums::new()])
    }
}

/// Sums before the split, by brackets of the share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Before(Vec<Sums>);

impl Default for Before {
    fn default() -> Self {
        Self(vec![Sums::new(); BRACKETS.len()])
    }
}

impl Before {
    /// Adds sessions of a user and their clicks.
    pub fn add(&mut self, cell: Cell, sessions: f64, clicks: f64) {
        self.0[usize::from(cell.bracket) % BRACKETS.len()].add(cell.group, [sessions, clicks]);
    }

    /// The sums of the users of both sides at a share; of a bracket that the share cuts, none.
    pub fn at(&self, share: f64) -> Sides {
        let mut sides = Sides::default();
        let lowest = [0.0].into_iter().chain(BRACKETS);
        for ((sums, low), high) in self.0.iter().zip(lowest).zip(BRACKETS) {
            let side = match (high <= share, low >= share) {
                (true, _) => 1,
                (_, true) => 0,
                _ => continue,
            };
            for (cell, of_bracket) in sides.0[side].0.iter_mut().zip(&sums.0) {
                cell[0] += of_bracket[0];
                cell[1] += of_bracket[1];
            }
        }
        sides
    }
}

/// How the sides differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Sessions of sides 0 and 1, without groups that are left out.
    pub sessions: [f64; 2],
    /// Sums a session.
    pub rates: [f64; 2],
    /// The rate of side 1 minus that of side 0, corrected by the time before.
    pub difference: f64,
    /// Its standard error; infinite if there is none yet.
    pub standard_error: f64,
    /// Groups that are left out.
    pub n_left_out: usize,
}

impl Sides {
    /// Adds sessions of a user on a side, and their sum. Negative numbers take back.
    pub fn add(&mut self, cell: Cell, side: bool, sessions: f64, sum: f64) {
        self.0[usize::from(side)].add(cell.group, [sessions, sum]);
    }

    /// Groups with too many sessions for a few users, on both sides together or on one of them.
    pub fn robots(&self) -> Vec<bool> {
        let sessions = |sums: &Sums| sums.0.iter().map(|cell| cell[0]).collect::<Vec<f64>>();
        let [today, new] = self.0.each_ref().map(sessions);
        let all: Vec<f64> = today.iter().zip(&new).map(|(today, new)| today + new).collect();
        let mut robots = vec![false; GROUPS];
        for (of_groups, share) in [(&all, 0.0), (&today, SHARE_OF_ROBOT), (&new, SHARE_OF_ROBOT)] {
            let mut positive: Vec<f64> =
                of_groups.iter().copied().filter(|sessions| *sessions > 0.0).collect();
            let middle = positive.len() / 2;
            if positive.is_empty() {
                continue;
            }
            let least = share * positive.iter().sum::<f64>();
            let (_, median, _) = positive.select_nth_unstable_by(middle, f64::total_cmp);
            let most = least.max(ROBOT * *median);
            of_groups.iter().zip(&mut robots).for_each(|(sessions, robot)| *robot |= *sessions > most);
        }
        robots
    }

    /// Compares the sides, without the groups of `robots`; `before` are the sums of the same users
    /// before the split.
    pub fn compare(&self, before: Option<&Sides>, robots: &[bool]) -> Difference {
        let linear = |sums: &Sums| {
            let kept = || sums.0.iter().zip(robots).filter(|(_, robot)| !**robot).map(|(cell, _)| cell);
            let all = kept().fold([0.0; 2], |all: Sum, cell| [all[0] + cell[0], all[1] + cell[1]]);
            let rate = if all[0] > 0.0 { all[1] / all[0] } else { f64::NAN };
            let of_group = |cell: &Sum| if all[0] > 0.0 { (cell[1] - rate * cell[0]) / all[0] } else { 0.0 };
            (all[0], rate, kept().map(of_group).collect::<Vec<f64>>())
        };
        let now = self.0.each_ref().map(linear);
        let then = before.map(|before| before.0.each_ref().map(linear));
        let then = then.filter(|then| then.iter().all(|(sessions, ..)| *sessions > 0.0));
        let mut theta = 0.0;
        if let Some(then) = &then {
            let pairs = || now.iter().zip(then).flat_map(|(now, then)| now.2.iter().zip(&then.2));
            let squares: f64 = pairs().map(|(_, then)| then * then).sum();
            if squares > 0.0 {
                theta = pairs().map(|(now, then)| now * then).sum::<f64>() / squares;
            }
        }
        let rate = |side: usize| now[side].1 - then.as_ref().map_or(0.0, |then| theta * then[side].1);
        let variance = |side: usize| {
            let residual = |group: usize| {
                now[side].2[group] - then.as_ref().map_or(0.0, |then| theta * then[side].2[group])
            };
            let sum: f64 = (0..now[side].2.len()).map(|group| residual(group).powi(2)).sum();
            let cells = self.0[side].0.iter().zip(robots);
            let groups = cells.filter(|(cell, robot)| cell[0] > 0.0 && !**robot).count() as f64;
            if groups > 1.0 { groups / (groups - 1.0) * sum } else { f64::INFINITY }
        };
        let sessions = [now[0].0, now[1].0];
        let mut variances = [variance(0), variance(1)];
        // Where all values of each side are alike, their difference is known to about one value.
        let known_to = |side: usize| ((rate(1) - rate(0)) / sessions[side]).powi(2);
        variances = [variances[0].max(known_to(0)), variances[1].max(known_to(1))];
        let (small, large) = if sessions[1] <= sessions[0] { (1, 0) } else { (0, 1) };
        variances[small] = variances[small].max(variances[large] * sessions[large] / sessions[small]);
        let sum = variances[0] + variances[1];
        Difference {
            sessions,
            rates: [now[0].1, now[1].1],
            difference: rate(1) - rate(0),
            standard_error: if sum > 0.0 { sqrt(sum) } else { f64::INFINITY },
            n_left_out: robots.iter().filter(|robot| **robot).count(),
        }
    }
}
