//! Puts the experiments of the papers into the program, and records compiler and commit for
//! `manifest.json` and manual pages. The commit is left out if it is unknown: without git, in an
//! archive of the source, or in a checkout of another project.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The files and folders that the program is built from, relative to the top of the checkout.
const SOURCES: [&str; 7] = [
    ".cargo",
    "Cargo.lock",
    "Cargo.toml",
    "crates",
    "rust-toolchain",
    "rust-toolchain.toml",
    "xtask/experiments",
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    embed(&experiments()?)?;
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    if let Some(version) = answer(Command::new(compiler).arg("--version")) {
        println!("cargo::rustc-env=CLICK_BANDITS_RUSTC={version}");
    }
    if let Some((commit, dirty)) = commit() {
        println!("cargo::rustc-env=CLICK_BANDITS_COMMIT={commit}");
        println!("cargo::rustc-env=CLICK_BANDITS_DIRTY={dirty}");
        if let Some(date) = git(&["show", "--no-patch", "--format=%cs", "HEAD"]) {
            println!("cargo::rustc-env=CLICK_BANDITS_DATE={date}");
        }
    }
    Ok(())
}

/// The folder of the experiments: the link in the package, or its target in a checkout without
/// symbolic links.
fn experiments() -> io::Result<PathBuf> {
    let folders = ["experiments", "../../xtask/experiments"].map(|folder| here().join(folder));
    let found = folders.into_iter().find(|folder| folder.is_dir());
    found.ok_or_else(|| io::Error::other("no experiments: expected them in xtask/experiments"))
}

/// Writes a table of the experiments in a folder, with the names and contents of their files.
fn embed(folder: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut table = String::from("&[\n");
    for experiment in sorted(folder)?.into_iter().filter(|path| path.join("experiment.toml").is_file()) {
        let _ = writeln!(table, "    EmbeddedExperiment {{ name: {:?}, files: &[", name_of(&experiment));
        for file in sorted(&experiment)? {
            let path = file.to_str().ok_or_else(|| io::Error::other("a path that is not UTF-8"))?;
            let _ = writeln!(table, "        ({:?}, include_bytes!({path:?})),", name_of(&file));
        }
        table.push_str("    ] },\n");
    }
    table.push(']');
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&out).join("experiments.rs"), table)
}

/// The entries of a folder in the order of their names.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The commit of the checkout that holds this file, and whether tracked sources differ from it.
fn commit() -> Option<(String, bool)> {
    let commit = git(&["rev-parse", "--verify", "HEAD"])?;
    // Fails if the source lies untracked in a checkout of another project.
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let top = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?);
    for source in SOURCES {
        watch(&top.join(source));
    }
    // HEAD, its branch, packed or not, and its log change with the commit. Their paths differ in a
    // linked worktree.
    let mut names =
        vec!["HEAD".to_owned(), "index".to_owned(), "logs/HEAD".to_owned(), "packed-refs".to_owned()];
    names.extend(git(&["symbolic-ref", "--quiet", "HEAD"]));
    for name in names {
        if let Some(path) = git(&["rev-parse", "--git-path", &name]) {
            watch(&here().join(path));
        }
    }
    let top = top.to_str()?;
    let mut status = vec!["-C", top, "status", "--porcelain", "--untracked-files=no", "--"];
    status.extend(SOURCES);
    Some((commit, !git(&status)?.is_empty()))
}

/// Runs this script again when a path changes. A missing one would count as changed every time.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn here() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from)
}

/// The output of git in this checkout, whatever checkout the environment names.
fn git(arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    // Without this, reading the status would rewrite the index.
    command.env("GIT_OPTIONAL_LOCKS", "0").current_dir(here());
    answer(command.args(arguments))
}

/// The output of a command; `None` if it fails.
fn answer(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
