//! The state: what is repeated from a store is what was, whatever happened in between.

use click_bandits_service::api::{AnswerBody, Outcome, Refusal};
use click_bandits_service::config::{Config, Limits, Template, agree};
use click_bandits_service::engine::{Engine, Origin, check};
use click_bandits_service::event::{Batch, Change, Event, Name};
use click_bandits_service::export::{Form, export};
use click_bandits_service::store::{Embedded, Store, StoreError};
use rand::{Rng, RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn template(settings: &str) -> Arc<Template> {
    let text = format!("[policy]\nusers = 'cascade'\npolicy = 'cascade-ts'\npositions = 3\n{settings}");
    Arc::new(Config::parse(&text).unwrap().policy)
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn body<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// An engine and its store, as the writer has them.
struct Served {
    store: Arc<dyn Store>,
    engine: Engine,
    template: Arc<Template>,
    limits: Limits,
    directory: std::path::PathBuf,
    time: u64,
}

impl Served {
    fn new(directory: &Path, template: &Arc<Template>, limits: &Limits) -> Self {
        let store: Arc<dyn Store> = Arc::new(Embedded::open(directory).unwrap());
        let engine = Engine::recover(&store, template, limits, directory).unwrap();
        let (template, limits, directory) = (template.clone(), limits.clone(), directory.to_owned());
        Self { store, engine, template, limits, directory, time: 1_000_000 }
    }

    fn commit<T>(&mut self, work: impl FnOnce(&mut Engine, u64, &mut Vec<Event>) -> T) -> T {
        let (first, mut events) = (self.engine.next(), vec![]);
        let answer = work(&mut self.engine, self.time, &mut events);
        assert_eq!(self.engine.next(), first + events.len() as u64);
        if !events.is_empty() {
            self.store.append(first, &Batch { time: self.time, events }).unwrap();
        }
        answer
    }

    fn twin(&self) -> Engine {
        Engine::recover(&self.store, &self.template, &self.limits, &self.directory).unwrap()
    }
}

/// Everything that a client can see of two engines.
fn assert_same(one: &mut Engine, other: &mut Engine, queries: &[Name]) {
    assert_eq!((one.next(), one.totals(), one.n_open()), (other.next(), other.totals(), other.n_open()));
    assert_eq!(one.n_items(), other.n_items());
    for query in queries {
        let rows = |engine: &mut Engine| engine.rows(query, 0, 1_000).map_err(|refusal| refusal.to_json());
        assert_eq!(rows(one), rows(other), "{query:?}");
    }
    let lists = |engine: &Engine| -> Vec<(Name, u64, Vec<Name>)> {
        engine.latest().map(|(query, time, list)| (query.clone(), time, list.to_vec())).collect()
    };
    assert_eq!(lists(one), lists(other));
}

/// One request at random; refusals are part of it.
fn act(served: &mut Served, rng: &mut impl Rng, queries: &[Name], n: usize) {
    let item = |rng: &mut dyn Rng| format!("i{}", rng.random_range(0..30));
    let id = |n: usize| format!("d{n}");
    let query = queries[rng.random_range(0..queries.len())].clone();
    served.time += rng.random_range(0..400);
    let what = rng.random_range(0..100);
    let (one, two) = (item(rng), item(rng));
    let back = n.saturating_sub(rng.random_range(0..60));
    let (position, choice) = (rng.random_range(1..5_u8), rng.random_range(0..4));
    // Items have the same features whenever they come back, but for a few that are refused so.
    let features: Vec<f64> =
        served.template.item_features.iter().map(|_| (one.len() + n % 50 / 49) as f64).collect();
    let told = |mut body: Value, template: &Template| {
        let of_users: Vec<f64> = template.features.iter().map(|_| (n % 7) as f64 - 3.0).collect();
        let segment = template.segments.get(n % 3).map(|name| &**name);
        if !of_users.is_empty() && !n.is_multiple_of(10) {
            body["context"] = json!({ "segment": segment, "features": of_users });
        }
        body
    };
    let template = served.template.clone();
    served.commit(|engine, time, events| {
        _ = match what {
            0..40 => {
                let mut ask = json!({ "id": id(n), "query": &*query });
                match choice {
                    0 => ask["only"] = json!([one, two]),
                    1 => ask["except"] = json!([one]),
                    2 => ask["positions"] = json!(position),
                    _ => {}
                }
                engine.decide(body(told(ask, &template)), time, events).map(|_| ())
            }
            40..45 => {
                let show = json!({ "id": id(n), "query": &*query, "items": [one, two] });
                engine.show(body(told(show, &template)), time, events).map(|_| ())
            }
            45..70 => {
                engine.answer(body(json!({ "id": id(back), "clicks": [position] })), events).map(|_| ())
            }
            70..85 => engine.answer(body(json!({ "id": id(back), "close": true })), events).map(|_| ()),
            85..88 => engine.close_before(time - 5_000, 10, events),
            _ => {
                let change = [Change::Add, Change::Add, Change::Retire, Change::Forget][choice];
                let of = (what % 3 == 0).then_some(&query);
                let features = if change == Change::Add { &features[..] } else { &[] };
                engine.change_item(&name(&one), of, change, features, events).map(|_| ())
            }
        };
    });
}

fn repeated_is_what_was(template: &Arc<Template>, in_memory: usize) {
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits { queries: in_memory, ..Limits::default() };
    let queries: Vec<Name> = (0..8).map(|n| name(&format!("q{n}"))).collect();
    let mut served = Served::new(directory.path(), template, &limits);
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(1);
    for n in 0..4_000 {
        act(&mut served, rng, &queries, n);
        match n % 1_000 {
            250 => served.twin().save(&*served.store).unwrap(),
            500 => {
                let mut twin = served.twin();
                assert_same(&mut twin, &mut served.engine, &queries);
            }
            // A restart: from here on the twin goes on, and must choose what this one would.
            750 => served.engine = served.twin(),
            _ => {}
        }
    }
    assert!(served.engine.n_in_memory() <= in_memory);
    assert!(served.engine.totals().decided > 1_000 && served.engine.totals().differing == 0);
    // The generators, too: both choose alike from now on.
    let mut twin = served.twin();
    for n in 0..200 {
        let ask = json!({ "id": format!("new{n}"), "query": &*queries[n % 8] });
        let time = served.time;
        let lists = [&mut served.engine, &mut twin]
            .map(|engine| engine.decide(body(ask.clone()), time, &mut vec![]).unwrap());
        assert_eq!(lists[0], lists[1]);
    }
}

#[test]
fn what_is_repeated_is_what_was() {
    repeated_is_what_was(&template("keep = 300\nkeep-retired = 3"), 100);
}

#[test]
fn what_is_repeated_is_what_was_if_queries_are_written_out() {
    repeated_is_what_was(&template("window = 5\nexplore = 0.2\nprior = 'estimated'"), 2);
}

#[test]
fn what_is_repeated_is_what_was_with_propensities() {
    repeated_is_what_was(&template("propensities = { draws = 20, epsilon = 0.1 }"), 3);
}

#[test]
fn what_is_repeated_is_what_was_of_a_policy_without_chance() {
    let text = template("keep = 50\nskips = 'at-once'").to_text().replace("cascade-ts", "cascade-kl-ucb");
    repeated_is_what_was(&Arc::new(serde_json::from_str(&text).unwrap()), 3);
}

/// A template of a policy that sees who asks.
fn for_users(settings: &str) -> Arc<Template> {
    let text = format!(
        "[policy]\nusers = 'cascade'\npolicy = 'hybrid-ts'\npositions = 3\nsegments = ['de', 'fr']\n\
         features = ['age', 'visits']\nitem-features = ['price']\n{settings}"
    );
    Arc::new(Config::parse(&text).unwrap().policy)
}

#[test]
fn what_is_repeated_is_what_was_of_a_policy_that_sees_who_asks() {
    repeated_is_what_was(&for_users("keep = 300\nkeep-retired = 3"), 2);
    repeated_is_what_was(&for_users("propensities = { draws = 5, epsilon = 0.1 }"), 100);
}

#[test]
fn who_asks_is_checked_and_changes_the_list() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = Served::new(directory.path(), &for_users(""), &Limits::default());
    let fault = |refusal: Refusal| {
        let error = refusal.to_json()["error"].clone();
        let text = |key: &str| error[key].as_str().unwrap().to_owned();
        (refusal.status(), text("code"), text("at"), text("message"))
    };
    served.commit(|engine, time, events| {
        for (item, price) in [("a", 1.0), ("b", -1.0), ("c", 0.0), ("d", 0.5)] {
            engine.change_item(&name(item), None, Change::Add, &[price], events).unwrap();
            let again = engine.change_item(&name(item), None, Change::Add, &[price], events).unwrap();
            assert_eq!(again, Outcome::Repeated);
        }
        let add = |engine: &mut Engine, query: Option<&Name>, features: &[f64]| {
            fault(engine.change_item(&name("a"), query, Change::Add, features, &mut vec![]).unwrap_err())
        };
        let (status, code, at, message) = add(engine, None, &[1.0, 2.0]);
        assert_eq!((status, &*code, &*at), (400, "malformed", "features"));
        assert_eq!(message, "2 features, and the configuration names price");
        assert_eq!(add(engine, None, &[7.0]).1, "other_features");
        engine.decide(body(json!({ "id": "0", "query": "q" })), time, events).unwrap();
        assert_eq!(add(engine, Some(&name("q")), &[7.0]).1, "other_features");
        let ask = |engine: &mut Engine, context: Value| {
            let ask = body(json!({ "id": "x", "context": context }));
            fault(engine.decide(ask, time, &mut vec![]).unwrap_err())
        };
        let (status, code, at, _) = ask(engine, json!({ "segment": "es" }));
        assert_eq!((status, &*code, &*at), (400, "unknown_segment", "context.segment"));
        let (_, _, at, message) = ask(engine, json!({ "segment": "de", "features": [1] }));
        assert_eq!(
            (&*at, &*message),
            ("context.features", "1 features, and the configuration names age, visits")
        );
    });
    // Old users click on the first item, others on the second.
    let mut right = 0;
    for n in 0..600 {
        let (id, old) = (format!("d{n}"), n % 2 == 0);
        let context = json!({ "segment": "fr", "features": [if old { 1.0 } else { -1.0 }, 0.5] });
        served.commit(|engine, time, events| {
            let ask = json!({ "id": id, "positions": 1, "only": ["a", "b"], "context": context });
            let list = engine.decide(body(ask), time, events).unwrap();
            let click = (&*list.items[0].item == "a") == old;
            right += usize::from(click && n >= 400);
            let clicks = if click { json!([1]) } else { json!([]) };
            let answer = |clicks: &Value| body(json!({ "id": id, "clicks": clicks, "close": true }));
            assert_eq!(engine.answer(answer(&clicks), events).unwrap().outcome, Outcome::Counted);
            assert_eq!(engine.answer(answer(&clicks), events).unwrap().outcome, Outcome::Repeated);
            if !click {
                let late = fault(engine.answer(answer(&json!([1])), events).unwrap_err());
                assert_eq!((late.0, &*late.1, &*late.2), (409, "closed", "clicks"));
            }
        });
    }
    assert!(right > 190, "{right} of 200");
    let rows = served.engine.rows(&Name::default_query(), 0, 10).unwrap();
    let shows: u64 = rows.iter().map(|(_, row)| row.entries[0].tally.shows).sum();
    assert_eq!(shows, 600);
    let out = directory.path().join("out");
    let store = directory.path().to_owned();
    let Served { store: open, engine, template, .. } = served;
    open.make_for(&template.to_text()).unwrap();
    drop((open, engine));
    export(&store, None, &out, Form::Csv).unwrap();
    let csv = std::fs::read_to_string(out.join("decisions.csv")).unwrap();
    let mut rows = csv.lines();
    assert!(rows.next().unwrap().ends_with(",list_propensity,segment,age,visits"));
    assert!(rows.next().unwrap().ends_with(",fr,1,0.5"), "{csv}");
}

#[test]
fn settings_that_do_not_fit_a_policy_that_sees_who_asks_are_refused_by_name() {
    let refused = |settings: &str| check(&for_users(settings)).unwrap_err();
    assert!(refused("window = 5").starts_with("`window` corrects a table"));
    assert!(refused("skips = 'at-once'").starts_with("`skips` corrects a table"));
    assert!(refused("prior = 'estimated'").starts_with("`estimate_prior` corrects a table"));
    assert!(refused("prior = [1.0, 9.0]").starts_with("`hybrid-ts`: "));
    let parse = |settings: &str| {
        let text = format!("{settings}\n[policy]\nusers = 'cascade'\npolicy = 'hybrid-ts'\npositions = 3");
        Config::parse(&text).unwrap_err()
    };
    let error = parse("items = ['a', { item = 'b', features = [0.5] }]");
    assert_eq!(error, "items: `b` has the features [0.5], expected 0 finite numbers");
    for (settings, at) in [
        ("features = ['age', 'click']", "policy.features: `click`"),
        ("features = ['a;b']", "policy.features: `a;b`"),
        ("item-features = ['item']", "policy.item-features: `item`"),
        ("segments = ['de', 'de']", "policy.segments: `de`"),
    ] {
        let text = format!("[policy]\nusers = 'cascade'\npolicy = 'cascade-ts'\npositions = 3\n{settings}");
        let error = Config::parse(&text).unwrap_err();
        assert!(error.starts_with(at), "{error}");
    }
}

#[test]
fn decisions_and_answers_count_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = Served::new(directory.path(), &template("keep = 2"), &Limits::default());
    let all = served.commit(|engine, time, events| {
        for item in ["a", "b", "c", "d"] {
            engine.change_item(&name(item), None, Change::Add, &[], events).unwrap();
        }
        let twice = ["1", "1"].map(|id| engine.decide(body(json!({ "id": id })), time, events).unwrap());
        assert_eq!(twice[0], twice[1]);
        let click = |engine: &mut Engine, events: &mut _, body: AnswerBody| engine.answer(body, events);
        let once = click(engine, events, body(json!({ "id": "1", "clicks": [2], "close": true }))).unwrap();
        let again = click(engine, events, body(json!({ "id": "1", "clicks": [2], "close": true }))).unwrap();
        assert_eq!((once.outcome, again.outcome), (Outcome::Counted, Outcome::Repeated));
        let refused =
            |refusal: Result<_, Refusal>| refusal.map_err(|refusal| (refusal.status(), refusal.code()));
        assert_eq!(
            refused(click(engine, events, body(json!({ "id": "1", "clicks": [4] })))),
            Err((400, "no_such_position"))
        );
        assert_eq!(
            refused(click(engine, events, body(json!({ "id": "2", "clicks": [1] })))),
            Err((404, "unknown_decision"))
        );
        engine.rows(&Name::default_query(), 0, 10).unwrap()
    });
    let [shows, clicks] = all.iter().fold([0, 0], |[shows, clicks], (_, row)| {
        [shows + row.entries[0].tally.shows, clicks + row.entries[0].tally.clicks]
    });
    // A cascade user who clicked at the second position has seen two items.
    assert_eq!([shows, clicks], [2, 1]);
    for id in ["2", "3", "4"] {
        served.commit(|engine, time, events| engine.decide(body(json!({ "id": id })), time, events).unwrap());
    }
    served.commit(|engine, time, events| {
        let late = engine.answer(body(json!({ "id": "1", "close": true })), events).unwrap_err();
        assert_eq!((late.status(), late.code()), (410, "too_old"));
        let again = engine.decide(body(json!({ "id": "2" })), time, events).unwrap_err();
        assert_eq!(again.code(), "too_old");
        let other = engine.decide(body(json!({ "id": "4", "query": "q" })), time, events).unwrap_err();
        assert_eq!((other.status(), other.code()), (409, "other_query"));
    });
}

#[test]
fn another_servers_events_give_the_same_table() {
    let directory = tempfile::tempdir().unwrap();
    let template = template("");
    let queries = [name("q0"), name("q1")];
    let mut served = Served::new(directory.path(), &template, &Limits::default());
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(2);
    let elsewhere = tempfile::tempdir().unwrap();
    let empty: Arc<dyn Store> = Arc::new(Embedded::open(elsewhere.path()).unwrap());
    let mut follower = Engine::recover(&empty, &template, &Limits::default(), elsewhere.path()).unwrap();
    for n in 0..1_000 {
        act(&mut served, rng, &queries, n);
        follower.catch_up(&*served.store, Origin::Other).unwrap();
    }
    let (mut one, mut other) = (served.engine, follower);
    for query in &queries {
        let rows = |engine: &mut Engine| engine.rows(query, 0, 100).unwrap();
        assert_eq!(rows(&mut one), rows(&mut other));
    }
    assert_eq!(one.next(), other.next());
}

#[test]
fn stores_of_other_settings_and_damaged_ones_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (template, limits) = (template(""), Limits::default());
    let mut served = Served::new(directory.path(), &template, &limits);
    agree(&*served.store, &mut (*template).clone()).unwrap();
    let other = self::template("window = 7");
    let error = agree(&*served.store, &mut (*other).clone()).unwrap_err();
    assert_eq!(error.to_string(), "the store was made for other settings: window = null, now 7");
    // A second process: redb locks the file.
    let Err(error) = Embedded::open(directory.path()) else { panic!("opened twice") };
    assert!(matches!(error, StoreError::InUse(_)), "{error}");
    // A gap, and a decision that was never made.
    served
        .commit(|engine, _, events| engine.change_item(&name("a"), None, Change::Add, &[], events).unwrap());
    let closed = Event::Closed { id: name("x"), seen: None };
    served.store.append(1, &Batch { time: 0, events: vec![closed.clone()] }).unwrap();
    let error = Engine::recover(&served.store, &template, &limits, directory.path()).unwrap_err();
    assert_eq!(error.to_string(), "the store is damaged: event 1: decision `x` is not open");
    let gap = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(Embedded::open(gap.path()).unwrap());
    store.append(5, &Batch { time: 0, events: vec![closed] }).unwrap();
    let error = Engine::recover(&store, &template, &limits, gap.path()).unwrap_err();
    assert_eq!(error.to_string(), "the store is damaged: the events from number 0 on are missing");
    // No database at all.
    let file = tempfile::tempdir().unwrap();
    std::fs::write(file.path().join("events.redb"), [7; 4_096]).unwrap();
    let Err(error) = Embedded::open(file.path()) else { panic!("opened garbage") };
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
}
