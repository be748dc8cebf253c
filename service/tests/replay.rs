//! Recovery with more queries than memory has room for.

use crate::engine::{Served, act, base, name, template};
use click_bandits_service::config::{Limits, Template};
use click_bandits_service::engine::Engine;
use click_bandits_service::event::{Batch, Change, Event, Name};
use click_bandits_service::store::{EmbeddedStore, Store};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn queries(n: usize) -> Vec<Name> {
    (0..n).map(|n| name(&format!("q{n}"))).collect()
}

/// All of a state, as a snapshot has it.
pub(crate) fn saved(engine: &mut Engine, queries: &[Name]) -> Vec<Option<Vec<u8>>> {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    engine.save(&store).unwrap();
    let states = queries.iter().map(|query| store.query(query, u64::MAX).unwrap());
    states.chain([store.head().unwrap()]).collect()
}

/// Room for one query or for all: the state is the same to the bit.
#[test]
fn room_for_queries_changes_nothing() {
    for settings in ["keep = 40", "keep-retired = 3\nwindow = 5\nprior = 'estimated'", "skips = 'at-once'"] {
        let directory = tempfile::tempdir().unwrap();
        let (template, queries) = (template(settings), queries(20));
        let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
        let limits = |queries| Limits { queries, ..Limits::default() };
        let mut served = Served::on(store.clone(), directory.path(), &template, &limits(1_000));
        let rng = &mut Xoshiro256PlusPlus::seed_from_u64(2);
        for n in 0..1_500 {
            act(&mut served, rng, &queries, n);
            if n == 700 {
                served.twin().save(&*store).unwrap();
            }
        }
        let recovered =
            |queries| base(&store, &template, &limits(queries), directory.path()).recover().unwrap();
        // Those that a snapshot does not have to save again are not saved.
        let repeated = |queries: usize| {
            base(&store, &template, &limits(queries), directory.path()).repeat("a test").unwrap()
        };
        let expected = saved(&mut served.engine, &queries);
        assert!(expected.iter().all(Option::is_some));
        assert!(saved(&mut repeated(1_000), &queries) == expected);
        // A query that is not in memory forgets decisions when it is used next.
        assert!(saved(&mut repeated(1), &queries) == expected || settings.starts_with("keep ="));
        let mut engines = [1, 3, 1_000].map(recovered);
        let names = engines.each_ref().map(|engine| engine.query_names().next().cloned());
        assert!(names.iter().all(|last| *last == names[0]));
        let [one, others @ ..] = &mut engines;
        for other in others {
            assert_eq!((one.totals, one.next), (other.totals, other.next));
            for query in &queries {
                assert_eq!(one.rows(query, 0, 99).unwrap(), other.rows(query, 0, 99).unwrap());
            }
        }
    }
}

/// The time that this thread had of a processor, in seconds.
fn processor() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// A store of lists with a click each, for queries at random. The items of all queries change after
/// a number of pairs, if there is one.
fn history(
    directory: &Path,
    template: &Arc<Template>,
    (n_queries, pairs): (usize, usize),
    changes: Option<usize>,
) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory).unwrap());
    let limits = Limits { queries: n_queries, ..Limits::default() };
    let mut served = Served::on(store.clone(), directory, template, &limits);
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(1);
    served.commit(|engine, _, events| {
        for n in 0..100 {
            let item = name(&format!("item-{n}"));
            engine.change_item(&item, None, Change::Add, &[], events).unwrap();
        }
    });
    for batch in 0..pairs / 1_000 {
        served.commit(|engine, time, events| {
            for n in 0..1_000 {
                let id = format!("d{batch}-{n}");
                let query = format!("q{}", rng.random_range(0..n_queries));
                let ask = serde_json::from_value(json!({ "id": id, "query": query })).unwrap();
                engine.decide(ask, time, events).unwrap();
                let answer = json!({ "id": id, "clicks": [1 + n % 3], "close": true });
                engine.answer(serde_json::from_value(answer).unwrap(), events).unwrap();
                if let Some(every) = changes.filter(|every| n % every == 0) {
                    let item = name(&format!("item-{}", (batch * 1_000 + n) / every % 100));
                    let change = [Change::Retire, Change::Add][(batch + n / every) % 2];
                    engine.change_item(&item, None, change, &[], events).unwrap();
                }
            }
        });
    }
    store
}

/// A store of half a million events, by which queries are used in turn.
fn uses(directory: &Path, n_queries: usize) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory).unwrap());
    let item = |n| Event::Item {
        item: name(&format!("item-{n}")),
        query: None,
        change: Change::Add,
        features: vec![],
    };
    store.append(0, &Batch { time: 1, events: (0..100).map(item).collect() }).unwrap();
    let queries = queries(n_queries);
    let mut turn = queries.iter().cycle().cloned().map(|query| Event::Used { query });
    for batch in 0..53 {
        let events = turn.by_ref().take(10_000).collect();
        store.append(100 + batch * 10_000, &Batch { time: 2, events }).unwrap();
    }
    store
}

/// The processor's time of a recovery with room for a tenth of the queries is less than twice that
/// with room for all: queries are not read again for each part of the events.
fn recover_with_little_room(store: &Arc<dyn Store>, n_queries: usize, directory: &Path) {
    let template = template("");
    let time = |queries| {
        let limits = Limits { queries, ..Limits::default() };
        let start = processor();
        let engine = base(store, &template, &limits, directory).recover().unwrap();
        assert_eq!(engine.n_in_memory(), queries);
        processor() - start
    };
    let (all, tenth) = (time(n_queries), time(n_queries / 10));
    println!("{n_queries} queries: {all:.2} s with room for all, {tenth:.2} s for a tenth");
    assert!(tenth < 2.0 * all, "{tenth} {all}");
}

/// `QUERIES` and `PAIRS` in the environment for other sizes.
#[test]
fn little_room_for_queries_is_not_slow() {
    let size = |name, usual| crate::kills::environment(name, usual) as usize;
    let (n_queries, pairs) = (size("QUERIES", 1_000), size("PAIRS", 20_000));
    let directory = tempfile::tempdir().unwrap();
    let store = history(directory.path(), &template(""), (n_queries, pairs), None);
    recover_with_little_room(&store, n_queries, directory.path());
}

#[test]
fn items_that_change_do_not_make_little_room_slow() {
    let directory = tempfile::tempdir().unwrap();
    let store = history(directory.path(), &template(""), (1_000, 20_000), Some(100));
    recover_with_little_room(&store, 1_000, directory.path());
}

#[test]
fn queries_are_not_read_again_for_each_part_of_the_events() {
    let directory = tempfile::tempdir().unwrap();
    let store = uses(directory.path(), 4_000);
    recover_with_little_room(&store, 4_000, directory.path());
}
