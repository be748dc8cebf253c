//! Launches: sides, what is counted, the share's path, repetition, and requests that are refused.
#![expect(clippy::float_cmp, reason = "shares and counts are kept as they are")]

use crate::engine::{Served, body, exported, name};
use crate::server::Server;
use click_bandits_service::config::{Config, Limits, agree};
use click_bandits_service::engine::{Deferred, Engine, LaunchState};
use click_bandits_service::event::{Change, Event};
use click_bandits_service::export::Form;
use click_bandits_service::launch::{plan, report, section, sentence};
use click_bandits_service::store::EmbeddedStore;
use interleaving::launch::Settings;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::sync::Arc;

const DAY: u64 = 86_400_000;

fn config(launch: &str) -> String {
    format!(
        "[policy]\nusers = 'cascade'\npolicy = 'cascade-ts'\npositions = 3\n[launch]\nname = 'autumn'\n{launch}"
    )
}

fn served(directory: &std::path::Path, launch: &str) -> Served {
    let mut template = Config::parse(&config(launch)).unwrap().policy;
    let store = Arc::new(EmbeddedStore::open(directory).unwrap());
    agree(&*store, &mut template).unwrap();
    let mut served = Served::on(store, directory, &Arc::new(template), &Limits::default());
    served.commit(|engine, _, events| {
        for item in ["a", "b", "c", "d", "e", "f"] {
            engine.change_item(&name(item), None, Change::Add, &[], events).unwrap();
        }
    });
    served
}

fn state(engine: &Engine) -> LaunchState {
    let text = serde_json::to_string(engine.launch.as_ref().unwrap()).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A day of a site whose users click on `a` most, and on today's list less often.
fn pass_day(served: &mut Served, rng: &mut Xoshiro256PlusPlus, visits: usize, on_policy: f64) {
    for visit in 0..visits {
        served.time += DAY / visits as u64;
        served.commit(|engine, time, events| {
            let user = format!("u{}", rng.random_range(0..600));
            let id = format!("{time}-{visit}");
            let ask = json!({ "id": id, "user": user, "baseline": ["d", "a", "new"] });
            let list = engine.decide(body(ask), time, events).unwrap();
            let clicks = if list.side == Some("policy") { on_policy } else { 0.3 };
            let click = rng.random::<f64>() < clicks;
            let answer = json!({
                "id": id, "clicks": if click { json!([1]) } else { json!([]) }, "close": true,
                "metrics": { "bounce": u8::from(!click) },
            });
            engine.answer(body(answer), events).unwrap();
            engine.look_at_launch(time, events);
        });
    }
}

const GUARD: &str = "guards = [{ metric = 'bounce', worse = 'up', most = 0.5 }]";

#[test]
fn a_launch_is_repeated_to_the_bit() {
    let directory = tempfile::tempdir().unwrap();
    let settings = format!("steps = [0.1, 0.5]\nrisk = 0.2\nfirst = 5\n{GUARD}");
    let mut served = served(directory.path(), &settings);
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(5);
    for day in 0..24 {
        pass_day(&mut served, rng, 150, 0.36);
        let twin = served.twin();
        assert_eq!(state(&twin), state(&served.engine), "day {day}");
        assert_eq!(twin.totals, served.engine.totals);
        match day % 3 {
            0 => served.twin().save(&*served.store).unwrap(),
            1 => served.engine = served.twin(),
            _ => {}
        }
    }
    let launch = &served.engine.launch.as_ref().unwrap().launch;
    assert_eq!((launch.share, served.engine.totals.differing), (0.5, 0));
    let report = report(served.engine.launch.as_ref().unwrap(), served.time);
    assert_eq!(report["first"], 5);
    assert!(report["guards"][0]["is_watched"].as_bool().unwrap(), "{report}");
    let of = |side: usize| report["total"]["lists"][side].as_f64().unwrap();
    assert_eq!(of(0) + of(1), 24.0 * 150.0 - 5.0);
}

#[test]
fn a_policy_that_breaks_is_stopped_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), "steps = [0.5]\nfirst = 0");
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(6);
    for _ in 0..5 {
        for visit in 0..150 {
            served.time += DAY / 150;
            served.commit(|engine, time, events| {
                let user = format!("u{}", rng.random_range(0..600));
                let id = format!("{time}-{visit}");
                let ask = json!({ "id": id, "user": user, "baseline": ["d", "a"] });
                let list = engine.decide(body(ask), time, events).unwrap();
                if list.side == Some("baseline") && rng.random::<f64>() < 0.5 {
                    engine.answer(body(json!({ "id": id, "clicks": [1] })), events).unwrap();
                }
                engine.look_at_launch(time, events);
            });
        }
    }
    let state = served.engine.launch.as_ref().unwrap();
    assert!(state.launch.is_stopped());
    let told = sentence(state, served.time);
    assert!(told.starts_with("Stopped on 1970-01-") && told.contains("surely a quarter less"), "{told}");
    // The numbers of the stop stay, whatever is shown later.
    let since = report(state, served.time)["since_change"].clone();
    let [today, policy] = [0, 1].map(|side| since["sessions"][side].as_f64().unwrap());
    let rate = since["clicks_a_list"][0].as_f64().unwrap();
    let expected =
        format!("{policy} lists of the policy with 0 clicks each, {today} lists of today with {rate:.3}");
    assert!(today > 100.0 && policy > 100.0 && told.contains(&expected), "{expected}: {told}");
    assert!(told.contains("100.0 % less (") && told.contains("which begins again at 50 %."), "{told}");
    served.commit(|engine, time, events| {
        let list = engine.decide(body(json!({ "id": "x", "user": "u", "baseline": ["d"] })), time, events);
        assert_eq!(list.unwrap().side, Some("baseline"));
        engine.steer(&body(json!({ "resume": true })), time, events).unwrap();
        assert!(matches!(events.last(), Some(Event::Launch(change)) if change.share == 0.5));
    });
}

#[test]
fn a_shadow_shows_today_and_becomes_a_launch() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), "steps = []");
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(7);
    for _ in 0..3 {
        pass_day_in_shadow(&mut served, rng);
    }
    let launch = &served.engine.launch.as_ref().unwrap().launch;
    assert!(launch.in_shadow && launch.total[1] == [0.0; 2]);
    let told = sentence(served.engine.launch.as_ref().unwrap(), served.time);
    assert!(told.starts_with("A shadow since 1970-01-01, 2 days: everybody sees today's lists"), "{told}");
    let [lists, clicks] = launch.total[0];
    let seen =
        format!("Counted: {lists} lists of today with {:.3} clicks each. Agreement by", clicks / lists);
    assert!(
        told.contains(&seen) && told.contains(" there), by item ") && told.contains("Next: `steps`"),
        "{told}"
    );
    let counts =
        (served.engine.launch.as_ref().unwrap().first, served.engine.launch.as_ref().unwrap().decisions);
    assert!(
        counts == (50, 300) && told.ends_with("Not compared: 16.7 % of all lists, since their query is new.")
    );
    // Clicks on today's lists teach the policy.
    let rows = served.commit(|engine, _, _| engine.rows(&name("default"), 0, 9).unwrap());
    let clicks = |item: &str| {
        let row = rows.iter().find(|(_, row)| &*row.item == item).unwrap();
        row.1.entries[0].tally.clicks
    };
    assert!(clicks("d") > 20 && clicks("b") == 0);
    let new = Config::parse(&config("steps = [0.2]")).unwrap().policy;
    served.commit(|engine, time, events| {
        let store = EmbeddedStore::open(tempfile::tempdir().unwrap().path()).unwrap();
        let differences = engine.differences(&store, &new, &[]).unwrap();
        engine.change_settings(&differences, time, events).unwrap();
    });
    let launch = &served.engine.launch.as_ref().unwrap().launch;
    assert!(!launch.in_shadow && launch.share == 0.2);
    let told = report(served.engine.launch.as_ref().unwrap(), served.time);
    let path = told["path"].as_array().unwrap().iter().map(|change| &change["why"]).collect::<Vec<_>>();
    assert_eq!((path, &told["is_shadow"]), (vec![&json!("began"), &json!("settings")], &json!(false)));
    let words = section(served.engine.launch.as_ref().unwrap(), served.time, str::to_owned);
    assert!(
        words.contains("<td>20 %<td>other settings<tr>") && words.contains("<td>0 %<td>the launch began"),
        "{words}"
    );
    assert_eq!(state(&served.twin()), state(&served.engine));
}

fn pass_day_in_shadow(served: &mut Served, rng: &mut Xoshiro256PlusPlus) {
    for visit in 0..100 {
        served.time += DAY / 100;
        served.commit(|engine, time, events| {
            let id = format!("{time}-{visit}");
            let user = format!("u{}", rng.random_range(0..60));
            let ask = json!({ "id": id, "user": user, "baseline": ["d", "a", "new"] });
            let list = engine.decide(body(ask.clone()), time, events).unwrap();
            assert_eq!((list.side, &*list.items[0].item), (Some("baseline"), "d"));
            assert_eq!(engine.decide(body(ask), time, events).unwrap(), list);
            if rng.random::<f64>() < 0.3 {
                engine.answer(body(json!({ "id": id, "clicks": [1] })), events).unwrap();
            }
        });
    }
}

#[test]
fn a_user_has_one_side_and_an_id_one_list() {
    let launch = "[launch]\nname = 'autumn'\nsteps = [0.3]\nfirst = 0\n\
                  guards = [{ metric = 'bounce', worse = 'up', most = 0.1 }]\n";
    let server = Server::start(launch);
    let first = server.get("/v1/launch").1;
    let said = "No list was asked for yet. The launch begins with the first one, at 30 %.";
    assert_eq!(
        (&first["sentence"], &first["decisions"], &first["since"]),
        (&json!(said), &json!(0), &json!(null))
    );
    assert_eq!(
        (&first["share"], &first["path"], &first["guards"][0]["metric"]),
        (&json!(0.3), &json!([]), &json!("bounce"))
    );
    assert!(server.get("/").1.as_str().unwrap().contains(said));
    let ask = |id: &str, user: &str| {
        let body = json!({ "id": id, "user": user, "baseline": ["e", "d", "c", "b"] });
        server.post("/v1/decide", &body).1
    };
    let sides: Vec<Value> =
        (0..40).map(|user| ask(&format!("a{user}"), &user.to_string())["side"].clone()).collect();
    assert!(sides.contains(&json!("policy")) && sides.contains(&json!("baseline")));
    for (user, side) in sides.iter().enumerate() {
        let list = ask(&format!("b{user}"), &user.to_string());
        assert_eq!((&list["side"], ask(&format!("b{user}"), "somebody else")), (side, list.clone()));
        if side == "baseline" {
            let items: Vec<&Value> = list["items"].as_array().unwrap().iter().map(|of| &of["item"]).collect();
            assert_eq!(items, ["e", "d", "c"]);
        }
    }
    let nobody = server.post("/v1/decide", &json!({ "id": "n", "baseline": ["a"] })).1;
    assert_eq!(nobody["side"], "baseline");
    let answer = json!({ "id": "a1", "metrics": { "bounce": 1 } });
    assert_eq!(server.post("/v1/clicks", &answer).1["outcome"], "counted");
    assert_eq!(server.post("/v1/clicks", &answer).1["outcome"], "repeated");
    let report = server.get("/v1/launch").1;
    assert_eq!(
        (&report["share"], &report["without_user"], &report["decisions"]),
        (&json!(0.3), &json!(1), &json!(81))
    );
    let half = server.post("/v1/launch", &json!({ "share": 0.5 })).1;
    let said = half["sentence"].as_str().unwrap();
    assert!(
        said.contains("50 % is the last step, so nothing is left to decide. It is watched: a loss"),
        "{said}"
    );
    assert!(
        said.contains("more than 4 % stops it, and after a worse week it goes on at 30 %.")
            && half["share"] == 0.5,
        "{said}"
    );
    assert_eq!(server.post("/v1/launch", &json!({ "hold": true })).1["is_held"], true);
    let page = server.get("/").1;
    assert!(page.as_str().unwrap().contains("<h2>Launch: autumn</h2>"));
    let log = server.get("/v1/log?limit=1000").1;
    let lines: Vec<Value> =
        log.as_str().unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["side"] == "policy" && line["event"] == "decided"));
    assert!(lines.iter().any(|line| line["event"] == "measured" && line["metrics"]["bounce"] == 1.0));
}

#[test]
fn bad_requests_of_a_launch_are_refused_by_what_is_at_fault() {
    let launch = "[launch]\nname = 'autumn'\nsteps = [0.3]\n\
                  guards = [{ metric = 'bounce', worse = 'up', most = 0.1 }]\n";
    let server = Server::start(launch);
    let ask = |baseline: Value| json!({ "id": "1", "user": "u", "baseline": baseline });
    let many: Vec<String> = (0..65).map(|item| format!("i{item}")).collect();
    for (path, body, status, at) in [
        ("/v1/decide", json!({ "id": "1", "user": "u" }), 400, "baseline"),
        ("/v1/decide", ask(json!([])), 400, "baseline"),
        ("/v1/decide", ask(json!(["a", "b", "a"])), 400, "baseline[2]"),
        ("/v1/decide", ask(json!(many)), 400, "baseline"),
        ("/v1/launch", json!({ "share": 2 }), 400, "share"),
        ("/v1/launch", json!({}), 400, ""),
        ("/v1/launch", json!({ "share": 0.2, "hold": true }), 400, ""),
        ("/v1/launch", json!({ "share": "half" }), 400, "share"),
        ("/v1/launch", json!({ "shares": 1 }), 400, "shares"),
        ("/v1/launch", json!({ "hold": true, "share": null }), 400, "share"),
        ("/v1/launch", json!({ "resume": true }), 409, "resume"),
    ] {
        let (found, answer) = server.post(path, &body);
        assert_eq!((found, answer["error"]["at"].as_str()), (status, Some(at)), "{body} {answer}");
        if at.is_empty() {
            let said = answer["error"]["message"].as_str().unwrap();
            assert!(said.starts_with("expected one of `share`, `hold` and `resume`"), "{said}");
        }
    }
    assert_eq!(server.get("/v1/items").1["items"].as_array().unwrap().len(), 5);
    assert_eq!(server.post("/v1/decide", &ask(json!(["a"]))).0, 200);
    for (metrics, at) in
        [(json!({ "latency": 1 }), "metrics.latency"), (json!({ "bounce": 1e13 }), "metrics.bounce")]
    {
        let (status, answer) = server.post("/v1/clicks", &json!({ "id": "1", "metrics": metrics }));
        assert_eq!((status, &answer["error"]["at"]), (400, &json!(at)), "{answer}");
    }
    let plain = Server::start("");
    let (status, answer) = plain.post("/v1/decide", &ask(json!(["a"])));
    assert_eq!((status, &answer["error"]["at"]), (400, &json!("baseline")));
    let (status, answer) = plain.post("/v1/clicks", &json!({ "id": "1", "metrics": { "bounce": 1 } }));
    assert_eq!((status, &answer["error"]["code"]), (404, &json!("unknown_decision")));
    assert_eq!(plain.get("/v1/launch").0, 404);
}

#[test]
fn faults_of_the_settings_are_named_at_their_places() {
    for (launch, fault) in [
        ("steps = [0.5, 0.2]", "launch.steps"),
        ("steps = [1]", "launch.steps"),
        ("steps = [0.1]\nrisk = 1", "launch.risk"),
        ("steps = [0.1]\nrisks = 1", "launch.risks"),
        ("steps = [0.1]\nguards = [{ metric = 'x', worse = 'up', most = 0 }]", "launch.guards"),
        ("steps = [0.1]\nguards = [{ metric = 'x', worse = 'sideways', most = 0.1 }]", "launch.guards"),
        (
            "steps = [0.1]\nguards = [{ metric = \"a\\nb\", worse = 'up', most = 0.1 }]",
            "no control characters",
        ),
        ("steps = [0.1]\nguards = [{ metric = '', worse = 'up', most = 0.1 }]", "at least one character"),
    ] {
        let error = Config::parse(&config(launch)).unwrap_err().to_string();
        assert!(error.contains(fault), "{launch}: {error}");
    }
}

#[test]
fn a_plan_has_the_days_of_each_step() {
    let settings = Config::parse(&config("steps = [0.01, 0.05, 0.25]")).unwrap().policy.launch.unwrap();
    let steps = |lists: f64| plan(&settings, lists, 0.8);
    assert!(
        steps(450.0)[1].starts_with("launch: 5 % to 25 % in 135 days if both sides"),
        "{:?}",
        steps(450.0)
    );
    assert!(steps(6_000.0)[0].starts_with("launch: 1 % to 5 % in 2 days if both sides"));
    assert!(steps(1.0)[1].starts_with("launch: 5 % to 25 % in more than 1,000 days"));
    assert_eq!(
        steps(450.0)[2],
        "launch: 25 %, the last step: a policy that halves the clicks is stopped in 3 days"
    );
    let of_one =
        |share: f64, lists: f64| plan(&Settings { steps: vec![share], ..settings.clone() }, lists, 0.8);
    assert!(
        of_one(0.01, 450.0)[0].ends_with(" days; the site is too small for that: begin at 2 %"),
        "{:?}",
        of_one(0.01, 450.0)
    );
    assert!(
        of_one(0.5, 450.0)[0].ends_with("is stopped in 3 days")
            && of_one(0.5, 1.0)[0].ends_with("is enough for this site")
    );
    assert_eq!(plan(&Settings { steps: vec![], ..settings.clone() }, 1.0, 0.8).len(), 1);
    // A fifth of the clicks, of users who differ as much, takes 3.5 times the days.
    let seldom = &plan(&settings, 450.0, 0.16)[1];
    assert!(seldom.starts_with("launch: 5 % to 25 % in 472 days if both sides"), "{seldom}");
}

#[test]
fn without_the_store_everybody_sees_today() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), "steps = [0.5]\nfirst = 0");
    let mut deferred = Deferred::default();
    let ask = |items: Value| body(json!({ "id": "x", "query": "far", "user": "u", "baseline": items }));
    let list = served.engine.decide_deferred(ask(json!(["b", "new"])), &mut deferred).unwrap();
    let items: Vec<&str> = list.items.iter().map(|slot| &*slot.item).collect();
    assert_eq!((items, list.side, list.stored), (vec!["b", "new"], Some("baseline"), Some(false)));
    assert_eq!(served.engine.decide_deferred(ask(json!(["a"])), &mut deferred).unwrap(), list);
    let click = json!({ "id": "x", "items": ["new"], "close": true });
    served.engine.answer_deferred(body(click), &mut deferred).unwrap();
    served.commit(|engine, time, events| engine.record(&mut deferred, time, 100, events).unwrap());
    assert_eq!((deferred.conflicting, served.engine.totals.clicks), (0, 1));
    let row = served.commit(|engine, _, _| engine.row(&name("far"), &name("new")).unwrap());
    assert_eq!(row.entries[0].tally.clicks, 1);
    assert_eq!(served.twin().totals, served.engine.totals);
    // Asked again, the list has its side, and so it has after a restart.
    let mut twin = served.twin();
    for engine in [&mut served.engine, &mut twin] {
        let again = engine.decide(ask(json!(["b"])), 1_000_000, &mut vec![]).unwrap();
        assert_eq!((again.items.len(), again.side), (2, Some("baseline")));
    }
}

/// A week is judged before the lists that come after it, however lately somebody has looked.
#[test]
fn a_week_has_no_later_lists() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), "steps = [0.5]\nfirst = 0");
    let look = |served: &mut Served| {
        served.commit(|engine, time, events| {
            engine.look_at_launch(time, events);
            events.len()
        })
    };
    let ask = json!({ "id": "x", "user": "u", "baseline": ["d", "a"] });
    served.commit(|engine, time, events| _ = engine.decide(body(ask), time, events).unwrap());
    let began = served.engine.launch.as_ref().unwrap().launch.since;
    served.time = began + 7 * DAY - 1;
    look(&mut served);
    served.time += 1;
    assert_eq!(look(&mut served), 1);
    let launch = &served.engine.launch.as_ref().unwrap().launch;
    assert_eq!(launch.weeks[0].end, began + 7 * DAY);
}

/// A client still sends the metric of a guard that is gone, and its clicks count.
#[test]
fn metrics_of_an_earlier_guard_cost_no_click() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &format!("steps = [0.5]\nfirst = 0\n{GUARD}"));
    let ask = json!({ "id": "x", "user": "u", "baseline": ["d", "a"] });
    served.commit(|engine, time, events| _ = engine.decide(body(ask), time, events).unwrap());
    let answer = |position: u32| json!({ "id": "x", "clicks": [position], "metrics": { "bounce": 1 } });
    apply(&mut served, &config("steps = [0.5]\nfirst = 0"));
    served.commit(|engine, _, events| _ = engine.answer(body(answer(1)), events).unwrap());
    apply(&mut served, config("").split("[launch]").next().unwrap());
    served.commit(|engine, _, events| _ = engine.answer(body(answer(2)), events).unwrap());
    assert_eq!(served.engine.totals.clicks, 2);
}

#[test]
fn users_whose_names_are_dropped_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let mut template = Config::parse(
        &config("steps = [0.5]\nfirst = 1").replace("positions = 3", "positions = 3\nuser-names = 'drop'"),
    )
    .unwrap()
    .policy;
    let store = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
    agree(&*store, &mut template).unwrap();
    let mut served = Served::on(store, directory.path(), &Arc::new(template), &Limits::default());
    for user in 0..20 {
        served.commit(|engine, time, events| {
            let ask = json!({ "id": user.to_string(), "user": format!("u{user}"), "baseline": ["a", "b"] });
            engine.decide(body(ask), time, events).unwrap();
        });
    }
    served.commit(|engine, time, events| {
        engine.decide(body(json!({ "id": "nobody", "baseline": ["a"] })), time, events).unwrap();
    });
    let state = served.engine.launch.as_ref().unwrap();
    let lists = state.launch.total.map(|side| side[0]);
    assert_eq!((state.first, state.without_user, lists[0] + lists[1]), (1, 1, 19.0));
    assert_eq!(self::state(&served.twin()), self::state(&served.engine));
}

#[test]
fn what_is_said_before_the_first_list_is_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), "steps = [0.1, 0.5]\nfirst = 0");
    served.commit(|engine, time, events| engine.steer(&body(json!({ "hold": true })), time, events).unwrap());
    served.commit(|engine, time, events| engine.steer(&body(json!({ "share": 0.5 })), time, events).unwrap());
    served.commit(|engine, time, events| {
        let ask = json!({ "id": "x", "user": "u", "positions": 1, "baseline": ["d", "a"] });
        assert_eq!(engine.decide(body(ask), time, events).unwrap().items.len(), 1);
    });
    assert_eq!(state(&served.twin()), state(&served.engine));
    let launch = &served.engine.launch.as_ref().unwrap().launch;
    assert!(launch.share == 0.5 && launch.is_held(u64::MAX));
}

fn apply(served: &mut Served, config: &str) {
    let new = Config::parse(config).unwrap().policy;
    let store = served.store.clone();
    served.commit(|engine, time, events| {
        let differences = engine.differences(&*store, &new, &[]).unwrap();
        engine.change_settings(&differences, time, events).unwrap();
    });
}

/// The share of another policy is at most the first step, by an event; a shadow that gets steps
/// begins at the first one, whatever else changes.
#[test]
fn another_policy_begins_at_the_first_step() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), "steps = []\nfirst = 0");
    let ask = json!({ "id": "x", "user": "u", "baseline": ["d", "a"] });
    served.commit(|engine, time, events| _ = engine.decide(body(ask), time, events).unwrap());
    let share = |served: &Served| served.engine.launch.as_ref().unwrap().launch.share;
    let steps = config("steps = [0.1, 0.5]\nfirst = 0");
    apply(&mut served, &steps.replace("cascade-ts", "cascade-kl-ucb"));
    assert_eq!(share(&served), 0.1);
    served.commit(|engine, time, events| engine.steer(&body(json!({ "share": 0.5 })), time, events).unwrap());
    apply(&mut served, &steps.replace("cascade-ts", "cascade-kl-ucb").replace("first = 0", "first = 1"));
    assert_eq!(share(&served), 0.5);
    apply(&mut served, &steps.replace("first = 0", "first = 1"));
    assert_eq!(share(&served), 0.1);
    assert_eq!(state(&served.twin()), state(&served.engine));
}

#[test]
fn another_policy_and_another_launch_begin_anew() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), "steps = [0.5]\nfirst = 0");
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(8);
    let lists = |served: &Served| {
        let launch = &served.engine.launch.as_ref().unwrap().launch;
        launch.clicks_since().clicks.sessions.iter().sum::<f64>()
    };
    let mut sides = vec![];
    for visit in 0..50 {
        served.time += 1;
        served.commit(|engine, time, events| {
            let user = format!("u{}", rng.random_range(0..60));
            let ask = json!({ "id": format!("v{visit}"), "user": user, "baseline": ["d", "a"] });
            sides.push(engine.decide(body(ask), time, events).unwrap().side);
        });
    }
    assert!(lists(&served) == 50.0 && sides.contains(&Some("policy")));
    apply(&mut served, &config("steps = [0.5]\nfirst = 0").replace("cascade-ts", "cascade-kl-ucb"));
    assert!(lists(&served) == 0.0);
    apply(&mut served, &config("steps = [0.5]\nfirst = 0").replace("autumn", "winter"));
    served.commit(|engine, time, events| {
        engine.answer(body(json!({ "id": "v1", "clicks": [1] })), events).unwrap();
        let ask = json!({ "id": "new", "user": "u1", "baseline": ["d", "a"] });
        engine.decide(body(ask), time, events).unwrap();
        engine.answer(body(json!({ "id": "v2", "clicks": [1] })), events).unwrap();
        let wrong = json!({ "id": "v3", "clicks": [1], "metrics": { "nope": 1 } });
        assert_eq!(engine.answer(body(wrong), events).unwrap_err().status(), 400);
    });
    let [today, policy] = served.engine.launch.as_ref().unwrap().launch.total;
    assert_eq!(([today[0] + policy[0], today[1] + policy[1]], served.engine.totals.clicks), ([1.0, 0.0], 2));
    // The lists of before keep their sides, also after a restart.
    let mut twin = served.twin();
    for engine in [&mut served.engine, &mut twin] {
        for (visit, side) in sides.iter().enumerate() {
            let ask = json!({ "id": format!("v{visit}"), "user": "u", "baseline": ["d", "a"] });
            assert_eq!(engine.decide(body(ask), 1_000_000, &mut vec![]).unwrap().side, *side, "{visit}");
        }
    }
    assert_eq!(state(&served.twin()), state(&served.engine));
    // Without steps it is a shadow, and with them it begins again.
    apply(&mut served, &config("steps = []").replace("autumn", "winter"));
    assert!(sentence(served.engine.launch.as_ref().unwrap(), served.time).starts_with("A shadow since"));
    apply(&mut served, &config("steps = [0.25]").replace("autumn", "winter"));
    assert!(served.engine.launch.as_ref().unwrap().launch.share == 0.25);
}

#[test]
fn a_query_of_a_fit_is_new_for_fewer_decisions() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), "steps = [0.5]\nfirst = 10");
    served.commit(|engine, _, events| {
        let items = vec![(name("a"), 8, 1), (name("b"), 3, 1)];
        let began = Event::Began { query: Some(name("q")), prior: None, items };
        engine.begin(&began).unwrap();
        events.push(began);
    });
    for n in 0..20 {
        served.commit(|engine, time, events| {
            let ask = json!({ "id": n.to_string(), "query": "q", "user": "u", "baseline": ["d", "c"] });
            engine.decide(body(ask), time, events).unwrap();
        });
    }
    assert_eq!(served.engine.launch.as_ref().unwrap().first, 2);
    assert_eq!(state(&served.twin()), state(&served.engine));
}

/// The seconds of a decision in a query of 20,000 items, the fastest of some.
fn seconds_of_decision(first: u32) -> f64 {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &format!("steps = [0.5]\nfirst = {first}"));
    served.commit(|engine, _, events| {
        for item in 0..20_000 {
            engine.change_item(&name(&format!("i{item}")), None, Change::Add, &[], events).unwrap();
        }
    });
    let seconds = (0..40).map(|n| {
        served.commit(|engine, time, events| {
            let ask = json!({ "id": n.to_string(), "user": "u", "baseline": ["d", "a"] });
            let start = std::time::Instant::now();
            engine.decide(body(ask), time, events).unwrap();
            start.elapsed().as_secs_f64()
        })
    });
    seconds.skip(1).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_new_query_decides_as_fast_as_an_old_one() {
    let [new, old] = [1_000, 0].map(seconds_of_decision);
    println!("a decision takes {:.3} ms in a new query, {:.3} in an old one", 1e3 * new, 1e3 * old);
    assert!(new < 2.0 * old);
}

#[test]
fn a_list_of_today_with_a_new_item_is_shown_where_items_have_features() {
    let directory = tempfile::tempdir().unwrap();
    let config = "[policy]\nusers = 'cascade'\npolicy = 'hybrid-ts'\npositions = 3\n\
                  item-features = ['price']\n[launch]\nname = 'autumn'\nsteps = [0.5]\nfirst = 0";
    let template = Arc::new(Config::parse(config).unwrap().policy);
    let mut served = Served::new(directory.path(), &template, &Limits::default());
    let own = name("default");
    served.commit(|engine, _, events| {
        for (item, price) in [("a", 1.0), ("b", 2.0), ("c", -1.0)] {
            engine.change_item(&name(item), None, Change::Add, &[price], events).unwrap();
        }
    });
    for user in 0..30 {
        served.commit(|engine, time, events| {
            let id = user.to_string();
            let ask = json!({ "id": id, "user": format!("u{user}"), "baseline": ["b", "new", "a"] });
            let list = engine.decide(body(ask), time, events).unwrap();
            let items: Vec<&str> = list.items.iter().map(|slot| &*slot.item).collect();
            match list.side {
                Some("baseline") => assert_eq!(items, ["b", "new", "a"]),
                _ => assert!(!items.contains(&"new")),
            }
            let click = json!({ "id": id, "clicks": [2], "close": true });
            engine.answer(body(click), events).unwrap();
        });
    }
    let state_of = |engine: &mut Engine| {
        engine
            .rows(&own, 0, 9)
            .unwrap()
            .into_iter()
            .find(|(_, row)| &*row.item == "new")
            .unwrap()
            .1
            .is_present
    };
    assert!(!state_of(&mut served.engine));
    assert_eq!((state(&served.twin()), served.twin().totals), (state(&served.engine), served.engine.totals));
    // Told for all queries, it has its features, and may be shown.
    served.commit(|engine, time, events| {
        engine.change_item(&name("new"), None, Change::Add, &[3.0], events).unwrap();
        let ask = json!({ "id": "last", "user": "u", "baseline": ["new"] });
        engine.decide(body(ask), time, events).unwrap();
    });
    assert!(state_of(&mut served.engine) && state_of(&mut served.twin()));
}

#[test]
fn the_page_has_the_share_and_the_weeks_as_figures() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &format!("steps = [0.4]\nfirst = 0\n{GUARD}"));
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(9);
    for _ in 0..22 {
        pass_day(&mut served, rng, 150, 0.35);
    }
    let state = served.engine.launch.as_ref().unwrap();
    let told = sentence(state, served.time);
    assert!(
        told.contains("40 % is the last step") && told.contains("surely more than 5 % stops it. POST"),
        "{told}"
    );
    let html = section(state, served.time, str::to_owned);
    let weeks = state.launch.weeks.len();
    assert!(weeks >= 3 && html.matches("<svg").count() == 2, "{html}");
    assert!(html.contains("aria-label=\"Share of users: now 40 %\""));
    let figure = html.split("Clicks on the policy's side by week").nth(2).unwrap();
    assert_eq!(figure.split("</svg>").next().unwrap().matches("<rect").count(), 2 * weeks);
}

#[test]
fn the_export_says_whose_list_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    let mut served = served(&store, "steps = [0.5]\nfirst = 1");
    let mut sides = vec![];
    for user in 0..20 {
        sides.push(served.commit(|engine, time, events| {
            let ask = json!({ "id": user.to_string(), "user": format!("u{user}"), "baseline": ["a", "b"] });
            let list = engine.decide(body(ask), time, events).unwrap();
            engine.answer(body(json!({ "id": user.to_string(), "close": true })), events).unwrap();
            (list.side.unwrap(), list.items.len())
        }));
    }
    drop(served);
    let out = directory.path().join("out");
    exported(&store, &[], &out, Form::Csv);
    let csv = std::fs::read_to_string(out.join("decisions.csv")).unwrap();
    let mut rows = csv.lines();
    assert!(rows.next().unwrap().ends_with(",segment,side,period"));
    for (user, (side, length)) in sides.into_iter().enumerate() {
        let end = if user == 0 { format!(",{side},") } else { format!(",{side},0") };
        for row in rows.by_ref().take(length) {
            assert!(row.starts_with(&format!("default,{user},u{user},")) && row.ends_with(&end), "{row}");
        }
    }
    exported(&store, &[], &out, Form::Ubi);
    let queries = std::fs::read_to_string(out.join("ubi_queries.ndjson")).unwrap();
    let first: Value = serde_json::from_str(queries.lines().next().unwrap()).unwrap();
    assert_eq!(first["query_attributes"], json!({ "side": "baseline", "period": null }));
}

#[test]
fn a_stop_by_a_guard_tells_its_means() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &format!("steps = [0.5]\nfirst = 0\nrisk = 0.9\n{GUARD}"));
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(10);
    // Users without a click bounce.
    for _ in 0..10 {
        pass_day(&mut served, rng, 150, 0.0);
    }
    let state = served.engine.launch.as_ref().unwrap();
    let told = sentence(state, served.time);
    println!("{told}");
    let means = report(state, served.time)["guards"][0]["means"].clone();
    let [today, policy] = [0, 1].map(|side| means[side].as_f64().unwrap());
    assert!(policy == 1.0 && today < 0.8, "{told}");
    assert!(
        told.contains(&format!(
            "The mean of `bounce` was 1.00 on the policy's side and {today:.3} on today's: it may be at most 50 \
             % worse."
        )),
        "{told}"
    );
}
