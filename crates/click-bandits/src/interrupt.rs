//! Ctrl-C and SIGTERM print a line about the output that is kept, and end the program by the
//! signal. The first signal waits for files that are put in place ([`experiment::interrupt`]), a
//! second one does not.

use std::io;
use std::process::{Command, ExitCode};

/// Installs the handler. If that is impossible, signals end the program as usual.
pub(crate) fn watch() {
    #[cfg(all(unix, not(feature = "portable")))]
    let _ = unix::watch();
}

/// Runs another program in place of this one, so that signals reach it; otherwise, until it ends.
pub(crate) fn give_way_to(command: &mut Command) -> io::Result<ExitCode> {
    #[cfg(all(unix, not(feature = "portable")))]
    return Err(std::os::unix::process::CommandExt::exec(command));
    #[cfg(not(all(unix, not(feature = "portable"))))]
    Ok(if command.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Ends the program as others end whose output nobody reads on: by SIGPIPE, without a word. A shell
/// shows 141, and `pipefail` sees that what was written is a part.
pub(crate) fn end_cut_off() -> ! {
    #[cfg(all(unix, not(feature = "portable")))]
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    std::process::exit(141)
}

#[cfg(all(unix, not(feature = "portable")))]
mod unix {
    use crate::terminal::harmless;
    use experiment::interrupt::hold;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};
    use std::io::{self, IsTerminal as _, Write as _};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    /// Clears the line of a progress bar and of the `^C` that a terminal shows.
    const CLEAR_LINE: &str = "\r\u{1b}[2K";

    pub(super) fn watch() -> io::Result<()> {
        let is_second = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order, the condition is still false at the first signal, and true afterwards.
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

    /// Prints which output is kept, and ends the program.
    fn end(signal: i32) {
        let kept = hold();
        // The lock keeps other threads from writing after this line.
        let mut stderr = io::stderr().lock();
        let clear = if stderr.is_terminal() { CLEAR_LINE } else { "" };
        let _ = writeln!(stderr, "{clear}{}", harmless(&kept.to_string()));
        // The parent process sees that a signal ended the program; a shell shows 130 or 143.
        let _ = low_level::emulate_default_handler(signal);
    }
}
