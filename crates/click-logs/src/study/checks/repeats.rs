//! Sessions that repeat the session of the same query before them: rows that were written twice.
//!
//! Equal sessions are frequent by chance where a ranker always shows the same list and few users
//! click. Two sessions apart they are as frequent, so the difference of the two shares is what is
//! repeated. Rows that are written again much later are not found.
//!
//! The standard error takes sessions for independent. It is too large rather than too small: what
//! both comparisons have in common cancels in the sum.
//!
//! Numerics: integers. Complexity: O(sessions log lists).

use confidence::math::sqrt;
use log_reader::Sessions;
use serde::Serialize;

/// The share of repeated sessions that matters.
const SHARE: f64 = 0.01;
/// Standard errors of a difference that is not chance.
const ERRORS: f64 = 4.0;

/// Sessions that equal an earlier one of the same query, list and clicks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeats {
    /// Sessions with two earlier ones of their query.
    pub sessions: u64,
    /// The share that equals the one before.
    pub share: f64,
    /// The share that equals the one before that.
    pub two_apart: f64,
    /// Standard error of the difference of the shares.
    pub standard_error: f64,
}

impl Repeats {
    pub(super) fn new(sessions: &Sessions) -> Option<Self> {
        let [mut n, mut one, mut two, mut differing] = [0_u64; 4];
        for query in sessions.queries() {
            let shown = || query.in_order().map(|session| (session.list, session.clicks));
            for ((now, before), earlier) in shown().skip(2).zip(shown().skip(1)).zip(shown()) {
                let [repeats, two_apart] = [now == before, now == earlier];
                n += 1;
                one += u64::from(repeats);
                two += u64::from(two_apart);
                differing += u64::from(repeats != two_apart);
            }
        }
        let share = |count: u64| count as f64 / n as f64;
        (n > 0).then(|| Self {
            sessions: n,
            share: share(one),
            two_apart: share(two),
            standard_error: sqrt(differing as f64) / n as f64,
        })
    }

    /// Whether more sessions repeat the one before than chance makes probable.
    pub fn is_excessive(&self) -> bool {
        self.share - self.two_apart > SHARE.max(ERRORS * self.standard_error)
    }
}
