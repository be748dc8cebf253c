//! A set of items against a sorted set, over several blocks of words, while its catalogue grows.

use click_models::{ItemId, ItemSet};
use quickcheck::quickcheck;
use std::collections::BTreeSet;

quickcheck! {
    fn is_a_sorted_set(changes: Vec<(u16, u8)>) -> bool {
        let (mut set, mut sorted, mut size) = (ItemSet::none(0), BTreeSet::new(), 0);
        for (item, change) in changes {
            let item = ItemId::new(u32::from(item) % 12_281);
            let same = match change % 4 {
                0 => set.remove(item) == sorted.remove(&item),
                1 => {
                    size = size.max(item.index() + 3);
                    set.grow(size);
                    true
                }
                _ => set.insert(item) == (item.index() < size && sorted.insert(item)),
            };
            if !same {
                return false;
            }
        }
        let same = set.iter().eq(sorted.iter().copied())
            && (0..=set.len()).map(|n| set.nth(n)).eq(sorted.iter().copied().map(Some).chain([None]))
            && (0..13_000).map(ItemId::new).all(|item| set.contains(item) == sorted.contains(&item))
            && (set.size(), set.len(), set.is_empty()) == (size, sorted.len(), sorted.is_empty());
        set.clear();
        same && set == ItemSet::none(size)
    }
}

#[test]
fn all_items_are_in_the_full_set() {
    for size in [0, 1, 63, 64, 65, 5000] {
        assert!(ItemSet::all(size).iter().map(ItemId::index).eq(0..size));
    }
}
