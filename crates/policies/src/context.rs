//! Policies for users who differ: a list depends on the user's segment and features.
//!
//! [`HybridTs`] and [`CascadeLinear`] read an observed prefix, and
//! [`PbmHybridTs`] the clicks of position-based users. [`Segmented`] plays any policy once for each
//! segment. Every policy without contexts plays these users as well: it ignores the context.

mod answer;
mod hybrid_ts;
mod learner;
mod linear;
mod normal;
mod own;
mod posterior;
mod prior;
mod products;
mod scale;
mod segmented;
mod traits;
mod unlearned;
mod without;

pub use hybrid_ts::{HybridTs, PbmHybridTs};
pub use learner::{Deviations, HybridSettings, Score};
pub use linear::{CascadeLinWidth, CascadeLinear, LinearScore};
pub use posterior::{Coefficients, HybridPosterior, NamedArray};
pub use prior::HybridPrior;
pub use scale::FeatureScale;
pub use segmented::{Segmented, SegmentedNote};
pub use traits::{FeaturedItems, PolicyFor, SelectAmongFor, SelectFor, UpdateFor};
pub use without::WithoutContext;
