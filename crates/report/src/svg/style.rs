//! Colours, markers and dashes of curves.

use plotters::style::RGBColor;

/// Colour, marker and dashes of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveStyle {
    /// A policy: solid, with the colour and the marker of its number.
    Policy(usize),
    /// A policy of one of several variants: solid, with the policy's colour and the variant's marker.
    Variant(usize, usize),
    /// A reference for all curves: dashed and dark, with the dash pattern of its number.
    Reference(usize),
    /// A reference for one curve: dashed in the colour of that curve, with the dash pattern of its own number.
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

    /// Whether it is a reference.
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
}

/// Colours of Okabe and Ito that are visible on white, and two of Tol.
pub(super) const PALETTE: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x88, 0x22, 0x55),
    RGBColor(0x33, 0x22, 0x88),
];

/// Lengths of dash and gap.
const DASHES: [(f64, f64); 3] = [(8.0, 4.5), (2.0, 3.5), (14.0, 4.0)];

/// The number of different markers. Together with eight colours they distinguish 24 policies.
pub(super) const MARKERS: usize = 6;

/// The colour of a curve as `#rrggbb`, for use outside the chart.
pub fn colour(style: CurveStyle) -> String {
    let RGBColor(red, green, blue) = rgb(style);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

pub(super) fn rgb(style: CurveStyle) -> RGBColor {
    match style {
        CurveStyle::Policy(number) | CurveStyle::Variant(number, _) | CurveStyle::ReferenceOf(number, _) => {
            PALETTE[number % PALETTE.len()]
        }
        CurveStyle::Reference(_) => RGBColor(0x33, 0x33, 0x33),
    }
}
