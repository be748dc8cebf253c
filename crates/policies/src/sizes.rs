//! The sizes that a policy was made for.

/// A policy that was made for some sizes.
pub trait Sizes {
    /// Items and positions; rows and columns; or items and the two that are compared.
    fn sizes(&self) -> [usize; 2];
}
