//! What happens on Ctrl-C, or when the system asks the program to end: one line says what is kept, and the program ends by the signal.
//!
//! A signal waits while files are put in place; a second one does not. Signals are the process's, and so is what they find here: the one
//! state of the program that no function is given.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static KEPT: Mutex<Kept> = Mutex::new(Kept { complete: Vec::new(), begun: None });

/// What is kept when the program ends now.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Directories whose files are all there.
    complete: Vec<PathBuf>,
    /// What goes on where it ended when it is started again.
    begun: Option<String>,
}

impl Kept {
    /// All files of a directory are there.
    pub(crate) fn complete(&mut self, dir: &Path) {
        self.complete.push(dir.to_owned());
        self.begun = None;
    }

    /// A part is there, from which the same command goes on.
    pub(crate) fn begun(&mut self, part: String) {
        self.begun = Some(part);
    }
}

/// How many directories are named.
const NAMED: usize = 3;

impl fmt::Display for Kept {
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
pub(crate) fn hold() -> MutexGuard<'static, Kept> {
    // What a thread that panicked left is only said.
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches for signals from now on. Without it, where the system has no such signals or no thread for them, they end the program as ever.
pub(crate) fn watch() {
    #[cfg(unix)]
    let _ = unix::watch();
}

#[cfg(unix)]
mod unix {
    use super::hold;
    use crate::terminal::harmless;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};
    use std::io::{self, IsTerminal as _, Write as _};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    /// To the beginning of the line, which is cleared of a bar and of what the terminal makes of Ctrl-C.
    const CLEAR_LINE: &str = "\r\u{1b}[2K";

    pub(super) fn watch() -> io::Result<()> {
        let is_second = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order, so that the first one finds what the second one will not.
            flag::register_conditional_default(signal, Arc::clone(&is_second))?;
            flag::register(signal, Arc::clone(&is_second))?;
        }
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        thread::Builder::new().spawn(move || {
            if let Some(signal) = signals.forever().next() {
                end(signal);
            }
        })?;
        Ok(())
    }

    /// Says what is kept, and ends the program.
    fn end(signal: i32) {
        let kept = hold();
        // Nobody else writes a line, or draws a bar, after this one.
        let mut stderr = io::stderr().lock();
        let clear = if stderr.is_terminal() { CLEAR_LINE } else { "" };
        let _ = writeln!(stderr, "{clear}{}", harmless(&kept.to_string()));
        // As if nobody had watched: whoever started the program is told by which signal it ended, in a shell as 130 or 143.
        let _ = low_level::emulate_default_handler(signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_said_in_one_line() {
        let mut kept = Kept::default();
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
