//! Ctrl-C while a command runs: the package's one file with code for Unix.

use std::process::ExitStatus;

/// Lets this program end after the command, which Ctrl-C reaches as well, and which then prints
/// what it keeps.
pub(crate) fn wait_for_the_command_on_ctrl_c() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, std::sync::Arc::default());
}

/// Ends this program by the signal that ended the command, if one did, so that a shell sees it.
#[cfg(unix)]
pub(crate) fn end_as(status: ExitStatus) {
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
}

/// No signal ends a command here.
#[cfg(not(unix))]
pub(crate) fn end_as(_: ExitStatus) {}
