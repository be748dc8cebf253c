//! Files of rankings, and what is wrong with them.

use evaluation::Ranking;

fn error(content: &str) -> String {
    Ranking::read("r", content.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_run_and_a_table_are_the_same_ranking() {
    let table = Ranking::read("r", b"query,position,item\nq,2,b\nq,1,a\np,1,c\n").unwrap();
    for run in [
        "q Q0 b 2 0.5 x\nq Q0 a 1 0.9 x\np Q0 c 1 1 x\n",
        "\nq\tQ0\tb\t1\t0.5\tx\r\nq Q0 a 0 0.9 x\np Q0 c 0 1 x",
    ] {
        assert_eq!(Ranking::read("r", run.as_bytes()).unwrap(), table);
    }
    let marked =
        Ranking::read("r", "\u{feff}item,query,position\r\nb,q,2\r\na,q,1\r\nc,p,1\r\n".as_bytes()).unwrap();
    assert_eq!(marked, table);
    let spaced = Ranking::read("r", b"query, position, item\nq, 2, b\nq, 1, a\np, 1, c\n").unwrap();
    assert_eq!(spaced, table);
    // Without spaces in the header, they are part of the names, as in logs.
    let other = Ranking::read("r", b"position,query,item\n2,q, b\n1,q,a\n1,p,c\n").unwrap();
    assert_ne!(other, table);
}

#[test]
fn lines_of_tables_are_checked() {
    let header = "query,list,probability,position,item\n";
    for (rows, expected) in [
        ("q,1,1,1,a\nq,1,1,2,a\n", "r:3: column 5 (item): item `a` twice in a list of `q`"),
        ("q,1,1,1,a\nq,1,1,3,b\n", "r:3: column 4 (position): expected position 2 of `q`, found `3`"),
        ("q,1,1,1,a\nq,1,1,1,b\n", "r:3: column 4 (position): position 1 of `q` twice in a list"),
        ("q,1,1,65,a\n", "r:2: column 4 (position): expected a position from 1 to 64, found `65`"),
        ("q,1,1,-1,a\n", "r:2: column 4 (position): expected a position from 1 to 64, found `-1`"),
        (
            "q,1,0.5,1,a\nq,2,0.499,1,b\n",
            "r:2: column 3 (probability): the probabilities of the lists of `q` sum to 0.999: expected 1",
        ),
        ("q,1,0,1,a\n", "r:2: column 3 (probability): expected a probability above 0, at most 1, found `0`"),
        (
            "q,1,NaN,1,a\n",
            "r:2: column 3 (probability): expected a probability above 0, at most 1, found `NaN`",
        ),
        ("q,1,half,1,a\n", "r:2: column 3 (probability): expected a probability, found `half`"),
        (
            "q,1,1,1,a\nq,1,0.5,2,b\n",
            "r:3: column 3 (probability): expected 1, as elsewhere in the same list, found `0.5`",
        ),
        (
            "q,1,0.5,1,a\nq,2,0.5,1,b\nq,2,0.5,2,a\n",
            "r:3: the lists of `q` have 1 and 2 positions: expected as many in each",
        ),
        ("q,1,1,1\n", "r:2: expected 5 columns, found 4"),
        (",1,1,1,a\n", "r:2: column 1 (query): expected a name, found none"),
        ("", "r: the ranking has no rows"),
    ] {
        assert_eq!(error(&format!("{header}{rows}")), expected);
    }
    for header in [
        "",
        "query,item\n",
        "query,session,position,item\n",
        "query,position,item,list\n",
        "query,query,position,item\n",
    ] {
        assert!(
            error(header).starts_with("r:1: expected a header with the columns query"),
            "{}",
            error(header)
        );
    }
}

#[test]
fn lines_of_runs_are_checked() {
    for (run, expected) in [
        (
            "q Q0 a 1 1 x\nq Q0 b 2 2 x\n",
            "r:2: column 5 (score): expected a score not above that of the rank before it, found `2`",
        ),
        ("q Q0 a 1 1 x\nq Q0 b 3 0 x\n", "r:2: column 4 (rank): expected position 2 of `q`, found `3`"),
        ("q Q0 a 1 1 x\nq Q0 b\n", "r:2: expected 6 fields of a TREC run, found 3"),
        ("q Q0 a first 1 x\n", "r:1: column 4 (rank): expected a rank, found `first`"),
    ] {
        assert_eq!(error(run), expected);
    }
}

#[test]
fn other_files_are_refused() {
    let not_text = Ranking::read("r", b"query,position,item\nq,1,\xff\n").unwrap_err();
    assert_eq!(not_text.to_string(), "r:2: the text is not UTF-8");
    let folder = tempfile::tempdir().unwrap();
    let missing = Ranking::open(&folder.path().join("none.csv")).unwrap_err().to_string();
    assert!(missing.contains("none.csv: "), "{missing}");
    assert!(Ranking::open(folder.path()).unwrap_err().to_string().contains("is not a regular file"));
}
