use super::*;
use crate::{Decision, Select, Update};
use click_models::{ClickModel, PbmKnown, PositionBased};
use confidence::NonNegative;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Users of every lane: the same number of positions and their order, everything else by lane. Many attractions are equal, 0 or 1.
fn users<const L: usize>(rng: &mut Xoshiro256PlusPlus) -> [PositionBased; LANES] {
    const ATTRACTIONS: [f64; 6] = [0.0, 0.1, 0.1, 0.3, 0.5, 1.0];
    let mut order: [usize; L] = array::from_fn(|position| position);
    for position in 1..L {
        order.swap(position, rng.random_range(0..=position));
    }
    array::from_fn(|_| {
        let n_items = rng.random_range(L..=L + 4);
        let attraction: Vec<f64> = (0..n_items).map(|_| ATTRACTIONS[rng.random_range(0..6)]).collect();
        let mut examination = [0.0; L];
        for (rank, &position) in order.iter().enumerate() {
            // The last one may be 0.
            examination[position] = if rank + 1 == L && rng.random() { 0.0 } else { 1.0 - 0.2 * rank as f64 };
        }
        PositionBased::from_values(&attraction, &examination).unwrap()
    })
}

/// Plays every lane alone and all in lockstep. Whether the lists of all rounds and the policies at the end are equal. `key` changes the
/// random numbers that lanes get.
fn is_equal<const L: usize>(seed: u64, n_rounds: u64, key: impl Fn(u64) -> u64) -> bool {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let users = users::<L>(&mut rng);
    let rate = Rate::scaled_log(NonNegative::new(0.25 * (seed % 3) as f64).unwrap());
    let mut alone = users.each_ref().map(|users| PbmUcb::new(users.known(), rate));
    let mut decision = Decision::default();
    // Lanes may begin at any round.
    for _ in 0..seed % 4 * 5 {
        for (policy, users) in alone.iter_mut().zip(&users) {
            policy.select(&mut rng, &mut decision);
            policy.update(&decision, &users.respond(&decision.action, &mut rng));
        }
    }
    let mut lanes = PbmUcbLanes::<L>::new(alone.clone()).unwrap();
    for _ in 0..n_rounds {
        let mut streams: [Xoshiro256PlusPlus; LANES] = array::from_fn(|_| rng.fork());
        let keys = streams.each_ref().map(|stream| key(stream.clone().next_u64()));
        let shown = *lanes.select(&keys);
        let mut clicked = [[0.0; LANES]; L];
        for lane in 0..LANES {
            alone[lane].select(&mut streams[lane], &mut decision);
            let list: Vec<u64> = decision.action.iter().map(|item| item.index() as u64).collect();
            if list != shown.map(|row| row[lane]) {
                return false;
            }
            let feedback = users[lane].respond(&decision.action, &mut rng);
            for (position, row) in clicked.iter_mut().enumerate() {
                row[lane] = f64::from(u8::from(feedback.clicks.get(position)));
            }
            alone[lane].update(&decision, &feedback);
        }
        lanes.update(&clicked);
    }
    let saved = |policy: &PbmUcb| serde_json::to_value(policy).unwrap();
    (0..LANES).all(|lane| saved(&lanes.policy(lane).unwrap()) == saved(&alone[lane]))
}

#[test]
fn lanes_choose_and_count_as_the_policy_alone() {
    for seed in 0..60 {
        assert!(is_equal::<1>(seed, 300, |key| key), "1 position, seed {seed}");
        assert!(is_equal::<2>(seed, 300, |key| key), "2 positions, seed {seed}");
        assert!(is_equal::<3>(seed, 300, |key| key), "3 positions, seed {seed}");
        assert!(is_equal::<5>(seed, 300, |key| key), "5 positions, seed {seed}");
    }
}

/// Ties occur in all of these instances: with the same key in every round, lists differ from those of the policy alone.
#[test]
fn ties_that_are_not_random_are_noticed() {
    for seed in 0..20 {
        assert!(!is_equal::<3>(seed, 300, |_| 0), "seed {seed}");
    }
}

#[test]
fn only_policies_that_go_in_lockstep_get_lanes() {
    let users = |attraction: &[f64], examination: &[f64]| {
        PositionBased::from_values(attraction, examination).unwrap()
    };
    let usual = users(&[0.4, 0.3, 0.2], &[0.9, 0.5]);
    let lanes = |last: PbmUcb| {
        let mut policies = array::from_fn(|_| PbmUcb::new(usual.known(), Rate::LOG));
        policies[LANES - 1] = last;
        PbmUcbLanes::<2>::new(policies).is_some()
    };
    let new = |known: PbmKnown<'_>| PbmUcb::new(known, Rate::LOG);
    assert!(lanes(new(usual.known())));
    assert!(lanes(new(users(&[0.4; 16], &[0.9, 0.9]).known())));
    assert!(!lanes(new(users(&[0.4; 17], &[0.9, 0.5]).known())));
    assert!(!lanes(new(users(&[0.4, 0.3, 0.2], &[0.5, 0.9]).known())));
    assert!(!lanes(new(users(&[0.4, 0.3, 0.2], &[0.9]).known())));
    assert!(!lanes(PbmUcb::new(usual.known(), Rate::LOG_PLUS_3_LOG_LOG)));
    let mut later = new(usual.known());
    later.select(&mut Xoshiro256PlusPlus::seed_from_u64(1), &mut Decision::default());
    assert!(!lanes(later));
}

#[test]
fn what_is_no_click_is_noticed() {
    let users = PositionBased::from_values(&[0.4, 0.3], &[0.9]).unwrap();
    let mut lanes = PbmUcbLanes::<1>::new(array::from_fn(|_| PbmUcb::new(users.known(), Rate::LOG))).unwrap();
    lanes.select(&[0; LANES]);
    lanes.update(&[[2.0; LANES]]);
    assert!(lanes.policy(0).is_err());
}
