//! Interaction protocols: which action the learner plays and which feedback it receives.
//!
//! A missing click means different things in different protocols. So every protocol has its own
//! feedback type, and the trait implementations of a policy determine which feedback it can read.
//!
//! | protocol | feedback | a position without a click |
//! |---|---|---|
//! | [`Pbm`] | [`PbmFeedback`] | not examined, or not attractive |
//! | [`SemiBandit`] | [`PrefixFeedback`] | not attractive, down to where the user stopped; no information below |
//! | [`Cascade`] | [`CascadeFeedback`] | not attractive, above the click or in a list without one; no information below the click |
//! | [`Dcm`] | [`DcmFeedback`] | not attractive, above the last click or in a list without one; no information below the last click |
//! | [`RankOne`] (no list: one row and one column) | [`CellClick`] | the row failed, or the column, or both |
//! | [`Dueling`] (no list: two items) | [`DuelOutcome`] | the other item was preferred |
//!
//! If only the top of a list was rendered, report a [`PrefixFeedback`] by its length, a
//! [`CascadeFeedback`] by its number of positions, and position-based clicks as
//! [`RenderedPbmFeedback`].
//!
//! Four traits describe what these types share: [`ObservedPrefix`], [`RenderedClicks`],
//! [`ListFeedback`] (the clicks, without an interpretation of missing ones) and [`ListProtocol`]
//! (reading clicks *as if* they came from another protocol, which the caller has to request).
//!
//! # Examples
//!
//! Feedback of a random semi-bandit cannot be read as position-based feedback; this does not
//! compile:
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

use crate::parameters::parameters;
use crate::{Cell, Clicks, Error, ListShape, Pair, Ranking};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// A protocol: the types of actions and feedback. Implemented by uninhabited tag types.
pub trait Interaction: 'static {
    /// The learner's choice in a round.
    type Action: Clone + Default + Send + Debug + Serialize + DeserializeOwned;
    /// The learner's observation of the user's response.
    type Feedback: Clone + Send + Debug + Serialize + DeserializeOwned;

    /// The number of clicks in `feedback`. In a duel the user always prefers one of the two items,
    /// which counts as a click.
    fn n_clicks(feedback: &Self::Feedback) -> u32;
}

/// Position-based model: a list is shown; every position reports a click or none, and none may mean
/// "not examined".
#[derive(Debug)]
pub enum Pbm {}

/// Random semi-bandit: a list is shown; the user rates the items of a prefix, and the learner
/// observes where the prefix ends.
#[derive(Debug)]
pub enum SemiBandit {}

/// Cascade: a list is shown; the user scans it from the top, clicks on the first attractive item
/// and leaves.
#[derive(Debug)]
pub enum Cascade {}

/// Dependent clicks: a list is shown; the user scans it from the top and may click several times,
/// but leaves after some clicks.
#[derive(Debug)]
pub enum Dcm {}

/// Clicks only: a list is shown; every position reports a click or none, and nothing is known of
/// what a missing click means.
#[derive(Debug)]
pub enum ClicksOnly {}

/// Rank one: the learner chooses a row and a column, for instance an item and a position; a click
/// occurs only if row and column both succeed.
#[derive(Debug)]
pub enum RankOne {}

/// Dueling: two items are compared, and one of them is preferred.
#[derive(Debug)]
pub enum Dueling {}

/// Implements [`Interaction`]: action, feedback and the number of its clicks.
macro_rules! protocols {
    ($($Protocol:ident: $Action:ident, $Feedback:ident, |$seen:ident| $n_clicks:expr;)+) => {$(
        impl Interaction for $Protocol {
            type Action = $Action;
            type Feedback = $Feedback;

            #[inline]
            fn n_clicks($seen: &$Feedback) -> u32 {
                $n_clicks
            }
        }
    )+};
}

protocols! {
    Pbm: Ranking, PbmFeedback, |seen| seen.clicks.count();
    SemiBandit: Ranking, PrefixFeedback, |seen| seen.clicks.count();
    Cascade: Ranking, CascadeFeedback, |seen| u32::from(seen.click().is_some());
    Dcm: Ranking, DcmFeedback, |seen| seen.clicks.count();
    ClicksOnly: Ranking, ListClicks, |seen| seen.clicks.count();
    RankOne: Cell, CellClick, |seen| u32::from(seen.clicked);
    Dueling: Pair, DuelOutcome, |_seen| 1;
}

/// Feedback of a position-based round: clicks at all positions. A position without a click was not
/// examined, or its item was not attractive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PbmFeedback {
    /// Clicks of all positions.
    pub clicks: Clicks,
}

/// Feedback of a position-based round in which only the top of the list was rendered: clicks at the
/// rendered positions. Items below were not displayed, so policies count nothing there.
///
/// Use this only if the number of rendered positions is independent of the user's interest, as with
/// the size of a screen. If more is rendered as the user scrolls, a rendered position is examined
/// more often than its examination probability states; then report the whole list as
/// [`PbmFeedback`].
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
    /// Clicks at the rendered positions; their length is the number of rendered positions.
    pub clicks: Clicks,
}

/// Feedback of a random semi-bandit round: the ratings of an observed prefix, without information
/// below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixFeedback {
    /// Clicks inside the observed prefix; their length is the length of the prefix.
    pub clicks: Clicks,
}

/// Feedback of a cascade round: the position of the click, or that there was none.
///
/// # Examples
///
/// ```
/// use click_models::{CascadeFeedback, ObservedPrefix};
///
/// // A click on the second of four positions: two positions were examined.
/// let seen = CascadeFeedback::new(Some(1), 4)?;
/// assert_eq!((seen.observed_clicks().len(), seen.observed_clicks().count()), (2, 1));
/// // No click: all four were.
/// assert_eq!(CascadeFeedback::new(None, 4)?.observed_clicks().len(), 4);
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct CascadeFeedback {
    /// The positions down to the click, which is at the last of them; all positions if there was no
    /// click.
    observed: Clicks,
    n_positions: u8,
}

parameters! {
    #[serde(deny_unknown_fields)]
    CascadeFeedback as seen {
        click: Option<usize> = seen.click(),
        n_positions: usize = seen.n_positions(),
    } by Self::new(click, n_positions)
}

impl CascadeFeedback {
    /// A click on the 0-based position `click` of a list of `n_positions`, or no click.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPositions`] above 64 positions, [`Error::ClickBeyondList`] for a click below
    /// the list.
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

    /// The 0-based position of the click, if there was one.
    pub fn click(&self) -> Option<usize> {
        (self.observed.count() > 0).then(|| self.observed.len() - 1)
    }

    /// Number of positions of the list.
    pub fn n_positions(&self) -> usize {
        usize::from(self.n_positions)
    }
}

/// Feedback of a dependent-click round: the clicks. The learner does not observe how far the user
/// read below the last click. A user who clicked on nothing read everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DcmFeedback {
    /// Clicks of all positions.
    pub clicks: Clicks,
}

/// Feedback of a round whose click model is not known to the learner: the clicks, without a meaning
/// of missing ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListClicks {
    /// Clicks of all positions.
    pub clicks: Clicks,
}

/// Feedback of a rank-one round: whether row and column both succeeded. The learner does not
/// observe which of them failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellClick {
    /// Whether there was a click.
    pub clicked: bool,
}

/// Feedback of a duel: which of the two items was preferred, but not by how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DuelOutcome {
    /// The first item of the pair.
    FirstWon,
    /// The second item of the pair.
    SecondWon,
}

impl DuelOutcome {
    /// Returns whether the first item was preferred.
    pub const fn first_won(self) -> bool {
        matches!(self, Self::FirstWon)
    }
}

/// Feedback that reveals a prefix of the list: inside it a click means attractive and no click
/// means not attractive.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reveal a prefix of the list",
    note = "policies for an observed prefix do not speak the protocol of this feedback"
)]
pub trait ObservedPrefix {
    /// The clicks in the observed prefix; [`Clicks::len`] positions were observed, from the top.
    fn observed_clicks(&self) -> Clicks;
}

impl ObservedPrefix for PrefixFeedback {
    fn observed_clicks(&self) -> Clicks {
        self.clicks
    }
}

impl ObservedPrefix for CascadeFeedback {
    /// The positions down to the click; the whole list if there was none.
    fn observed_clicks(&self) -> Clicks {
        self.observed
    }
}

impl ObservedPrefix for DcmFeedback {
    /// The positions down to the last click; the whole list if there was none.
    fn observed_clicks(&self) -> Clicks {
        self.clicks.down_to_the_last()
    }
}

/// Position-based feedback: clicks at the rendered positions. No click means not examined, or not
/// attractive.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the feedback of a position-based round",
    note = "position-based policies do not speak the protocol of this feedback"
)]
pub trait RenderedClicks {
    /// The clicks on a list of `n_positions`; [`Clicks::len`] positions were rendered, from the
    /// top.
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

/// Feedback on a list under any click model: the clicks, without an interpretation of missing ones.
/// Policies that work under every click model rely on this trait only.
pub trait ListFeedback {
    /// The clicks from the top position down. An unobserved position counts as not clicked. The set
    /// may be shorter than the list; the remaining positions have no click.
    fn list_clicks(&self) -> Clicks;
}

impl ListFeedback for CascadeFeedback {
    #[inline]
    fn list_clicks(&self) -> Clicks {
        self.observed
    }
}

/// A list protocol that can interpret the clicks of any other list protocol.
///
/// The interpretation may be deliberately wrong: it lets a policy for one click model play against
/// users of another.
pub trait ListProtocol: Interaction<Action = Ranking> {
    /// The feedback that this protocol would have reported for these clicks on a list of
    /// `n_positions`, at most 64.
    ///
    /// Clicks below the list are ignored; positions beyond the end of `clicks` have none.
    fn read(clicks: Clicks, n_positions: usize) -> Self::Feedback;
}

impl ListProtocol for Cascade {
    /// The first click; without a click, assumes that the whole list was read.
    #[inline]
    fn read(clicks: Clicks, n_positions: usize) -> CascadeFeedback {
        let clicks = clicks.on_a_list_of(n_positions);
        let click = (clicks.count() > 0).then(|| clicks.bits().trailing_zeros() as usize);
        CascadeFeedback::new(click, clicks.len()).expect("a click on the list, of at most 64 positions")
    }
}

/// Implements [`ListFeedback`] and [`ListProtocol`] where the feedback is the clicks.
macro_rules! reports_clicks {
    ($($(#[$doc:meta])* $Protocol:ident: $Feedback:ident;)+) => {$(
        impl ListFeedback for $Feedback {
            #[inline]
            fn list_clicks(&self) -> Clicks {
                self.clicks
            }
        }

        impl ListProtocol for $Protocol {
            $(#[$doc])*
            #[inline]
            fn read(clicks: Clicks, n_positions: usize) -> $Feedback {
                $Feedback { clicks: clicks.on_a_list_of(n_positions) }
            }
        }
    )+};
}

reports_clicks! {
    /// The clicks unchanged: unobserved positions count as not clicked.
    Pbm: PbmFeedback;
    /// Assumes that the whole list was read: items without a click count as not attractive.
    SemiBandit: PrefixFeedback;
    /// All clicks: assumes that the list was read down to the last one, or as a whole if there is
    /// no click.
    Dcm: DcmFeedback;
    /// The clicks unchanged.
    ClicksOnly: ListClicks;
}
