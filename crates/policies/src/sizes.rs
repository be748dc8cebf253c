//! The sizes of a policy's problem.

/// A policy for a problem of known sizes.
pub trait Sizes {
    /// Numbers of items and positions, of rows and columns, or of items and the two items compared (2).
    fn sizes(&self) -> [usize; 2];
}
