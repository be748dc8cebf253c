//! Items that today's ranking keeps apart, as rankings of different users do.
//!
//! Where each group of users has a ranking of its own, the best lists of a model put items of both
//! groups together, although hardly anybody sees them so. Nothing in the log tells how such a list
//! does: users of each group like half of it. Within the sessions of a block, the lists that have
//! an item in their upper half and another one anywhere are counted, and compared with what they
//! would be if places went to both in different sessions as in the same. One ranking with noise
//! keeps only items apart that compete for the last place, which are in no upper half. An item that
//! arrives after the first tenth of the sessions is often tried on some of them, and pushes
//! others out of those alone: pairs with it tell nothing.
//!
//! Reference: none. Deviations: none. Numerics: counts. Complexity: O(sessions pairs).

use super::alarm::BLOCK;
use log_reader::{Id, ListSessions, QuerySessions};

/// Items are kept apart if they meet in less than this share of the expected lists, by two standard
/// errors of a count.
const SHARE: f64 = 0.7;
const ERRORS: f64 = 2.0;

/// Whether the lists of a query keep some of these items apart.
pub fn are_kept_apart(query: &QuerySessions<'_>, items: &[Id]) -> bool {
    // By list and item: whether it is in the upper half, and whether it is in the list at all.
    let of_list = |list: ListSessions<'_>| -> Vec<[bool; 2]> {
        let upper = list.items.len().div_ceil(2);
        let place = |item| list.items.iter().position(|other| other == item);
        let of_item = |item| place(item).map_or([false; 2], |place| [place < upper, true]);
        items.iter().map(of_item).collect()
    };
    let lists: Vec<Vec<[bool; 2]>> = query.lists().map(of_list).collect();
    let sessions: Vec<&[[bool; 2]]> = query.in_order().map(|session| &*lists[session.list]).collect();
    let blocks = (sessions.len() / BLOCK).max(1);
    let block =
        |number: usize| &sessions[number * sessions.len() / blocks..(number + 1) * sessions.len() / blocks];
    let is_apart = |(upper, other): (usize, usize)| {
        let (mut together, mut expected) = (0.0, 0.0);
        for block in (0..blocks).map(block).filter(|block| block.len() > 1) {
            let count =
                |is: &dyn Fn(&[[bool; 2]]) -> bool| block.iter().filter(|list| is(list)).count() as f64;
            let both = count(&|list| list[upper][0] && list[other][1]);
            let apart = count(&|list| list[upper][0]) * count(&|list| list[other][1]) - both;
            together += both;
            expected += apart / (block.len() - 1) as f64;
        }
        together + ERRORS * confidence::math::sqrt(expected) < SHARE * expected
    };
    let start = &sessions[..sessions.len().div_ceil(10)];
    let old: Vec<usize> = (0..items.len()).filter(|&item| start.iter().any(|list| list[item][1])).collect();
    let mut pairs = old.iter().flat_map(|&upper| old.iter().map(move |&other| (upper, other)));
    pairs.any(|(upper, other)| upper != other && is_apart((upper, other)))
}
