//! Completions in the shells that are installed, and manual pages.

use super::{commands, empty, printed, refused, write};
use std::path::Path;
use std::process::Command;

/// Whether a program can be started; says so if a test leaves it out.
fn is_installed(program: &str, argument: &str) -> bool {
    let found = Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success());
    if !found {
        println!("SKIPPED: {program} is not installed");
    }
    found
}

/// Runs a script in a shell that finds the program, and gives what it prints.
fn script(shell: &str, arguments: &[&str], text: &str) -> String {
    let dir = empty();
    let folder =
        Path::new(env!("CARGO_BIN_EXE_click-bandits")).parent().expect("a folder").display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(shell);
    command
        .args(arguments)
        .arg("-c")
        .arg(text)
        .env("PATH", path)
        .env("HOME", dir.path())
        .current_dir(dir.path());
    let output = command.output().expect("the shell starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shell}: {error}");
    // A shell that cannot read the completions reports it, and continues.
    assert!(error.is_empty(), "{shell}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn bash_completes_commands_options_and_names() {
    if !is_installed("bash", "--version") {
        return;
    }
    let completed = |words: &str, last: usize| {
        let text = format!(
            "source <(click-bandits completions bash); \
             function=$(complete -p click-bandits | sed 's/.*-F \\([^ ]*\\).*/\\1/'); \
             COMP_WORDS=({words}); COMP_CWORD={last}; \
             \"$function\" click-bandits \"${{COMP_WORDS[{last}]}}\" \"${{COMP_WORDS[{last}-1]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        script("bash", &["--norc"], &text)
    };
    assert_eq!(completed("click-bandits pol", 1), "policies\n");
    assert_eq!(
        completed("click-bandits policies pbm-", 2),
        "pbm-ucb\npbm-pie\npbm-kl-ucb\npbm-ts\npbm-gibbs\n"
    );
    assert_eq!(completed("click-bandits simulate --max", 2), "--max-steps\n");
    assert_eq!(completed("click-bandits init casc", 2), "cascade\n");
}

#[test]
fn zsh_loads_the_completions() {
    if !is_installed("zsh", "--version") {
        return;
    }
    let text = "autoload -U compinit; compinit -u; source <(click-bandits completions zsh); print -- $_comps[click-bandits]; \
                whence -w _click-bandits";
    assert_eq!(script("zsh", &["-f"], text), "_click-bandits\n_click-bandits: function\n");
}

#[test]
fn fish_completes_commands_and_names() {
    if !is_installed("fish", "--version") {
        return;
    }
    let completed = |line: &str| {
        let text = format!("click-bandits completions fish | source; complete -C \"{line}\"");
        let found = script("fish", &["--no-config"], &text);
        found.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(completed("click-bandits pol"), ["policies"]);
    assert!(completed("click-bandits simulate --max-").contains(&"--max-steps".to_owned()));
    let names = completed("click-bandits policies pbm-");
    assert!(names.contains(&"pbm-pie".to_owned()), "{names:?}");
}

#[test]
fn completions_of_the_other_shells_name_every_command() {
    let dir = empty();
    for shell in ["elvish", "powershell"] {
        let text = printed(dir.path(), &["completions", shell]);
        assert!(commands().iter().all(|command| text.contains(command)), "{shell}");
    }
}

#[test]
fn manual_pages_are_of_every_command_and_have_no_faults() {
    let dir = empty();
    printed(dir.path(), &["man", "pages"]);
    let pages = dir.path().join("pages");
    let names = commands().into_iter().map(|command| format!("click-bandits-{command}.1"));
    for name in names.chain(["click-bandits.1".to_owned()]) {
        let page = pages.join(&name);
        let text = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(text.contains(".SH EXAMPLES") && text.contains("$ click\\-bandits"), "{name}");
        for (program, arguments) in
            [("groff", ["-man", "-ww", "-Tutf8"]), ("mandoc", ["-T", "lint", "-Wwarning"])]
        {
            if is_installed(program, if program == "groff" { "--version" } else { "-h" }) {
                let output = Command::new(program).args(arguments).arg(&page).output().expect("it starts");
                let said = if program == "groff" { output.stderr } else { output.stdout };
                assert!(said.is_empty(), "{program}: {name}: {}", String::from_utf8_lossy(&said));
            }
        }
    }
    // Pages of an earlier call are replaced, other files are not.
    printed(dir.path(), &["man", "pages"]);
    write(&pages.join("click-bandits.1"), "mine");
    let (_, error) = refused(dir.path(), &["man", "pages"]);
    assert!(error.contains("click-bandits.1: is in the way"), "{error}");
}
