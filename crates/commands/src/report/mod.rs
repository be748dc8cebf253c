//! From results to what a reader sees: figures, verdicts on claims, and a page with both.

pub(crate) mod axis;
pub(crate) mod claims;
pub(crate) mod figure;
pub(crate) mod fit;
pub(crate) mod html;
pub(crate) mod number;
pub(crate) mod sample;
pub(crate) mod series;
pub(crate) mod student;
pub(crate) mod svg;
pub(crate) mod text;
