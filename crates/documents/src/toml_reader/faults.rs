//! Collects the errors of independent parts of a file.

use super::Error;

/// Errors of independent parts. A reader without interest in the others reports the first.
#[derive(Debug, Default)]
pub struct Faults(Option<Error>);

impl Faults {
    /// The value of a part; `None` if it has an error, which is kept.
    pub fn keep<T>(&mut self, part: Result<T, Error>) -> Option<T> {
        part.map_err(|error| self.add(error)).ok()
    }

    /// Keeps an error, and those found with it.
    pub fn add(&mut self, error: Error) {
        self.0 = Some(match self.0.take() {
            Some(first) => first.and(error),
            None => error,
        });
    }

    /// Ends the collection.
    ///
    /// # Errors
    ///
    /// The errors that were kept.
    pub fn end(self) -> Result<(), Error> {
        self.0.map_or(Ok(()), Err)
    }

    /// Returns whether no error was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// The values of a few independent parts: `all((first, second))`.
///
/// # Errors
///
/// The errors of all parts.
pub fn all<P: Parts>(parts: P) -> Result<P::Values, Error> {
    parts.values()
}

/// Results of independent parts, in a tuple.
pub trait Parts {
    /// Their values.
    type Values;

    /// The values of all parts.
    ///
    /// # Errors
    ///
    /// The errors of all parts.
    fn values(self) -> Result<Self::Values, Error>;
}

impl<A, B> Parts for (Result<A, Error>, Result<B, Error>) {
    type Values = (A, B);

    fn values(self) -> Result<(A, B), Error> {
        match self {
            (Ok(one), Ok(other)) => Ok((one, other)),
            (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
            (Err(error), Err(later)) => Err(error.and(later)),
        }
    }
}

/// Tuples with one part more.
macro_rules! longer {
    ($($part:ident: $Type:ident),+; $last:ident: $Last:ident) => {
        impl<$($Type,)+ $Last> Parts for ($(Result<$Type, Error>,)+ Result<$Last, Error>) {
            type Values = ($($Type,)+ $Last);

            fn values(self) -> Result<Self::Values, Error> {
                let ($($part,)+ $last) = self;
                let (($($part,)+), $last) = (($($part,)+).values(), $last).values()?;
                Ok(($($part,)+ $last))
            }
        }
    };
}
longer!(a: A, b: B; c: C);
longer!(a: A, b: B, c: C; d: D);
longer!(a: A, b: B, c: C, d: D; e: E);
longer!(a: A, b: B, c: C, d: D, e: E; f: F);

/// The values of independent parts.
///
/// # Errors
///
/// The errors of all parts, up to [`Error::MOST`].
pub fn collect<T, C: FromIterator<T>>(parts: impl IntoIterator<Item = Result<T, Error>>) -> Result<C, Error> {
    let mut faults = Faults::default();
    let mut parts = parts.into_iter();
    let values = std::iter::from_fn(|| {
        loop {
            if faults.0.as_ref().is_some_and(|error| error.count() >= Error::MOST) {
                return None;
            }
            if let Some(value) = faults.keep(parts.next()?) {
                return Some(value);
            }
        }
    });
    let values = values.collect();
    faults.end().map(|()| values)
}
