//! Sessions for tests.

use log_reader::{Format, Reader, Sessions};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write as _;

/// A query, the items of a list from the top down, and the clicks by position. Queries and items
/// are named by their numbers.
pub(super) type List = (u64, Vec<u64>, Vec<bool>);

/// A session for each list.
pub(super) fn of_lists(lists: impl IntoIterator<Item = List>) -> Sessions {
    let mut log = String::from("query\turls\tclicked_mask\n");
    for (query, items, clicks) in lists {
        let urls: Vec<String> = items.iter().map(u64::to_string).collect();
        let marks: String = clicks.into_iter().map(|click| if click { '1' } else { '0' }).collect();
        writeln!(log, "{query}\t{}\t{marks}", urls.join(",")).expect("a string grows");
    }
    let log = Reader::new(Format::Sessions).keep_sessions().read("test", log.as_bytes());
    log.expect("a log of sessions").sessions
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
