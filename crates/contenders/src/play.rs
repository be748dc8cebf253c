//! [`Play`] for the models of lists.

use crate::lists::enter;
use crate::live::enter_all_live;
use crate::{CannotPlay, Entrant, Play, enter_all};
use click_models::{
    CascadeModel, ClickChain, DependentClick, DynamicBayesian, PositionBased, RandomSemiBandit, UserBrowsing,
};
use sim::{Conditions, Contender};

/// Not generic, so that the round loops are compiled in this crate.
macro_rules! play {
    ($($model:ty $(, $live:ident)?);* $(;)?) => {$(
        impl Play for $model {
            fn contenders(
                entrants: &[Entrant],
                horizon: u64,
            ) -> Result<Vec<Box<dyn Contender<Self>>>, CannotPlay> {
                enter_all(entrants, |entrant| enter(entrant, horizon))
            }
            $(
                fn live_contenders(
                    entrants: &[Entrant],
                    horizon: u64,
                    conditions: &Conditions,
                ) -> Result<Vec<Box<dyn Contender<Self>>>, CannotPlay> {
                    $live(entrants, horizon, conditions)
                }
            )?
        }
    )*};
}
play! {
    PositionBased, enter_all_live;
    RandomSemiBandit, enter_all_live;
    CascadeModel, enter_all_live;
    DependentClick, enter_all_live;
    DynamicBayesian;
    ClickChain;
    UserBrowsing;
}
