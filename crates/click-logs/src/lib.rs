#![doc = include_str!("../README.md")]

pub mod fit;
pub mod judgments;
pub mod parameters;
pub mod settings;
pub mod study;

/// Tests the code of the page on logs in a data warehouse.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/at-scale.md")]
struct AtScale;
