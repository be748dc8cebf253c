//! All errors of a file at once, and what is valid but doubtful.

use super::*;
use documents::toml_reader::Source;

/// Every error, without the name of the file, in the order in which they are reported.
fn errors(text: &str, overrides: Overrides) -> Vec<String> {
    let source = Source::from_text("spec.toml", text).unwrap();
    let document = source.parse().unwrap();
    let found = Experiment::check(&document, overrides).err().unwrap_or_default();
    found.iter().map(|error| error.to_string().trim_start_matches("spec.toml:").to_owned()).collect()
}

#[track_caller]
fn assert_errors(text: &str, expected: &[&str]) {
    let found = errors(text, Overrides::default());
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found:?} instead of {expected:?}");
    }
}

#[test]
fn errors_of_independent_parts_are_found_together_in_the_order_of_the_file() {
    let text = GOOD
        .replace("\"pbm-synthetic\"", "\"a/b\"")
        .replace("runs = 1000", "runs = 0")
        .replace("seed = 1", "sed = 1\ncolour = 2")
        .replace("[10000, 1000]", "[10, 0, 10]")
        .replace("0.35", "1.35")
        .replace("0.15", "-0.15")
        .replace("0.9,", "\"a\",")
        .replace("\"log-horizon\"", "\"log\"")
        .replace("epsilon = 0.1", "epsilon = -0.1\nzeta = 1");
    assert_errors(
        &text,
        &[
            "2:8: name: ",
            "5:8: runs: 0 is too small",
            "6:1: sed: unknown key: did you mean `seed`, which is missing?",
            "7:1: colour: unknown key",
            "8:20: checkpoints[1]: round 0 does not exist",
            "12:16: instances[0].theta[1]: ",
            "12:28: instances[0].theta[3]: ",
            "13:10: instances[0].kappa[0]: ",
            "21:9: policies[1].level: ",
            "22:11: policies[1].epsilon: ",
            "23:1: policies[1].zeta: unknown key",
        ],
    );
}

#[test]
fn an_error_that_follows_from_another_one_is_left_out() {
    // Without users nothing is said of the policies on them, and without a task nothing of its
    // keys.
    let faulty_users =
        GOOD.replace("model = \"pbm\"", "model = \"pmb\"").replace("\"pbm-ts\"", "\"cascade-ts\"");
    assert_errors(&faulty_users, &["10:9: instances[0].model: unknown model"]);
    let faulty_task = GOOD.replace("\"regret\"", "\"identfy\"").replace("horizon = 100_000", "horizon = 0");
    assert_errors(&faulty_task, &["3:8: task: unknown task", "4:11: horizon: 0 is too small"]);
    // Without a horizon its checkpoints are only checked for what is never allowed.
    let faulty_horizon = GOOD.replace("100_000", "1e5").replace("[10000, 1000]", "[200000, 0]");
    assert_errors(&faulty_horizon, &["4:11: horizon: ", "7:24: checkpoints[1]: round 0 "]);
    // A policy that is unknown has no parameters that could be unknown.
    let faulty_policy = GOOD.replace("\"pbm-pie\"", "\"pbm-pi\"");
    assert_errors(&faulty_policy, &["18:10: policies[1].policy: unknown policy"]);
    // A key of another task is the reason that the right one is missing.
    let other_task = GOOD.replace("\"regret\"", "\"identify\"").replace("checkpoints = [10000, 1000]\n", "");
    assert_errors(
        &other_task,
        &[
            "3:8: task: task \"identify\" asks for the best items of",
            "4:11: horizon: ",
            "14:10: policies[0].policy: \"pbm-ts\" never stops",
            "17:10: policies[1].policy: ",
        ],
    );
}

#[test]
fn further_tables_are_read_after_a_faulty_one() {
    let more = "[[instances]]\nmodel = \"pbm\"\ntheta = [2]\nkappa = [1]\n[[instances]]\nmodel = \"pbm\"\nkappa = [1]\n\n[[policies]]";
    let text = GOOD.replace("0.25", "1.5").replacen("[[policies]]", more, 1);
    assert_errors(
        &text,
        &[
            "11:22: instances[0].theta[2]: ",
            "16:10: instances[1].theta[0]: ",
            "18:1: instances[2].theta: missing key",
        ],
    );
    let two = "policy = \"pbm-tz\"\n[[policies]]\npolicy = \"rsf-ts\"\nlabel = \" \"";
    assert_errors(
        &GOOD.replace("policy = \"pbm-ts\"", two),
        &[
            "15:10: policies[0].policy: unknown",
            "17:10: policies[1].policy: \"rsf-ts\" plays",
            "18:9: policies[1].label: ",
        ],
    );
}

#[test]
fn errors_of_the_command_line_come_first() {
    let overrides = Overrides { runs: Some(0), horizon: Some(0), ..Overrides::default() };
    let found = errors(&GOOD.replace("seed = 1", "seed = -1"), overrides);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].starts_with("runs 0: ") && found[1].starts_with("horizon 0: "), "{found:#?}");
    assert!(found[2].starts_with("6:8: seed: -1 is negative"), "{found:#?}");
    // Without a fault in the file, it is read with a length that it cannot have.
    for horizon in [0, u64::MAX] {
        let overrides = Overrides { horizon: Some(horizon), ..Overrides::default() };
        let found = errors(GOOD, overrides);
        assert!(found.len() == 1 && found[0].starts_with(&format!("horizon {horizon}: ")), "{found:#?}");
    }
    let too_many = Overrides { runs: Some(1 << 31), ..Overrides::default() };
    assert!(errors(GOOD, too_many)[0].starts_with("runs 2147483648: "));
}

#[test]
fn each_fault_of_the_list_is_one_error() {
    for fault in FAULTS.lines().filter(|line| !line.starts_with('#')) {
        let [from, to, expected] = fault.split(" ~> ").collect::<Vec<_>>()[..] else { panic!("{fault:?}") };
        let text = GOOD.replacen(from, &to.replace("\\n", "\n"), 1);
        let source = Source::from_text("spec.toml", text.as_str()).unwrap();
        // Text that is not TOML has one error in any case.
        if source.parse().is_ok() {
            let found = errors(&text, Overrides::default());
            let expected = expected.trim_end_matches("...");
            assert!(found.iter().any(|found| found.starts_with(expected)), "{found:#?} without {expected:?}");
            let places: Vec<_> = found.iter().map(|found| found.split(' ').next()).collect();
            assert!(places.windows(2).all(|pair| pair[0] != pair[1]), "{found:#?}");
        }
    }
}

#[test]
fn a_list_with_very_many_errors_reports_a_thousand() {
    let text = GOOD.replace("[0.45, 0.35, 0.25, 0.15, 0.05]", &format!("{:?}", vec![2; 5000]));
    assert_eq!(errors(&text, Overrides::default()).len(), Error::MOST);
}

#[test]
fn what_is_valid_but_doubtful_is_said() {
    assert_eq!(read(GOOD).unwrap().doubts(), [""; 0]);
    for (from, to, expected) in [
        ("runs = 1000", "runs = 1", "one run: means have no standard error, and figures no band"),
        ("runs = 1000", "runs = 9", "9 runs tell little apart: expected 10 or more"),
        (
            "[0.45, 0.35, 0.25, 0.15, 0.05]",
            "[0.1, 0.1, 0.1]",
            "instance 0: all items have the same theta, so no list of them is better than another one",
        ),
        (
            "100_000\nruns = 1000\nseed = 1\ncheckpoints = [10000, 1000]",
            "1\nruns = 1000\nseed = 1",
            "1 round a run: too few to show every item of instances[0] once",
        ),
        (
            "[[policies]]",
            "[[policies]]\npolicy = \"pbm-ts\"\nlabel = \"again\"\n[[policies]]",
            "pbm-ts: the same policy as again, with other random numbers",
        ),
        (
            "PBM-PIE (log T)",
            "pbm-ucb",
            "pbm-ucb: the label is the name of another policy; this one is \"pbm-pie\"",
        ),
        (
            "\"pbm-ts\"",
            "\"pbm-ts\"\nkappa = [1, 0.5, 0.2]",
            "pbm-ts: it assumes another examination (`kappa`) than the users have",
        ),
        (
            "\"pbm-ts\"",
            "\"cascade-kl-ucb\"\nread-as = \"cascade\"",
            "cascade-kl-ucb: its guarantee (O(log T) on cascades) is for users of \"cascade\", and these are of \"pbm\"",
        ),
    ] {
        assert!(GOOD.contains(from), "{from:?}");
        let doubts = read(&GOOD.replacen(from, to, 1)).unwrap().doubts();
        assert_eq!(doubts, [expected]);
    }
    let two = "runs = 1000\nseed = 1\ncheckpoints = [10000, 1000]\n\n[[instances]]";
    let instance = "model = \"pbm\"\ntheta = [0.2, 0.1]\nkappa = [1]\n";
    for (runs, expected) in [
        (
            2,
            "2 runs for 4 instances: fewer than two of each tell nothing apart, and means have no standard error; some instances are not played",
        ),
        (
            7,
            "7 runs for 4 instances: fewer than two of each tell nothing apart, and means have no standard error",
        ),
        (
            10,
            "10 runs for 4 instances: means leave out the last 2 runs, since every instance counts alike: expected a multiple of 4",
        ),
        (12, ""),
    ] {
        let many = format!("{}\n\n[[instances]]", two.replace("1000\nseed", &format!("{runs}\nseed")))
            + &format!("\n{instance}[[instances]]").repeat(3);
        let spec = GOOD.replacen(two, &many.replacen("[[instances]]\n\n", "", 1), 1);
        assert_eq!(read(&spec).unwrap().doubts().join(""), expected);
    }
}

#[test]
fn a_guarantee_that_does_not_hold_is_a_doubt() {
    let doubts = |task: &str, users: &str, policy: &str| {
        let spec = format!(
            "name = \"x\"\n{task}\nruns = 20\nseed = 1\n[[instances]]\n{users}\n[[policies]]\n{policy}\n"
        );
        read(&spec).unwrap().doubts().join("; ")
    };
    let circle = "model = \"dueling\"\npreferences = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]";
    let order = "model = \"dueling\"\npreferences = [[0.5, 0.6, 0.6], [0.4, 0.5, 0.6], [0.4, 0.4, 0.5]]";
    let tie = "model = \"cascade\"\nattraction = [0.5, 0.3, 0.3]\npositions = 2";
    let apart = "model = \"cascade\"\nattraction = [0.5, 0.3, 0.2]\npositions = 2";
    let (regret, best) = ("task = \"regret\"\nhorizon = 100", "task = \"identify\"\nmax_steps = 100");
    for (task, users, policy, expected) in [
        (regret, order, "policy = \"rucb\"", ""),
        (
            regret,
            order,
            "policy = \"rucb\"\nalpha = 0.5",
            "rucb: its guarantee needs an alpha above 1/2, and it has 0.5",
        ),
        (
            regret,
            circle,
            "policy = \"rucb\"",
            "rucb: its guarantee needs an item that beats all others, and there is none: regret is Copeland regret",
        ),
        (regret, circle, "policy = \"double-ts\"", ""),
        (best, apart, "policy = \"cascade-bai\"\nradius_scale = 2.0\norder = \"upper-asc\"", ""),
        (
            best,
            apart,
            "policy = \"cascade-bai\"\nradius_scale = 0.1",
            "cascade-bai: its guarantee needs a radius_scale of at least 2, and it has 0.1",
        ),
        (
            best,
            apart,
            "policy = \"cascade-bai\"\norder = \"upper-asc\"\nepsilon = 0.05",
            "cascade-bai: with this order and an epsilon above 0 its guarantee is void (docs/errata.md)",
        ),
        (
            best,
            tie,
            "policy = \"cascade-kl\"",
            "instance 0: the items of ranks 2 and 3 have the same attraction: policies with epsilon = 0 may never stop",
        ),
        (best, tie, "policy = \"cascade-kl\"\nepsilon = 0.05", ""),
    ] {
        assert_eq!(doubts(task, users, policy), expected, "{policy}");
    }
}
