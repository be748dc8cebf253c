//! Describes this program for manifests.

use experiment::manifest::{Git, Program};

/// This program, with its compiler and commit if the build recorded them.
pub(crate) fn program() -> Program {
    let rustc = option_env!("CLICK_BANDITS_RUSTC").map(str::to_owned);
    let checkout = option_env!("CLICK_BANDITS_COMMIT").zip(option_env!("CLICK_BANDITS_DIRTY"));
    let git = checkout.map(|(commit, dirty)| Git { commit: commit.to_owned(), dirty: dirty == "true" });
    Program { rustc, git, ..Program::library() }
}
