//! What happens on Ctrl-C, or when the system asks the program to end: one line says what is kept, and the program ends by the signal.
//!
//! A signal waits while files are put in place ([`experiment::interrupt`]); a second one does not.

/// Watches for signals from now on. Without it, where the system has no such signals or no thread for them, they end the program as ever.
pub(crate) fn watch() {
    #[cfg(all(unix, not(feature = "portable")))]
    let _ = unix::watch();
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
        // As without a handler: the parent process sees the signal by which the program ended, in a shell as 130 or 143.
        let _ = low_level::emulate_default_handler(signal);
    }
}
