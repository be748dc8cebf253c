use super::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Keys of which many are equal, and many differ in their lowest bits only.
fn keys(rng: &mut Xoshiro256PlusPlus) -> Vec<Key> {
    let bases = [0.0, -0.0, 1.0, -1.0, 3e-300, 0.7, f64::INFINITY, f64::MIN];
    let n_bases = rng.random_range(1..=bases.len());
    let span = [1, 4, 1 << 20][rng.random_range(0..3)];
    (0..rng.random_range(1..300))
        .map(|_| {
            let base = bases[rng.random_range(0..n_bases)].to_bits();
            // Below an infinity there are numbers, above there are none.
            let low = if base == f64::INFINITY.to_bits() { 0 } else { rng.random_range(0..span) };
            (rng.random(), f64::from_bits(base + low))
        })
        .collect()
}

fn sorted(keys: &[Key]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_by(|&a, &b| keys[a].0.cmp(&keys[b].0).then(keys[a].1.total_cmp(&keys[b].1)));
    places
}

/// As sorting the keys. Sorting the words alone gives another order in more than a hundred of these
/// cases.
#[test]
fn words_are_ordered_as_their_keys() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut unsure = 0;
    for _ in 0..2000 {
        let keys = keys(&mut rng);
        let packing = Packing::new(keys.len());
        let mut words: Vec<u64> =
            keys.iter().enumerate().map(|(place, &key)| packing.pack(key, place)).collect();
        let places = |words: &[u64]| words.iter().map(|&word| packing.place(word)).collect::<Vec<_>>();
        let right = sorted(&keys);

        let mut alone = words.clone();
        alone.sort_unstable();
        unsure += usize::from(places(&alone) != right);

        let n = rng.random_range(0..=keys.len() + 1);
        let mut kept = words.clone();
        packing.keep_smallest(&mut kept, n, |place| keys[place]);
        let mut smallest = right[..n.min(keys.len())].to_vec();
        let mut kept = places(&kept);
        smallest.sort_unstable();
        kept.sort_unstable();
        assert_eq!(kept, smallest);

        packing.sort(&mut words, |place| keys[place]);
        assert_eq!(places(&words), right);
    }
    assert!(unsure > 100, "{unsure}");
}
