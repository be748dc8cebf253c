//! What is kept when the program ends by a signal, for programs that watch for signals.
//!
//! A program that holds [`hold`] while it says so lets files that are being put in place get there first. Signals are the process's, and so is
//! what they find here: the one state that no function is given.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static KEPT: Mutex<KeptOutput> = Mutex::new(KeptOutput { complete: Vec::new(), begun: None });

/// What is kept when the program ends now.
#[derive(Debug, Default)]
pub struct KeptOutput {
    /// Directories whose files are all there.
    complete: Vec<PathBuf>,
    /// What goes on where it ended when it is started again.
    begun: Option<String>,
}

impl KeptOutput {
    /// All files of a directory are there.
    pub fn complete(&mut self, dir: &Path) {
        self.complete.push(dir.to_owned());
        self.begun = None;
    }

    /// A part is there, from which the same command goes on.
    pub fn begun(&mut self, part: String) {
        self.begun = Some(part);
    }
}

/// How many directories are named.
const NAMED: usize = 3;

impl fmt::Display for KeptOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kept = String::new();
        for dir in self.complete.iter().take(NAMED) {
            write!(kept, "{}{}", if kept.is_empty() { "" } else { ", " }, dir.display())?;
        }
        if let Some(more) = self.complete.len().checked_sub(NAMED).filter(|more| *more > 0) {
            write!(kept, " and {more} more")?;
        }
        match (&self.begun, kept.as_str()) {
            (None, "") => write!(formatter, "interrupted: nothing was written"),
            (None, _) => {
                write!(formatter, "interrupted: complete and kept: {kept}; nothing else was written")
            }
            (Some(begun), "") => write!(formatter, "interrupted: {begun}"),
            (Some(begun), _) => write!(formatter, "interrupted: complete and kept: {kept}; {begun}"),
        }
    }
}

/// Keeps a signal waiting until what is given is dropped, which files are being put in place for.
pub fn hold() -> MutexGuard<'static, KeptOutput> {
    // What a thread that panicked left is only said.
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_said_in_one_line() {
        let mut kept = KeptOutput::default();
        assert_eq!(kept.to_string(), "interrupted: nothing was written");
        kept.begun("3 of 4 pairs are kept in m".to_owned());
        assert_eq!(kept.to_string(), "interrupted: 3 of 4 pairs are kept in m");
        kept.complete(Path::new("m"));
        assert_eq!(kept.to_string(), "interrupted: complete and kept: m; nothing else was written");
        for dir in ["a", "b", "c", "d"] {
            kept.complete(Path::new(dir));
        }
        assert_eq!(
            kept.to_string(),
            "interrupted: complete and kept: m, a, b and 2 more; nothing else was written"
        );
    }
}
