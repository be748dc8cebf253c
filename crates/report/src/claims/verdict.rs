//! What is known of a claim, what was found of it, and how the two compare.

use serde::Serialize;

/// What is known or found of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The paper's statement holds.
    Reproduced,
    /// Its opposite holds.
    Contradicted,
    /// The runs are too few to tell.
    Undecided,
    /// The data it speaks of are not public.
    NotTestable,
    /// A quick check leaves it to the full run.
    Left,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::Contradicted, Self::Undecided, Self::NotTestable, Self::Left];

    /// Those that can be known of a claim, by their names in files.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("reproduced", Self::Reproduced),
        ("contradicted", Self::Contradicted),
        ("undecided", Self::Undecided),
        ("not-testable", Self::NotTestable),
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Contradicted => "contradicted",
            Self::Undecided => "undecided",
            Self::NotTestable => "not-testable",
            Self::Left => "left",
        }
    }

    /// Its name for readers.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotTestable => "cannot be tested here",
            Self::Left => "left to the full run",
            _ => self.name(),
        }
    }
}

/// How what was found compares with what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The same.
    Agrees,
    /// The opposite.
    Contradicts,
    /// Something is known, this run cannot tell.
    Undecided,
    /// Nothing was known, this run can tell.
    New,
}

impl Agreement {
    /// Compares a verdict found with the one known.
    pub fn of(found: Verdict, known: Verdict) -> Self {
        match (found, known) {
            _ if found == known => Self::Agrees,
            // With data that are not public nothing is known beforehand.
            (Verdict::Undecided, Verdict::NotTestable) => Self::Agrees,
            (Verdict::Undecided | Verdict::Left, _) => Self::Undecided,
            (_, Verdict::Undecided | Verdict::NotTestable) => Self::New,
            _ => Self::Contradicts,
        }
    }

    /// Whether a check with this outcome fails.
    pub fn fails(self, quick: bool) -> bool {
        match self {
            Self::Agrees | Self::New => false,
            Self::Contradicts => true,
            Self::Undecided => !quick,
        }
    }
}
