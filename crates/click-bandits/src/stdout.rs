//! What a command says at its end.

use anyhow::{Context as _, Result};
use std::fmt::Display;
use std::io::{ErrorKind, Write as _, stdout};

/// Writes to standard output. A reader who closed it has seen enough.
///
/// # Errors
///
/// What the system says, as of a full disk: what was asked for is not there, whatever files are.
pub(crate) fn say(text: &impl Display) -> Result<()> {
    let mut output = stdout().lock();
    match write!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written")
        }
        _ => Ok(()),
    }
}
