//! The answer that `fit` begins with: what today's ranking loses, and when a policy passes it.

use super::{run, table, text, works};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::tempdir;

/// A log of position-based users without chance: the click rate of every item at every position is
/// that of the model, as near as 1,000 lists allow. Two lists: today's, shown nine times of ten,
/// has the worst item on top.
pub(super) fn log(dir: &Path) -> PathBuf {
    let (attraction, examination) = ([0.1, 0.4, 0.3, 0.2], [1.0, 0.6, 0.3]);
    let mut lines = "query\tregion\turls\tclicked_mask\n".to_owned();
    for (list, sessions) in [([0, 1, 2], 900), ([1, 2, 0], 50), ([2, 0, 3], 30), ([3, 1, 2], 20)] {
        for session in 0..sessions {
            let clicked = |(position, &item): (usize, &usize)| {
                let rate: f64 = attraction[item] * examination[position];
                // Evenly spread, and independent at different positions.
                let phase = (f64::from(session) + 0.5) * [0.618_034, 0.414_214, 0.732_051][position] % 1.0;
                if phase < rate { '1' } else { '0' }
            };
            let mask: String = list.iter().enumerate().map(clicked).collect();
            let items: Vec<String> = list.iter().map(|item| (100 + item).to_string()).collect();
            writeln!(lines, "7\t0\t{}\t{mask}", items.join(",")).unwrap();
        }
    }
    // A list that is too short is left out, and said to be.
    lines += "7\t0\t101,102\t00\n";
    let path = dir.join("sessions.tsv");
    fs::write(&path, lines).unwrap();
    path
}

#[test]
fn the_answer_says_what_todays_ranking_loses_and_can_be_played_again() {
    let top = tempdir().unwrap();
    let (log, out) = (log(top.path()), top.path().join("fitted"));
    let printed = works("fit", &[text(&log), "--format", "sessions", "--model", "pbm", "--out", text(&out)]);
    let answer: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("answer.json")).unwrap()).unwrap();
    let all = &answer["all"];
    // Today's clicks are .1 + .6 * .4 + .3 * .3 = .43 in nine lists of ten, and more in the others;
    // the best list gets .4 + .18 + .06.
    let interval =
        |value: &serde_json::Value| ["lower", "mean", "upper"].map(|key| value[key].as_f64().unwrap());
    let [lower, mean, upper] = interval(&all["today"]);
    assert!(lower < 437.0 && 437.0 < upper && (mean - 437.0).abs() < 25.0, "{all}");
    let [lower, _, upper] = interval(&all["loss"]);
    assert!(lower < 203.0 && 203.0 < upper, "{all}");
    assert_eq!((answer["lists"].as_u64(), answer["left_out"].as_u64()), (Some(1000), Some(1)));
    // Four lists cannot tell whether differences happen as predicted; the list is recommended, and
    // its gain may be 0.
    let query = &answer["queries"][0];
    assert_eq!(query["recommended"]["items"][0], "101");
    let [lower, mean, upper] = interval(&query["recommended"]["gain"]);
    assert!(lower > -1e-6 && lower < 203.0 && 203.0 < upper && mean <= interval(&all["loss"])[1], "{query}");
    assert_eq!(answer["models"][0]["verdict"], "cannot-test");
    assert!(answer["played"]["passed"]["median"].as_u64().unwrap() < 10_000, "{answer}");
    for sentence in [
        "Today's ranking gets ",
        "This holds if users are those of the model pbm",
        "This log cannot test whether differences between lists happen as pbm predicts",
        "For 1 query a better list is recommended",
        "This log cannot tell whether pbm-ts gains anything within 10,000 lists",
        "Left out: 1 list, ",
    ] {
        assert!(printed.contains(sentence), "{printed}");
        let page = fs::read_to_string(out.join("index.html")).unwrap();
        assert!(page.contains(&sentence.replace('\'', "&#39;")), "{sentence}");
    }
    let served = "\npolicy = { users = \"pbm\", policy = \"pbm-ts\", positions = 3 }\n";
    assert!(printed.find(served) < printed.find("Fitted: "), "{printed}");
    assert!(
        printed.contains(served) && printed.contains("click-bandits serve serve.toml --from "),
        "{printed}"
    );
    // The experiment behind it plays as it is, also from the directory of its result.
    let (first, second) = (top.path().join("first"), top.path().join("second"));
    let spec = out.join("decision.toml");
    let played = works("simulate", &[text(&spec), "--out", text(&first), "--runs", "3", "--quiet"]);
    assert!(played.is_empty(), "{played}");
    let spec = first.join("spec.toml");
    let played = works("simulate", &[text(&spec), "--out", text(&second)]);
    assert!(played.contains("pbm-ts"), "{played}");
    let results = [first, second].map(|dir| fs::read(dir.join("result.json")).unwrap());
    assert_eq!(results[0], results[1]);
}

/// The clicks of a few lists differ by chance from those of the fitted users.
#[test]
fn few_clicks_do_not_make_an_answer_unreliable() {
    let top = tempdir().unwrap();
    let (log, out) = (top.path().join("few.tsv"), top.path().join("out"));
    // 400 queries of two lists: those that are drawn have 20 lists, whose clicks vary by a fifth.
    let lines = (0..800).map(|n| format!("q{}\ta,b\t{}\n", n / 2, if n % 3 == 0 { "10" } else { "00" }));
    fs::write(&log, "query\turls\tclicked_mask\n".to_owned() + &lines.collect::<String>()).unwrap();
    let printed = works("fit", &[text(&log), "--format", "sessions", "--model", "pbm", "--out", text(&out)]);
    assert!(printed.contains("Today's ranking gets") && !printed.contains("Do not rely"), "{printed}");
}

/// Where nothing was clicked, no difference between lists is contradicted.
#[test]
fn a_log_without_clicks_cannot_test_a_transfer() {
    let top = tempdir().unwrap();
    let (log, out) = (top.path().join("log.tsv"), top.path().join("out"));
    let list = |n: usize| {
        let item = |place: usize| if n.is_multiple_of(3) { (n * n + place * (1 + n % 4)) % 5 } else { place };
        [0, 1, 2, 3, 4].map(|place| ["a", "b", "c", "d", "e"][item(place)]).join(",")
    };
    let line = |n: usize| format!("q{}\t{}\t00000\n", n % 2, list(n / 2));
    let lines: String = (0..100).map(line).collect();
    fs::write(&log, "query\turls\tclicked_mask\n".to_owned() + &lines).unwrap();
    let printed = works("fit", &[text(&log), "--format", "sessions", "--out", text(&out)]);
    assert!(printed.contains("this log cannot test it") && !printed.contains("contradicted"), "{printed}");
}

/// A number on which all drawn users agree has no interval.
#[test]
fn a_query_without_a_click_has_no_intervals() {
    let top = tempdir().unwrap();
    let (log, out) = (top.path().join("log.tsv"), top.path().join("out"));
    let line = |n: usize| {
        let list = ["a,b,c", "b,c,a", "c,a,b"][n / 2 % 3];
        let (query, clicks) =
            if n.is_multiple_of(2) { ("clicked", ["100", "000"][n / 2 % 5 / 3]) } else { ("not", "000") };
        format!("{query}\t{list}\t{clicks}\n")
    };
    let lines: String = (0..400).map(line).collect();
    fs::write(&log, "query\turls\tclicked_mask\n".to_owned() + &lines).unwrap();
    let printed = works("fit", &[text(&log), "--format", "sessions", "--model", "pbm", "--out", text(&out)]);
    let answer: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("answer.json")).unwrap()).unwrap();
    let [clicked, not] = [0, 1].map(|query| &answer["queries"][query]["today"]);
    assert!(clicked["lower"].is_number() && not["mean"].is_number(), "{answer}");
    assert!(not["lower"].is_null() && not["upper"].is_null(), "{answer}");
    let row = printed.lines().find(|line| line.starts_with("  not ")).unwrap();
    assert_eq!(
        row.split_whitespace().skip(1).take(3).collect::<Vec<_>>(),
        ["200", "0.00", "0.00"],
        "{printed}"
    );
}

#[test]
fn without_lists_there_is_no_answer_and_the_reason_is_said() {
    let top = tempdir().unwrap();
    let out = top.path().join("fitted");
    let arguments = [text(&log(top.path())).to_owned(), "--format".to_owned(), "sessions".to_owned()];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let printed = works("fit", &[&arguments[..], &["--answer", "0", "--out", text(&out)]].concat());
    assert!(printed.contains("none was asked for (--answer 0)"), "{printed}");
    assert!(!out.join("answer.json").exists());
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("none was asked for (--answer 0)") && !page.contains("answer.json"), "{page}");
    // With an answer it is another fit.
    let output = run("fit", &[&arguments[..], &["--quiet", "--out", text(&out)]].concat());
    assert!(!output.status.success());
    let counts = top.path().join("counts");
    let table = out.join("counts.csv");
    let printed = works("fit", &["--counts", text(&table), "--out", text(&counts)]);
    assert!(printed.contains("this log has no whole lists in their order"), "{printed}");
    // With sessions, the item may be another column.
    let table = top.path().join("table.csv");
    let rows = (0..60).map(|row| format!("q,u{0},i{1},{1},{2},s{0}\n", row / 3, row % 3 + 1, row % 2));
    fs::write(&table, "query,user,item,position,click,session\n".to_owned() + &rows.collect::<String>())
        .unwrap();
    let answered = |item: &str| {
        let columns = format!("query=query,item={item},position=position,click=click,session=session");
        let out = top.path().join(item);
        let more = ["--format", "delimited", "--columns", &columns, "--model", "pbm", "--quiet"];
        works("fit", &[&[text(&table)], &more[..], &["--out", text(&out)]].concat())
    };
    let printed = answered("user");
    assert!(printed.contains("every list of this log has an item at several places"), "{printed}");
    assert!(answered("item").contains("Today's ranking gets"));
}

/// A terminal has the queries with the most lists, and says how many others the page has.
#[test]
fn queries_beyond_a_terminal_are_counted() {
    let top = tempdir().unwrap();
    let (log, out) = (top.path().join("log.tsv"), top.path().join("out"));
    let line =
        |n: usize| format!("query-{:02}\ta,b\t{}\n", n % 12, if n.is_multiple_of(5) { "10" } else { "00" });
    let more = |n: usize| format!("query-11\tb,a\t{}\n", if n.is_multiple_of(4) { "01" } else { "00" });
    let lines = (0..600).map(line).chain((0..60).map(more));
    fs::write(&log, "query\turls\tclicked_mask\n".to_owned() + &lines.collect::<String>()).unwrap();
    let asked = ["--format", "sessions", "--model", "pbm", "--answer", "12", "--quiet"];
    let printed = works("fit", &[&[text(&log)], &asked[..], &["--out", text(&out)]].concat());
    let rows = printed.lines().filter(|line| line.starts_with("  query-")).count();
    assert!(
        printed.contains("\n  2 more queries, with fewer lists, on the page.\n") && rows == 10,
        "{printed}"
    );
    assert!(printed.contains("  query-11 ") && !printed.contains("  query-09 "), "{printed}");
    assert!(fs::read_to_string(out.join("index.html")).unwrap().contains("query-10"));
}

/// The list of most clicks of a dependent click model is searched for among few positions only. The
/// fit is written without an answer.
#[test]
fn long_lists_lose_the_answer_but_not_the_fit() {
    let dir = tempdir().unwrap();
    let (log, out) = (dir.path().join("long.tsv"), dir.path().join("out"));
    let list = |first: usize| {
        let items = (first..first + 17).map(|item| format!("d{}", item % 19)).collect::<Vec<_>>();
        let clicks: String = (0..17).map(|position| if position == first % 17 { '1' } else { '0' }).collect();
        format!("q\t{}\t{clicks}\n", items.join(","))
    };
    fs::write(&log, "query\turls\tclicked_mask\n".to_owned() + &(0..60).map(list).collect::<String>())
        .unwrap();
    let printed = works("fit", &[text(&log), "--format", "sessions", "--model", "dcm", "--out", text(&out)]);
    let why = "users of dcm have no best list of more than 16 positions.";
    assert!(printed.contains(&format!("No answer on today's ranking: {why}\n")), "{printed}");
    assert!(out.join("parameters.json").exists() && !out.join("answer.json").exists());
    assert!(fs::read_to_string(out.join("index.html")).unwrap().contains(why));
}

/// An answer says what stands against it: here lists that are there, but not for these users.
#[test]
fn what_stands_against_an_answer_is_named() {
    let top = tempdir().unwrap();
    let log = top.path().join("log.tsv");
    let lines = |items: usize, mask: &str| {
        let list = |first: usize| {
            let shown = (first..first + mask.len()).map(|item| format!("d{}", item % items));
            format!("q\t{}\t{mask}\n", shown.collect::<Vec<_>>().join(","))
        };
        "query\turls\tclicked_mask\n".to_owned() + &(0..60).map(list).collect::<String>()
    };
    let once = |query: usize| format!("q{query}\ta,b,c\t010\n");
    let once: String = (0..60).map(once).collect();
    for (name, content, models, why) in [
        (
            "once",
            format!("query\turls\tclicked_mask\n{once}"),
            "dcm",
            "its users cannot be simulated: no query has two lists",
        ),
        (
            "cascade",
            lines(3, "101"),
            "cascade",
            "users of cascade never click twice on a list, as users of this log do",
        ),
        (
            "no-click",
            lines(3, "00"),
            "pbm",
            "no list of the queries of an answer was clicked, so nothing tells how sure it would be",
        ),
        (
            "ubm",
            lines(12, "1000000"),
            "ubm",
            "users of ubm are drawn 400 times, and the best of more than 1,000,000 lists of a query takes too long to find",
        ),
    ] {
        fs::write(&log, content).unwrap();
        let out = top.path().join(name);
        let printed =
            works("fit", &[text(&log), "--format", "sessions", "--model", models, "--out", text(&out)]);
        assert!(printed.contains(&format!("No answer on today's ranking: {why}.\n")), "{printed}");
        let page = fs::read_to_string(out.join("index.html")).unwrap();
        assert!(page.contains(&format!("The reason: {why}.")), "{page}");
    }
    fs::write(&log, "query\turls\tclicked_mask\nq\ta,b\t00\nq\tb,a\t11\n").unwrap();
    let [log, out] = [text(&log), text(&top.path().join("half"))].map(str::to_owned);
    let arguments = ["--format", "sessions", "--model", "pbm", "--prior", "0", "--out", &out];
    let printed = works("fit", &[&[log.as_str()][..], &arguments].concat());
    assert!(printed.contains("ranking: a half of the log has too few clicks"), "{printed}");
}

/// 1,500 queries, of which the answer draws ten: what the log has is what all of its lists have,
/// and not an estimate from those of the sample (835).
#[test]
fn clicks_of_the_log_are_not_those_of_a_sample_of_queries() {
    let top = tempdir().unwrap();
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/logs/heavy.sessions.tsv.gz");
    let arguments =
        [log, "--format", "sessions", "--model", "pbm", "--held-out", "0", "--out", text(top.path())];
    let printed = works("fit", &arguments);
    assert!(
        printed.contains("Today's ranking gets") && printed.contains("(1,089 were observed)"),
        "{printed}"
    );
    let answer = fs::read_to_string(top.path().join("answer.json")).unwrap();
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let [observed, lower, upper] = ["/all/observed", "/all/today/lower", "/all/today/upper"]
        .map(|at| answer.pointer(at).unwrap().as_f64().unwrap());
    assert!((observed - 1089.0).abs() < 1.0 && lower < 1089.0 && 1089.0 < upper, "{answer}");
    // Ten runs of each query: fewer tell no policies apart.
    let spec = fs::read_to_string(top.path().join("spec.toml")).unwrap();
    assert!(spec.contains("\nruns = 10000\n"), "{}", &spec[..400]);
}

/// Two kinds of device, whose users like opposite items, and a ranking that was renewed: today's
/// lists are the last ones, and each stratum has an answer of its own.
#[test]
fn todays_lists_are_the_last_ones_and_strata_stand_side_by_side() {
    let top = tempdir().unwrap();
    let (log, out) = (top.path().join("log.csv"), top.path().join("fitted"));
    let mut lines = "s,t,device,query,item,position,click\n".to_owned();
    for session in 0..2400 {
        let (device, day) = (["phone", "desk"][session % 2], session / 240);
        // The ranking of the last two days is another one.
        let lists = [["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"], ["b", "c", "a"], ["a", "c", "b"]];
        let list = if day < 8 { lists[session / 2 % 5] } else { lists[2 + session / 2 % 2] };
        let best = if device == "phone" { "a" } else { "c" };
        for (position, item) in list.iter().enumerate() {
            let rate = if *item == best { 0.6 } else { 0.15 } / (position as f64 + 1.0);
            let phase = (session as f64 + 0.5) * [0.618_034, 0.414_214, 0.732_051][position] % 1.0;
            let (click, position) = (u8::from(phase < rate), position + 1);
            writeln!(lines, "{session},2026-03-{:02},{device},hats,{item},{position},{click}", day + 1)
                .unwrap();
        }
    }
    fs::write(&log, lines).unwrap();
    let columns = "query=query,session=s,item=item,position=position,click=click,stratum=device,time=t";
    let arguments = |today: &'static str| {
        let fixed = ["--format", "delimited", "--columns", columns, "--model", "pbm", "--out", text(&out)];
        [vec![text(&log)], fixed.to_vec(), vec!["--today", today]].concat()
    };
    // Times are dates: the last two of them are today.
    let printed = works("fit", &arguments("2"));
    let answer: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("answer.json")).unwrap()).unwrap();
    let names: Vec<&str> =
        answer["queries"].as_array().unwrap().iter().map(|query| query["query"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&"hats / phone") && names.contains(&"hats / desk"), "{names:?}");
    let today = &answer["today"];
    assert_eq!((&today["since"], &today["days"]), (&"2026-03-09".into(), &2.0.into()), "{today}");
    assert!(printed.contains("since 2026-03-09"), "{printed}");
    let strata = &answer["strata"][0];
    assert_eq!(strata["query"], "hats");
    // Five lists cannot tell whether differences happen as predicted, so the gain may be 0.
    let gain = ["lower", "mean"].map(|key| strata["gain_of_each"][key].as_f64().unwrap());
    assert!(gain[0] >= 0.0 && gain[1] > 40.0, "{strata}");
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("Strata side by side") && page.contains("hats in 2 strata: "));
    // Policies play against these lists, and know the users from the whole log.
    let lists = fs::read_to_string(out.join("logged.csv")).unwrap();
    assert!(lists.starts_with("instance,query,lists,items,clicks,of-log\n"), "{lists}");
    assert!(lists.lines().any(|line| line.split(',').nth(2) == Some("0")), "{lists}");
    let results = top.path().join("results");
    works("simulate", &[text(&out.join("decision.toml")), "--out", text(&results), "--quiet"]);
}

/// Lists have become shorter: the last usable ones are old, and none of today.
#[test]
fn old_lists_are_not_those_of_the_last_part() {
    let top = tempdir().unwrap();
    let (log, out) = (top.path().join("log.csv"), top.path().join("fitted"));
    let mut lines = "s,t,query,item,position,click\n".to_owned();
    for session in 0..600 {
        let list = &[["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"]][session % 3];
        for (position, item) in list.iter().enumerate().take(if session < 300 { 3 } else { 2 }) {
            let click = u8::from((session / 3 + 2 * position) % if *item == "a" { 2 } else { 5 } == 0);
            writeln!(
                lines,
                "{session},{},hats,{item},{},{click}",
                1_767_225_600 + 3600 * session,
                position + 1
            )
            .unwrap();
        }
    }
    fs::write(&log, lines).unwrap();
    let columns = "query=query,session=s,item=item,position=position,click=click,time=t";
    let read = [text(&log), "--format", "delimited", "--columns", columns, "--model", "pbm"];
    let answer = |today: &[&str]| {
        let out = out.join(today.len().to_string());
        let printed = works("fit", &[&read[..], today, &["--out", text(&out)]].concat());
        let answer = fs::read(out.join("answer.json")).unwrap();
        (printed, serde_json::from_slice::<serde_json::Value>(&answer).unwrap()["today"].clone())
    };
    let (printed, today) = answer(&[]);
    assert!(today["share"] == 1.0 && today["lists"] == 300, "{today}");
    assert!(printed.contains("that of the whole log: with a later part"), "{printed}");
    let (printed, today) = answer(&["--today", ".1"]);
    assert!(today["lists"] == 0 && today["queries_by_all"] == 1, "{today}");
    assert!(printed.contains("(0 lists)") && printed.contains("stand for today"), "{printed}");
}

/// The best item has left: a list with it is a guess, and the answer names it.
#[test]
fn items_that_left_are_named() {
    let top = tempdir().unwrap();
    let (log, out) = (top.path().join("log.csv"), top.path().join("fitted"));
    let mut lines = "s,t,query,item,position,click\n".to_owned();
    for session in 0..3000_u32 {
        let best = if session < 2000 { "best" } else { "new" };
        let list = [["b", "c", best], ["c", best, "b"], ["b", best, "c"]][session as usize % 3];
        for (position, item) in list.into_iter().enumerate() {
            let rate = if item == "best" { 0.6 } else { 0.15 } * [1.0, 0.7, 0.5][position];
            let phase = (f64::from(session) + 0.5) * [0.618_034, 0.414_214, 0.732_051][position] % 1.0;
            let (time, click) = (1_767_225_600 + 3600 * session, u8::from(phase < rate));
            writeln!(lines, "{session},{time},hats,{item},{},{click}", position + 1).unwrap();
        }
    }
    fs::write(&log, lines).unwrap();
    let columns = "query=query,session=s,item=item,position=position,click=click,time=t";
    let read = [text(&log), "--format", "delimited", "--columns", columns, "--model", "pbm"];
    let printed = works("fit", &[&read[..], &["--out", text(&out)]].concat());
    assert!(
        printed.contains("1 item of the recommended lists is no longer shown (such as best)"),
        "{printed}"
    );
    let answer = fs::read(out.join("answer.json")).unwrap();
    let list = &serde_json::from_slice::<serde_json::Value>(&answer).unwrap()["queries"][0]["recommended"];
    assert!(list["gone"] == serde_json::json!(["best"]) && list["is_guess"] == true, "{list}");
    let without = columns.replace(",time=t", "");
    let read = [text(&log), "--format", "delimited", "--columns", &without, "--model", "pbm"];
    let printed = works("fit", &[&read[..], &["--out", text(&top.path().join("other"))]].concat());
    assert!(!printed.contains("no longer shown"), "{printed}");
}

/// A query within a stratum is a query of its own for `judgments` and `evaluate`, too.
#[test]
fn strata_are_rated_and_evaluated_as_queries() {
    let top = tempdir().unwrap();
    let [log, ranking, out, earned] =
        ["log.csv", "new.csv", "fitted", "earned"].map(|name| top.path().join(name));
    let mut lines = "s,user,device,query,item,position,click,p\n".to_owned();
    for session in 0..1200 {
        let (device, best) = [("phone", "a"), ("desk", "b")][session % 2];
        let list = [["a", "b"], ["b", "a"]][session / 2 % 2];
        for (place, item) in list.into_iter().enumerate() {
            let (click, position) = (u8::from(item == best && session / 4 % 3 > place), place + 1);
            writeln!(lines, "{session},u{},{device},hats,{item},{position},{click},0.5", session / 3)
                .unwrap();
        }
    }
    fs::write(&log, lines).unwrap();
    let new = [("phone", ["a", "b"]), ("desk", ["b", "a"])];
    let new = new
        .map(|(device, [first, second])| format!("hats / {device},1,{first}\nhats / {device},2,{second}\n"));
    fs::write(&ranking, format!("query,position,item\n{}", new.concat())).unwrap();
    let columns = "query=query,session=s,user=user,item=item,position=position,click=click,list-propensity=p,stratum=device";
    let read = [text(&log), "--format", "delimited", "--columns", columns, "--quiet"];
    works("fit", &[&read[..], &["--model", "pbm", "--answer", "0", "--out", text(&out)]].concat());
    let ratings = works("judgments", &[text(&out), "--as", "csv", "--by", "coec"]);
    let rating = |of: &str| -> f64 {
        let line = ratings.lines().find(|line| line.starts_with(of)).unwrap();
        line.split(',').nth(2).unwrap().parse().unwrap()
    };
    assert!(rating("hats / phone,a,") > 1.5 && rating("hats / phone,b,") == 0.0, "{ratings}");
    assert!(rating("hats / desk,b,") > 1.5 && rating("hats / desk,a,") == 0.0, "{ratings}");
    let question = ["--ranking", text(&ranking), "--model", "none", "--out", text(&earned)];
    works("evaluate", &[&read[..], &question].concat());
    let answer: serde_json::Value =
        serde_json::from_slice(&fs::read(earned.join("answer.json")).unwrap()).unwrap();
    let [plain, refused] = ["plain.csv", "refused"].map(|name| top.path().join(name));
    fs::write(&plain, "query,position,item\nhats,1,a\nhats,2,b\n").unwrap();
    let question = ["--ranking", text(&plain), "--model", "none", "--out", text(&refused)];
    let error = String::from_utf8(run("evaluate", &[&read[..], &question].concat()).stderr).unwrap();
    assert!(
        error.contains("in the log: it has `hats` (with strata a query is called `shoes / mobile`)"),
        "{error}"
    );
    // Of three sessions, two click on the best item at the top, and one if it is second.
    let difference = answer["estimators"]["list"]["difference"].as_f64().unwrap();
    assert!((difference - 1.0 / 6.0).abs() < 1e-9, "{difference}");
}

/// Lists of five of eight items in an order by chance, for position-based users; `more` gets the
/// number of a session, its list and its clicks, and may change the clicks.
fn random_lists(sessions: u64, more: impl Fn(u64, &mut [bool])) -> String {
    let mut state = 7_u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let (attraction, examination) = ([0.5, 0.4, 0.1, 0.05, 0.3, 0.2, 0.1, 0.05], [1.0, 0.7, 0.5, 0.35, 0.25]);
    let mut lines = String::new();
    for session in 0..sessions {
        // Today's ranking has the best items at the end.
        let mut scores: Vec<(f64, usize)> = attraction.iter().map(|a| a + 0.7 * uniform()).zip(0..).collect();
        scores.sort_by(|a, b| a.0.total_cmp(&b.0));
        let list: Vec<usize> = scores.into_iter().take(5).map(|(_, item)| item).collect();
        let mut clicks: Vec<bool> =
            list.iter().zip(examination).map(|(&item, g)| uniform() < attraction[item] * g).collect();
        more(session, &mut clicks);
        let urls: Vec<String> = list.iter().map(|item| (100 + item).to_string()).collect();
        let mask: String = clicks.iter().map(|click| if *click { '1' } else { '0' }).collect();
        writeln!(lines, "{}\t0\t{}\t{mask}", session % 2, urls.join(",")).unwrap();
    }
    lines
}

/// Beside each warning stands the gain without what it warns of.
#[test]
fn a_warning_has_the_gain_without_what_it_is_about() {
    let top = tempdir().unwrap();
    let answer = |name: &str, lines: &str| -> (serde_json::Value, String) {
        let [log, out] = ["tsv", "out"].map(|end| top.path().join(format!("{name}.{end}")));
        fs::write(&log, format!("query\tregion\turls\tclicked_mask\n{lines}")).unwrap();
        let printed =
            works("fit", &[text(&log), "--format", "sessions", "--model", "pbm", "--out", text(&out)]);
        (serde_json::from_slice(&fs::read(out.join("answer.json")).unwrap()).unwrap(), printed)
    };
    let interval =
        |value: &serde_json::Value| ["lower", "mean", "upper"].map(|key| value[key].as_f64().unwrap());
    let lines = random_lists(2_400, |_, _| {});
    let (once, _) = answer("once", &lines);
    assert!(once.get("without").is_none(), "{once}");
    let [lower, mean, _] = interval(&once["all"]["gain"]);
    assert!(lower > 0.0, "{once}");

    // Without the second half of a log that is its first half, the gain is that of the first half.
    let (twice, printed) = answer("twice", &format!("{lines}{lines}"));
    let without = &twice["without"][0];
    assert_eq!(
        (&without["what"], &without["left_out"]),
        (&"Without the part that stands again".into(), &2_400.into())
    );
    assert_eq!(without["gain"], once["all"]["gain"]);
    let sentence = "Without the part that stands again (2,400 sessions), the recommended lists gain ";
    assert!(printed.contains(sentence), "{printed}");
    assert!(fs::read_to_string(top.path().join("twice.out/index.html")).unwrap().contains(sentence));

    // Robots click everything.
    let robots = random_lists(2_400, |session, clicks| {
        if session % 15 == 0 {
            clicks.fill(true);
        }
    });
    let (found, printed) = answer("robots", &robots);
    assert_eq!(found["without"][0]["left_out"], 160, "{found}");
    let [[_, without, _], [_, with, _]] = [&found["without"][0]["gain"], &found["all"]["gain"]].map(interval);
    assert!((without - mean).abs() < 0.25 * mean && with < 0.7 * mean, "{found} {once}");
    assert!(printed.contains("Without sessions of more than "), "{printed}");
}

/// The lists that a fit recommends, and those that an evaluation learns, are files that `evaluate
/// --ranking` reads, whatever is in the names.
#[test]
fn recommended_and_learned_lists_can_be_evaluated() {
    let top = tempdir().unwrap();
    let sample = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/shop.csv")).unwrap();
    let named = |line: &str| {
        let [day, visit, query, item, rest] = *line.splitn(5, ',').collect::<Vec<_>>() else {
            panic!("{line}")
        };
        format!("{day},{visit},\"{query}, \"\"new\"\"\",\"{item}, black\",{rest}\n")
    };
    let (head, lines) = sample.split_once('\n').unwrap();
    let log = top.path().join("log.csv");
    fs::write(&log, format!("{head}\n{}", lines.lines().map(named).collect::<String>())).unwrap();
    let columns = "query=query,item=product,position=position,click=click,session=visit";
    let works_with = |command: &str, out: &Path, more: &[&str]| {
        let of_log = [text(&log), "--format", "delimited", "--columns", columns, "--model", "pbm"];
        works(command, &[&of_log[..], &["--out", text(out)], more].concat())
    };
    let [fitted, learned, valued] = ["fitted", "learned", "valued"].map(|name| top.path().join(name));
    let printed = works_with("fit", &fitted, &[]);
    let list = fitted.join("recommended.csv");
    assert!(
        printed.contains(&format!("Recommended lists: {} (for evaluate --ranking", text(&list))),
        "{printed}"
    );
    let answer: serde_json::Value =
        serde_json::from_slice(&fs::read(fitted.join("answer.json")).unwrap()).unwrap();
    let rows = table(&list);
    let mut rows = rows.iter();
    for query in answer["queries"].as_array().unwrap() {
        let items = query["recommended"]["items"].as_array().unwrap();
        let items: Vec<&str> = items.iter().map(|item| item.as_str().unwrap()).collect();
        let joined = items.join(" · ");
        assert!(joined.contains(", black · ") && printed.contains(&joined), "{printed}");
        assert!(fs::read_to_string(fitted.join("index.html")).unwrap().contains(&joined));
        for (place, item) in items.iter().enumerate() {
            let row = rows.next().unwrap();
            assert_eq!((&row["item"], &row["position"]), (&(*item).to_owned(), &(place + 1).to_string()));
            assert_eq!(row["query"], query["query"].as_str().unwrap());
        }
    }
    assert!(rows.next().is_none());
    let printed = works_with("evaluate", &learned, &["--ranking", "learned"]);
    let learned = learned.join("learned.csv");
    assert!(printed.contains(text(&learned)) && table(&learned).len() == 9, "{printed}");
    for ranking in [list, learned] {
        let printed = works_with("evaluate", &valued, &["--ranking", text(&ranking)]);
        assert!(printed.starts_with("The new ranking would have earned "), "{printed}");
        assert!(!valued.join("learned.csv").exists());
        fs::remove_dir_all(&valued).unwrap();
    }
    // Without an answer there is no list.
    let none = top.path().join("none");
    works_with("fit", &none, &["--answer", "0"]);
    assert!(!none.join("recommended.csv").exists());
}
