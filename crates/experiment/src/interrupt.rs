//! Which output is kept when a signal ends the program. For programs that handle signals.
//!
//! A signal handler calls [`hold`] before it reports and exits, so it waits until all files of a
//! directory are in place. A signal concerns the whole process, so this state is global: the only
//! global state of the workspace.

use documents::number::first_of;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static KEPT: Mutex<KeptOutput> = Mutex::new(KeptOutput { complete: Vec::new(), begun: None });

/// The output that is kept if the program ends now. `Display` gives the message for the user.
#[derive(Debug, Default)]
pub struct KeptOutput {
    /// Directories that have all their files.
    complete: Vec<PathBuf>,
    /// A description of partial output that the same command continues when it is started again.
    begun: Option<String>,
}

impl KeptOutput {
    /// Records that a directory contains all its files.
    pub fn complete(&mut self, dir: &Path) {
        self.complete.push(dir.to_owned());
        self.begun = None;
    }

    /// Records partial output that the same command will continue. `part` describes it to the user.
    pub fn begun(&mut self, part: String) {
        self.begun = Some(part);
    }
}

/// The number of directories that the message names.
const NAMED: usize = 3;

impl fmt::Display for KeptOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = first_of(self.complete.iter().map(|dir| dir.display()), NAMED);
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

/// Locks the state. While the guard lives, a signal handler that calls this function waits, so
/// files can be put in place undisturbed.
pub fn hold() -> MutexGuard<'static, KeptOutput> {
    // The state is only printed, so what a panicking thread left is good enough.
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_kept_output_in_one_line() {
        let mut kept = KeptOutput::default();
        assert_eq!(kept.to_string(), "interrupted: nothing was written");
        kept.begun("3 of 4 runs are kept in m".to_owned());
        assert_eq!(kept.to_string(), "interrupted: 3 of 4 runs are kept in m");
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
