//! Files of rankings, and what is wrong with them.

use allocation_counter::measure;
use evaluation::{Question, Ranking, RankingError};
use log_reader::{Error, Format, Ids, Input, Reader, Ubi};

fn error(content: &str) -> String {
    Ranking::read("r", content.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_run_and_a_table_are_the_same_ranking() {
    let table = Ranking::read("r", b"query,position,item\nq,2,b\nq,1,a\np,1,c\n").unwrap();
    for run in [
        "q Q0 b 2 0.5 x\nq Q0 a 1 0.9 x\np Q0 c 1 1 x\n",
        // The order is that of scores, whatever the ranks; of equal scores the last name is first.
        "q Q0 a 2 0.9 x\nq Q0 b 1 0.5 x\np Q0 c 7 1 x\n",
        "q Q0 a - 9e-1 x\np Q0 c first 1 x\nq Q0 b -3 -5 x\n",
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
    let tied = Ranking::read("r", b"q Q0 a 1 0.5 x\nq Q0 b 2 0.5 x\nq Q0 c 3 0.50 x\n").unwrap();
    assert_eq!(tied, Ranking::read("r", b"query,position,item\nq,1,c\nq,2,b\nq,3,a\n").unwrap());
}

/// A team writes rankings with the columns of its log.
#[test]
fn a_file_may_have_the_columns_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new.csv");
    std::fs::write(&file, "sku,q,rank\nb,q,2\na,q,1\n").unwrap();
    let columns = log_reader::Columns::parse("query=q,item=sku,position=rank,click=clicked").unwrap();
    let expected = Ranking::read("r", b"query,position,item\nq,1,a\nq,2,b\n").unwrap();
    assert_eq!(Ranking::open_for(&file, &Format::Delimited(columns.clone())).unwrap(), expected);
    let refused = |found: Result<Ranking, RankingError>| found.unwrap_err().to_string();
    assert!(refused(Ranking::open(&file)).contains("found `sku,q,rank`"));
    // The names of rankings come first.
    std::fs::write(&file, "sku,query,rank,item,q\nx,q,1,a,p\nx,q,2,b,p\n").unwrap();
    assert_eq!(Ranking::open_for(&file, &Format::Parquet(columns.clone())).unwrap(), expected);
    // No column stands for two.
    std::fs::write(&file, "query,item\nq,1\n").unwrap();
    assert!(refused(Ranking::open_for(&file, &Format::Delimited(columns))).contains("expected a header"));
}

#[test]
fn a_fault_has_its_line_whatever_ends_lines() {
    for content in ["query,position,item\nq,1,\"a\nb\"\n\nq,x,c\n", "q Q0 a 1 1 x\n\n\n\nq Q0 c 1 x\n"] {
        for content in [content.to_owned(), content.replace('\n', "\r\n")] {
            assert!(error(&content).starts_with("r:5: "), "{}", error(&content));
        }
    }
    assert!(error("query,position,item\r\nq,1,a\r\nq,2\r\n").starts_with("r:3: expected 3 columns"));
}

/// Runs of evaluations have a thousand items a query; lists of logs have at most 64.
#[test]
fn long_rankings_are_cut() {
    let line = |rank: i32| format!("q Q0 i{rank} {rank} {} x\n", -rank);
    let run = |n| Ranking::read("r", (1..=n).map(line).collect::<String>().as_bytes()).unwrap();
    assert_eq!((run(1000).n_positions(), run(1000)), (64, run(64)));
    let rows: Vec<String> = (1..=100).map(|rank| format!("q,{rank},i{rank}\n")).collect();
    let rows = rows.concat();
    let table = Ranking::read("r", format!("query,position,item\n{rows}").as_bytes()).unwrap();
    assert_eq!(table, run(64));
}

/// A log of User Behavior Insights is read in lower case and without outer blanks, a table is not.
#[test]
fn queries_are_spelt_as_in_the_log() {
    let [ubi, exact] =
        [false, true].map(|exact_queries| Format::Ubi(Ubi { exact_queries, ..Ubi::default() }));
    let log = "{\"query_id\":\"1\",\"user_query\":\" Red  shoes\",\"query_response_hit_ids\":[\"a\",\"b\"]}\n\
               {\"query_id\":\"1\",\"action_name\":\"click\",\"event_attributes\":{\"object\":{\"object_id\":\"b\"}}}\n";
    let found = |format: &Format, ranking: &str| {
        let (ids, ranking) = (Ids::new(), Ranking::read("r", ranking.as_bytes()).unwrap());
        let question = Question::new(ranking, format, None, &ids).map_err(|error| error.to_string())?;
        let inputs = |_| Ok::<_, Error>(vec![Input::stream("log", log.as_bytes())]);
        let read = Reader::new(format.clone()).read_lists(ids, inputs, || question.tally()).unwrap();
        Ok::<_, String>(question.levels(read.receivers, false).is_some_and(|levels| levels.lists == 1))
    };
    for (format, query, expected) in [
        (&ubi, "RED  Shoes ", true),
        (&ubi, "red shoes", false),
        (&exact, " Red  shoes", true),
        (&exact, "red  shoes", false),
    ] {
        let ranking = format!("query,position,item\n{query},1,a\n{query},2,b\n");
        assert_eq!(found(format, &ranking), Ok(expected), "{query}");
    }
    // Two spellings of one query with one list, and with two.
    let twice = "query,position,item\nRed  shoes,1,a\nred  shoes,1,a\n";
    assert_eq!(found(&ubi, twice), Ok(true));
    let differ = "query,position,item\nRed  shoes,1,a\nred  shoes,1,b\n";
    let message = "the ranking has two lists for the query `red  shoes`, as the log spells it: keep one";
    assert_eq!(found(&ubi, differ), Err(message.to_owned()));
}

#[test]
fn values_are_those_of_every_position() {
    for (values, fits) in
        [(&[1.0][..], false), (&[1.0, 0.5], true), (&[1.0, 0.5, 0.2], false), (&[1.0, -1.0], false)]
    {
        let ranking = Ranking::read("r", b"query,position,item\nq,1,a\nq,2,b\n").unwrap();
        let question = Question::new(ranking, &Format::Yandex, Some(values), &Ids::new());
        assert_eq!(question.is_ok(), fits, "{values:?}");
    }
}

#[test]
fn lines_of_tables_are_checked() {
    let header = "query,list,probability,position,item\n";
    for (rows, expected) in [
        ("q,1,1,1,a\nq,1,1,2,a\n", "r:3: column 5 (item): item `a` twice in a list of `q`"),
        ("q,1,1,1,a\nq,1,1,3,b\n", "r:3: column 4 (position): expected position 2 of `q`, found `3`"),
        ("q,1,1,1,a\nq,1,1,1,b\n", "r:3: column 4 (position): position 1 of `q` twice in a list"),
        ("q,1,1,65,a\n", "r:2: column 4 (position): expected position 1 of `q`, found `65`"),
        ("q,1,1,0,a\n", "r:2: column 4 (position): rankings count from 1, found `0`"),
        ("q,1,1,-1,a\n", "r:2: column 4 (position): expected a position from 1, found `-1`"),
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
        let error = error(header);
        let found = format!("or a TREC run, found `{}`", header.trim_end());
        assert!(error.starts_with("r:1: expected a header with the columns query"), "{error}");
        assert!(error.ends_with(&found), "{error}");
    }
}

#[test]
fn lines_of_runs_are_checked() {
    for (run, expected) in [
        ("q Q0 a 1 1 x\nq Q0 a 2 0 x\n", "r:2: column 3 (item): item `a` twice in a list of `q`"),
        ("q Q0 a 1 1 x\nq Q0 b 2 NaN x\n", "r:2: column 5 (score): expected a number, found `NaN`"),
        ("q Q0 a 1 1 x\nq Q0 b\n", "r:2: expected 6 fields of a TREC run, found 3"),
        ("q Q0 a 1 first x\n", "r:1: column 5 (score): expected a number, found `first`"),
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
    assert!(
        Ranking::open(folder.path()).unwrap_err().to_string().contains("is a directory: name a file in it")
    );
}

/// A ranking is streamed: memory is taken by its names, each once, and 20 bytes a row. A thread
/// that reads takes none for the lists of queries that the log does not have.
#[test]
fn a_ranking_takes_less_memory_than_a_few_of_its_files() {
    let row = |n: usize| format!("query {:05},{},item {:04}\n", n / 10, n % 10 + 1, n * 7 % 5000);
    let file = format!("query,position,item\n{}", (0..100_000).map(row).collect::<String>());
    let run = |n: usize| format!("query{:05} Q0 item{:04} 1 {} x\n", n / 10, n * 7 % 5000, n % 10);
    let run: String = (0..100_000).map(run).collect();
    for content in [&file, &run] {
        let ids = Ids::new();
        let read = || {
            let ranking = Ranking::read("r", content.as_bytes()).unwrap();
            Question::new(ranking, &Format::Yandex, None, &ids).unwrap()
        };
        let peak = measure(|| drop(read())).bytes_max;
        assert!(peak < 3 * content.len() as u64, "{peak} of {}", content.len());
        let question = read();
        let tallies = measure(|| (0..64).for_each(|_| drop(question.tally()))).bytes_max;
        assert!(tallies < 1 << 17, "{tallies}");
    }
}
