//! The catalogue's policies as contenders of the simulator.
//!
//! A contender's round loop is compiled for its policy and its users. There are hundreds of such pairs, and they are the greatest part of
//! what an experiment has to compile. This crate compiles them once for all who run experiments.
//!
//! A policy plays the users whose answers it can read ([`PolicySpec::speaks`](policies::catalogue::PolicySpec::speaks)), or others if the entrant says as what it reads them.
//!
//! ```
//! use click_models::CascadeModel;
//! use contenders::{Entrant, Play};
//! use policies::catalogue::PolicySpec;
//!
//! let entrant = Entrant::new("cascade-ts", PolicySpec::CascadeTs {});
//! assert_eq!(CascadeModel::contenders(&[entrant], 1_000).unwrap()[0].label(), "cascade-ts");
//! let entrant = Entrant::new("pbm-ts", PolicySpec::PbmTs {});
//! let error = CascadeModel::contenders(&[entrant], 1_000).err().unwrap();
//! assert_eq!(error.to_string(), "policy `pbm-ts` cannot read these users' answers");
//! ```

mod cells;
mod entrant;
mod identify;
mod lists;
mod pairs;

pub use entrant::{CannotPlay, Entrant};
pub use identify::{recommending_contenders, stopping_contenders};

use click_models::ClickModel;
use sim::Contender;

/// A contender, if the policy can be one.
type Entered<M> = Option<Box<dyn Contender<M>>>;

/// Users whom the catalogue's policies can play for regret.
pub trait Play: ClickModel {
    /// The contenders of an experiment with `horizon` rounds, in the order of the entrants.
    ///
    /// # Errors
    ///
    /// A policy that can read neither these users' answers nor what it is told to read them as.
    fn contenders(entrants: &[Entrant], horizon: u64) -> Result<Vec<Box<dyn Contender<Self>>>, CannotPlay>;
}

/// Enters every entrant, or names the first that cannot be entered.
fn enter_all<M: ClickModel>(
    entrants: &[Entrant],
    enter: impl Fn(&Entrant) -> Entered<M>,
) -> Result<Vec<Box<dyn Contender<M>>>, CannotPlay> {
    entrants.iter().map(|entrant| enter(entrant).ok_or_else(|| CannotPlay::answers(entrant))).collect()
}
