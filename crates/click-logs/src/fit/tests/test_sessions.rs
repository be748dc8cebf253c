//! Sessions for tests, without the readers: they would be compiled a second time.

use crate::collect::Collector;
use crate::read_report::ReadReport;
use crate::session::Sessions;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::num::NonZeroUsize;

/// A query, the items of a list from the top down, and the clicks by position. Queries and items
/// are named by their numbers.
pub(super) type List = (u64, Vec<u64>, Vec<bool>);

/// A session for each list.
pub(super) fn of_lists(lists: impl IntoIterator<Item = List>) -> Sessions {
    let collector = Collector::new(true, None, None);
    let mut batches = collector.batches();
    for (at, (query, items, clicks)) in (0..).zip(lists) {
        assert_eq!(items.len(), clicks.len());
        let mut id = |number: u64| batches.id(number.to_string().as_bytes()).expect("a number is a name");
        let query = id(query);
        let items: Vec<_> = items.into_iter().map(id).collect();
        let clicks = (0..).zip(clicks).fold(0, |bits, (position, click)| bits | u64::from(click) << position);
        batches.session(query, &items, clicks, at);
    }
    batches.finish();
    let log = collector.finish(NonZeroUsize::MIN, ReadReport::default());
    log.expect("few impressions").sessions
}

/// Sessions of two queries. A list has four of five items, in random order; clicks are random, from
/// no model.
pub(super) fn random(seed: u64, n: usize) -> Sessions {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let lists = (0..n).map(|_| {
        let mut items = [1, 2, 3, 4, 5];
        for place in 0..4 {
            items.swap(place, rng.random_range(place..5));
        }
        let query = rng.random_range(0..2);
        let clicks = (0..4).map(|position| rng.random::<f64>() < 0.4 / f64::from(1 + position)).collect();
        (query, items[..4].to_vec(), clicks)
    });
    of_lists(lists)
}
