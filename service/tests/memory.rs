//! The memory of decisions that can be answered.

use crate::engine::{base, name, template};
use crate::kills::environment;
use click_bandits_service::config::Limits;
use click_bandits_service::event::Change;
use click_bandits_service::store::{EmbeddedStore, Store};
use serde_json::json;
use std::sync::Arc;

/// Bytes of the process in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    4_096 * status.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
}

/// Prints the memory of open decisions with ten items each, `DECISIONS` in the environment. To be
/// run by itself: the memory is that of the process.
#[test]
#[ignore = "of a million decisions, by itself"]
fn open_decisions_are_small() {
    let decisions = environment("DECISIONS", 1_000_000);
    let directory = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
    let template = template("wait = 1000000").as_ref().clone();
    let template = Arc::new(click_bandits_service::config::Template { positions: 10, ..template });
    let mut engine = base(&store, &template, &Limits::default(), directory.path()).recover().unwrap();
    let (mut events, queries) = (vec![], 1_000);
    for item in 0..20 {
        engine.change_item(&name(&format!("SKU-{item:08}")), None, Change::Add, &[], &mut events).unwrap();
    }
    let mut decide = |n: u32| {
        let id = uuid::Uuid::from_u128(0x1234_5678_9abc_def0_1234 * u128::from(n + 1)).to_string();
        let ask = json!({ "id": id, "query": format!("query {}", n % queries) });
        engine.decide(serde_json::from_value(ask).unwrap(), 1_000, &mut events).unwrap();
        events.clear();
    };
    (0..queries).for_each(&mut decide);
    let before = resident();
    (queries..queries + decisions).for_each(decide);
    let bytes = resident() - before;
    println!("{} MB for {decisions} open decisions", bytes / 1_000_000);
    assert!(bytes <= 400 * u64::from(decisions));
}
