//! Policies that choose one row and one column of a table, and see whether both did their part.
//!
//! Those that eliminate ([`Rank1Elim`], [`Ucb1Elim`]) can also be played many rounds at once (`whole_sweeps`), which simulations use.

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
