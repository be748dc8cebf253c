use super::Pool;
use quickcheck::quickcheck;
use std::collections::BTreeSet;

quickcheck! {
    fn is_an_ordered_set(changes: Vec<(u8, bool)>) -> bool {
        let mut pool = Pool::new(200);
        let mut wanted = BTreeSet::new();
        for (item, within) in changes {
            let item = usize::from(item % 200);
            pool.set(item, within);
            if within { wanted.insert(item); } else { wanted.remove(&item); }
        }
        let found: Vec<usize> = (0..pool.len).map(|place| pool.nth(place)).collect();
        found == wanted.iter().copied().collect::<Vec<_>>() && (0..200).all(|item| pool.contains(item) == wanted.contains(&item))
    }
}
