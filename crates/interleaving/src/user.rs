//! Users who scan a list from the top, click on documents that look relevant, and may stop after a
//! click.
//!
//! At every position, from the top down, a document of grade `g` is clicked with probability
//! `click[g]`; after a click the user stops with probability `stop[g]`, and otherwise continues.
//!
//! Reference: the dependent click model of Guo, Liu, Wang, *Efficient multiple-click models in web
//! search*, WSDM 2009, with the probabilities that Hofmann, Whiteson, de Rijke, *A probabilistic
//! method for inferring preferences from clicks*, CIKM 2011, and their later papers use for binary
//! labels:
//!
//! | user | click, not relevant | click, relevant | stop, not relevant | stop, relevant |
//! |---|---|---|---|---|
//! | [`ScanningUser::perfect`] | 0 | 1 | 0 | 0 |
//! | [`ScanningUser::navigational`] | .05 | .95 | .2 | .9 |
//! | [`ScanningUser::informational`] | .4 | .9 | .1 | .5 |
//!
//! Deviations: a label above the user's last grade counts as the last grade, so for the three users
//! above every document of grade 1 or more is relevant. [`ScanningUser::new`] creates users with
//! more grades.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `click` | P(C given R) | one per grade | probability |
//! | `stop` | P(S given R) | one per grade | probability |
//!
//! Numerics: one draw per position, and another one for every click. Complexity: O(list length).
//!
//! # Examples
//!
//! ```
//! use interleaving::ScanningUser;
//! use rand::SeedableRng;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//!
//! let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! let clicks = ScanningUser::perfect().scan([0, 1, 0, 2], &mut rng);
//! // Both relevant documents, of either grade, and no other.
//! assert_eq!(clicks.bits(), 0b1010);
//! ```

use crate::Error;
use click_models::{Clicks, ListShape};
use confidence::Probability;
use rand::{Rng, RngExt};

/// A user who scans from the top down.
#[derive(Debug, Clone, PartialEq, fieldwork::Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct ScanningUser {
    /// Probability of a click, and of stopping after it, by grade; at least one grade.
    grades: Vec<(Probability, Probability)>,
}

impl ScanningUser {
    /// A user with these probabilities of a click, and of stopping after one, by grade.
    ///
    /// # Errors
    ///
    /// If there is no grade, the numbers of grades differ, or a number is outside 0 to 1.
    pub fn new(click: &[f64], stop: &[f64]) -> Result<Self, Error> {
        if click.is_empty() || click.len() != stop.len() {
            return Err(Error::Grades { click: click.len(), stop: stop.len() });
        }
        let checked = |field, index, value| {
            Probability::new(value).map_err(|_| Error::NotAProbability { field, index, value })
        };
        let grades = click.iter().zip(stop).enumerate();
        let grades = grades.map(|(index, (&click, &stop))| {
            Ok((checked("click", index, click)?, checked("stop", index, stop)?))
        });
        Ok(Self { grades: grades.collect::<Result<_, Error>>()? })
    }

    /// Clicks on all relevant documents and on no others.
    pub fn perfect() -> Self {
        Self::binary([0.0, 1.0], [0.0, 0.0])
    }

    /// Looks for one document, and mostly stops when it is found.
    pub fn navigational() -> Self {
        Self::binary([0.05, 0.95], [0.2, 0.9])
    }

    /// Gathers information: clicks on many documents and continues for long.
    pub fn informational() -> Self {
        Self::binary([0.4, 0.9], [0.1, 0.5])
    }

    fn binary(click: [f64; 2], stop: [f64; 2]) -> Self {
        Self::new(&click, &stop).expect("probabilities as printed")
    }

    /// Draws a user's clicks on a list whose documents have these labels. Documents beyond the 64th
    /// are ignored.
    #[inline]
    #[expect(clippy::missing_panics_doc, reason = "it never does")]
    pub fn scan<R: Rng + ?Sized>(&self, labels: impl IntoIterator<Item = u8>, rng: &mut R) -> Clicks {
        let last_grade = self.grades.len() - 1;
        let (mut bits, mut length, mut reading) = (0_u64, 0, true);
        for (position, label) in labels.into_iter().take(ListShape::MAX_POSITIONS).enumerate() {
            length = position + 1;
            if reading {
                let (click, stop) = self.grades[usize::from(label).min(last_grade)];
                if rng.random::<f64>() < click.get() {
                    bits |= 1 << position;
                    reading = rng.random::<f64>() >= stop.get();
                }
            }
        }
        Clicks::from_bits(bits, length).expect("bits were set below `length` only")
    }
}
