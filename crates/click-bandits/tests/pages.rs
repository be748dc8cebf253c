//! Pages print what commands print: blocks that begin with `$ click-bandits` and have output.
//!
//! A block that shows only the end of the output begins it with `...`. `UPDATE_PAGES=1 cargo test
//! -p click-bandits --test all pages::` writes the blocks anew.

use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Pages that have such blocks.
const PAGES: [&str; 3] = ["README.md", "docs/evaluation.md", "docs/test.md"];
/// A block begins and ends with these.
const MARKS: [&str; 2] = ["```console\n", "```"];
/// The columns of the terminal whose output is on the pages.
const COLUMNS: &str = "100";

/// Standard output of a command in a folder that has the crates of the checkout.
fn output(command: &str) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::os::unix::fs::symlink(format!("{ROOT}/crates"), dir.path().join("crates")).expect("a link");
    let program = Path::new(env!("CARGO_BIN_EXE_click-bandits"));
    let folder = program.parent().expect("a folder").display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-ec", command]).current_dir(dir.path()).env("PATH", path).env("COLUMNS", COLUMNS);
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The commands of a block and the output below them.
fn divided(block: &str) -> (&str, &str) {
    let mut end = 0;
    let mut goes_on = false;
    for line in block.split_inclusive('\n') {
        if !(goes_on || line.starts_with("$ ")) {
            break;
        }
        goes_on = line.ends_with("\\\n");
        end += line.len();
    }
    block.split_at(end)
}

/// The part of an output that a block shows, which begins with the same two words.
fn shown(printed: &str, old: &str) -> String {
    let Some(old) = old.strip_prefix("...\n") else { return printed.to_owned() };
    let start: Vec<&str> = old.split_whitespace().take(2).collect();
    let mut place = 0;
    for line in printed.split_inclusive('\n') {
        if line.split_whitespace().take(2).eq(start.iter().copied()) {
            return format!("...\n{}", &printed[place..]);
        }
        place += line.len();
    }
    panic!("no line begins with {start:?}:\n{printed}")
}

/// The page as its commands would have it, and the number of its blocks with output.
fn renewed(page: &str) -> (String, usize) {
    let (mut out, mut rest, mut blocks) = (String::new(), page, 0);
    while let Some((before, inside)) = rest.split_once(MARKS[0]) {
        let (block, after) = inside.split_once(MARKS[1]).expect("the end of a block");
        let (commands, old) = divided(block);
        out.extend([before, MARKS[0], commands]);
        if commands.starts_with("$ click-bandits") && !old.is_empty() {
            let commands = commands.replace("\n$ ", "\n");
            out += &shown(&output(commands.trim_start_matches("$ ")), old);
            blocks += 1;
        } else {
            out += old;
        }
        out += MARKS[1];
        rest = after;
    }
    (out + rest, blocks)
}

#[test]
fn pages_show_what_their_commands_print() {
    for name in PAGES {
        let path = Path::new(ROOT).join(name);
        let page = fs::read_to_string(&path).expect("a page");
        let (renewed, blocks) = renewed(&page);
        assert!(blocks > 0, "{name} has no block with output");
        if std::env::var_os("UPDATE_PAGES").is_some() {
            fs::write(&path, renewed).expect("written");
        } else {
            assert_eq!(
                page, renewed,
                "{name}: UPDATE_PAGES=1 cargo test -p click-bandits --test all pages::"
            );
        }
    }
}

#[test]
fn the_sample_is_what_its_generator_prints() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");
    let printed = |arguments: &[&str]| {
        let output = Command::new("python3").args(arguments).current_dir(folder).output().ok()?;
        Some(String::from_utf8(output.stdout).expect("text"))
    };
    let [Some(sample), Some(truth)] = [printed(&["shop.py"]), printed(&["shop.py", "truth"])] else {
        println!("SKIPPED: there is no Python here, the sample was not generated");
        return;
    };
    let file = fs::read_to_string(format!("{folder}/shop.csv")).expect("the sample");
    assert!(sample == file, "python3 shop.py > shop.csv");
    let page = fs::read_to_string(format!("{ROOT}/README.md")).expect("a page");
    assert!(page.contains(truth.trim_end()), "README.md: {truth}");
}

/// Prose has the width of the terminal, down to 40 columns.
#[test]
fn prose_has_the_width_of_the_terminal() {
    let command = "click-bandits formats shop.csv --example > shop.csv
         click-bandits fit shop.csv --format delimited --out fitted --model pbm,cascade --columns \
         query=query,item=product,position=position,click=click,session=visit
         click-bandits policies pbm-pie
         click-bandits formats ranking.csv";
    for columns in [40, 60] {
        let printed = output(&format!("export COLUMNS={columns}\n{command}"));
        let prose = |line: &&str| !line.trim_start().contains("  ") && !line.starts_with("    ");
        for line in printed.lines().filter(prose) {
            assert!(line.chars().count() <= columns || !line.trim().contains(' '), "{columns}: {line}");
        }
        assert!(printed.contains("clicks per 1,000"), "{printed}");
    }
}

/// Whole experiments on pages, which begin with their name, have no errors.
#[test]
fn experiments_on_pages_have_no_errors() {
    let folders = ["docs", "crates/click-bandits"].map(|folder| Path::new(ROOT).join(folder));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut checked = 0;
    for path in paths.filter(|path| path.extension().is_some_and(|end| end == "md")) {
        let page = fs::read_to_string(&path).expect("a page");
        let blocks = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        for block in blocks.filter(|block| block.starts_with("name = ") && block.contains("task = ")) {
            let printed = output(&format!("click-bandits check - <<'END' || true\n{block}END"));
            // The files that it names are the reader's.
            let is_of_file = |line: &str| line.contains("o such file");
            let is_right = printed.starts_with("-: no errors") || printed.lines().all(is_of_file);
            assert!(is_right && !printed.is_empty(), "{}: {printed}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 3, "{checked} experiments");
}
