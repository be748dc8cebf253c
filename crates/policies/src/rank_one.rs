//! Policies that choose a row and a column of a table; a click occurs only if both succeed.
//!
//! Simulations play many rounds of [`Rank1Elim`] and [`Ucb1Elim`] at once (`whole_sweeps`).

mod cell_counts;
mod elimination;
mod gibbs;
mod kl_ucb;
mod ucb1;
mod ucb1_elim;
mod uts;

pub use elimination::{Rank1Elim, Side};
pub use gibbs::Rank1Gibbs;
pub use kl_ucb::CellKlUcb;
pub use ucb1::Ucb1;
pub use ucb1_elim::Ucb1Elim;
pub use uts::Uts;

#[cfg(test)]
mod tests;
