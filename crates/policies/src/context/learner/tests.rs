//! The lists of thinned rounds have the distribution of those for which every item is drawn.
//!
//! 300 items, 40 of them learned from, with two features; 40,000 lists of four of each way for one
//! user, from other generators. The numbers of lists that have an item are compared: no |z| of the
//! 300 may exceed 5.5, as one does by chance with a probability of 300 x 4e-8. Draws that are wider
//! by a third are rejected.

use super::{HybridSettings, Learner};
use click_models::{Clicks, Context, ContextKnown, ItemId, ItemSet, ListShape, Ranking};
use confidence::NonNegative;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const N_ITEMS: usize = 300;
const ROUNDS: u32 = 40_000;

/// The features of two items are `spread` times as large as those of others.
fn learner(interactions: bool, spread: f64) -> (Learner, Context) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut features: Vec<f64> = (0..2 * N_ITEMS).map(|_| rng.random::<f64>() * 2.0 - 1.0).collect();
    features[150..154].iter_mut().for_each(|feature| *feature *= spread);
    let known = ContextKnown::new(N_ITEMS, &features).expect("features").with_user_features(2);
    let settings = HybridSettings { interactions, ..HybridSettings::default() };
    let mut learner =
        Learner::new(ListShape::new(N_ITEMS, 4).expect("sizes"), known, settings).expect("sizes");
    let user = Context { segment: 0, features: vec![0.8, -1.1] };
    for first in 0..10 {
        let list: Ranking = (0..4).map(|place| ItemId::from_index(4 * first + 7 * place)).collect();
        learner.learn(&user, &list, Clicks::new(4).with(first % 4), |_| 1.0);
    }
    (learner, user)
}

/// How many lists have each item.
fn lists(learner: &Learner, user: &Context, among: Option<&ItemSet>, seed: u64) -> Vec<f64> {
    let (mut learner, mut rng) = (learner.clone(), Xoshiro256PlusPlus::seed_from_u64(seed));
    let mut counts = vec![0.0; N_ITEMS];
    for _ in 0..ROUNDS {
        let list = learner.choose(user, among, &mut rng);
        assert_eq!(list.len(), 4);
        for &(_, item) in list {
            counts[item as usize] += 1.0;
        }
    }
    counts
}

fn largest_z(one: &[f64], other: &[f64]) -> f64 {
    let z = |(one, other): (&f64, &f64)| (one - other).abs() / (one + other).max(20.0).sqrt();
    one.iter().zip(other).map(z).fold(0.0, f64::max)
}

#[test]
fn thinned_lists_have_the_law_of_plain_ones() {
    // With two items that are far from all others the first floor is too high: most lists take
    // items from below it.
    for (interactions, spread) in [(true, 1.0), (true, 300.0), (false, 1.0)] {
        let (thinned, user) = learner(interactions, spread);
        assert_eq!(thinned.learned.size(), N_ITEMS);
        let mut some = ItemSet::none(N_ITEMS);
        for item in (0..N_ITEMS).filter(|item| item % 3 > 0) {
            some.insert(ItemId::from_index(item));
        }
        let plain = Learner { learned: ItemSet::default(), ..thinned.clone() };
        for among in [None, Some(&some)] {
            let expected = lists(&plain, &user, among, 2);
            let z = largest_z(&lists(&thinned, &user, among, 3), &expected);
            assert!(z < 5.5, "interactions {interactions}, spread {spread}: {z}");
            let mut wide = thinned.clone();
            wide.settings.alpha = NonNegative::new(1.33 * wide.settings.alpha.get()).expect("finite");
            assert!(largest_z(&lists(&wide, &user, among, 3), &expected) > 5.5, "{interactions}, {spread}");
        }
    }
}

/// Sums of such features are not numbers in single precision: items are drawn, and the choice ends.
#[test]
fn items_are_drawn_where_single_precision_ends() {
    for (item_feature, user_feature) in [(1.7e9, 1e30), (1e30, 1.0), (1e30, 1e30), (1.7e9, 1.0)] {
        let (mut learner, mut user) = learner(true, 1.0);
        for item in 0..N_ITEMS {
            let features = [item_feature * (1.0 + item as f64 / 1e3), -item_feature];
            learner.replace_item(ItemId::from_index(item), &features).expect("features");
        }
        user.features = vec![user_feature, -user_feature];
        let plain = Learner { learned: ItemSet::default(), ..learner.clone() };
        let expected = lists(&plain, &user, None, 2);
        let z = largest_z(&lists(&learner, &user, None, 3), &expected);
        assert!(z < 5.5, "{item_feature}, {user_feature}: {z}");
    }
}
