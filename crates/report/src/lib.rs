#![doc = include_str!("../README.md")]

mod axis;
mod keys;
mod least_squares;
mod panel;
mod reading;
mod reproduction_report;
mod series;
mod simulation;
mod student;
mod subset_shares;
mod text;

pub mod claims;
pub mod compared;
pub mod figure;
pub mod html;
pub mod index;
pub mod leaderboard;
pub mod page;
pub mod report_dir;
pub mod reproduction;
pub mod schema;
pub mod svg;
pub mod tables;

pub use axis::{Axis, Scale};
pub use leaderboard::Leaderboard;
pub use reproduction_report::{ClaimResult, PanelReport, PanelRun, Report, VariantReport};
pub use series::{Series, VariantRuns};
pub use simulation::{Drawing, run_into, write_simulation};
pub use subset_shares::{Shares, shares};
pub use text::{into_lines, letters};

#[cfg(test)]
#[path = "../../experiment/tests/support/synthetic.rs"]
mod synthetic;

/// The examples of the project's pages, which use every library crate.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/getting-started.md")]
    struct GettingStarted;

    #[doc = include_str!("../../../docs/which-policy.md")]
    struct WhichPolicy;
}
