use super::*;
use rand::Rng;
use std::collections::BTreeSet;

/// A change here changes all published results, and needs a new schema number in `result.json`.
#[test]
fn streams_are_stable() {
    let first = |mut rng: SimRng| rng.next_u64();
    let streams = Streams::new(1);
    assert_eq!(first(streams.instance(0)), 0x58c7_eb50_0b14_a138);
    assert_eq!(first(streams.environment(0)), 0xa145_5ae9_d618_ca96);
    assert_eq!(first(streams.policy("pbm-ts", 7)), 0x4890_0210_01d7_e427);
}

#[test]
fn every_purpose_has_its_own_stream() {
    let mut seen = BTreeSet::new();
    for seed in 0..4 {
        for replication in 0..50 {
            let streams = Streams::new(seed);
            seen.insert(streams.instance(replication).next_u64());
            seen.insert(streams.order(replication).next_u64());
            seen.insert(streams.environment(replication).next_u64());
            seen.insert(streams.availability(replication).next_u64());
            seen.insert(streams.changes(replication).next_u64());
            seen.insert(streams.delays(replication).next_u64());
            seen.insert(streams.policy("a", replication).next_u64());
            seen.insert(streams.policy("b", replication).next_u64());
            seen.insert(streams.recommendation("a", replication).next_u64());
            seen.insert(streams.subset(0, replication).next_u64());
            seen.insert(streams.subset(1, replication).next_u64());
        }
    }
    assert_eq!(seen.len(), 4 * 50 * 11);
}
