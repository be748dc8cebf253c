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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_a_full_hash() {
        // A build from an archive has no commit.
        if let Some(Git { commit, .. }) = git() {
            assert!(commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{commit}");
        }
    }
}
