//! The conditions of live use, and policies in live use.

use super::read;
use crate::{Experiment, Instances};
use click_models::CascadeModel;
use contenders::{Entrant, LiveUse};
use documents::toml_reader::{Error, Source};
use policies::catalogue::PolicySpec;
use sim::{Availability, Conditions, Delay, Delays};

const HEAD: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 50\nruns = 4\nseed = 1\n";
const CASCADE: &str = "[[instances]]\nmodel = \"cascade\"\nattraction = [0.5, 0.4, 0.2]\npositions = 2\n";
const TS: &str = "[[policies]]\npolicy = \"cascade-ts\"\n";

fn errors(text: &str) -> Vec<String> {
    let source = Source::from_text("spec.toml", text).unwrap();
    let document = source.parse().unwrap();
    let read = Experiment::from_document(&document);
    crate::schema::tests::agree(&document, &read);
    let errors = read.map_or_else(Error::all, |_| vec![]);
    errors.iter().map(|error| format!("{}: {}", error.field(), error.message())).collect()
}

#[test]
fn conditions_are_written_as_they_were_read() {
    for conditions in [
        "availability = 0.7",
        "availability = { share = 0.5, rounds = 100 }",
        "churn = { rate = 1e-5, prior = [1, 9] }",
        "churn = { rate = 0.1, prior = \"instance\", returning = 0.25 }",
        "drift = { jumps = 9000, share = 0.2, prior = [0.3, 2.7] }",
        "drift = { waves = 50_000, height = 1.0 }",
        "delay = { click = 3, skip = 300 }",
        "delay = { geometric = 1000, lost = { click = 0.1, skip = 0.2 } }",
    ] {
        let text = format!(
            "{HEAD}{CASCADE}{TS}live = {{ prior = [0.3, 2.7], window = 9, explore = 0.5, skips = \"at-once\" }}\n[live]\n{conditions}\n"
        );
        let experiment = read(&text).unwrap();
        assert!(experiment.live().disturb());
        let again = read(&experiment.to_toml()).unwrap();
        assert_eq!((again.live(), again.canonical()), (experiment.live(), experiment.canonical()));
        assert_eq!(again.policies()[0].live, experiment.policies()[0].live);
        let undisturbed = read(&format!("{HEAD}{CASCADE}{TS}")).unwrap();
        assert_ne!(experiment.canonical().base, undisturbed.canonical().base);
        assert!(!experiment.live_in_words().is_empty());
    }
}

#[test]
fn conditions_that_disturb_nothing_are_none() {
    let none = read(&format!("{HEAD}{CASCADE}{TS}")).unwrap();
    for conditions in
        ["", "availability = 1.0", "delay = { click = 0 }", "churn = { rate = 0.0, prior = \"instance\" }"]
    {
        let same = read(&format!("{HEAD}{CASCADE}{TS}[live]\n{conditions}\n")).unwrap();
        assert_eq!(same.canonical(), none.canonical(), "{conditions}");
    }
}

#[test]
fn all_faults_of_conditions_are_found_in_one_run() {
    let live = "[live]\navailability = 0\nchurn = { rate = 1.5, prior = [0, 9], returning = 2 }\n\
                drift = { jumps = 0, share = 7, prior = \"log\", waves = 3 }\ndelay = { click = -1, geometric = 5, lost = { skip = 2 }, x = 1 }\n";
    assert_eq!(
        errors(&format!(
            "{HEAD}{CASCADE}{TS}live = {{ window = 0, explore = 2, prior = \"log\", skips = 1 }}\n{live}"
        )),
        [
            "policies[0].live.window: 0 is too small: expected an integer from 1 to 1000000000",
            "policies[0].live.explore: 2 found: expected a number from 0 to 1",
            "policies[0].live.prior: unknown prior \"log\": known: estimated",
            "policies[0].live.skips: 1 found: expected \"at-close\" or \"at-once\"",
            "live.availability: 0 found: expected a number above 0 and at most 1",
            "live.churn.rate: 1.5 found: expected a number from 0 to 1",
            "live.churn.prior[0]: 0 found: expected a number above 0 and at most 1,000,000",
            "live.churn.returning: 2 found: expected a number from 0 to 1",
            "live.drift.jumps: 0 is too small: expected an integer from 1 to 1000000000",
            "live.drift.share: 7 found: expected a number from 0 to 1",
            "live.drift.prior: unknown prior \"log\": known: instance",
            "live.drift.waves: `jumps` is given already: expected one or the other",
            "live.delay.click: `geometric` is given already: expected one or the other",
            "live.delay.lost.skip: 2 found: expected a number from 0 to 1",
            "live.delay.x: unknown key: known: click, geometric, lost, skip",
        ]
    );
}

#[test]
fn what_cannot_be_played_is_refused() {
    let dbn = "[[instances]]\nmodel = \"dbn\"\nattraction = [0.5, 0.4, 0.2]\nsatisfaction = [0.5, 0.4, 0.2]\npositions = 2\ncontinuation = 0.9\n";
    let of = |task: &str, users: &str, policies: &str, live: &str| {
        let head = HEAD
            .replace("\"regret\"", task)
            .replace("horizon", if task.contains("identify") { "max_steps" } else { "horizon" });
        errors(&format!("{head}{users}{policies}{live}"))
    };
    let live = |conditions: &str| format!("[live]\n{conditions}\n");
    let churn = live("churn = { rate = 0.1, prior = [1, 9] }");
    let policy = |name: &str, rest: &str| format!("[[policies]]\npolicy = \"{name}\"\n{rest}\n");
    let with_lists =
        "expected instances of \"pbm\" or \"semi-bandit\" or \"cascade\" or \"dcm\", but these are \"dbn\"";
    for (found, expected) in [
        (of("\"regret\"", dbn, &policy("epsilon-greedy", ""), &churn), format!("live: {with_lists}")),
        (
            of("\"regret\"", dbn, &policy("epsilon-greedy", "live = { window = 5 }"), ""),
            format!("policies[0].live: {with_lists}"),
        ),
        (
            of("\"budget\"", CASCADE, &policy("cascade-bai", ""), &churn),
            "live: task \"budget\" is played without disturbance: leave it out".to_owned(),
        ),
        (
            of("\"identify\"", CASCADE, &policy("cascade-bai", ""), &churn),
            "live: task \"identify\" takes `delay` alone, with `click` and `skip`".to_owned(),
        ),
        (
            of("\"regret\"", CASCADE, &policy("top-rank", ""), &churn),
            "policies[0].policy: \"top-rank\" has no table, so it cannot choose among items that come and go".to_owned(),
        ),
        (
            of("\"regret\"", CASCADE, &policy("top-rank", "live = { window = 5 }"), ""),
            "policies[0].live: \"top-rank\" has no table: expected `wait` alone".to_owned(),
        ),
        (
            of("\"regret\"", CASCADE, &policy("cascade-ts", "live = { wait = 5 }"), &churn),
            "policies[0].policy: \"cascade-ts\" learns in order with `wait`, so it cannot choose among items that come and go".to_owned(),
        ),
        (
            of("\"regret\"", CASCADE, &policy("cascade-ucb1", "live = { prior = [1, 9] }"), ""),
            "policies[0].live: cascade-ucb1: this policy draws from no posterior, so it has no prior".to_owned(),
        ),
        (
            of("\"regret\"", CASCADE, &policy("oracle", ""), &churn),
            "policies[0].policy: \"oracle\" does not learn from answers: leave it out under `live`".to_owned(),
        ),
        (
            of("\"regret\"", CASCADE, &policy("pbm-ts", "read-as = \"pbm\"\nkappa = [1.0, 0.5]"), &churn),
            "policies[0].read-as: not supported in live use: leave it out".to_owned(),
        ),
        (
            of("\"regret\"", CASCADE, TS, &live("drift = { share = 0.5 }")),
            "live.drift: expected `jumps` or `waves`".to_owned(),
        ),
        (
            of("\"regret\"", CASCADE, TS, &live("delay = { click = 1, geometric = 5 }")),
            "live.delay.click: `geometric` is given already: expected one or the other".to_owned(),
        ),
    ] {
        assert_eq!(found, [expected]);
    }
}

#[test]
fn a_delay_is_played_until_policies_stop() {
    let head = HEAD.replace("regret", "identify").replace("horizon", "max_steps");
    let bai = "[[policies]]\npolicy = \"cascade-bai\"\nlive = { wait = 100 }\n";
    let experiment = read(&format!("{head}{CASCADE}{bai}[live]\ndelay = {{ skip = 7 }}\n")).unwrap();
    let delay = Delays { skip: Delay::Rounds(7), ..Delays::default() };
    assert_eq!(*experiment.live(), Conditions { delay, ..Conditions::default() });
    assert_eq!(experiment.policies()[0].live, Some(LiveUse { wait: Some(100), ..LiveUse::default() }));
}

#[test]
fn the_builder_refuses_what_a_file_would() {
    let users = || Instances::of([CascadeModel::from_values(&[0.5, 0.4, 0.2], 2).unwrap()]);
    let build = |conditions: Conditions, live: Option<LiveUse>| {
        let entrant = Entrant { live, ..Entrant::new("cascade-ts", PolicySpec::CascadeTs {}) };
        let builder = Experiment::builder("x", users()).entrant(entrant).live(conditions);
        builder.build().map_err(|error| error.to_string())
    };
    let none = Conditions::default();
    let availability = |share| Conditions { availability: Some(Availability { share, rounds: 1 }), ..none };
    assert_eq!(build(availability(0.5), None).unwrap().live(), &availability(0.5));
    assert_eq!(
        build(availability(0.0), None).unwrap_err(),
        "live: availability.share: 0.0 found: expected a number above 0 and at most 1"
    );
    let delay = Delays { click: Delay::Geometric(5.0), skip: Delay::Rounds(3), ..Delays::default() };
    assert_eq!(
        build(Conditions { delay, ..none }, None).unwrap_err(),
        "live: no file can have it: { delay = { geometric = 5.0, lost = { click = 0.0, skip = 0.0 } } } is something else"
    );
    let used = LiveUse { explore: 5.0, ..LiveUse::default() };
    assert_eq!(
        build(none, Some(used)).unwrap_err(),
        "policies[0].live: explore: 5.0 found: expected a number from 0 to 1"
    );
}
