//! Queries that end.

use crate::engine::{Served, act, base, name, template};
use click_bandits_service::api::{DecideBody, Outcome};
use click_bandits_service::config::Limits;
use click_bandits_service::engine::Engine;
use click_bandits_service::event::{Change, Event, Name};
use click_bandits_service::store::{EmbeddedStore, Store};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;
use std::sync::Arc;

/// Rows and uses of queries, and counts.
fn seen(engine: &mut Engine, queries: &[Name]) -> impl PartialEq + std::fmt::Debug + use<> {
    let rows = queries.iter().map(|query| engine.rows(query, 0, 99).map_err(|refusal| refusal.to_json()));
    let rows: Vec<_> = rows.collect();
    let usage: Vec<_> = engine.usage(None).map(|(name, usage)| (name.clone(), usage)).collect();
    (rows, usage, engine.totals, engine.n_open())
}

/// Whatever is forgotten when, a repetition and snapshots with room for one query or for all tell
/// the same: a query that was forgotten comes back neither from a snapshot nor from the swap file.
#[test]
fn queries_that_are_forgotten_stay_so() {
    for seed in 0..6 {
        let directory = tempfile::tempdir().unwrap();
        let (template, queries) = (template("keep = 300"), crate::replay::queries(6));
        let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
        store.make_for(&template.to_text()).unwrap();
        let limits = |queries| Limits { queries, ..Limits::default() };
        let mut served = Served::on(store.clone(), directory.path(), &template, &limits(2));
        let rng = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut forgotten = 0;
        for n in 0..500 {
            act(&mut served, rng, &queries, n);
            if rng.random_range(0..12) == 0 {
                let query = &queries[rng.random_range(0..queries.len())];
                served.commit(|engine, _, events| {
                    if matches!(engine.drop_query(query, events), Ok(Outcome::Counted)) {
                        assert!(engine.rows(query, 0, 1).is_err());
                        assert_eq!(engine.drop_query(query, events).unwrap(), Outcome::Repeated);
                        assert_eq!(*events, [Event::Dropped { query: query.clone() }]);
                        forgotten += 1;
                    }
                });
            }
            if rng.random_range(0..60) == 0 {
                served.twin().save(&*store).unwrap();
            }
        }
        assert!(forgotten > 20);
        let expected = seen(&mut served.engine, &queries);
        let base = |queries| base(&store, &template, &limits(queries), directory.path());
        for engine in
            [base(99).recover(), base(1).recover(), base(99).repeat("a test"), base(1).repeat("a test")]
        {
            assert_eq!(seen(&mut engine.unwrap(), &queries), expected, "{seed}");
        }
    }
}

#[test]
fn queries_without_decisions_for_long_are_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let (template, queries) = (template(""), crate::replay::queries(9));
    let mut served = Served::on(
        Arc::new(EmbeddedStore::open(directory.path()).unwrap()),
        directory.path(),
        &template,
        &Limits::default(),
    );
    for (n, query) in (0..).zip(&queries) {
        let ask =
            serde_json::from_value(serde_json::json!({ "id": format!("{n}"), "query": query })).unwrap();
        served.commit(|engine, _, events| engine.decide(ask, 1_000 + n, events).unwrap());
    }
    let left = |served: &mut Served, since: u64| {
        served.commit(|engine, _, events| {
            while events.len() < 9 {
                let before = events.len();
                engine.forget_unused(since, events).unwrap();
                if events.len() == before {
                    break;
                }
            }
        });
        served.engine.usage(None).map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    for (since, first) in [(1_000, 0), (1_001, 1), (1_007, 7), (1_007, 7), (2_000, 9)] {
        assert_eq!(left(&mut served, since), queries[first..]);
    }
    assert_eq!(served.engine.totals.queries, 0);
}

/// A GET of a query that is behind the catalogue waits for a copy of it once, and sees its uses.
#[test]
fn a_query_that_is_behind_is_copied_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = Served::new(directory.path(), &template(""), &Limits::default());
    let query = name("default");
    let add = |served: &mut Served, items: std::ops::Range<u32>| {
        served.commit(|engine, _, events| {
            for item in items {
                engine.change_item(&name(&format!("i{item}")), None, Change::Add, &[], events).unwrap();
            }
        });
    };
    add(&mut served, 0..20_000);
    let decide = |served: &mut Served, id: &str| {
        let ask: DecideBody = serde_json::from_value(json!({ "id": id })).unwrap();
        served.commit(|engine, time, events| engine.decide(ask, time, events).unwrap());
    };
    let seconds = |served: &mut Served| {
        let start = std::time::Instant::now();
        let rows = served.engine.rows(&query, 0, usize::MAX).unwrap();
        let shows = rows.iter().map(|(_, row)| row.entries[0].tally.shows).sum::<u64>();
        (rows.len(), shows, start.elapsed().as_secs_f64())
    };
    decide(&mut served, "1");
    add(&mut served, 20_000..20_001);
    let (first, later) = (seconds(&mut served), (0..9).map(|_| seconds(&mut served)).collect::<Vec<_>>());
    let fastest = later.iter().map(|(.., seconds)| *seconds).fold(f64::INFINITY, f64::min);
    println!("the first look takes {:.1} ms, a later one {:.1}", 1e3 * first.2, 1e3 * fastest);
    assert!(fastest < first.2 / 2.0);
    assert!(later.iter().all(|(items, shows, _)| (*items, *shows) == (first.0, first.1)));
    assert!(first.0 == 20_001 && first.1 == 0, "{first:?}");
    served.commit(|engine, time, events| engine.close_before(time + 1, 9, events).unwrap());
    add(&mut served, 20_001..20_002);
    let (items, shows, _) = seconds(&mut served);
    assert!(items == first.0 + 1 && shows > 0, "{items} {shows}");
}
