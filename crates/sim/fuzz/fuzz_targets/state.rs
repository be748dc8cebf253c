//! Takes any bytes, and states with changed bytes, as the state of an unfinished replication: there
//! is a record or an error, and no panic.
//!
//! `cargo +nightly fuzz run state -- -max_total_time=600`
#![no_main]

use click_models::{
    CascadeModel, DuelingModel, ListShape, PbmKnown, PositionBased, PreferenceMatrix, RankOneModel, TableShape,
};
use libfuzzer_sys::fuzz_target;
use policies::{CascadeBai, Delta, PbmTs, PrefixUcb, Rank1Elim, Rucb};
use sim::{
    Contender, Entry, NoStore, Pause, Replication, Schedule, Start, StateStore, Streams, Objective, UntilStopped,
};
use std::sync::LazyLock;

/// Keeps the last state.
#[derive(Default)]
struct Last(Vec<u8>);

impl StateStore for Last {
    fn pause(&mut self, _rounds: u64) -> Pause {
        Pause::Keep
    }

    fn keep(&mut self, state: &[u8]) {
        self.0 = state.to_vec();
    }
}

/// A contender on its users: a kept state, and the function that continues from any bytes.
struct Bench {
    state: Vec<u8>,
    resume: Box<dyn Fn(&[u8]) + Send + Sync>,
}

fn bench<M, T>(users: M, contender: impl Contender<M, T> + 'static, task: T) -> Bench
where
    M: click_models::ClickModel + Send + Sync + 'static,
    T: Objective + Send + 'static,
{
    let mut last = Last::default();
    let replicate = move |state: Option<&[u8]>, store: &mut dyn StateStore| {
        let replication = Replication::new(&users, Streams::new(1), 0);
        // A record or an error: both are right.
        let _ = contender.resume(Start { replication, state, store }, &task);
    };
    replicate(None, &mut last);
    assert!(!last.0.is_empty());
    Bench { state: last.0, resume: Box::new(move |bytes| replicate(Some(bytes), &mut NoStore)) }
}

static BENCHES: LazyLock<[Bench; 5]> = LazyLock::new(|| {
    let schedule = || Schedule::new(vec![10, 2_000, 2_100]).unwrap();
    let weights = [0.5, 0.48, 0.46, 0.44];
    let preferences: Vec<Vec<f64>> = (0..4).map(|i| (0..4).map(|j| 0.5 + 0.02 * (f64::from(j) - f64::from(i))).collect()).collect();
    let cascade = || CascadeModel::from_values(&weights, 2).unwrap();
    [
        bench(
            PositionBased::from_values(&weights, &[0.9, 0.5]).unwrap(),
            Entry::new("ts", |known: PbmKnown<'_>| PbmTs::new(known)).saved(),
            schedule(),
        ),
        bench(cascade(), Entry::new("ucb", |shape: ListShape| PrefixUcb::cascade(shape)).saved(), schedule()),
        bench(
            RankOneModel::from_values(&weights, &weights).unwrap(),
            Entry::sweeps("elim", |shape: TableShape| Rank1Elim::kl(shape, 2_100)).saved(),
            schedule(),
        ),
        bench(
            DuelingModel::new(PreferenceMatrix::new(&preferences).unwrap()),
            Entry::duels("rucb", |users: &DuelingModel| {
                Rucb::new(click_models::ClickModel::known(users), confidence::NonNegative::new(0.51).unwrap())
            })
            .saved(),
            schedule(),
        ),
        bench(
            cascade(),
            Entry::new("bai", |shape: ListShape| {
                CascadeBai::new(shape, Delta::default())
            })
            .saved(),
            UntilStopped { max_steps: 2_100 },
        ),
    ]
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let bench = &BENCHES[usize::from(choice >> 1) % BENCHES.len()];
    if choice & 1 == 0 {
        (bench.resume)(bytes);
        return;
    }
    let mut state = bench.state.clone();
    for change in bytes.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % state.len();
        state[place] ^= change[2];
    }
    (bench.resume)(&state);
});
