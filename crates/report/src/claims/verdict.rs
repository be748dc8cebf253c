//! Verdicts on claims, and how a verdict compares with the known one.

use serde::Serialize;

/// The verdict on a claim.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The paper's statement holds.
    Reproduced,
    /// Its opposite holds.
    Contradicted,
    /// The runs do not decide it.
    #[default]
    Undecided,
    /// The data that it is about are not public.
    NotTestable,
    /// A quick check leaves it to the full run.
    Left,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::Contradicted, Self::Undecided, Self::NotTestable, Self::Left];

    /// The verdicts that may be known of a claim, by their names in files.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("reproduced", Self::Reproduced),
        ("contradicted", Self::Contradicted),
        ("undecided", Self::Undecided),
        ("not-testable", Self::NotTestable),
    ];

    /// *Contradicted* if any part of a claim is, *reproduced* if all are, otherwise *undecided*.
    pub(super) fn of_all(parts: impl Iterator<Item = Self>) -> Self {
        let parts = parts.collect::<Vec<_>>();
        if parts.contains(&Self::Contradicted) {
            Self::Contradicted
        } else if parts.iter().all(|part| *part == Self::Reproduced) {
            Self::Reproduced
        } else {
            Self::Undecided
        }
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        let named = Self::NAMES.into_iter().find(|(_, verdict)| *verdict == self);
        named.map_or("left", |(name, _)| name)
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

/// How a verdict compares with the known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// It is the known verdict.
    Agrees,
    /// It is the opposite of the known verdict.
    Contradicts,
    /// A verdict is known, but this run does not decide the claim.
    Undecided,
    /// No verdict was known, and this run decides the claim.
    New,
}

impl Agreement {
    /// Compares a verdict with the known one.
    pub fn of(found: Verdict, known: Verdict) -> Self {
        match (found, known) {
            _ if found == known => Self::Agrees,
            // For data that are not public no verdict is known.
            (Verdict::Undecided, Verdict::NotTestable) => Self::Agrees,
            (Verdict::Undecided | Verdict::Left, _) => Self::Undecided,
            (_, Verdict::Undecided | Verdict::NotTestable) => Self::New,
            _ => Self::Contradicts,
        }
    }

    /// Returns whether a check with this outcome fails.
    pub fn fails(self, quick: bool) -> bool {
        match self {
            Self::Agrees | Self::New => false,
            Self::Contradicts => true,
            Self::Undecided => !quick,
        }
    }
}
