//! `test`: every number of the cases of the crate `interleaving`, days, plans, and what is refused.

use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::tempdir;

fn data(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../interleaving/tests/data", name].iter().collect()
}

fn run(events: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_click-bandits")).arg("test").arg(events).args(more).output().unwrap()
}

/// The verdict of a test that succeeds.
fn verdict(events: &Path, more: &[&str]) -> Value {
    let output = run(events, &[more, &["--json", "--quiet"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn close(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn the_cases_of_the_library() {
    let teams = verdict(&data("teams.csv"), &["--kind", "interleaving"]);
    assert_eq!(teams["verdict"], "new");
    assert_eq!(teams["users"], serde_json::json!({"new": 82, "old": 42, "ties": 26}));
    assert_eq!(teams["clicks"]["new"].as_u64().unwrap() + teams["clicks"]["old"].as_u64().unwrap(), 618);
    let lists = verdict(&data("teams.csv"), &["--kind", "interleaving", "--unit", "list"]);
    assert_eq!(lists["users"], serde_json::json!({"new": 168, "old": 94, "ties": 40}));
    // The baseline determines the direction, and nothing else.
    let other = verdict(&data("teams.csv"), &["--kind", "interleaving", "--baseline", "old"]);
    assert_eq!((&other["verdict"], &other["evidence"]), (&teams["verdict"], &teams["evidence"]));
    close(&other["share"], 82.0 / 124.0);
    close(&teams["share"], 42.0 / 124.0);

    let ab = verdict(&data("ab.csv"), &["--kind", "ab"]);
    assert_eq!((&ab["verdict"], &ab["users_in_both"]), (&Value::Null, &Value::from(0)));
    assert_eq!(ab["arms"]["A"]["sessions"], 556);
    close(&ab["arms"]["A"]["se"], 0.053_612_152_514_048_286);
    close(&ab["difference"], 0.059_739_179_340_566_634);
    close(&ab["z"], 0.793_376_943_330_285_5);
    close(&ab["split"]["p"], 0.617_075_077_451_973_9);
    let fixed = verdict(&data("ab.csv"), &["--kind", "ab", "--looks", "4", "--look", "1"]);
    close(&fixed["boundary"], 2.0 * 2.0243);
}

/// The same rows in any order have the same verdict, and in order of time they are read once.
#[test]
fn a_test_has_a_path_of_days() {
    let top = tempdir().unwrap();
    let [events, shuffled, out] = ["events.csv", "shuffled.csv", "out"].map(|name| top.path().join(name));
    let mut rows: Vec<String> = Vec::new();
    for day in 1..=9 {
        for user in 0..6 {
            rows.push(format!(
                "u{day}-{user},{},2026-03-0{day}T10:0{user}:00Z",
                if user < 4 { "new" } else { "old" }
            ));
        }
    }
    let text = |rows: &[String]| format!("user,team,time\n{}\n", rows.join("\n"));
    fs::write(&events, text(&rows)).unwrap();
    rows.reverse();
    fs::write(&shuffled, text(&rows)).unwrap();
    let kind = ["--kind", "interleaving", "--baseline", "old"];
    let (found, of_shuffled) = (verdict(&events, &kind), verdict(&shuffled, &kind));
    let days = found["days"].as_array().unwrap();
    assert_eq!((days.len(), &found["days"]), (9, &of_shuffled["days"]));
    assert_eq!((found["times_back"].as_u64(), of_shuffled["times_back"].as_u64()), (Some(0), Some(53)));
    assert_eq!(days[2]["users"], serde_json::json!({"new": 12, "old": 6, "ties": 0}));
    assert_eq!(days[2]["day"], "2026-03-03");
    let output = run(&events, &[&kind[..], &["--out", out.to_str().unwrap()]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("Not decided between `old` and `new`: `new` won 36 of 54 users"), "{text}");
    assert!(text.contains("2026-03-09"), "{text}");
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("Day by day") && page.contains("<svg"), "{page}");
    let written: Value = serde_json::from_slice(&fs::read(out.join("verdict.json")).unwrap()).unwrap();
    assert_eq!(written, found);
}

/// The codes of the remarks of a verdict.
fn codes(verdict: &Value) -> Vec<&str> {
    verdict["remarks"].as_array().unwrap().iter().map(|remark| remark["code"].as_str().unwrap()).collect()
}

/// A table of users who click `clicks` times of 10 on the days from 2026-03-01 on, in both arms.
fn days_of_arms(days: &[[u32; 2]]) -> String {
    let mut text = "user,arm,clicks,time\n".to_owned();
    for (day, clicks) in days.iter().enumerate() {
        for user in 0..500 {
            for (arm, clicks) in ["today", "new"].into_iter().zip(clicks) {
                let click = u32::from(user % 10 < *clicks);
                writeln!(text, "{arm}{day}-{user},{arm},{click},2026-03-0{}", day + 1).unwrap();
            }
        }
    }
    text
}

/// The verdict is that of the last interval. An interval that excludes all that an earlier one
/// held tells that the effect has changed, which is said first.
#[test]
fn the_last_interval_speaks() {
    let top = tempdir().unwrap();
    let [events, out] = ["events.csv", "out"].map(|name| top.path().join(name));
    let ab = ["--kind", "ab", "--baseline", "today", "--planned", "2000"];
    fs::write(&events, days_of_arms(&[[2, 4], [4, 2], [4, 2], [4, 2], [4, 2]])).unwrap();
    let found = verdict(&events, &ab);
    assert_eq!((&found["verdict"], &found["decided_on"]), (&"today".into(), &"2026-03-03".into()));
    let high = found["interval"][1].as_f64().unwrap();
    assert!(high < 0.0 && high < found["days"][0]["interval"][0].as_f64().unwrap());
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("The effect has changed: the 95 % interval of 2026-03-0"), "{sentence}");
    assert!(
        sentence.contains(". `today` is better than `new`: the clicks") && sentence.contains("2026-03-01")
    );
    assert_eq!((codes(&found), &found["remarks"][0]["kind"]), (vec!["effect-changed"], &"alarm".into()));
    // Every day says its own interval.
    for day in found["days"].as_array().unwrap() {
        let ends = [0, 1].map(|end| day["interval"][end].as_f64().unwrap());
        let expected = if ends[0] > 0.0 {
            "new".into()
        } else if ends[1] < 0.0 {
            "today".into()
        } else {
            Value::Null
        };
        assert_eq!((&day["better"], day["reason"].is_null()), (&expected, !expected.is_null()), "{day}");
    }
    assert!(run(&events, &[&ab[..], &["--out", out.to_str().unwrap()]].concat()).status.success());
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("\"lead\">The effect has changed"), "{page}");
    // A decision that later days do not keep, without a change that could be told.
    fs::write(&events, days_of_arms(&[[2, 4], [4, 3]])).unwrap();
    let found = verdict(&events, &ab);
    assert_eq!(
        (&found["verdict"], codes(&found)),
        (&Value::Null, vec!["interval-holds-zero", "decision-lost"])
    );
    // The same rule for an interleaving: 20 users of one team, then 40 of the other.
    let row =
        |user: usize| format!("u{user},{},{}\n", if user < 20 { "new" } else { "old" }, 100 + user / 20);
    fs::write(&events, "user,team,time\n".to_owned() + &(0..60).map(row).collect::<String>()).unwrap();
    let found = verdict(&events, &["--kind", "interleaving"]);
    assert_eq!((&found["verdict"], &found["changed_on"]), (&Value::Null, &"1970-04-13".into()), "{found}");
    assert_eq!(codes(&found)[..3], ["interval-holds-zero", "effect-changed", "decision-lost"]);
}

/// An arm that nobody clicks is told, also if it has more sessions; the rule that waits for clicks
/// does not look at their difference, and is said where it holds a verdict back.
#[test]
fn an_arm_without_clicks_is_told() {
    let top = tempdir().unwrap();
    let events = top.path().join("events.csv");
    let ab = ["--kind", "ab", "--baseline", "today"];
    for (users_of_new, clicks, told) in
        [(2000, 584, true), (2100, 150, true), (1900, 150, true), (2000, 90, false)]
    {
        let mut text = "user,arm,clicks\n".to_owned();
        (0..2000).for_each(|user| writeln!(text, "a{user},today,{}", u32::from(user < clicks)).unwrap());
        (0..users_of_new).for_each(|user| writeln!(text, "b{user},new,0").unwrap());
        // The error of an arm of equal users is 0, which 100 users tell.
        fs::write(&events, text).unwrap();
        let found = verdict(&events, &ab);
        let expected = if told { "today".into() } else { Value::Null };
        assert_eq!(found["verdict"], expected, "{users_of_new}, {clicks}: {found}");
        if !told {
            // One of 90 clicks is more than 1 %.
            assert_eq!(codes(&found), ["too-few-clicks", "heavy-user"]);
            assert!(
                found["remarks"][1]["text"].as_str().unwrap().contains("`--max-sessions-per-user` leaves")
            );
            let sentence = found["sentence"].as_str().unwrap();
            assert!(sentence.ends_with("waits until 100 clicks would be expected of the arm with fewer sessions, at the higher of both rates, and 90 are."));
        }
    }
    fs::write(&events, "user,team\nu,a\nu,b\n").unwrap();
    let found = verdict(&events, &["--kind", "interleaving"]);
    assert_eq!(codes(&found), ["no-user-without-tie", "heavy-user"]);
}

/// A log with a row for each item of a list is no table of sessions, and says so: longer lists have
/// fewer clicks a row.
#[test]
fn rows_of_items_are_told() {
    let top = tempdir().unwrap();
    let events = top.path().join("events.csv");
    let alarm = |lengths: [usize; 2], clicks: u32, time: fn(usize, usize) -> usize| {
        let mut text = "user,arm,clicks,time\n".to_owned();
        for user in 0..400 {
            for place in 0..lengths[user % 2] {
                let (arm, time) = (["new", "old"][user % 2], 1_000_000_000 + time(user, place));
                let clicks = if place == 0 { clicks } else { 0 };
                writeln!(text, "u{user},{arm},{clicks},{time}").unwrap();
            }
        }
        fs::write(&events, text).unwrap();
        codes(&verdict(&events, &["--kind", "ab"])).contains(&"rows-of-items")
    };
    let of_list = |user: usize, _: usize| 60 * user;
    assert!(alarm([5, 8], 1, of_list));
    // Lists with several clicks in a row, and seldom more than one row of a time.
    assert!(!alarm([5, 8], 2, of_list) && !alarm([1, 2], 1, of_list));
    // Visits at other times; a date is the time of all visits of the day.
    assert!(!alarm([5, 8], 1, |user, place| 60 * user + place) && !alarm([5, 8], 1, |_, _| 80_000));
}

/// A table of an A/B test is no interleaving, which shows both teams to every user; and days of few
/// users say so. Every decided day is marked.
#[test]
fn arms_are_no_teams() {
    let top = tempdir().unwrap();
    let [events, out] = ["events.csv", "out"].map(|name| top.path().join(name));
    let write = |n: usize, team_of: fn(usize, usize) -> usize| {
        let mut text = "user,team,clicks,time\n".to_owned();
        for user in 0..n {
            for row in 0..3 {
                let (team, day) = (["old", "new"][team_of(user, row)], 100 + 3 * user / n);
                writeln!(text, "u{user},{team},{},{day}", usize::from(user % 4 < 1 + 3 * (user % 2)))
                    .unwrap();
            }
        }
        fs::write(&events, text).unwrap();
    };
    let arm: fn(usize, usize) -> usize = |user, _| user % 2;
    write(40, arm);
    let found = verdict(&events, &["--kind", "interleaving"]);
    assert_eq!(codes(&found)[0], "teams-apart", "{found}");
    assert_eq!(found["refused"][0].as_str().unwrap().find("0 of 40 users with several clicks"), Some(0));
    // Fewer users do not tell it, and one of 40 who saw both denies it.
    write(38, arm);
    assert!(!codes(&verdict(&events, &["--kind", "interleaving"])).contains(&"teams-apart"));
    write(41, |user, row| (user + usize::from(user == 40 && row == 2)) % 2);
    assert!(!codes(&verdict(&events, &["--kind", "interleaving"])).contains(&"teams-apart"));
    write(3, arm);
    let ab = ["--kind", "ab", "--columns", "arm=team", "--planned", "100"];
    let printed = String::from_utf8(
        run(&events, &[&ab[..3], &["arm=team", "--looks", "4", "--look", "1"]].concat()).stdout,
    )
    .unwrap();
    assert!(printed.contains("  users too few or too alike\n"), "{printed}");
    write(3000, arm);
    let found = verdict(&events, &ab);
    let decided = found["days"].as_array().unwrap().iter().filter(|day| day["decided"] == true).count();
    assert!(run(&events, &[&ab[..], &["--out", out.to_str().unwrap()]].concat()).status.success());
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    let dots = page.split("data-dots=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert_eq!((decided, dots.split(' ').count()), (3, 3), "{dots}");
}

/// An evidence beyond all numbers has its logarithm.
#[test]
fn the_logarithm_of_an_evidence_is_a_number() {
    let top = tempdir().unwrap();
    let [events, out] = ["events.csv", "out"].map(|name| top.path().join(name));
    let mut rows = "user,team,time\nold,old,2026-03-01\n".to_owned();
    (0..1050).for_each(|user| writeln!(rows, "u{user},new,2026-03-01").unwrap());
    fs::write(&events, rows).unwrap();
    let found = verdict(&events, &["--kind", "interleaving", "--baseline", "old"]);
    assert_eq!((&found["verdict"], found.get("evidence")), (&"new".into(), None));
    // ln of 1050! 1! / 1052! / 4 2^1051: the other mixtures are smaller by far.
    let ln = 1051.0 * std::f64::consts::LN_2 - confidence::math::ln(1052.0 * 1051.0 * 4.0);
    assert!((found["ln_evidence"].as_f64().unwrap() - ln).abs() < 1e-6, "{found}");
    let output = run(&events, &["--kind", "interleaving", "--out", out.to_str().unwrap()]);
    assert!(output.status.success());
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("above 10^30"), "{page}");
}

/// A second click on the same place of a list counts once, on the day of the first.
#[test]
fn a_place_of_a_list_counts_once() {
    let top = tempdir().unwrap();
    let events = top.path().join("events.csv");
    let text = "user,team,list,position\na,new,l1,1\na,new,l1,1\na,old,l1,2\nb,old,l2,1\n";
    fs::write(&events, text).unwrap();
    let found = verdict(&events, &["--kind", "interleaving"]);
    assert_eq!(found["users"], serde_json::json!({"new": 0, "old": 1, "ties": 1}));
    assert_eq!((&found["repeated_clicks"], codes(&found)[1]), (&1.into(), "repeated-clicks"));
    let rows =
        ["a,new,l1,1,2026-03-01", "a,new,l1,1,2026-03-02", "b,old,l1,1,2026-03-02", "a,old,,1,2026-03-03"];
    let of = |rows: &[&str]| {
        fs::write(&events, format!("user,team,list,position,time\n{}\n", rows.join("\n"))).unwrap();
        verdict(&events, &["--kind", "interleaving"])["days"].clone()
    };
    let days = of(&rows);
    assert_eq!(days[1]["users"], serde_json::json!({"new": 1, "old": 1, "ties": 0}));
    assert_eq!(
        (&days[2]["users"]["ties"], of(&rows.map(|row| row).iter().rev().copied().collect::<Vec<_>>())),
        (&1.into(), days.clone())
    );
}

/// Drafts of (a, b) and (b, c) with attractions .1, .5, .05, whose users leave at the first click
/// or not: team draft credits the worse list, and a log with its lists tells that users stop. One
/// with lists that are shown once, and a table, say that they do not tell it.
#[test]
fn users_who_stop_at_clicks_are_told() {
    let top = tempdir().unwrap();
    let [events, log] = ["events.csv", "log.ndjson"].map(|name| top.path().join(name));
    let attractions = [("a", 0.1), ("b", 0.5)];
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let untold = "credit-may-have-no-sign";
    for (leave, words, code) in
        [(true, "red", Some("users-stop-at-clicks")), (true, "red {}", Some(untold)), (false, "red", None)]
    {
        let (mut table, mut lines) = ("user,team,list,position\n".to_owned(), String::new());
        for user in 0..1000 {
            // The team that picks first; the other has its best item that is left.
            let list = if random() < 0.5 { [(0, "today"), (1, "new")] } else { [(1, "new"), (0, "today")] };
            let [first, second] = list.map(|(item, _)| attractions[item].0);
            let words = words.replace("{}", &user.to_string());
            writeln!(lines, r#"{{"query_id":"l{user}","client_id":"u{user}","user_query":"{words}","query_response_hit_ids":["{first}","{second}"]}}"#).unwrap();
            for (place, (item, team)) in list.into_iter().enumerate() {
                let (item, attraction) = attractions[item];
                if random() < attraction {
                    let position = place + 1;
                    writeln!(table, "u{user},{team},l{user},{position}").unwrap();
                    writeln!(lines, r#"{{"action_name":"click","query_id":"l{user}","event_attributes":{{"object":{{"object_id":"{item}"}},"position":{{"ordinal":{position}}},"team":"{team}"}}}}"#).unwrap();
                    if leave {
                        break;
                    }
                }
            }
        }
        fs::write(&events, table).unwrap();
        fs::write(&log, lines).unwrap();
        let options = ["--kind", "interleaving", "--baseline", "today"];
        let of_table = verdict(&events, &options);
        let ubi = ["--format", "ubi", "--team", "event_attributes.team"];
        let of_log = verdict(&log, &[&options[..], &ubi].concat());
        assert_eq!((&of_table["verdict"], &of_log["verdict"]), (&"new".into(), &"new".into()));
        assert_eq!(
            (codes(&of_table), codes(&of_log)),
            (vec![untold], code.into_iter().collect()),
            "{of_log}"
        );
        assert_eq!(of_table["remarks"][0]["kind"], "note");
    }
}

/// A split other than planned, and users in both arms, have no verdict.
#[test]
fn a_broken_split_has_no_verdict() {
    let top = tempdir().unwrap();
    let events = top.path().join("events.csv");
    let write = |users_of_b: usize, in_both: usize| {
        let mut text = "user,arm,clicks\n".to_owned();
        for user in 0..2000 {
            writeln!(text, "a{user},A,{}", user % 2).unwrap();
        }
        for user in 0..users_of_b {
            writeln!(text, "b{user},B,{}", 1 + user % 2).unwrap();
        }
        for user in 0..in_both {
            writeln!(text, "a{user},B,1").unwrap();
        }
        (0..60).for_each(|_| text.push_str("b0,B,3\n"));
        fs::write(&events, text).unwrap();
    };
    write(2000, 0);
    let fine = verdict(&events, &["--kind", "ab"]);
    assert_eq!((&fine["verdict"], fine["refused"].as_array().unwrap().len()), (&"B".into(), 0));
    let fewer = verdict(&events, &["--kind", "ab", "--max-sessions-per-user", "10"]);
    assert_eq!(fewer["users_left_out"], serde_json::json!({"A": 0, "B": 1}));
    assert!(fewer["heaviest_share"].as_f64() < fine["heaviest_share"].as_f64());
    write(2000, 100);
    let both = verdict(&events, &["--kind", "ab"]);
    assert_eq!((&both["verdict"], &both["users_in_both"]), (&Value::Null, &100.into()));
    assert!(both["refused"][0].as_str().unwrap().contains("in both arms"), "{both}");
    write(1700, 0);
    let uneven = verdict(&events, &["--kind", "ab"]);
    assert!(uneven["refused"][0].as_str().unwrap().contains("chi-square p = 0.00000081"), "{uneven}");
    // Days of a test without a verdict are not decided.
    let text = fs::read_to_string(&events).unwrap();
    let dated =
        text.lines().map(|row| row.to_owned() + if row == "user,arm,clicks" { ",time\n" } else { ",10\n" });
    fs::write(&events, dated.collect::<String>()).unwrap();
    let found = verdict(&events, &["--kind", "ab", "--split", "0.9"]);
    let day = ["decided", "better", "reason"].map(|key| &found["days"][0][key]);
    assert_eq!(day, [&false.into(), &Value::Null, &"uneven-split".into()], "{found}");
    let printed = run(&events, &["--kind", "ab", "--split", "0.9"]).stdout;
    let printed = String::from_utf8(printed).unwrap();
    assert!(printed.contains("chi-square p < 1e-300.") && printed.contains("  uneven split\n"), "{printed}");
    assert!(!printed.contains("decided: "), "{printed}");
    fs::write(&events, text).unwrap();
    let planned = verdict(&events, &["--kind", "ab", "--split", "0.54"]);
    assert_eq!(planned["verdict"], "B");
}

#[test]
fn a_plan_has_the_users_of_the_library() {
    let top = tempdir().unwrap();
    let plan = |more: &[&str]| -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
        let output = command.arg("test").args(["--plan", "--json", "--quiet"]).args(more).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let found = plan(&["--kind", "ab", "--mean", "1", "--sd", "1", "--effect", "0.1", "--share", "0.6"]);
    assert_eq!((&found["rows"][1]["fixed"], &found["rows"][1]["open"]), (&1570.into(), &2701.into()));
    assert_eq!(found["interleaved"]["users"], 370);
    close(&found["interleaved"]["times_fewer"], 5402.0 / 370.0);
    let found = plan(&["--kind", "interleaving", "--effect", "0.1", "--per-day", "100"]);
    assert_eq!((&found["rows"][1]["fixed"], &found["rows"][1]["open"]), (&194.into(), &370.into()));
    assert_eq!(found["rows"][1]["days"]["open"], 4.0);
    // The issue's factors of a look at any time, at share .55; and another level.
    for (power, fixed, factor) in
        [("0.5", 384.16, 2.3), ("0.7", 615.9, 2.03), ("0.9", 1046.6, 1.74), ("0.99", 1827.3, 1.52)]
    {
        let found = plan(&["--kind", "interleaving", "--power", power]);
        let users = found["rows"][1]["open"].as_f64().unwrap();
        assert!((users / (fixed * factor) - 1.0).abs() < 0.04, "{power}: {users}");
    }
    let ab = ["--kind", "ab", "--mean", "0.05", "--sd", "0.22", "--power", "0.5"];
    let found = plan(&ab);
    assert!((found["rows"][1]["open"].as_f64().unwrap() / 120_800.0 - 1.0).abs() < 0.01, "{found}");
    let levels = ["0.99", "0.01"].map(|level| plan(&[&ab[..], &["--level", level]].concat()));
    assert_eq!((&levels[0], &levels[0]["alpha"]), (&levels[1], &0.01.into()));
    assert!(levels[0]["rows"][1]["fixed"].as_u64() > found["rows"][1]["fixed"].as_u64());
    // A large effect takes as many users as 100 clicks do.
    let found = plan(&["--kind", "ab", "--mean", "0.01", "--sd", "0.1", "--effect", "1"]);
    assert_eq!(found["rows"][2]["open"], 10_000);
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
    let text = command.args(["test", "--plan", "--kind", "interleaving"]).output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&text).contains("10 looks: planned for A/B tests alone"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
    let days = ["--kind", "ab", "--mean", "10", "--sd", "0.4", "--per-day", "40"];
    let text = command.args(["test", "--plan"]).args(days).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(" (1 day)") && text.contains("41 (3 days)") && !text.contains("1 days"), "{text}");
    let today = top.path().join("today.csv");
    fs::write(&today, "user,clicks\na,1\na,1\nb,0\nc,4\n").unwrap();
    let found = plan(&[today.to_str().unwrap(), "--kind", "ab"]);
    close(&found["mean"], 1.5);
    // sqrt(U^2 / (U - 1) sum (T - 1.5 m)^2) / M for U = 3, M = 4
    close(&found["sd"], (9.0_f64 / 2.0 * (1.0 + 2.25 + 6.25)).sqrt() / 4.0);
    let output = run(&today, &["--kind", "ab", "--plan", "--effect", "5%"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected a number: 0.05 for 5 %"));
    // A row is said to be a session, and not to seem one where it is an item of a list.
    let printed = run(&today, &["--kind", "ab", "--plan"]).stdout;
    assert!(String::from_utf8(printed).unwrap().contains("A row of a log is a session."));
    let told = |text: &str| {
        fs::write(&today, text).unwrap();
        String::from_utf8(run(&today, &["--kind", "ab", "--plan"]).stderr).unwrap()
    };
    assert_eq!(told("user,clicks,time\na,1,10\na,1,11\nb,0,12\nc,4,13\n"), "");
    let items = told(
        "user,clicks,time\na,1,1000000001\na,0,1000000001\na,0,1000000001\na,0,1000000001\nb,1,1000000002\n",
    );
    assert!(items.contains("A row seems to be an item of a list: 3 of 5"), "{items}");
}

#[test]
fn what_cannot_be_tested_is_refused_with_its_place() {
    let top = tempdir().unwrap();
    let [events, out] = ["events.csv", "out"].map(|name| top.path().join(name));
    for (text, more, expected) in [
        ("user,team\nu,a\nu,b\nv,c\n", "interleaving", "events.csv:4: column 2 (team): a third name"),
        ("user,team\nu,a\n,b\n", "interleaving", "events.csv:3: column 1 (user): nothing there"),
        ("user,team\nu,a\nv,\n", "interleaving", "events.csv:3: column 2 (team): nothing there"),
        ("user,team\nu,a\n", "interleaving", "every row is of `a`: a test compares two"),
        ("user,team,time\nu,a,noon\n", "interleaving", "events.csv:2: column 3 (time): expected a time"),
        ("user,team\nu,a\nu,b\n", "interleaving --baseline c", "the baseline `c` is neither `a` nor `b`"),
        ("user,team\nu,a\nu,b\n", "interleaving --depth 3", "no column `position`"),
        ("search_configuration,count,time\na,3,1\nb,4,1\n", "interleaving", "not independent"),
        ("search_configuration,count,user\na,3,1\n", "interleaving", "no column `team`"),
        ("user,arm,clicks\nu,A,-1\n", "ab", "events.csv:2: column 3 (clicks): a negative number"),
        ("user,arm,clicks\nu,A,0.5\n", "ab", "events.csv:2: column 3 (clicks): expected a whole number"),
        ("user,arm,clicks\nu,A\n", "ab", "events.csv:2: 2 columns, expected 3"),
        ("user,arm,clicks\n", "ab", "no line to read"),
        ("user,arm,clicks\nu,A,1\nv,B,1\n", "ab --looks 6 --look 7", "look 7 of 6: expected 1 to 6"),
        ("user,arm,clicks\nu,A,1\nv,B,1\n", "ab --looks 5", "--looks: give --look"),
        ("user,arm,clicks\nu,A,1\nv,B,1\n", "ab --split 1", "--split: expected"),
        ("user,arm,clicks\nu,A,1\nv,B,1\n", "ab --columns arms=x", "--columns: `arms`: expected one of user"),
        ("user,team\nu,a\nu,b\n", "interleaving --max-sessions-per-user 3", "only for --kind ab"),
        ("user,arm,clicks\nu,A,0\nv,B,0\n", "ab --plan", "a mean of 0 clicks a session"),
        ("user,team,position\nu,a,3\nu,b,4\n", "interleaving --depth 2", "the log has no click of the test"),
        ("{}", "interleaving --format ubi --team a --depth 2", "--depth and --position-base belong together"),
        ("{}", "interleaving --format ubi --team a --position-base 1", "belong together"),
        (
            "{\"query_id\": \"q\", \"client_id\": \"u\", \"action_name\": \"click\", \"a\": \"x\", \
             \"event_attributes\": {\"object\": {\"object_id\": \"p\"}, \"position\": {\"ordinal\": 1}}}",
            "interleaving --format ubi --team a --depth 2 --position-base 0",
            "error: --position-base: 0, but no ordinal of the log is 0",
        ),
    ] {
        fs::write(&events, text).unwrap();
        let more: Vec<&str> = ["--kind"].into_iter().chain(more.split(' ')).collect();
        let out_or_plan = ["--out", out.to_str().unwrap()];
        let out_or_plan = if more.contains(&"--plan") { &[][..] } else { &out_or_plan };
        let output = run(&events, &[&more[..], out_or_plan].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{expected}: {error}");
        assert!(!out.join("verdict.json").exists());
    }
}

/// A plan refuses what it would ignore, and says why an effect has no plan.
#[test]
fn a_plan_ignores_no_option() {
    for (more, expected) in [
        ("ab --mean 1 --sd 1 --effect 1e-9", "takes more than 10^15 users"),
        ("ab --mean 1 --sd 1 --effect 0", "the effect is 0: expected a number above 0"),
        (
            "ab --mean 1 --sd 1 --effect 5",
            "the effect is 5: expected a number above 0 and at most 1, 0.05 for 5 %",
        ),
        ("interleaving --effect 0.5", "expected a number above 0 and below 0.5"),
        ("interleaving --effect 1e-9", "takes more than 10^15 users"),
        ("interleaving --mean 1 --sd 1", "--mean and --sd: only for --kind ab"),
        ("interleaving --share 0.6", "--share: only for --kind ab"),
        ("interleaving --looks 5", "--looks: only for --kind ab"),
        ("ab --mean 1 --sd 1 --columns user=u", "--columns: only for a log"),
        ("ab --mean 1 --sd 1 --max-sessions-per-user 5", "--max-sessions-per-user: only for a log"),
        ("interleaving --depth 5", "--depth: only for a log"),
        ("ab --mean 1 --sd 1 --baseline a", "cannot be used with"),
        ("ab --mean 1 --sd 1 --split 0.4", "cannot be used with"),
        ("ab --mean 1 --sd 1 --planned 7", "cannot be used with"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
        let output = command.args(["test", "--plan", "--kind"]).args(more.split(' ')).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{more}: {error}");
    }
}

/// Sessions without a click have no verdict.
#[test]
fn no_clicks_have_no_verdict() {
    let top = tempdir().unwrap();
    let events = top.path().join("events.csv");
    fs::write(&events, "user,arm,clicks\nu,A,0\nv,B,0\n").unwrap();
    let found = verdict(&events, &["--kind", "ab"]);
    assert_eq!((&found["verdict"], &found["refused"][0]), (&Value::Null, &"there are no clicks".into()));
}

/// Users of an arm who all click alike do not tell how much users differ.
#[test]
fn equal_users_have_no_verdict() {
    let top = tempdir().unwrap();
    let events = top.path().join("events.csv");
    for (of_a, of_b, more) in [(0, 1, &["--looks", "4", "--look", "1"][..]), (1, 2, &[]), (3, 3, &[])] {
        let mut text = "user,arm,clicks\n".to_owned();
        for user in 0..150 {
            // A user has up to three sessions.
            for _ in 0..=user % 3 {
                writeln!(text, "a{user},A,{of_a}\nb{user},B,{of_b}").unwrap();
            }
        }
        fs::write(&events, text).unwrap();
        let found = verdict(&events, &[&["--kind", "ab"], more].concat());
        for key in ["verdict", "se", "z"] {
            assert_eq!(found[key], Value::Null, "{key}: {found}");
        }
        assert_eq!(found["arms"]["B"]["se"], Value::Null);
        let printed = run(&events, &[&["--kind", "ab"], more].concat());
        let printed = String::from_utf8(printed.stdout).unwrap();
        assert!(printed.starts_with("Not decided") && printed.contains("(95 % interval –)"), "{printed}");
    }
    // An arm that nobody clicks is told from one whose users differ.
    let lines = (0..150).map(|user| format!("a{user},A,0\nb{user},B,{}\n", user % 2));
    fs::write(&events, format!("user,arm,clicks\n{}", lines.collect::<String>())).unwrap();
    let found = verdict(&events, &["--kind", "ab", "--looks", "4", "--look", "4"]);
    assert_eq!(found["verdict"], "B", "{found}");
}

/// The answer of a search is a log, and a search of several requests has one list; the action that
/// is a click has a name.
#[test]
fn answers_of_a_search_are_rows() {
    let top = tempdir().unwrap();
    let document = |id: &str, hits: &str| {
        format!(
            r#"{{"query_id":"{id}","client_id":"u{id}","user_query":"red","query_response_hit_ids":{hits}}}"#
        )
    };
    let click = |id: &str, item: &str, team: &str| {
        format!(
            r#"{{"query_id":"{id}","action_name":"item_click","event_attributes":{{"object":{{"object_id":"{item}"}},"position":{{"ordinal":1}},"team":"{team}"}}}}"#
        )
    };
    let search = r#"{"action_name":"search","query_id":null,"event_attributes":null}"#.to_owned();
    let all = [
        document("1", "[]"),
        document("1", r#"["a","b"]"#),
        document("2", r#"["a","b"]"#),
        document("3", r#"["a","b"]"#),
        document("3", r#"["b","a"]"#),
        search,
        click("1", "b", "old"),
        click("2", "a", "new"),
        click("2", "b", "new"),
        click("3", "a", "new"),
    ];
    let hits: Vec<String> = all.iter().map(|one| format!(r#"{{"_id":"0","_source":{one}}}"#)).collect();
    let answer = format!(r#"{{"took":3,"hits":{{"total":{{"value":10}},"hits":[{}]}}}}"#, hits.join(","));
    let (lines, answers) = (top.path().join("lines.ndjson"), top.path().join("answer.json"));
    fs::write(&lines, all.join("\n")).unwrap();
    fs::write(&answers, answer).unwrap();
    let options = [
        "--kind",
        "interleaving",
        "--format",
        "ubi",
        "--team",
        "event_attributes.team",
        "--click",
        "item_click",
    ];
    for file in [lines, answers] {
        assert_eq!(verdict(&file, &options)["users"], serde_json::json!({"new": 1, "old": 1, "ties": 0}));
        let said = run(&file, &options);
        let said = String::from_utf8(said.stdout).unwrap();
        assert!(said.contains("two documents of a query"), "{said}");
    }
}

/// With values the whole numbers of clicks have the same test; decimals are read, and what is no
/// value is named with its line and column.
#[test]
fn an_ab_test_compares_values() {
    let [clicks, values] = [&["--kind", "ab"][..], &["--kind", "ab", "--metric", "value"]]
        .map(|more| verdict(&data("ab.csv"), more));
    for key in ["difference", "se", "z", "heaviest_share"] {
        close(&values[key], clicks[key].as_f64().unwrap());
    }
    let rate = |of: &Value, key: &str| of["arms"]["B"][key].as_f64().unwrap();
    close(&values["arms"]["B"]["value_per_session"], rate(&clicks, "clicks_per_session"));
    assert!(rate(&values, "clicks") <= rate(&values, "sessions"));
    let sentence = values["sentence"].as_str().unwrap();
    assert!(sentence.contains("the value a session of `B` minus that of `A` is "), "{sentence}");

    let top = tempdir().unwrap();
    let events = top.path().join("events.csv");
    let with = |value: &str| {
        let mut rows = "user,arm,clicks\n".to_owned();
        for user in 0..400 {
            let value = if user % 4 < 2 {
                "0"
            } else if user % 2 == 0 {
                "19.90"
            } else {
                "24.5"
            };
            writeln!(rows, "u{user},{},{value}", if user % 2 == 0 { "old" } else { "new" }).unwrap();
        }
        fs::write(&events, format!("{rows}v,old,{value}\n")).unwrap();
    };
    with("19.9");
    let found = verdict(&events, &["--kind", "ab", "--metric", "value", "--baseline", "old"]);
    close(&found["arms"]["new"]["value_per_session"], 12.25);
    assert_eq!(found["arms"]["new"]["clicks"], 100);
    with("5000");
    let found = verdict(&events, &["--kind", "ab", "--metric", "value"]);
    assert!(codes(&found).contains(&"heavy-value") && !codes(&found).contains(&"heavy-user"), "{found}");
    for wrong in ["-1", "inf", "NaN", "1e10", "12.50 EUR", "€12", "\"1,234\"", ""] {
        with(wrong);
        let output = run(&events, &["--kind", "ab", "--metric", "value"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && message.contains("events.csv:402: column 3 (clicks): "),
            "{message}"
        );
        let says =
            if wrong.is_empty() { "nothing there" } else { "a value is a number from 0 to 1,000,000,000" };
        assert!(message.contains(says), "{message}");
    }
    let message = run(&data("teams.csv"), &["--kind", "interleaving", "--metric", "value"]).stderr;
    assert!(String::from_utf8_lossy(&message).contains("--metric value: only for --kind ab"));
}

/// A verdict has the level of both arms and the relative difference; one that is not decided says
/// how much of a plan is there, and a baseline that nobody named is named.
#[test]
fn the_level_the_relative_difference_and_the_rest_of_a_plan_are_said() {
    let top = tempdir().unwrap();
    let events = top.path().join("events.csv");
    let said = |more: &[&str]| {
        let output = run(&events, &[&["--kind", "ab"], more].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    fs::write(&events, days_of_arms(&[[2, 4], [2, 4]])).unwrap();
    let text = said(&["--baseline", "today", "--planned", "2000"]);
    let found = verdict(&events, &["--kind", "ab", "--baseline", "today", "--planned", "2000"]);
    // Clicks of .4 against .2.
    let ends = [0, 1].map(|end| 100.0 * found["interval"][end].as_f64().unwrap() / 0.2);
    let relative = format!(
        ", 0.4000 against 0.2000, +100.0 % ({:.1} to {:.1} %, taking the mean of the baseline as given), with 1,000 and 1,000 users",
        ends[0], ends[1]
    );
    assert!(text.contains(&relative), "{relative}: {text}");
    assert!(!text.contains("planned users") && !text.contains("the first in the alphabet"), "{text}");
    // Of 1,500 users 1,000 are there after two days.
    fs::write(&events, days_of_arms(&[[3, 3], [3, 3]])).unwrap();
    let text = said(&["--planned", "1500"]);
    let rest = "The smaller arm has 1,000 of 1,500 planned users, about 1 more day at this rate.";
    assert!(text.starts_with("Not decided") && text.contains(rest), "{text}");
    assert!(
        text.contains("\nBaseline `new` (the first in the alphabet; --baseline NAME chooses).\n"),
        "{text}"
    );
    let text = said(&["--planned", "900"]);
    assert!(text.contains("The smaller arm has 1,000 of 900 planned users."), "{text}");
    assert!(!said(&[]).contains("planned users"));
    // Arms that are numbers name the baseline, and a mean of 0 has no relative difference.
    let numbered = days_of_arms(&[[0, 4]]).replace(",today,", ",0,").replace(",new,", ",1,");
    fs::write(&events, numbered).unwrap();
    let text = said(&[]);
    assert!(!text.contains("the first in the alphabet") && !text.contains("against"), "{text}");
}
