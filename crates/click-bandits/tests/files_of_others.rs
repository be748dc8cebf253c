//! The section on files of others in `docs/click-logs.md`: its commands, on files in these formats.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::tempdir;

const PAGE: &str = include_str!("../../../docs/click-logs.md");

/// Twenty lists of two queries, as the tools of the section write them.
fn write_files(dir: &Path) {
    let mut texts =
        [String::new(), String::new(), String::from("query,items,clicks\n"), String::new(), String::new()];
    texts[3].push_str("qid,docno,position,label\n");
    for list in 0..20 {
        let (query, clicks) = (["red shoes", "hat"][list % 2], [list % 3 == 0, list % 4 == 0].map(u8::from));
        let [first, second] = if list % 5 == 0 { ["b", "a"] } else { ["a", "b"] };
        let [of_mind, of_json, of_lists, of_rows, _] = &mut texts;
        writeln!(
            of_mind,
            "{list}\tU{list}\t11/13/2019 8:36:57 AM\tN1 N2\t{first}-{} {second}-{}",
            clicks[0], clicks[1]
        )
        .unwrap();
        let session = format!(
            r#"{{"session":[{{"click":{},"purchase":0,"doc":"{first}"}},{{"click":{},"purchase":0,"doc":"{second}"}}]}}"#,
            clicks[0], clicks[1]
        );
        writeln!(
            of_json,
            r#"{{"search_keys":{{"search_term":"{query}"}},"judgment_keys":[{session},{session}]}}"#
        )
        .unwrap();
        writeln!(of_lists, "{query},\"['{first}', '{second}']\",[{} {}]", clicks[0], clicks[1]).unwrap();
        for (place, item) in [first, second].iter().enumerate() {
            writeln!(of_rows, "{query},{item},{},{}", place + 1, clicks[place]).unwrap();
        }
    }
    texts[4].push_str("hat Q0 b 0 2.5 BM25\nhat Q0 a 1 1.5 BM25\n");
    let names = ["behaviors.tsv", "sessions.json", "lists.csv", "train.csv", "run.res"];
    for (name, text) in names.iter().zip(&texts) {
        fs::write(dir.join(name), text).unwrap();
    }
}

#[test]
fn every_command_of_the_section_runs() {
    let dir = tempdir().unwrap();
    write_files(dir.path());
    let section = PAGE.split("\n## Files of others\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let commands: Vec<&str> =
        section.lines().filter_map(|line| line.strip_prefix("$ click-bandits ")).collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        let mut program = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
        let output = program.args(command.split(' ')).current_dir(dir.path()).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // The same lists twice, with as many clicks: 7 and 5 of 20 (the first and the second place).
    let counts = |fit: &str| -> u64 {
        let text = fs::read_to_string(dir.path().join(fit).join("counts.csv")).unwrap();
        text.lines().skip(1).map(|line| line.split(',').nth(3).unwrap().parse::<u64>().unwrap()).sum()
    };
    assert_eq!(["mind", "pyclickmodels", "lists", "fitted"].map(counts), [12, 24, 12, 12]);
    // The weights of a cell: its clicks over the examination, and its other impressions.
    let weighted = fs::read_to_string(dir.path().join("weighted.csv")).unwrap();
    assert!(weighted.starts_with("query,item,group,label,position,weight,examination\n"), "{weighted}");
    let counts = fs::read_to_string(dir.path().join("fitted/counts.csv")).unwrap();
    let mut expected = 0;
    for cell in counts.lines().skip(1) {
        let cell: Vec<&str> = cell.split(',').collect();
        let number = |text: &str| text.parse::<f64>().unwrap();
        let (place, clicks, shown) = (number(cell[2]) - 1.0, number(cell[3]), number(cell[4]));
        for (label, of_label) in [("1", clicks), ("0", shown - clicks)] {
            let is_of =
                |row: &&Vec<&str>| row[..2] == cell[..2] && row[3] == label && number(row[4]) == place;
            let rows: Vec<Vec<&str>> = weighted.lines().skip(1).map(|row| row.split(',').collect()).collect();
            let row = rows.iter().find(is_of);
            assert_eq!(row.is_some(), of_label > 0.0, "{cell:?}");
            let Some(row) = row else { continue };
            let share = if label == "1" { number(row[6]) } else { 1.0 };
            assert!((number(row[5]) * share - of_label).abs() < 1e-9, "{row:?}");
            expected += 1;
        }
    }
    assert_eq!(weighted.lines().count(), expected + 1);
}
