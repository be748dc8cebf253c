//! Errors for arguments outside their range.

/// An argument outside the range that its meaning allows.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum Error {
    #[error("{0} is not a probability: expected a number from 0 to 1")]
    NotAProbability(f64),
    #[error("{0} is not allowed here: expected a finite number that is not negative")]
    NotNonNegative(f64),
    #[error("{0} positions are too many: at most {max} are supported", max = crate::MAX_POSITIONS)]
    TooManyPositions(usize),
    #[error("{0} is not a probability of error: expected a number strictly between 0 and 1")]
    NotAnErrorProbability(f64),
    #[error("a grid of {0} cells is not possible: expected 1 to 2^24")]
    NoGrid(usize),
}
