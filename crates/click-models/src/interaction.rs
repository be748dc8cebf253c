//! Interaction protocols: what is shown and what comes back.
//!
//! A zero means different things in different protocols: in the position-based model "not examined, or not attractive", in
//! the random semi-bandit "examined and not attractive" inside the observed prefix and nothing at all below it. So every
//! protocol has a feedback type of its own, and a policy says by its trait implementations which ones it can read.
//!
//! | protocol | feedback | a position without a click |
//! |---|---|---|
//! | [`Pbm`] | [`PbmFeedback`] | not examined, or not attractive |
//! | [`SemiBandit`] | [`PrefixFeedback`] | not attractive, down to where the user stopped; nothing below |
//! | [`Cascade`] | [`CascadeFeedback`] | not attractive, above the click or in a list without one; nothing below the click |
//! | [`Dcm`] | [`DcmFeedback`] | not attractive, above the last click or in a list without one; nothing below the last click |
//! | [`RankOne`] (no list: one row and one column) | [`CellClick`] | the row's part missing, or the column's, or both |
//! | [`Dueling`] (no list: two items) | [`DuelOutcome`] | the other one was preferred |
//!
//! Where only the top of a list was rendered, on a small screen, a prefix says so by its length, a list for cascading users by its number of
//! positions ([`CascadeFeedback::new`]), and position-based clicks are [`RenderedPbmFeedback`].
//!
//! Four traits say what these have in common: [`ObservedPrefix`] ([`PrefixFeedback`], [`CascadeFeedback`], [`DcmFeedback`]),
//! [`RenderedClicks`] ([`PbmFeedback`], [`RenderedPbmFeedback`]), [`ListFeedback`] (what a protocol of lists answers: the clicks, whatever
//! a missing one means) and [`ListProtocol`] (reading clicks *as if* they had come from another protocol, which is a choice
//! that somebody has to make).
//!
//! # Examples
//!
//! A model counts the clicks of its own protocol:
//!
//! ```
//! use click_models::{ClickModel, RandomSemiBandit};
//! use rand::SeedableRng;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//!
//! let readers = RandomSemiBandit::from_values(&[0.5, 0.2], &[1.0, 0.5])?;
//! let seen = readers.respond(&readers.optimal_action(), &mut Xoshiro256PlusPlus::seed_from_u64(7));
//! assert!(readers.clicks(&seen) <= 2.0);
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! What a random semi-bandit shows cannot be read as what a position-based user shows; this does not compile:
//!
//! ```compile_fail,E0308
//! use click_models::{ClickModel, PositionBased, RandomSemiBandit};
//! use rand::SeedableRng;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//!
//! let readers = RandomSemiBandit::from_values(&[0.5, 0.2], &[1.0, 0.5])?;
//! let viewers = PositionBased::from_values(&[0.5, 0.2], &[1.0, 0.5])?;
//! let seen = readers.respond(&readers.optimal_action(), &mut Xoshiro256PlusPlus::seed_from_u64(7));
//! viewers.clicks(&seen);
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::{Cell, Clicks, Error, ListShape, Pair, Ranking};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// A protocol: the type of what the learner plays and of what it sees. Implemented by uninhabited tags.
pub trait Interaction: 'static {
    /// What the learner plays in a round.
    type Action: Clone + Default + Send + Debug + Serialize + DeserializeOwned;
    /// What it sees of the user's answer.
    type Feedback: Clone + Send + Debug + Serialize + DeserializeOwned;
}

/// Position-based model: a list is shown; every position reports a click or none, and none may mean "not examined".
#[derive(Debug)]
pub enum Pbm {}

/// Random semi-bandit: a list is shown; the user rates the items of a prefix, and where the prefix ends is seen.
#[derive(Debug)]
pub enum SemiBandit {}

/// Cascade: a list is shown; the user scans it from the top, clicks on the first attractive item and leaves.
#[derive(Debug)]
pub enum Cascade {}

/// Dependent clicks: a list is shown; the user scans it from the top and may click several times, but leaves after some clicks.
#[derive(Debug)]
pub enum Dcm {}

/// Rank one: a row and a column are chosen, an item and a position for instance; there is a click if both are in the mood.
#[derive(Debug)]
pub enum RankOne {}

/// Dueling: two items are compared, and one of them is preferred.
#[derive(Debug)]
pub enum Dueling {}

impl Interaction for Pbm {
    type Action = Ranking;
    type Feedback = PbmFeedback;
}

impl Interaction for SemiBandit {
    type Action = Ranking;
    type Feedback = PrefixFeedback;
}

impl Interaction for Cascade {
    type Action = Ranking;
    type Feedback = CascadeFeedback;
}

impl Interaction for Dcm {
    type Action = Ranking;
    type Feedback = DcmFeedback;
}

impl Interaction for RankOne {
    type Action = Cell;
    type Feedback = CellClick;
}

impl Interaction for Dueling {
    type Action = Pair;
    type Feedback = DuelOutcome;
}

/// What a position-based round shows: clicks at every position; a position without one was not examined or not attractive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PbmFeedback {
    /// Clicks of all positions.
    pub clicks: Clicks,
}

/// What a position-based round shows where only the top of the list was rendered: clicks at the rendered positions. What stands below was not
/// displayed, so nothing is counted there.
///
/// This is right where the number of rendered positions has nothing to do with the user's interest, as the size of a screen. Where more is
/// rendered as the user scrolls, a rendered position is examined more often than its examination probability says; then report the whole
/// list as [`PbmFeedback`].
///
/// # Examples
///
/// ```
/// use click_models::{Clicks, PbmFeedback, RenderedClicks, RenderedPbmFeedback};
///
/// // A list of five, a click on the second item. Three of them were rendered; or all.
/// let clicks = Clicks::new(3).with(1);
/// assert_eq!(RenderedPbmFeedback { clicks }.rendered_clicks(5).len(), 3);
/// assert_eq!(PbmFeedback { clicks }.rendered_clicks(5).len(), 5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedPbmFeedback {
    /// Clicks at the rendered positions; their length is the number of these.
    pub clicks: Clicks,
}

/// What a random semi-bandit round shows: the ratings of an observed prefix; nothing is known below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixFeedback {
    /// Clicks inside the observed prefix; their length is the length of the prefix.
    pub clicks: Clicks,
}

/// What a cascade round shows: the one click, or that there was none.
///
/// # Examples
///
/// ```
/// use click_models::{CascadeFeedback, ObservedPrefix};
///
/// // A click on the second of four positions: two positions were looked at.
/// let seen = CascadeFeedback::new(Some(1), 4)?;
/// assert_eq!((seen.observed_clicks().len(), seen.observed_clicks().count()), (2, 1));
/// // No click: all four were.
/// assert_eq!(CascadeFeedback::new(None, 4)?.observed_clicks().len(), 4);
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawCascadeFeedback", into = "RawCascadeFeedback")]
pub struct CascadeFeedback {
    /// Down to the click, which is the last one of them; all positions without a click if there was none.
    observed: Clicks,
    n_positions: u8,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCascadeFeedback {
    click: Option<usize>,
    n_positions: usize,
}

impl CascadeFeedback {
    /// A click on the 0-based position `click` of a list of `n_positions`, or none.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPositions`] above 64 positions, [`Error::ClickBeyondList`] for a click below the list.
    #[inline]
    pub fn new(click: Option<usize>, n_positions: usize) -> Result<Self, Error> {
        match u8::try_from(n_positions) {
            Ok(length) if n_positions <= ListShape::MAX_POSITIONS => match click {
                Some(position) if position >= n_positions => Err(Error::ClickBeyondList { len: n_positions }),
                Some(position) => {
                    Ok(Self { observed: Clicks::new(position + 1).with(position), n_positions: length })
                }
                None => Ok(Self { observed: Clicks::new(n_positions), n_positions: length }),
            },
            _ => Err(Error::TooManyPositions(n_positions)),
        }
    }

    /// The 0-based position of the click.
    #[inline]
    pub fn click(&self) -> Option<usize> {
        (self.observed.count() > 0).then(|| self.observed.len() - 1)
    }

    /// Number of positions of the list.
    #[inline]
    pub fn n_positions(&self) -> usize {
        usize::from(self.n_positions)
    }
}

impl TryFrom<RawCascadeFeedback> for CascadeFeedback {
    type Error = Error;

    fn try_from(raw: RawCascadeFeedback) -> Result<Self, Error> {
        Self::new(raw.click, raw.n_positions)
    }
}

impl From<CascadeFeedback> for RawCascadeFeedback {
    fn from(seen: CascadeFeedback) -> Self {
        Self { click: seen.click(), n_positions: seen.n_positions() }
    }
}

/// What a round of dependent clicks shows: the clicks. How far the user read below the last one is not seen; a user who clicked on
/// nothing read everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DcmFeedback {
    /// Clicks of all positions.
    pub clicks: Clicks,
}

/// What a rank-one round shows: whether row and column both did their part. Which of them did not is not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellClick {
    /// Whether there was a click.
    pub clicked: bool,
}

/// What a duel shows: which of the two was preferred. By how much, or whether it was the toss of a coin, is not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DuelOutcome {
    /// The first item of the pair.
    FirstWon,
    /// The second item of the pair.
    SecondWon,
}

impl DuelOutcome {
    /// Whether the first item was preferred.
    #[inline]
    pub const fn first_won(self) -> bool {
        matches!(self, Self::FirstWon)
    }
}

/// Feedback that reveals a prefix of the list: inside it a click means attractive and no click means not attractive.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reveal a prefix of the list",
    note = "policies for an observed prefix do not speak the protocol of this feedback"
)]
pub trait ObservedPrefix {
    /// The clicks in the observed prefix; [`Clicks::len`] positions were observed, from the top.
    fn observed_clicks(&self) -> Clicks;
}

impl ObservedPrefix for PrefixFeedback {
    #[inline]
    fn observed_clicks(&self) -> Clicks {
        self.clicks
    }
}

impl ObservedPrefix for CascadeFeedback {
    /// Down to the click; the whole list if there was none.
    #[inline]
    fn observed_clicks(&self) -> Clicks {
        self.observed
    }
}

impl ObservedPrefix for DcmFeedback {
    /// Down to the last click; the whole list if there was none.
    #[inline]
    fn observed_clicks(&self) -> Clicks {
        self.clicks.down_to_the_last()
    }
}

/// Position-based feedback: clicks at the positions that were rendered, where no click means not examined or not attractive.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the feedback of a position-based round",
    note = "position-based policies do not speak the protocol of this feedback"
)]
pub trait RenderedClicks {
    /// The clicks on a list of `n_positions`; [`Clicks::len`] positions were rendered, from the top.
    fn rendered_clicks(&self, n_positions: usize) -> Clicks;
}

impl RenderedClicks for PbmFeedback {
    /// All positions were rendered; beyond the end of `clicks` there was no click.
    #[inline]
    fn rendered_clicks(&self, n_positions: usize) -> Clicks {
        self.clicks.on_a_list_of(n_positions)
    }
}

impl RenderedClicks for RenderedPbmFeedback {
    #[inline]
    fn rendered_clicks(&self, n_positions: usize) -> Clicks {
        self.clicks.on_a_list_of(n_positions.min(self.clicks.len()))
    }
}

/// Feedback on a list, whatever a missing click means: all that a policy can rely on which works under every click model.
pub trait ListFeedback {
    /// The clicks from the top position down. A position that was not observed counts as not clicked, and the set may end
    /// above the end of the list: the rest has no click.
    fn list_clicks(&self) -> Clicks;
}

impl ListFeedback for PbmFeedback {
    #[inline]
    fn list_clicks(&self) -> Clicks {
        self.clicks
    }
}

impl ListFeedback for PrefixFeedback {
    #[inline]
    fn list_clicks(&self) -> Clicks {
        self.clicks
    }
}

impl ListFeedback for CascadeFeedback {
    #[inline]
    fn list_clicks(&self) -> Clicks {
        self.observed
    }
}

impl ListFeedback for DcmFeedback {
    #[inline]
    fn list_clicks(&self) -> Clicks {
        self.clicks
    }
}

/// A protocol of lists as which the clicks of any other may be read.
///
/// What is read wrongly is read wrongly on purpose: a policy for one click model is shown users of another.
pub trait ListProtocol: Interaction<Action = Ranking> {
    /// What this protocol would have reported of these clicks on a list of `n_positions`, at most 64.
    ///
    /// Clicks below the list are ignored; positions beyond the end of `clicks` have none.
    fn read(clicks: Clicks, n_positions: usize) -> Self::Feedback;
}

impl ListProtocol for Pbm {
    /// The clicks as they are: what was not observed was not clicked.
    #[inline]
    fn read(clicks: Clicks, n_positions: usize) -> PbmFeedback {
        PbmFeedback { clicks: clicks.on_a_list_of(n_positions) }
    }
}

impl ListProtocol for SemiBandit {
    /// As if the whole list had been read: what was not clicked is not attractive.
    #[inline]
    fn read(clicks: Clicks, n_positions: usize) -> PrefixFeedback {
        PrefixFeedback { clicks: clicks.on_a_list_of(n_positions) }
    }
}

impl ListProtocol for Cascade {
    /// The first click; without one the whole list was read.
    #[inline]
    fn read(clicks: Clicks, n_positions: usize) -> CascadeFeedback {
        let clicks = clicks.on_a_list_of(n_positions);
        let click = (clicks.count() > 0).then(|| clicks.bits().trailing_zeros() as usize);
        CascadeFeedback::new(click, clicks.len()).expect("a click on the list, of at most 64 positions")
    }
}

impl ListProtocol for Dcm {
    /// All clicks: the list was read down to the last one, all of it without one.
    #[inline]
    fn read(clicks: Clicks, n_positions: usize) -> DcmFeedback {
        DcmFeedback { clicks: clicks.on_a_list_of(n_positions) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::quickcheck;

    fn seen(bits: u64, length: u8) -> Clicks {
        let length = usize::from(length % 65);
        let inside = if length == 64 { u64::MAX } else { (1 << length) - 1 };
        Clicks::from_bits(bits & inside, length).expect("inside")
    }

    quickcheck! {
        fn a_cascade_is_read_down_to_its_click(bits: u64, length: u8) -> bool {
            let clicks = seen(bits, length);
            let first = (0..clicks.len()).find(|&position| clicks.get(position));
            let read = Cascade::read(clicks, clicks.len());
            let prefix = read.observed_clicks();
            read.click() == first
                && read.n_positions() == clicks.len()
                && prefix.len() == first.map_or(clicks.len(), |position| position + 1)
                && prefix.count() == u32::from(first.is_some())
        }

        fn dependent_clicks_are_read_down_to_the_last(bits: u64, length: u8) -> bool {
            let clicks = seen(bits, length);
            let last = (0..clicks.len()).rev().find(|&position| clicks.get(position));
            let prefix = Dcm::read(clicks, clicks.len()).observed_clicks();
            prefix.bits() == clicks.bits() && prefix.len() == last.map_or(clicks.len(), |position| position + 1)
        }

        /// A list that is longer than what was observed of it is filled up, a shorter one cut; nobody panics.
        fn any_length_is_read(bits: u64, length: u8, n_positions: u8) -> bool {
            let clicks = seen(bits, length);
            let n_positions = usize::from(n_positions % 65);
            let read = SemiBandit::read(clicks, n_positions).observed_clicks();
            let cut = Cascade::read(clicks, n_positions);
            Pbm::read(clicks, n_positions).list_clicks() == read
                && cut.n_positions() == n_positions
                && read.len() == n_positions
                && (0..n_positions).all(|position| read.get(position) == clicks.get(position))
        }

        fn a_saved_cascade_round_is_read_back(click: Option<u8>, length: u8) -> bool {
            let length = usize::from(length % 65);
            match CascadeFeedback::new(click.map(usize::from), length) {
                Ok(round) => {
                    let saved = serde_json::to_string(&round).expect("plain numbers");
                    serde_json::from_str::<CascadeFeedback>(&saved).expect("as written") == round
                }
                Err(error) => click.is_some_and(|click| usize::from(click) >= length)
                    && error == Error::ClickBeyondList { len: length },
            }
        }
    }

    #[test]
    fn a_cascade_round_that_cannot_be() {
        assert_eq!(CascadeFeedback::new(None, 65), Err(Error::TooManyPositions(65)));
        assert_eq!(CascadeFeedback::new(Some(3), 3), Err(Error::ClickBeyondList { len: 3 }));
        assert!(serde_json::from_str::<CascadeFeedback>(r#"{"click":3,"n_positions":3}"#).is_err());
    }
}
