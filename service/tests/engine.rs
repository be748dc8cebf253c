//! The state: what is repeated from a store is what was, whatever happened in between.

use crate::kills::environment;
use click_bandits_service::api::{AnswerBody, Outcome, Refusal};
use click_bandits_service::config::{Config, FirstItem, Limits, Template, agree};
use click_bandits_service::engine::{Base, Deferred, Engine, ItemRow, Origin, Totals};
use click_bandits_service::event::{Batch, Change, Event, Name, Worth};
use click_bandits_service::export::{Export, Form, export};
use click_bandits_service::fitted::FirstEvents;
use click_bandits_service::store::{EmbeddedStore, Store, StoreError};
use click_bandits_service::writer::Turn;
use click_models::{Cascade, CascadeFeedback, Context, ContextKnown, ListShape};
use live::{Ask, ByName, ContextFit};
use policies::catalogue::{CatalogueProtocol as _, Protocol};
use policies::{Decision, FeatureScale, HybridSettings, HybridTs, SelectFor as _, UpdateFor as _};
use rand::{Rng, RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn template(settings: &str) -> Arc<Template> {
    let text = format!("[policy]\nusers = 'cascade'\npolicy = 'cascade-ts'\npositions = 3\n{settings}");
    Arc::new(Config::parse(&text).unwrap().policy)
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn body<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn base(
    store: &Arc<dyn Store>,
    template: &Arc<Template>,
    limits: &Limits,
    directory: &Path,
) -> Base {
    let (store, template) = (store.clone(), template.clone());
    Base { store, template, limits: limits.clone(), directory: directory.to_owned() }
}

/// Exports a store that no server uses.
pub(crate) fn exported(store: &Path, archives: &[PathBuf], out: &Path, form: Form) {
    let [store, out] = [store, out].map(Path::to_owned);
    export(&Export { store, out, form, archives: archives.to_vec(), authorities: None }).unwrap();
}

/// An engine and its store, as the writer has them.
pub(crate) struct Served {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) engine: Engine,
    template: Arc<Template>,
    limits: Limits,
    directory: std::path::PathBuf,
    pub(crate) time: u64,
    /// Whether requests at random tell values, groups and pins.
    pub(crate) has_terms: bool,
}

impl Served {
    pub(crate) fn new(directory: &Path, template: &Arc<Template>, limits: &Limits) -> Self {
        Self::on(Arc::new(EmbeddedStore::open(directory).unwrap()), directory, template, limits)
    }

    pub(crate) fn on(
        store: Arc<dyn Store>,
        directory: &Path,
        template: &Arc<Template>,
        limits: &Limits,
    ) -> Self {
        let engine = base(&store, template, limits, directory).recover().unwrap();
        let (template, limits, directory) = (template.clone(), limits.clone(), directory.to_owned());
        Self { store, engine, template, limits, directory, time: 1_000_000, has_terms: true }
    }

    pub(crate) fn commit<T>(&mut self, work: impl FnOnce(&mut Engine, u64, &mut Vec<Event>) -> T) -> T {
        let (first, mut events) = (self.engine.next, vec![]);
        self.engine.begin_at(self.time, false);
        let answer = work(&mut self.engine, self.time, &mut events);
        assert_eq!(self.engine.next, first + events.len() as u64);
        if !events.is_empty() {
            self.store.append(first, &Batch { time: self.time, events }).unwrap();
        }
        answer
    }

    pub(crate) fn twin(&self) -> Engine {
        base(&self.store, &self.template, &self.limits, &self.directory).recover().unwrap()
    }
}

/// Everything that a client can see of two engines.
fn assert_same(one: &mut Engine, other: &mut Engine, queries: &[Name]) {
    assert_eq!((one.next, one.totals, one.n_open()), (other.next, other.totals, other.n_open()));
    assert_eq!(one.n_items(), other.n_items());
    for query in queries {
        let rows = |engine: &mut Engine| engine.rows(query, 0, 1_000).map_err(|refusal| refusal.to_json());
        assert_eq!(rows(one), rows(other), "{query:?}");
    }
    let lists = |engine: &Engine| -> Vec<(Name, u64, Vec<Name>)> {
        engine.latest().map(|(query, time, list)| (query.clone(), time, list.cloned().collect())).collect()
    };
    assert_eq!(lists(one), lists(other));
}

/// The state that no refused request may change, but for decisions that time closes.
fn beside_ends(engine: &Engine) -> impl PartialEq + std::fmt::Debug + use<> {
    let usage: Vec<_> = engine.usage(None).map(|(query, usage)| (query.clone(), usage)).collect();
    let totals = Totals { closed: 0, ..engine.totals };
    let others = engine.next - engine.totals.closed;
    let launch = engine.launch.as_ref().map(|of| (of.decisions, of.agreement, of.launch.total));
    (others, totals, engine.n_items(), usage, engine.activity.clone(), launch, engine.outside)
}

/// One request at random; those that are refused are part of it, and change nothing.
pub(crate) fn act(served: &mut Served, rng: &mut impl Rng, queries: &[Name], n: usize) {
    let item = |rng: &mut dyn Rng| format!("i{}", rng.random_range(0..30));
    let id = |n: usize| format!("d{n}");
    let query = queries[rng.random_range(0..queries.len())].clone();
    served.time += rng.random_range(0..400);
    let what = rng.random_range(0..100);
    let (one, two) = (item(rng), item(rng));
    let back = n.saturating_sub(rng.random_range(0..60));
    let (position, choice) = (rng.random_range(1..5_u8), rng.random_range(0..4));
    let terms =
        rng.random_range(0..12) + if served.has_terms && served.store.has_small_rows() { 0 } else { 12 };
    // Items have the same features whenever they come back, but for a few that are refused so.
    let features: Vec<f64> =
        served.template.item_features.iter().map(|_| (one.len() + n % 50 / 49) as f64).collect();
    let told = |mut body: Value, template: &Template| {
        let of_users: Vec<f64> = template.features.iter().map(|_| (n % 7) as f64 - 3.0).collect();
        let segment = template.segments.get(n % 4).map_or("nowhere", |name| &**name);
        if !of_users.is_empty() && !n.is_multiple_of(10) {
            body["context"] = json!({ "segment": segment, "features": of_users });
        }
        body
    };
    let template = served.template.clone();
    served.commit(|engine, time, events| {
        let before = beside_ends(engine);
        let outcome = match what {
            0..40 => {
                let mut ask = json!({ "id": id(n), "query": &*query });
                if template.launch.is_some() {
                    ask["user"] = json!(format!("u{}", n % 40));
                    ask["baseline"] = json!([two, format!("b{}", n % 4), one]);
                }
                match choice {
                    0 => ask["only"] = json!([one, two]),
                    1 => ask["except"] = json!([one]),
                    2 => ask["positions"] = json!(position),
                    _ => {}
                }
                match terms {
                    0 => ask["values"] = json!({ one: n % 9 }),
                    1 => ask["most"] = json!(1),
                    2 => ask["pins"] = json!({ "1": one }),
                    _ => {}
                }
                engine.decide(body(told(ask, &template)), time, events).map(|_| ())
            }
            40..45 => {
                let show = json!({ "id": id(n), "query": &*query, "items": [one, two] });
                engine.show(body(told(show, &template)), time, events).map(|_| ())
            }
            45..70 => {
                let mut told = json!({ "id": id(back), "clicks": [position] });
                match terms {
                    0..3 => told["value"] = json!(n % 17),
                    3..5 => {
                        told["values"] = json!({ (position.to_string()): n % 17 });
                        told["revision"] = json!(n % 5);
                    }
                    _ => {}
                }
                if template.launch.is_some() {
                    told["metrics"] = json!({ "bounce": n % 2 });
                }
                engine.answer(body(told), events).map(|_| ())
            }
            70..85 => engine.answer(body(json!({ "id": id(back), "close": true })), events).map(|_| ()),
            85..88 => engine.close_before(time - 5_000, 10, events),
            _ => {
                let change = [Change::Add, Change::Add, Change::Retire, Change::Forget][choice];
                let of = (what % 3 == 0).then_some(&query);
                let features = if change == Change::Add { features } else { vec![] };
                let worth = match terms {
                    0..5 => Worth { value: Some((n % 23) as f64 / 4.0), group: None },
                    5..8 => Worth { value: None, group: Some(name(["red", "blue"][n % 2])) },
                    _ => Worth::default(),
                };
                let told = FirstItem { item: name(&one), features, worth };
                engine.take_item(&told, of, Some(change), events).map(|_| ())
            }
        };
        if let Err(refusal) = outcome {
            assert_eq!(beside_ends(engine), before, "{what} {choice} {terms} {refusal:?} {events:?}");
        }
    });
}

fn repeated_is_what_was(template: &Arc<Template>, in_memory: usize) {
    repeated_within(template, &Limits { queries: in_memory, ..Limits::default() }, 1_000);
}

fn repeated_within(template: &Arc<Template>, limits: &Limits, least_decided: u64) {
    let directory = tempfile::tempdir().unwrap();
    let in_memory = limits.queries;
    let queries: Vec<Name> = (0..8).map(|n| name(&format!("q{n}"))).collect();
    let mut served = Served::new(directory.path(), template, limits);
    served.store.make_for(&template.to_text()).unwrap();
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(environment("SEED", 1).into());
    for n in 0..4_000 {
        act(&mut served, rng, &queries, n);
        match n % 1_000 {
            250 => served.twin().save(&*served.store).unwrap(),
            500 => {
                let mut twin = served.twin();
                assert_same(&mut twin, &mut served.engine, &queries);
            }
            // A restart: from here on the twin continues, and must choose what this one would.
            750 => served.engine = served.twin(),
            _ => {}
        }
    }
    assert!(served.engine.n_in_memory() <= in_memory);
    let Totals { decided, differing, .. } = served.engine.totals;
    assert!(decided > least_decided && differing == 0, "{decided} {differing}");
    // So are the generators: both choose alike from now on.
    let mut twin = served.twin();
    for n in 0..200 {
        let mut ask = json!({ "id": format!("new{n}"), "query": &*queries[n % 8] });
        if template.launch.is_some() {
            ask["baseline"] = json!(["i1"]);
        }
        let time = served.time;
        let lists = [&mut served.engine, &mut twin].map(|engine| {
            let list = engine.decide(body(ask.clone()), time, &mut vec![]);
            list.map_err(|refusal| refusal.to_json())
        });
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
fn what_is_repeated_is_what_was_with_values_of_answers() {
    repeated_is_what_was(&template("keep = 300\nkeep-retired = 3\nvalues = 'answers'\ncap = 12"), 3);
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
pub(crate) fn for_users(settings: &str) -> Arc<Template> {
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

/// Within limits that refuse queries and items, and in a launch, whose lists bring items.
#[test]
fn what_is_repeated_is_what_was_within_limits() {
    let launch = "[launch]\nname = 'autumn'\nsteps = [0.5]\nfirst = 3\n\
                  guards = [{ metric = 'bounce', worse = 'up', most = 0.9 }]";
    let limits = Limits { items: 26, all_queries: 6, queries: 3, ..Limits::default() };
    for of in ["keep = 300\nkeep-retired = 3", "keep-retired = 0", "keep = 200\nvalues = 'answers'"] {
        repeated_within(&template(of), &limits, 300);
        repeated_within(&template(&format!("{of}\n{launch}")), &limits, 300);
    }
    repeated_within(&for_users(&format!("keep = 300\nkeep-retired = 3\n{launch}")), &limits, 300);
}

/// A list that waits for the store has the present items, and its query stays behind: no event
/// tells that it followed.
#[test]
fn a_list_that_waits_leaves_its_query_behind() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = Served::new(directory.path(), &template(""), &Limits::default());
    let change = |served: &mut Served, item: &str, change: Change| {
        served
            .commit(|engine, _, events| engine.change_item(&name(item), None, change, &[], events).unwrap());
    };
    let decide = |served: &mut Served, id: &str| {
        served.commit(|engine, time, events| engine.decide(body(json!({ "id": id })), time, events).unwrap());
    };
    change(&mut served, "a", Change::Add);
    decide(&mut served, "1");
    change(&mut served, "b", Change::Add);
    let mut deferred = Deferred::default();
    for id in ["2", "3"] {
        let list = served.engine.decide_deferred(body(json!({ "id": id })), &mut deferred).unwrap();
        assert_eq!(list.items.len(), 2);
    }
    change(&mut served, "b", Change::Retire);
    decide(&mut served, "4");
    let mut twin = served.twin();
    assert_same(&mut twin, &mut served.engine, &[Name::default_query()]);
}

/// A click on a decision that is closed is refused, although its query lags behind the catalogue.
#[test]
fn a_late_click_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = Served::new(directory.path(), &for_users(""), &Limits::default());
    for item in ["a", "b"] {
        served.commit(|engine, time, events| {
            engine.change_item(&name(item), None, Change::Add, &[0.5], events).unwrap();
            if item == "a" {
                engine.decide(body(json!({ "id": "1" })), time, events).unwrap();
                engine.answer(body(json!({ "id": "1", "close": true, "seen": 0 })), events).unwrap();
            }
        });
    }
    let before = beside_ends(&served.engine);
    for (told, at) in
        [(json!({ "id": "1", "clicks": [1] }), "clicks"), (json!({ "id": "1", "seen": 1 }), "seen")]
    {
        let refusal = served.commit(|engine, _, events| engine.answer(body(told), events).unwrap_err());
        assert_eq!(refusal.to_json()["error"]["at"], at);
        assert_eq!(beside_ends(&served.engine), before);
    }
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
        assert_eq!((status, &*code, &*at), (409, "other_features", "features"));
        assert_eq!(message, "2 features, and the configuration names price");
        assert_eq!(add(engine, None, &[7.0]).1, "other_features");
        engine.decide(body(json!({ "id": "0", "query": "q" })), time, events).unwrap();
        assert_eq!(add(engine, Some(&name("q")), &[7.0]).1, "other_features");
        let ask = |engine: &mut Engine, context: Value| {
            let ask = body(json!({ "id": "x", "context": context }));
            fault(engine.decide(ask, time, &mut vec![]).unwrap_err())
        };
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
    exported(&store, &[], &out, Form::Csv);
    let items = std::fs::read_to_string(out.join("items.csv")).unwrap();
    assert_eq!(items, "item,price\na,1\nb,-1\nc,0\nd,0.5\n");
    let csv = std::fs::read_to_string(out.join("decisions.csv")).unwrap();
    let mut rows = csv.lines();
    assert!(rows.next().unwrap().ends_with(",list_propensity,decided_at,segment,age,visits"));
    assert!(rows.next().unwrap().ends_with(",fr,1,0.5"), "{csv}");
}

/// A fit to 200 lists of a log, as `fit --context` writes it.
pub(crate) fn context_fit() -> Value {
    let scale = FeatureScale::new(vec![[33.0, 2.0]], vec![[148.75, 88.3]]).unwrap();
    let known = ContextKnown::new(4, &[120.0, 80.0, 300.0, 95.0]).unwrap();
    let known = known.with_user_features(1).with_segments(2);
    let policy = HybridTs::new(ListShape::new(4, 3).unwrap(), known, HybridSettings::default()).unwrap();
    let mut policy = policy.standardising(scale).unwrap();
    let (mut rng, mut decision) = (Xoshiro256PlusPlus::seed_from_u64(5), Decision::default());
    for n in 0..200 {
        policy.select_for(&user(n), &mut rng, &mut decision);
        policy
            .update_for(&decision, &CascadeFeedback::new((n % 3 == 0).then_some(n as usize % 2), 3).unwrap());
    }
    let clicks = json!({ "best_list": 0.5, "best_list_of_segment": 0.6, "personal": 0.7 });
    let report = json!({
        "held_out_one_in": 10, "lists": 0, "units": 0, "log_loss": null, "log_loss_without": null, "gain": null,
        "columns": [], "clicks": clicks,
    });
    json!({
        "version": 1, "model": "cascade", "query": null, "lists": 200, "positions": 3, "segments": ["at", "de"], "ranges": [[30.0, 36.0]],
        "items": ["a", "b", "c, d", "d"], "user_features": ["age"], "item_features": ["price"], "of_positions": [],
        "users": [user(0)], "report": report, "prior": policy.learned(),
    })
}

fn user(n: u32) -> Context {
    Context { segment: n % 2, features: vec![30.0 + f64::from(n % 7)] }
}

/// Lists of a policy that begins with a log are those of the library, also after a restart. The
/// features of its items are exported with those of others.
#[test]
fn a_policy_that_sees_who_asks_begins_with_a_fit() {
    let directory = tempfile::tempdir().unwrap();
    let text = "[policy]\nusers = 'cascade'\npolicy = 'hybrid-ts'\npositions = 2\nseed = 7";
    let mut given = Config::parse(text).unwrap().policy;
    std::fs::write(directory.path().join("context.json"), context_fit().to_string()).unwrap();
    let fitted = FirstEvents::read(directory.path(), &mut given).unwrap();
    assert_eq!((&*given.segments[1], &*given.features[0], &*given.item_features[0]), ("de", "age", "price"));
    let store = directory.path().join("store");
    std::fs::create_dir(&store).unwrap();
    let mut served = Served::new(&store, &Arc::new(given.clone()), &Limits::default());
    served.commit(|engine, time, events| {
        engine.change_item(&name("b"), None, Change::Add, &[80.0], events).unwrap();
        fitted.begin(&mut Turn { engine, events, time, deferred: None }).unwrap();
    });
    // Who is unlike anybody in the log is somebody at its edge, without a segment, and is counted.
    let user_of = |context: Value| given.user(Some(&body(context)), false).unwrap();
    let far = user_of(json!({ "segment": "es", "features": [1e300] }));
    assert_eq!(far, Context { segment: live::NO_SEGMENT, features: vec![36.0] });
    let near = user_of(json!({ "segment": "de", "features": [31.5] }));
    assert_eq!(near, Context { segment: 1, features: vec![31.5] });
    let mut twin = served.twin();
    for (n, (context, outside)) in [
        (json!({ "segment": "de", "features": [31.5] }), 0),
        (json!({ "segment": "es", "features": [31.5] }), 1),
        (json!({ "segment": "de", "features": [-1e300] }), 2),
        (json!({}), 2),
    ]
    .into_iter()
    .enumerate()
    {
        let ask = body(json!({ "id": format!("far {n}"), "context": context }));
        twin.decide(ask, 1_000_000, &mut vec![]).unwrap();
        assert_eq!(twin.outside, outside);
    }
    drop(twin);
    let fit = ContextFit::read("", context_fit().to_string().as_bytes()).unwrap();
    let known = Cascade::knowledge(&ListShape::new(4, 2).unwrap().into());
    let policy = fit.policy("hybrid-ts".parse().unwrap(), Protocol::Cascade, known).unwrap();
    let mut live = <dyn ByName<u64>>::new(policy, given.settings()).unwrap();
    let seed = Sha256::new().chain_update(7_u64.to_le_bytes()).chain_update("default").finalize();
    let mut rng = Xoshiro256PlusPlus::from_seed(seed.into());
    for n in 0..60_u32 {
        if n == 30 {
            served.commit(|engine, _, events| {
                engine.change_item(&name("new"), None, Change::Add, &[200.0], events).unwrap()
            });
            live.add_item_with(&[200.0]).unwrap();
            served.engine = served.twin();
        }
        let segment = if n % 2 == 0 { "at" } else { "de" };
        let context = json!({ "segment": segment, "features": user(n).features });
        let ask = json!({ "id": n.to_string(), "context": context });
        let list = served.commit(|engine, time, events| engine.decide(body(ask), time, events).unwrap());
        let expected =
            live.decide(&u64::from(n), Ask { user: &user(n), ..Ask::default() }, &mut rng).to_vec();
        let names =
            expected.iter().map(|item| fit.items.get(item.slot.index()).map_or("new", String::as_str));
        assert!(list.items.iter().map(|slot| &*slot.item).eq(names), "{n}");
        let clicks = if n % 3 == 0 { json!([1]) } else { json!([]) };
        let given = body(json!({ "id": n.to_string(), "clicks": clicks, "close": true }));
        served.commit(|engine, _, events| engine.answer(given, events).unwrap());
        if n % 3 == 0 {
            _ = live.click(&u64::from(n), 0);
        }
        _ = live.close(&u64::from(n), None);
    }
    // The names of the fit are those of the store, if the configuration has none.
    let mut again = Config::parse(text).unwrap().policy;
    let Served { store: open, engine, .. } = served;
    open.make_for(&given.to_text()).unwrap();
    agree(&*open, &mut again).unwrap();
    assert_eq!(again, given);
    drop((open, engine));
    let out = directory.path().join("out");
    exported(&store, &[], &out, Form::Csv);
    let items = std::fs::read_to_string(out.join("items.csv")).unwrap();
    assert_eq!(items, "item,price\na,120\nb,80\n\"c, d\",300\nd,95\nnew,200\n");
}

/// A fit of position-based users, of whom half look at the second position.
pub(crate) fn pbm_fit() -> Value {
    let item =
        |name: &str| json!({ "item": name, "attraction": { "value": 0.1 }, "clicks": 5, "impressions": 70 });
    let query = json!({ "query": "shoes, red", "typical": 0.2, "items": [item("x"), item("y")] });
    let positions = json!([{ "position": 1, "value": 1.0 }, { "position": 2, "value": 0.5 }]);
    let site = json!({ "typical": 0.1, "prior": 10.0, "positions": positions });
    let model = json!({ "model": "pbm", "site": site, "queries": [query] });
    let log = json!({ "files": 1, "lines": 1, "bytes": 1, "impressions": 1, "clicks": 1, "queries": 1, "skipped": [] });
    json!({
        "schema": 1, "log": log, "scope": "site", "level": 0.95, "models": [model], "identifiability": [],
        "fitted": { "queries": 1, "cells": 2, "positions": 3, "impressions": 1, "clicks": 1 }, "rank_one": [],
    })
}

/// A policy that counts positions apart begins with a log's counts at each position, also after a
/// restart.
#[test]
fn a_position_based_policy_begins_with_the_counts_of_each_position() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("parameters.json"), pbm_fit().to_string()).unwrap();
    let read = |counts: &str, policy: &str| {
        let text = format!("[policy]\nusers = 'pbm'\npositions = 2\npolicy = '{policy}'");
        let mut template = Config::parse(&text).unwrap().policy;
        std::fs::write(at("counts.csv"), format!("query,item,position,clicks,impressions\n{counts}"))
            .unwrap();
        FirstEvents::read(directory.path(), &mut template).map(|fitted| (fitted, template))
    };
    let counts = "\"shoes, red\",x,1,4,40\n\"shoes, red\",x,3,1,30\n\"shoes, red\",y,2,5,70\nother,x,1,1,1\n";
    for (policy, expected) in [
        ("pbm-ts", [vec![(40, 4), (0, 0)], vec![(0, 0), (70, 5)]]),
        ("pbm-ucb", [vec![(40, 4), (0, 0)], vec![(0, 0), (70, 5)]]),
        ("uniform", [vec![(70, 5)], vec![(70, 5)]]),
    ] {
        let (fitted, template) = read(counts, policy).unwrap();
        assert!((template.examination[1].get() - 0.5).abs() < 1e-12);
        let store = at(policy);
        std::fs::create_dir(&store).unwrap();
        let mut served = Served::new(&store, &Arc::new(template), &Limits::default());
        served.commit(|engine, time, events| {
            fitted.begin(&mut Turn { engine, events, time, deferred: None }).unwrap();
        });
        for engine in [&mut served.twin(), &mut served.engine] {
            // Those of the fit are known before they have a decision.
            assert!(
                engine.usage(None).any(|(query, usage)| **query == *"shoes, red" && usage.decisions == 0)
            );
            let rows = engine.rows(&name("shoes, red"), 0, 10).unwrap();
            let counts = |row: &ItemRow| {
                let tallies = row.entries.iter().map(|entry| (entry.tally.shows, entry.tally.clicks));
                tallies.collect::<Vec<_>>()
            };
            assert_eq!([counts(&rows[0].1), counts(&rows[1].1)], expected, "{policy}");
        }
    }
    let refused = |counts: &str| read(counts, "pbm-ts").unwrap_err();
    let path = at("counts.csv").display().to_string();
    assert_eq!(
        refused("q,x,1,5,4\n"),
        format!("{path}:2:1: item `x` of query `q` has 5 clicks of 4 impressions at position 1")
    );
    assert!(refused("q,x,0,1,4\n").ends_with("at position 0"));
    let error = refused("q,x,1,1,4\nq,x,2,one,4\n");
    assert!(error.starts_with(&format!("{path}:3:1: ")) && error.contains("line: 3"), "{error}");
    assert_eq!(
        refused("q,x,7,1,4\nq,y,7,1,4\nq,x,7,1,4\n"),
        format!("{path}:4:1: position: item `x` of query `q` is there twice at position 7")
    );
    // A query that is not one of the fit has no say.
    assert!(
        read(&format!("q,x,1,1,{0}\nq,y,2,1,{0}\n", u64::MAX), "pbm-gibbs").unwrap().0.left_out.is_empty()
    );
    let many = read(&format!("\"shoes, red\",x,1,1,{0}\n", 1_u64 << 40), "pbm-gibbs").unwrap().0.left_out;
    assert!(many[0].starts_with("query \"shoes, red\": 1099511627776 displays, more than "), "{many:?}");
    let empty = |content: &str| {
        std::fs::write(at("counts.csv"), content).unwrap();
        let text = "[policy]\nusers = 'pbm'\npositions = 2\npolicy = 'pbm-ts'";
        FirstEvents::read(directory.path(), &mut Config::parse(text).unwrap().policy).unwrap_err()
    };
    let crlf = "query,item,position,clicks,impressions\r\nq,x,1,1,1\r\n\r\nq,x,1\r\n";
    assert!(empty(crlf).starts_with(&format!("{path}:4:1: ")));
    assert_eq!(empty(""), format!("{path}:1:1: query: the header has no such column"));
    assert!(empty("query,item,position,click,impressions\n").contains(":1:1: clicks: the header has no"));
    assert!(empty("query,item,position,clicks,impressions\nq,x,1\n").starts_with(&format!("{path}:2:1: ")));
    std::fs::remove_file(at("counts.csv")).unwrap();
    assert!(FirstEvents::read(directory.path(), &mut read("", "pbm-ts").unwrap().1).is_ok());
}

#[test]
fn names_and_counts_of_a_fit_that_cannot_be_kept_are_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let read = |pointer: &str, value: Value| {
        let mut fit = pbm_fit();
        let mut other = fit["models"][0]["queries"][0].clone();
        other["query"] = json!("other");
        fit["models"][0]["queries"].as_array_mut().unwrap().push(other);
        *fit.pointer_mut(pointer).unwrap() = value;
        std::fs::write(directory.path().join("parameters.json"), fit.to_string()).unwrap();
        let text = "[policy]\nusers = 'pbm'\npositions = 2\npolicy = 'pbm-gibbs'";
        let mut template = Config::parse(text).unwrap().policy;
        let fitted = FirstEvents::read(directory.path(), &mut template)?;
        let elsewhere = tempfile::tempdir().unwrap();
        let limits = Limits { all_queries: 1, items: 1, ..Limits::default() };
        let mut served = Served::new(elsewhere.path(), &Arc::new(template), &limits);
        served.commit(|engine, time, events| {
            fitted.begin(&mut Turn { engine, events, time, deferred: None }).unwrap();
        });
        let counts = ["shoes, red", "other"]
            .map(|query| served.twin().rows(&name(query), 0, 10).map_or(0, |rows| rows.len()));
        Ok::<_, String>((fitted.left_out, counts))
    };
    // The limits are those of requests.
    assert_eq!(read("/schema", json!(1)).unwrap(), (vec![], [2, 2]));
    let long = "é".repeat(129);
    for (bad, fault) in [
        ("a\nb", "a name has a control character"),
        ("a\tb", "a name has a control character"),
        ("", "a name is empty"),
        (&long, "a name has more than 128 characters"),
    ] {
        let what = format!("query \"shoes, red\": item {bad:?}: {fault}");
        assert_eq!(read("/models/0/queries/0/items/1/item", json!(bad)).unwrap(), (vec![what], [1, 2]));
        let what = format!("query {bad:?}: {fault}");
        assert_eq!(read("/models/0/queries/0/query", json!(bad)).unwrap(), (vec![what], [0, 2]));
    }
    let (left_out, counts) = read("/models/0/queries/0/items/1/impressions", json!(1_u64 << 39)).unwrap();
    let most = 1_u64 << 39;
    let what = format!("query \"shoes, red\": {} displays, more than {most}", most + 70);
    assert_eq!((left_out, counts), (vec![what], [0, 2]));
    assert!(read("/models", json!([])).unwrap_err().contains("no fit of `pbm`: fit with --model pbm"));
}

/// A change of a fit, and a row of its counts.
type Other = (fn(&mut Value), &'static str);

/// A store begins with one fit, and remembers it.
#[test]
fn another_fit_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let mut template =
        Config::parse("[policy]\nusers = 'pbm'\npositions = 2\npolicy = 'pbm-ts'").unwrap().policy;
    let fit = |change: fn(&mut Value), counts: &str, template: &mut Template| {
        let mut fit = pbm_fit();
        change(&mut fit);
        std::fs::write(at("parameters.json"), fit.to_string()).unwrap();
        let counts = format!("query,item,position,clicks,impressions\n\"shoes, red\",x,1,{counts}\n");
        std::fs::write(at("counts.csv"), counts).unwrap();
        FirstEvents::read(directory.path(), template).unwrap()
    };
    let fitted = fit(|_| (), "4,40", &mut template);
    std::fs::create_dir(at("store")).unwrap();
    let mut served = Served::new(&at("store"), &Arc::new(template.clone()), &Limits::default());
    served.commit(|engine, time, events| {
        engine.change_item(&name("z"), None, Change::Add, &[], events).unwrap();
        fitted.begin(&mut Turn { engine, events, time, deferred: None }).unwrap();
        engine.decide(body(json!({ "id": "1" })), time, events).unwrap();
    });
    fitted.check(&*served.store).unwrap();
    let others: [Other; 4] = [
        (|_| (), "4,41"),
        (|fit| fit["models"][0]["queries"][0]["items"][0]["clicks"] = json!(6), "4,40"),
        (|fit| fit["models"][0]["queries"][0]["typical"] = json!(0.3), "4,40"),
        (|fit| fit["models"][0]["queries"] = json!([]), "4,40"),
    ];
    for (change, counts) in others {
        let error = fit(change, counts, &mut template).check(&*served.store).unwrap_err().to_string();
        let expected = format!("it began with another fit than {}:", directory.path().display());
        assert!(error.contains(&expected), "{error}");
    }
    let other = tempfile::tempdir().unwrap();
    let error = fitted.check(&EmbeddedStore::open(other.path()).unwrap()).unwrap_err().to_string();
    assert!(error.contains("it began without a fit, and not with "), "{error}");
}

#[test]
fn a_fit_that_does_not_fit_a_policy_is_refused_by_name() {
    const USUAL: &str = "users = 'cascade'\npolicy = 'hybrid-ts'\npositions = 2\n";
    let refused_as = |pointer: &str, value: Value, policy: &str| {
        let directory = tempfile::tempdir().unwrap();
        let mut fit = context_fit();
        *fit.pointer_mut(pointer).unwrap() = value;
        std::fs::write(directory.path().join("context.json"), fit.to_string()).unwrap();
        let mut template = Config::parse(&format!("[policy]\n{policy}")).unwrap().policy;
        let error = FirstEvents::read(directory.path(), &mut template).unwrap_err();
        let path = directory.path().join("context.json").display().to_string();
        assert!(error.starts_with(&path), "{error}");
        error[path.len()..].to_owned()
    };
    let with = |policy: &str| refused_as("/lists", json!(200), policy);
    let names = |names: &str| with(&format!("{USUAL}{names}"));
    assert!(
        names("segments = ['de', 'at']").contains("policy.segments are not those of the fit, in its order")
    );
    assert!(names("features = ['size']").contains("policy.features are not"));
    assert!(names("item-features = ['price', 'x']").contains("policy.item-features are not"));
    let dcm = with(&USUAL.replace("cascade", "dcm"));
    assert!(dcm.contains("the fit is of cascade users, but policy.users = \"dcm\""), "{dcm}");
    assert!(with(&USUAL.replace("positions = 2", "positions = 5")).contains('5'));
    assert!(with(&USUAL.replace("hybrid-ts", "hybrid-ts(interactions=false)")).contains("interactions"));
    let refused = |pointer: &str, value: Value| refused_as(pointer, value, USUAL);
    assert!(refused("/version", json!(2)).contains("version: 2 found"));
    assert!(refused("/prior/shared/factor/0", json!(-1.0)).contains("not positive"));
    assert!(refused("/prior/shared/mean/0", json!(1e300)).contains("1e+300 found"));
    assert!(refused("/segments/0", json!("")).contains("segments: \"\": a name is empty"));
    let none = FirstEvents::read(Path::new("/nowhere"), &mut for_users("").as_ref().clone()).unwrap_err();
    assert!(none.starts_with("/nowhere/context.json"), "{none}");
}

/// An item that no request can name is no item of the query; the others are what they were.
#[test]
fn items_of_a_fit_for_users_that_cannot_be_named_are_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let text = "[policy]\nusers = 'cascade'\npolicy = 'hybrid-ts'\npositions = 2";
    let mut given = Config::parse(text).unwrap().policy;
    let mut fit = context_fit();
    fit["items"][1] = json!("b\t");
    let read = |fit: &Value, template: &mut Template| {
        std::fs::write(directory.path().join("context.json"), fit.to_string()).unwrap();
        FirstEvents::read(directory.path(), template).unwrap()
    };
    let fitted = read(&fit, &mut given);
    assert_eq!(fitted.left_out, ["item \"b\\t\": a name has a control character"]);
    let store = directory.path().join("store");
    std::fs::create_dir(&store).unwrap();
    let limits = Limits { items: 1, ..Limits::default() };
    let mut served = Served::new(&store, &Arc::new(given.clone()), &limits);
    served.commit(|engine, time, events| {
        fitted.begin(&mut Turn { engine, events, time, deferred: None }).unwrap();
    });
    for n in 0..20 {
        let context = json!({ "segment": "at", "features": [30] });
        let ask = json!({ "id": n.to_string(), "context": context });
        let list = served.commit(|engine, time, events| engine.decide(body(ask), time, events).unwrap());
        assert_eq!(list.items.len(), 2);
    }
    let add = served.commit(|engine, _, events| {
        engine.change_item(&name("new"), Some(&name("default")), Change::Add, &[1.0], events)
    });
    assert_eq!(add.unwrap_err().code(), "too_many");
    let items = |engine: &mut Engine| -> Vec<String> {
        let rows = engine.rows(&Name::default_query(), 0, 10).unwrap();
        rows.iter().map(|(_, row)| row.item.to_string()).collect()
    };
    assert_eq!(items(&mut served.engine), ["a", "c, d", "d"]);
    served.twin().save(&*served.store).unwrap();
    assert_eq!(items(&mut served.twin()), ["a", "c, d", "d"]);
    fitted.check(&*served.store).unwrap();
    fit["query"] = json!("x".repeat(129));
    let left_out = read(&fit, &mut given).left_out;
    assert!(left_out.len() == 2 && left_out[1].contains("more than 128 characters"), "{left_out:?}");
}

#[test]
fn settings_that_do_not_fit_a_policy_that_sees_who_asks_are_refused_by_name() {
    for (settings, expected) in [
        ("window = 5", "`window` corrects a table"),
        ("skips = 'at-once'", "`skips` corrects a table"),
        ("prior = 'estimated'", "`estimate_prior` corrects a table"),
        ("prior = [1.0, 9.0]", "`hybrid-ts`: "),
    ] {
        let text = format!("[policy]\nusers = 'cascade'\npolicy = 'hybrid-ts'\npositions = 3\n{settings}");
        let error = Config::parse(&text).unwrap_err().to_string();
        let key = settings.split(' ').next().unwrap();
        let column = key.len() + 4;
        assert!(error.starts_with(&format!("serve.toml:5:{column}: policy.{key}: {expected}")), "{error}");
    }
    let parse = |settings: &str| {
        let text = format!("{settings}\n[policy]\nusers = 'cascade'\npolicy = 'hybrid-ts'\npositions = 3");
        Config::parse(&text).unwrap_err()
    };
    let error = parse("items = ['a', { item = 'b', features = [0.5] }]");
    assert_eq!(error.to_string(), "serve.toml:1:9: items: `b` has 1 features, expected 0");
    for (settings, at) in [
        ("features = ['age', 'click']", ":5:12: policy.features: `click`"),
        ("features = ['a;b']", ":5:12: policy.features: `a;b`"),
        ("item-features = ['item']", ":5:17: policy.item-features: `item`"),
        ("segments = ['de', 'de']", ":5:12: policy.segments: `de`"),
        ("features = ['age']\nranges = [[0.0, 1.0]]", ":6:1: policy.ranges: unknown key"),
    ] {
        let text = format!("[policy]\nusers = 'cascade'\npolicy = 'cascade-ts'\npositions = 3\n{settings}");
        let error = Config::parse(&text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("serve.toml{at}")), "{error}");
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
            Err((404, "no_such_position"))
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

/// A decision that has to leave before the end of `wait` is closed first, by an event, so that its
/// displays count, here and wherever the events are repeated. Names that left are known.
#[test]
fn what_has_to_leave_is_closed_first() {
    for template in [template("keep = 3\nwait = 3600"), for_users("keep = 3")] {
        let directory = tempfile::tempdir().unwrap();
        let mut served = Served::new(directory.path(), &template, &Limits::default());
        let refused = |served: &mut Served, n: usize| {
            let list = body(json!({ "id": n.to_string() }));
            let click = body(json!({ "id": n.to_string(), "clicks": [1] }));
            served.commit(|engine, time, events| {
                let list = engine.decide(list, time, events).unwrap_err();
                [list, engine.answer(click, events).unwrap_err()].map(|refusal| refusal.status())
            })
        };
        served.commit(|engine, _, events| {
            for item in ["a", "b", "c", "d"] {
                let features = vec![0.5; engine.template.item_features.len()];
                engine.change_item(&name(item), None, Change::Add, &features, events).unwrap();
            }
        });
        for n in 0..20 {
            served.commit(|engine, time, events| {
                let ask = json!({ "id": n.to_string() });
                if n % 4 == 3 {
                    let show = json!({ "id": n.to_string(), "items": ["a", "b", "c"] });
                    engine.show(body(show), time, events).map(|_| ()).unwrap();
                } else {
                    engine.decide(body(ask.clone()), time, events).unwrap();
                    // Asked again, it takes no room.
                    engine.decide(body(ask), time, events).unwrap();
                }
                if n == 5 {
                    engine.answer(body(json!({ "id": "5", "close": true })), events).unwrap();
                }
            });
        }
        let shows = |engine: &mut Engine| -> u64 {
            let rows = engine.rows(&Name::default_query(), 0, 10).unwrap();
            rows.iter().map(|(_, row)| row.entries[0].tally.shows).sum()
        };
        assert_eq!((served.engine.totals.closed, shows(&mut served.engine)), (17, 17 * 3));
        assert_eq!(served.engine.early, 16);
        for n in 0..17 {
            assert_eq!(refused(&mut served, n), [410, 410]);
        }
        assert_eq!(served.engine.n_open(), 3);
        // After a week, the three others.
        served.time += 8 * 86_400_000;
        let ask = body(json!({ "id": "late" }));
        served.commit(|engine, time, events| engine.decide(ask, time, events).unwrap());
        assert_eq!((served.engine.totals.closed, shows(&mut served.engine)), (20, 20 * 3));
        assert_eq!((refused(&mut served, 19), served.engine.n_open()), ([410, 410], 1));
        let queries = [Name::default_query()];
        let mut twin = served.twin();
        assert_same(&mut twin, &mut served.engine, &queries);
        twin.save(&*served.store).unwrap();
        assert_same(&mut served.twin(), &mut served.engine, &queries);
        let elsewhere = tempfile::tempdir().unwrap();
        let empty: Arc<dyn Store> = Arc::new(EmbeddedStore::open(elsewhere.path()).unwrap());
        let mut follower = base(&empty, &template, &Limits::default(), elsewhere.path()).recover().unwrap();
        follower.catch_up(&*served.store, Origin::Other).unwrap();
        assert_eq!(follower.totals.closed, 20);
        assert_eq!(shows(&mut follower), 20 * 3);
    }
}

/// A decision is the same after a restart, with what its query did not know, and so is what it was
/// asked for. Snapshots of older versions do not tell the latter.
#[test]
fn what_was_asked_for_is_known_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = Served::new(directory.path(), &template(""), &Limits::default());
    let ask = |engine: &mut Engine, only: &[&str]| {
        let asked = engine.decide(body(json!({ "id": "1", "only": only })), 1_000_000, &mut vec![]);
        asked.map_err(|refusal| (refusal.status(), refusal.code()))
    };
    let list = served.commit(|engine, time, events| {
        for item in ["a", "b"] {
            engine.change_item(&name(item), None, Change::Add, &[], events).unwrap();
        }
        engine.decide(body(json!({ "id": "1", "only": ["b", "z", "a"] })), time, events).unwrap()
    });
    assert_eq!(*list.unknown, [name("z")]);
    let elsewhere = tempfile::tempdir().unwrap();
    let empty: Arc<dyn Store> = Arc::new(EmbeddedStore::open(elsewhere.path()).unwrap());
    let mut follower = base(&empty, &template(""), &Limits::default(), elsewhere.path()).recover().unwrap();
    follower.catch_up(&*served.store, Origin::Other).unwrap();
    let mut repeated = served.twin();
    served.twin().save(&*served.store).unwrap();
    for engine in [&mut served.twin(), &mut repeated, &mut follower] {
        assert_eq!(ask(engine, &["b", "z", "a"]).unwrap(), list);
        assert_eq!(ask(engine, &["b", "a"]), Err((409, "other_request")));
    }
    let head = served.store.head().unwrap().unwrap();
    let next = served.engine.next;
    // A program that knows nothing of requests has made the snapshot.
    let before = tempfile::tempdir().unwrap();
    let older: Arc<dyn Store> = Arc::new(EmbeddedStore::open(before.path()).unwrap());
    let copy = &mut |first, batch| {
        older.append(first, &batch).unwrap();
        std::ops::ControlFlow::Continue(())
    };
    served.store.read(0, copy).unwrap();
    older.replace((0..next, None), &head, &mut std::iter::empty()).unwrap();
    let mut twin = base(&older, &template(""), &Limits::default(), before.path()).recover().unwrap();
    assert_eq!(twin.snapshot, next);
    assert_eq!(ask(&mut twin, &["b", "a"]).unwrap().items, list.items);
}

/// A clock that was years ahead for a moment keeps no later decision open.
#[test]
fn decisions_are_closed_whatever_the_clock_was() {
    let directory = tempfile::tempdir().unwrap();
    let mut served =
        Served::new(directory.path(), &template("wait = 60\nkeep-days = 9999"), &Limits::default());
    let (now, years) = (1_000_000_000, 300_000_000_000);
    for (id, time) in [("1", now), ("2", now + years), ("3", now + 1_000), ("4", now + 90_000)] {
        served.time = time;
        served.commit(|engine, time, events| engine.decide(body(json!({ "id": id })), time, events).unwrap());
    }
    let mut closed = vec![];
    served.commit(|engine, _, events| {
        engine.close_before(now + 60_000, 10, events).unwrap();
        closed.clone_from(events);
    });
    let expected = ["1", "2", "3"].map(|id| Event::Closed { id: name(id), seen: None });
    assert_eq!(closed, expected);
}

#[test]
fn another_servers_events_give_the_same_table() {
    let directory = tempfile::tempdir().unwrap();
    let template = template("");
    let queries = [name("q0"), name("q1")];
    let mut served = Served::new(directory.path(), &template, &Limits::default());
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(2);
    let elsewhere = tempfile::tempdir().unwrap();
    let empty: Arc<dyn Store> = Arc::new(EmbeddedStore::open(elsewhere.path()).unwrap());
    let mut follower = base(&empty, &template, &Limits::default(), elsewhere.path()).recover().unwrap();
    for n in 0..1_000 {
        act(&mut served, rng, &queries, n);
        follower.catch_up(&*served.store, Origin::Other).unwrap();
    }
    let (mut one, mut other) = (served.engine, follower);
    for query in &queries {
        let rows = |engine: &mut Engine| engine.rows(query, 0, 100).unwrap();
        assert_eq!(rows(&mut one), rows(&mut other));
    }
    assert_eq!(one.next, other.next);
}

#[test]
fn stores_of_other_settings_and_damaged_ones_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (template, limits) = (template(""), Limits::default());
    let mut served = Served::new(directory.path(), &template, &limits);
    agree(&*served.store, &mut (*template).clone()).unwrap();
    let other = self::template("window = 7");
    let mut found = (*other).clone();
    agree(&*served.store, &mut found).unwrap();
    assert_eq!(found, *template);
    // A second process: redb locks the file.
    let Err(error) = EmbeddedStore::open(directory.path()) else { panic!("opened twice") };
    assert!(matches!(error, StoreError::InUse(_)), "{error}");
    // A gap, and a decision that was never made.
    served
        .commit(|engine, _, events| engine.change_item(&name("a"), None, Change::Add, &[], events).unwrap());
    let closed = Event::Closed { id: name("x"), seen: None };
    served.store.append(1, &Batch { time: 0, events: vec![closed.clone()] }).unwrap();
    let error = base(&served.store, &template, &limits, directory.path()).recover().unwrap_err();
    assert_eq!(error.to_string(), "the store is damaged: event 1: decision `x` is not open");
    let gap = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(gap.path()).unwrap());
    store.append(5, &Batch { time: 0, events: vec![closed] }).unwrap();
    let error = base(&store, &template, &limits, gap.path()).recover().unwrap_err();
    assert_eq!(error.to_string(), "the store is damaged: the events from number 0 on are missing");
    // No database at all.
    let file = tempfile::tempdir().unwrap();
    std::fs::write(file.path().join("events.redb"), [7; 4_096]).unwrap();
    let Err(error) = EmbeddedStore::open(file.path()) else { panic!("opened garbage") };
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
}

/// redb panics on some damaged files; the store passes such a snapshot over, as any other.
#[test]
fn a_damaged_file_of_a_snapshot_is_no_panic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("snapshot.redb");
    let names = (0..300).map(|n| Name::new(&format!("q{n}")).unwrap());
    {
        let store = EmbeddedStore::open(directory.path()).unwrap();
        store.make_for("{}").unwrap();
        let mut queries = names.clone().map(|name| Ok((name, vec![7; 200])));
        store.replace((0..0, None), b"head", &mut queries).unwrap();
    }
    let (whole, mut rng) = (std::fs::read(&path).unwrap(), Xoshiro256PlusPlus::seed_from_u64(1));
    for _ in 0..60 {
        let mut damaged = whole.clone();
        let at = rng.random_range(0..whole.len() - 512);
        damaged[at..at + 512].fill(rng.random());
        std::fs::write(&path, damaged).unwrap();
        let store = EmbeddedStore::open(directory.path()).unwrap();
        _ = store.head();
        for name in names.clone() {
            _ = store.query(&name, 0);
        }
    }
    // Without its events, a snapshot is no store.
    std::fs::write(&path, whole).unwrap();
    std::fs::remove_file(directory.path().join("events.redb")).unwrap();
    let Err(error) = EmbeddedStore::open(directory.path()) else { panic!("opened without events") };
    assert!(error.to_string().contains("has no events, but the snapshot beside it"), "{error}");
}

/// Events that another program, or this one under other limits, has taken are read.
#[test]
fn lower_limits_do_not_refuse_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = Served::new(directory.path(), &template(""), &Limits::default());
    served.commit(|engine, time, events| {
        for item in ["a", "b", "c"] {
            engine.change_item(&name(item), None, Change::Add, &[], events).unwrap();
            engine.change_item(&name(item), Some(&name("p")), Change::Add, &[], events).unwrap();
        }
        for query in ["p", "q", "r"] {
            engine.decide(body(json!({ "id": query, "query": query })), time, events).unwrap();
        }
    });
    served.limits = Limits { items: 1, all_queries: 1, ..Limits::default() };
    let mut twin = served.twin();
    assert_same(&mut twin, &mut served.engine, &["p", "q", "r"].map(name));
    let ask = body(json!({ "id": "new", "query": "new" }));
    assert_eq!(twin.decide(ask, served.time, &mut vec![]).unwrap_err().code(), "too_many");
}

/// A store with a snapshot of two queries, and more events after it.
fn with_snapshot(directory: &Path, settings: &str) -> Served {
    let mut served = Served::new(directory, &template(settings), &Limits::default());
    let queries = [name("q0"), name("q1")];
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(4);
    for n in 0..400 {
        act(&mut served, rng, &queries, n);
        if n == 300 {
            served.twin().save(&*served.store).unwrap();
        }
    }
    served
}

/// Recovers by the events alone what a snapshot with some damage does not tell.
#[test]
fn a_snapshot_that_cannot_be_read_is_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = with_snapshot(directory.path(), "");
    let queries = [name("q0"), name("q1")];
    let head = served.store.head().unwrap().unwrap();
    let state = served.store.query("q1", 0).unwrap().unwrap();
    // A query is read when it is used: here by the events after the snapshot.
    served.store.replace((0..0, None), &head, &mut [Ok((name("q1"), vec![7; 30]))].into_iter()).unwrap();
    let mut twin = served.twin();
    assert_eq!((twin.snapshot, &twin.unreadable), (0, &None));
    assert_same(&mut twin, &mut served.engine, &queries);
    // Here by a request.
    let next = served.engine.next;
    served.twin().save(&*served.store).unwrap();
    let head_now = served.store.head().unwrap().unwrap();
    served.store.replace((0..0, None), &head_now, &mut [Ok((name("q1"), vec![7; 30]))].into_iter()).unwrap();
    let mut twin = served.twin();
    assert_eq!((twin.snapshot, &twin.unreadable), (next, &None));
    let refusal = twin.rows(&name("q1"), 0, 1).unwrap_err();
    assert_eq!((refusal.status(), refusal.code()), (503, "unavailable"));
    let fault = twin.unreadable.clone().unwrap();
    assert!(fault.starts_with("query `q1`: "), "{fault}");
    let (store, path) = (served.store.clone(), directory.path());
    let mut twin = base(&store, &served.template, &served.limits, path).repeat(&fault).unwrap();
    assert_same(&mut twin, &mut served.engine, &queries);
    // Its own snapshot is whole.
    twin.save(&*store).unwrap();
    let mut twin = served.twin();
    assert_eq!(twin.snapshot, next);
    assert_same(&mut twin, &mut served.engine, &queries);
    // The other part, cut off.
    let states = [Ok((name("q1"), state))];
    served.store.replace((0..0, None), &head[..head.len() / 2], &mut states.into_iter()).unwrap();
    let mut twin = served.twin();
    assert_eq!(twin.snapshot, 0);
    assert_same(&mut twin, &mut served.engine, &queries);
    // Damage of the events is not passed over.
    let closed = Event::Closed { id: name("x"), seen: None };
    served.store.append(next, &Batch { time: 0, events: vec![closed] }).unwrap();
    let error = base(&store, &served.template, &served.limits, path).recover().unwrap_err();
    assert!(error.to_string().contains("decision `x` is not open"), "{error}");
}

#[test]
fn a_file_of_a_snapshot_that_cannot_be_read_is_put_aside() {
    let directory = tempfile::tempdir().unwrap();
    let Served { store, mut engine, template, limits, .. } = with_snapshot(directory.path(), "");
    drop(store);
    // The engine has the store as well.
    let queries = [name("q0"), name("q1")];
    let rows = queries.each_ref().map(|query| engine.rows(query, 0, 100).unwrap());
    drop(engine);
    std::fs::write(directory.path().join("snapshot.redb"), [7; 4_096]).unwrap();
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
    let mut engine = base(&store, &template, &limits, directory.path()).recover().unwrap();
    assert_eq!(queries.each_ref().map(|query| engine.rows(query, 0, 100).unwrap()), rows);
    assert_eq!(std::fs::read(directory.path().join("snapshot.unreadable")).unwrap(), [7; 4_096]);
    engine.save(&*store).unwrap();
}

/// Counts that no fit has any more: a window that does not belong to its table is not restored.
/// Such a snapshot must not replace the last good one.
#[test]
fn a_snapshot_that_could_not_be_read_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = Served::new(directory.path(), &template("window = 5"), &Limits::default());
    let items = ["a", "b", "c"].map(|item| (name(item), u64::MAX, u64::MAX)).to_vec();
    let began = Event::Began { query: Some(name("q")), prior: None, items };
    served.commit(|engine, _, events| {
        engine.begin(&began).unwrap();
        events.push(began);
    });
    served.twin().save(&*served.store).unwrap();
    let head = served.store.head().unwrap();
    served.commit(|engine, time, events| {
        engine.decide(body(json!({ "id": "1", "query": "q" })), time, events).unwrap();
        engine.answer(body(json!({ "id": "1", "close": true })), events).unwrap();
    });
    let error = served.engine.save(&*served.store).unwrap_err();
    assert!(matches!(&error, StoreError::Snapshot(what) if what.starts_with("query `q`: ")), "{error}");
    assert_eq!(served.store.head().unwrap(), head);
    assert_same(&mut served.twin(), &mut served.engine, &[name("q")]);
}

/// The counts of a fit, whatever their size, are in a snapshot that is read.
#[test]
fn large_counts_of_a_fit_are_recovered() {
    for (users, policies) in [
        ("pbm", &["pbm-gibbs", "pbm-ts", "pbm-ucb", "pbm-kl-ucb"][..]),
        ("cascade", &["cascade-ts", "cascade-kl-ucb", "ts-cascade", "uniform", "epsilon-greedy"]),
    ] {
        for policy in policies {
            let directory = tempfile::tempdir().unwrap();
            let examination = if users == "pbm" { "examination = [1.0, 0.5]" } else { "" };
            let text =
                format!("[policy]\nusers = '{users}'\npositions = 2\npolicy = '{policy}'\n{examination}");
            let template = Arc::new(Config::parse(&text).unwrap().policy);
            let mut served = Served::new(directory.path(), &template, &Limits::default());
            let tallies = vec![(u64::MAX, 3), (1_000_000_000_000, 1_000_000_000_000)];
            let all = ["a", "b", "c"].map(name);
            let items = all.iter().map(|item| (item.clone(), u64::MAX, 5)).collect();
            let at_positions = all.iter().map(|item| (item.clone(), tallies.clone())).collect();
            for event in [
                Event::Began { query: Some(name("q")), prior: Some([2.0, 9.0]), items },
                Event::BeganAtPositions { query: name("q"), items: at_positions },
            ] {
                served.commit(|engine, _, events| {
                    engine.begin(&event).unwrap();
                    events.push(event);
                });
            }
            served.commit(|engine, time, events| {
                engine.decide(body(json!({ "id": "1", "query": "q" })), time, events).unwrap();
                engine.answer(body(json!({ "id": "1", "clicks": [1], "close": true })), events).unwrap();
            });
            served.twin().save(&*served.store).unwrap();
            let mut twin = served.twin();
            assert_eq!(twin.snapshot, served.engine.next);
            assert_same(&mut twin, &mut served.engine, &[name("q")]);
        }
    }
}
