//! Describes this program for manifests.

use experiment::manifest::{Git, Program};

/// This program, with its compiler and commit if the build recorded them.
pub(crate) fn program() -> Program {
    let rustc = option_env!("CLICK_BANDITS_RUSTC").map(str::to_owned);
    Program { rustc, git: git(), ..Program::library() }
}

/// The checkout that this program was built from, if the build recorded it.
fn git() -> Option<Git> {
    let (commit, dirty) = (option_env!("CLICK_BANDITS_COMMIT")?, option_env!("CLICK_BANDITS_DIRTY")?);
    Some(Git { commit: commit.to_owned(), dirty: dirty == "true" })
}
