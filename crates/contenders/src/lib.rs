//! The catalogue's policies as contenders of the simulator.
//!
//! The round loop of a contender is compiled for its policy and its users. There are hundreds of
//! such pairs, which are the largest part of the code that an experiment has to compile. This crate
//! compiles them once for all programs that run experiments.
//!
//! A policy plays users whose feedback it can read
//! ([`PolicySpec::speaks`](policies::catalogue::PolicySpec::speaks)), or other users if the entrant
//! names the model whose feedback the policy should assume (`read-as`).
//!
//! An unfinished replication can be kept and continued ([`Contender::resume`]).
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
mod contexts;
mod entrant;
mod fitted;
mod identify;
mod lists;
mod live;
mod own;
mod pairs;
mod tournament;

pub use entrant::{CannotPlay, Entrant};
pub use fitted::{Beliefs, FittedPriors, LoggedLists};
pub use identify::{recommending_contenders, stopping_contenders};
pub use live::{LivePrior, LiveUse};
pub use own::{OwnAnswers, OwnProtocol, OwnRun, OwnRuns, OwnUsers};
pub use tournament::{AnyTournament, Record};

use sim::{Conditions, Contender};

/// Panic message; experiments reject other policies when they are read.
const GOES_WITH_USERS: &str = "a policy that goes with its users";

/// A contender, or `None` if the policy cannot play these users.
type MaybeContender<M> = Option<Box<dyn Contender<M>>>;

/// Models on which the catalogue's policies can play for regret.
pub trait Play: Sized {
    /// The contender of an experiment with `horizon` rounds; `None` if the policy can read neither
    /// these users' feedback nor that of its `read-as` model.
    fn contender(entrant: &Entrant, horizon: u64) -> Option<Box<dyn Contender<Self>>>;

    /// The contender under the conditions of live use; `None` if the policy cannot be used so.
    fn live_contender(_: &Entrant, _: u64, _: &Conditions) -> Option<Box<dyn Contender<Self>>> {
        None
    }

    /// The contenders of an experiment, in the order of the entrants.
    ///
    /// # Errors
    ///
    /// If a policy cannot play.
    fn contenders(entrants: &[Entrant], horizon: u64) -> Result<Vec<Box<dyn Contender<Self>>>, CannotPlay> {
        Self::live_contenders(entrants, horizon, &Conditions::default())
    }

    /// The contenders of an experiment under the conditions of live use. A policy that nothing
    /// disturbs and that has no settings plays as one without live use.
    ///
    /// # Errors
    ///
    /// If a policy cannot be used live on these users.
    fn live_contenders(
        entrants: &[Entrant],
        horizon: u64,
        conditions: &Conditions,
    ) -> Result<Vec<Box<dyn Contender<Self>>>, CannotPlay> {
        let enter = |entrant: &Entrant| {
            if entrant.live.is_none() && !conditions.disturb() {
                return Self::contender(entrant, horizon).ok_or_else(|| CannotPlay::regret(entrant));
            }
            let entered = Self::live_contender(entrant, horizon, conditions);
            entered.ok_or_else(|| CannotPlay::new(entrant, CannotPlay::LIVE))
        };
        entrants.iter().map(enter).collect()
    }
}
