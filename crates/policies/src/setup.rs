//! The problem and the settings of a policy.

use crate::context::{AnyFeaturedItems, Coefficients};
use crate::live::OnAnyTable;
use std::borrow::Cow;

/// A policy for a problem of known sizes.
pub trait Setup {
    /// JSON pointers into a saved state: parameters and knowledge, which do not change while the
    /// policy plays. A state with other settings than those of a fresh policy is refused.
    const SETTINGS: &'static [&'static str] = &[];

    /// [`SETTINGS`](Self::SETTINGS), and those of policies inside.
    fn settings(&self) -> Vec<Cow<'static, str>> {
        Self::SETTINGS.iter().map(|&pointer| pointer.into()).collect()
    }

    /// Numbers of items and positions, of rows and columns, or of items and of items compared (2).
    fn sizes(&self) -> [usize; 2];

    /// The policy, if it learns from a table that can be changed.
    #[doc(hidden)]
    fn on_table(&self) -> Option<&dyn OnAnyTable> {
        None
    }

    /// As [`on_table`](Self::on_table), to change it.
    #[doc(hidden)]
    fn on_table_mut(&mut self) -> Option<&mut dyn OnAnyTable> {
        None
    }

    /// The policy, if it sees who asks and its items may come and go.
    #[doc(hidden)]
    fn featured(&mut self) -> Option<&mut dyn AnyFeaturedItems> {
        None
    }

    /// The policy, if it estimates coefficients of features.
    #[doc(hidden)]
    fn coefficients(&mut self) -> Option<&mut dyn Coefficients> {
        None
    }
}

/// The functions of a policy that learns from a table.
macro_rules! learns_from_table {
    () => {
        fn on_table(&self) -> Option<&dyn crate::live::OnAnyTable> {
            Some(self)
        }

        fn on_table_mut(&mut self) -> Option<&mut dyn crate::live::OnAnyTable> {
            Some(self)
        }
    };
}
pub(crate) use learns_from_table;
