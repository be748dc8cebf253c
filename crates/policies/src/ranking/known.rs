//! Knowledge of prefix policies before the first round.

use crate::Error;
use crate::error::is_permutation;
use click_models::{DcmKnown, ListShape};

/// The sizes of the problem, and the positions of the best item, the second best, and so on.
///
/// A [`ListShape`] means lists from the top down. The knowledge of a dependent click model starts
/// with the position where leaving is most likely, if satisfaction is the reward.
///
/// # Examples
///
/// ```
/// use click_models::{ListShape, Ranking};
/// use confidence::Rate;
/// use policies::{Decision, PrefixKlUcb, PrefixKnown, Select};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let shape = ListShape::new(5, 3)?;
/// // The best item goes to the lowest position, the next one to the top.
/// let known = PrefixKnown::with_places(shape, &[2, 0, 1])?;
/// let shown = |mut policy: PrefixKlUcb| {
///     let mut decision = Decision::<Ranking>::default();
///     policy.select(&mut ChaCha8Rng::seed_from_u64(1), &mut decision);
///     decision.action
/// };
/// let (list, top_down) = (shown(PrefixKlUcb::new(known, Rate::LOG)), shown(PrefixKlUcb::new(shape, Rate::LOG)));
/// assert_eq!((list[2], list[0], list[1]), (top_down[0], top_down[1], top_down[2]));
/// assert!(PrefixKnown::with_places(shape, &[0, 1, 1]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct PrefixKnown<'a> {
    /// Numbers of items and positions.
    #[field(copy)]
    shape: ListShape,
    /// Position of the best item, of the second best, and so on; empty means from the top down.
    pub(crate) places: &'a [usize],
}

impl<'a> PrefixKnown<'a> {
    /// Lists with the item of rank `r` (0: best) at position `places[r]`; empty: from the top down.
    ///
    /// # Errors
    ///
    /// [`Error::NotTheirPlaces`] if `places` is neither empty nor a permutation of the positions.
    pub fn with_places(shape: ListShape, places: &'a [usize]) -> Result<Self, Error> {
        let n_positions = shape.n_positions();
        if places.is_empty() || is_permutation(places.iter().copied(), n_positions) {
            Ok(Self { shape, places })
        } else {
            Err(Error::NotTheirPlaces { n_positions })
        }
    }
}

impl PrefixKnown<'_> {
    /// The position of the best item, of the second best, and so on.
    pub(crate) fn order(self) -> Vec<usize> {
        if self.places.is_empty() { (0..self.shape.n_positions()).collect() } else { self.places.to_vec() }
    }
}

impl From<ListShape> for PrefixKnown<'_> {
    fn from(shape: ListShape) -> Self {
        Self { shape, places: &[] }
    }
}

impl<'a> From<DcmKnown<'a>> for PrefixKnown<'a> {
    fn from(known: DcmKnown<'a>) -> Self {
        Self { shape: known.shape(), places: known.places() }
    }
}
