//! How the policy of a contender is saved. A policy of the caller need not be serializable, so
//! saving is requested by type: [`Entry::saved`](crate::Entry::saved).

use postcard::{Deserializer, Serializer, de_flavors, ser_flavors};
use serde::{Serialize, de::DeserializeOwned};

/// Whether policies are saved.
pub trait MaySave {
    /// Whether they are.
    const IS_SAVED: bool;
}

/// Writes and reads policies of type `P`.
pub trait Saver<P>: MaySave {
    /// The policy as bytes.
    ///
    /// # Errors
    ///
    /// The fault, in words, if the policy cannot be written.
    fn write(policy: &P) -> Result<Vec<u8>, String>;

    /// The policy of these bytes. It makes the same choices as the one that was written.
    ///
    /// # Errors
    ///
    /// The fault, in words, if the bytes are no policy.
    fn read(bytes: &[u8]) -> Result<P, String>;
}

/// The policy of these bytes, or a new one.
pub(crate) fn read_or_build<P, S: Saver<P>>(
    bytes: Option<&[u8]>,
    build: impl FnOnce() -> P,
) -> Result<P, String> {
    match bytes {
        None => Ok(build()),
        Some(bytes) => S::read(bytes),
    }
}

/// Saves no policy: a replication that was interrupted restarts.
#[derive(Debug, Clone, Copy)]
pub enum Restarts {}

/// Saves policies in the [postcard](https://docs.rs/postcard) format.
#[derive(Debug, Clone, Copy)]
pub enum Saves {}

/// The message of [`Restarts`].
const NOT_SAVED: &str = "policies of this type are not saved";

impl MaySave for Restarts {
    const IS_SAVED: bool = false;
}

impl MaySave for Saves {
    const IS_SAVED: bool = true;
}

impl<P> Saver<P> for Restarts {
    fn write(_policy: &P) -> Result<Vec<u8>, String> {
        Err(NOT_SAVED.to_owned())
    }

    fn read(_bytes: &[u8]) -> Result<P, String> {
        Err(NOT_SAVED.to_owned())
    }
}

impl<P: Serialize + DeserializeOwned> Saver<P> for Saves {
    // One copy for all users that the policy plays.
    #[inline(never)]
    fn write(policy: &P) -> Result<Vec<u8>, String> {
        let mut serializer = Serializer { output: Bytes(Vec::new()) };
        match policy.serialize(&mut serializer) {
            Ok(()) => Ok(serializer.output.0),
            Err(error) => Err(fault(&error)),
        }
    }

    #[inline(never)]
    fn read(bytes: &[u8]) -> Result<P, String> {
        let mut deserializer = Deserializer::from_flavor(Rest(bytes));
        match P::deserialize(&mut deserializer) {
            Ok(policy) => end(deserializer).map(|()| policy),
            Err(error) => Err(format!("the policy: {}", fault(&error))),
        }
    }
}

// Not generic, so that they are compiled once for all policies.
fn fault(error: &postcard::Error) -> String {
    error.to_string()
}

fn end<'a>(deserializer: Deserializer<'a, Rest<'a>>) -> Result<(), String> {
    match deserializer.finalize() {
        Ok([]) => Ok(()),
        rest => Err(format!("{} bytes after the policy", rest.map_or(0, <[u8]>::len))),
    }
}

/// Bytes that are written. Its functions are not inlined: every policy is compiled with them, and
/// inlined they would be a tenth of the compile time of `contenders`.
struct Bytes(Vec<u8>);

impl ser_flavors::Flavor for Bytes {
    type Output = Vec<u8>;

    #[inline(never)]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline(never)]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// Bytes that are left to read; not inlined, as [`Bytes`].
struct Rest<'a>(&'a [u8]);

impl<'de> de_flavors::Flavor<'de> for Rest<'de> {
    type Remainder = &'de [u8];
    type Source = &'de [u8];

    #[inline(never)]
    fn pop(&mut self) -> postcard::Result<u8> {
        let (&first, rest) = self.0.split_first().ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        self.0 = rest;
        Ok(first)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }

    #[inline(never)]
    fn try_take_n(&mut self, n: usize) -> postcard::Result<&'de [u8]> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        self.0 = rest;
        Ok(taken)
    }

    fn finalize(self) -> postcard::Result<&'de [u8]> {
        Ok(self.0)
    }
}
