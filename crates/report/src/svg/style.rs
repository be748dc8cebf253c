//! Colours, markers and dashes of curves.

use super::palette::{Ink, N_SERIES};

/// Colour, marker and dashes of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveStyle {
    /// A policy: solid, with the colour and the marker of its number.
    Policy(usize),
    /// A policy of a variant: solid, with the policy's colour and the variant's marker.
    Variant(usize, usize),
    /// A reference for all curves: dashed and dark, with the dash pattern of its number.
    Reference(usize),
    /// A reference for one curve: dashed in its colour, with the pattern of the second number.
    ReferenceOf(usize, usize),
}

impl CurveStyle {
    /// The same colour with the marker of another number.
    #[must_use]
    pub fn with_marker(self, number: usize) -> Self {
        match self {
            Self::Policy(colour) => Self::Variant(colour, number),
            other => other,
        }
    }

    /// Returns whether it is a reference.
    pub fn is_dashed(self) -> bool {
        self.pattern().is_some()
    }

    /// Lengths of dash and gap; `None` for a solid line.
    pub(super) fn pattern(self) -> Option<(f64, f64)> {
        match self {
            Self::Policy(_) | Self::Variant(..) => None,
            Self::Reference(number) | Self::ReferenceOf(_, number) => Some(DASHES[number % DASHES.len()]),
        }
    }

    pub(super) fn ink(self) -> Ink {
        match self {
            Self::Policy(number) | Self::Variant(number, _) | Self::ReferenceOf(number, _) => {
                Ink::Series(number % N_SERIES)
            }
            Self::Reference(_) => Ink::Reference,
        }
    }

    /// The outline of its marker around the origin; `None` for references.
    pub(super) fn marker(self) -> Option<&'static str> {
        match self {
            Self::Policy(number) | Self::Variant(_, number) => Some(MARKERS[number % MARKERS.len()]),
            Self::Reference(_) | Self::ReferenceOf(..) => None,
        }
    }
}

/// Lengths of dash and gap.
const DASHES: [(f64, f64); 3] = [(8.0, 4.5), (2.0, 3.5), (14.0, 4.0)];

/// Circle, square, triangle, diamond, triangle on its tip, cross.
pub(super) const MARKERS: [&str; 6] = [
    "M-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0Z",
    "M-3.4-3.4H3.4V3.4H-3.4Z",
    "M0-4.8L4.4 3.2H-4.4Z",
    "M0-5.2L4.4 0 0 5.2-4.4 0Z",
    "M0 4.8L4.4-3.2H-4.4Z",
    "M-1.4-4.6H1.4V-1.4H4.6V1.4H1.4V4.6H-1.4V1.4H-4.6V-1.4H-1.4Z",
];

/// The colour of a curve for a style sheet outside the chart. It follows the theme where
/// [`style`](super::style) is on the page.
pub fn colour(style: CurveStyle) -> String {
    style.ink().css()
}
