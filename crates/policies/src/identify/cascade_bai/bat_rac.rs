//! `BatchRacing`: [`CascadeBai`] with other lists and other rivals.

use super::CascadeBai;
use super::classify::Rival;
use crate::Delta;
use click_models::ListShape;
use serde::{Deserialize, Serialize};

/// How many items `BatchRacing` pulls a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pulls {
    /// As many as have to be found: BatRac(K).
    #[default]
    List,
    /// One: BatRac(1).
    One,
}

impl CascadeBai {
    /// `BatchRacing` that looks for as many items as a list of `shape` has positions; it shows lists of one item if it pulls one.
    pub fn bat_rac(shape: ListShape, pulls: Pulls, delta: Delta) -> Self {
        let n_shown = match pulls {
            Pulls::List => shape.n_positions(),
            Pulls::One => 1,
        };
        Self::fresh(shape, n_shown, Rival::OfBound, delta)
    }
}
