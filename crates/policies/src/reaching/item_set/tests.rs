use super::*;
use quickcheck::quickcheck;
use std::collections::BTreeSet;

quickcheck! {
    /// The same items in the same order as a sorted set, over several blocks of words.
    fn is_a_sorted_set(changes: Vec<(u16, bool)>) -> bool {
        const N_ITEMS: usize = 3 * BITS * WORDS - 7;
        let (mut set, mut sorted) = (ItemSet::new(N_ITEMS), BTreeSet::new());
        for (item, enters) in changes {
            let item = usize::from(item) % N_ITEMS;
            if enters {
                set.insert(item);
                sorted.insert(item);
            } else if set.remove(item) != sorted.remove(&item) {
                return false;
            }
        }
        let items: Vec<usize> = (0..set.len()).map(|n| set.nth(n)).collect();
        let same = items.iter().eq(&sorted) && (0..N_ITEMS).all(|item| set.contains(item) == sorted.contains(&item));
        set.clear();
        same && set.len() == 0 && !items.into_iter().any(|item| set.contains(item))
    }
}
