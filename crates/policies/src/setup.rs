//! The problem and the settings of a policy.

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
}

/// Implements [`Setup`] of a policy: its settings, and its sizes.
macro_rules! setup {
    ($Policy:ty, $settings:expr, |$policy:ident| $sizes:expr) => {
        impl crate::setup::Setup for $Policy {
            const SETTINGS: &'static [&'static str] = $settings;

            fn sizes(&self) -> [usize; 2] {
                let $policy = self;
                $sizes
            }
        }
    };
}
pub(crate) use setup;

/// Restores a policy from its `State`, which is checked.
macro_rules! restored {
    ($Policy:ty, |$state:pat_param| $checked:expr) => {
        impl TryFrom<State> for $Policy {
            type Error = crate::Error;

            fn try_from($state: State) -> Result<Self, crate::Error> {
                $checked
            }
        }
    };
}
pub(crate) use restored;
