//! `BatchRacing`: [`CascadeBai`] with another list length and other rivals.

use super::CascadeBai;
use super::classify::Rival;
use crate::Delta;
use click_models::ListShape;
use serde::{Deserialize, Serialize};

/// Number of items that `BatchRacing` pulls in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pulls {
    /// The number of items to find: BatRac(K).
    #[default]
    List,
    /// One: BatRac(1).
    One,
}

impl CascadeBai {
    /// `BatchRacing` that identifies as many items as a list of `shape` has positions. With
    /// [`Pulls::One`] it shows lists of one item.
    pub fn bat_rac(shape: ListShape, pulls: Pulls, delta: Delta) -> Self {
        let n_shown = match pulls {
            Pulls::List => shape.n_positions(),
            Pulls::One => 1,
        };
        Self::fresh(shape, n_shown, Rival::OfBound, delta)
    }
}
