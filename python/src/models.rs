//! Click models: users who respond to lists, cells and pairs.
//!
//! A model is one file and one row below; the Python module `models` lists its class.

mod cascade;
mod class;
mod click_chain;
mod crowd;
mod dependent_click;
mod dueling;
mod dynamic_bayesian;
mod position_based;
mod random_semi_bandit;
mod rank_one;
mod reward;
mod user_browsing;

use crate::message::value_error;
use crate::simulate::InPython;
use experiment::Runner;
use pyo3::prelude::*;
use sim::Schedule;

/// Exports the classes of these models, and enters policies written in Python on their users.
macro_rules! models {
    ($($module:ident::$Class:ident: $Model:ident;)+) => {
        /// Adds the classes of all models.
        pub(crate) fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_class::<$module::$Class>()?;)+
            Ok(())
        }

        /// Adds a policy written in Python for the users of the experiment.
        pub(crate) fn with_contender(runner: Runner<'_>, contender: InPython) -> PyResult<Runner<'_>> {
            let instances = runner.experiment().instances();
            $(if instances.typed::<click_models::$Model>().is_some() {
                return Ok(runner.with_contender::<click_models::$Model, Schedule>(contender));
            })+
            let model = instances.model().name;
            Err(value_error(format!("policies: users of model {model:?} are not supported")))
        }
    };
}

models! {
    cascade::Cascade: CascadeModel;
    click_chain::ClickChain: ClickChain;
    dependent_click::DependentClick: DependentClick;
    dueling::Dueling: DuelingModel;
    dynamic_bayesian::DynamicBayesian: DynamicBayesian;
    position_based::PositionBased: PositionBased;
    random_semi_bandit::RandomSemiBandit: RandomSemiBandit;
    rank_one::RankOne: RankOneModel;
    user_browsing::UserBrowsing: UserBrowsing;
}
