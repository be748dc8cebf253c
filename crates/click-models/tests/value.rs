//! Lists that earn most, against all lists.

use click_models::value::{BestList, GoesOn, Offer, index};
use rand::{Rng, RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Attractions and values of up to six items; some without value, some alike.
fn shop(rng: &mut impl Rng) -> Vec<(f64, f64)> {
    let n_items = rng.random_range(2..=6);
    let scale = [0.03, 0.3, 1.0][rng.random_range(0..3)];
    let item = |rng: &mut dyn Rng| {
        let attraction = rng.random::<f64>() * scale;
        match rng.random_range(0..8) {
            0 => (attraction, 0.0),
            1 => (0.5 * scale, 2.0),
            _ => (attraction, libm::exp(2.0 * rng.random::<f64>())),
        }
    };
    (0..n_items).map(|_| item(rng)).collect()
}

/// The most that a list earns after these items, of at most `left` further ones.
fn most(shop: &[(f64, f64)], used: u32, left: usize, users: GoesOn) -> f64 {
    let mut best = 0.0_f64;
    for (item, &(attraction, value)) in shop.iter().enumerate().filter(|(item, _)| used >> item & 1 == 0) {
        if left > 0 {
            let below = most(shop, used | 1 << item, left - 1, users);
            let goes_on = users.skip * (1.0 - attraction) + users.click * attraction;
            best = best.max(attraction * value + goes_on * below);
        }
    }
    best
}

fn best_list(shop: &[(f64, f64)], users: GoesOn, n_positions: usize) -> Vec<usize> {
    let mut best = BestList::default();
    for (item, &(attraction, value)) in (0..).zip(shop) {
        best.offer(Offer { item, attraction, value, tie: 0 });
    }
    best.find(users, n_positions).iter().map(|offer| offer.item as usize).collect()
}

#[test]
fn no_list_of_three_thousand_shops_earns_more() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let pairs = [(1.0, 0.0), (1.0, 0.7), (1.0, 1.0), (0.8, 0.0), (0.9, 0.5), (0.6, 0.9)];
    for number in 0..3_000 {
        let shop = shop(&mut rng);
        for (skip, click) in pairs {
            let users = GoesOn { skip, click };
            let n_positions = rng.random_range(1..=4);
            let list = best_list(&shop, users, n_positions);
            assert_eq!(list.len(), n_positions.min(shop.len()));
            let earned = users.earned(list.iter().map(|&item| shop[item]));
            let most = most(&shop, 0, n_positions, users);
            assert!(earned >= most * (1.0 - 1e-12), "{number}, {users:?}: {earned} of {most}, {shop:?}");
            let without = list.iter().position(|&item| shop[item].1 == 0.0).unwrap_or(list.len());
            assert!(list[without..].iter().all(|&item| shop[item].1 == 0.0));
        }
    }
}

#[test]
fn equal_values_are_in_the_order_of_attraction() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    for _ in 0..1_000 {
        let shop: Vec<(f64, f64)> = (0..40).map(|_| (rng.random::<f64>() * 0.4, 39.9)).collect();
        let mut order: Vec<usize> = (0..40).collect();
        order.sort_by(|&one, &other| shop[other].0.total_cmp(&shop[one].0));
        for users in [GoesOn::CASCADE, GoesOn { skip: 1.0, click: 0.3 }] {
            assert_eq!(best_list(&shop, users, 10), order[..10]);
        }
        assert!(index(shop[order[0]].0, 39.9) >= index(shop[order[1]].0, 39.9));
    }
}
