//! Above 1,024 items: which of the items that were never shown come first.

use click_models::{ItemId, ListShape, Ranking, SemiBandit};
use live::{Among, Live, Settings};
use policies::{Decision, PrefixKlUcb, PrefixUcb, Select as _, Tallies, Tally};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

const ITEMS: usize = 1_200;
const POSITIONS: usize = 5;
/// Lists, 50 for each item.
const LISTS: u64 = 60_000;
/// The statistic of 1,100 items has mean 1,099 and standard deviation 46.9. By the approximation of
/// Wilson and Hilferty it exceeds this with a probability below 1e-6.
const MOST: f64 = 1_340.0;

/// How far the items at the first and the last position are from uniform, as chi-square statistics
/// of `items`. Lists have no other items, and none twice.
fn statistics(items: &[usize], mut list: impl FnMut(u64) -> Vec<usize>) -> [f64; 2] {
    let mut counts = [vec![0_u32; ITEMS], vec![0_u32; ITEMS]];
    for round in 0..LISTS {
        let list = list(round);
        assert!(list.iter().enumerate().all(|(place, item)| !list[..place].contains(item)));
        counts[0][list[0]] += 1;
        counts[1][list[POSITIONS - 1]] += 1;
    }
    let expected = LISTS as f64 / items.len() as f64;
    counts.map(|counts| {
        let seen: u32 = items.iter().map(|&item| counts[item]).sum();
        assert_eq!(u64::from(seen), LISTS, "an item that was shown came before those that were not");
        items.iter().map(|&item| (f64::from(counts[item]) - expected).powi(2) / expected).sum()
    })
}

fn shape() -> ListShape {
    ListShape::new(ITEMS, POSITIONS).expect("a shape")
}

fn items_of(list: &Ranking) -> Vec<usize> {
    list.iter().map(ItemId::index).collect()
}

/// The first hundred items were shown.
fn shown<P: Tallies>(mut policy: P) -> P {
    for item in 0..100 {
        policy.add(ItemId::new(item), 0, Tally { shows: 3, clicks: u64::from(item % 4) });
    }
    policy
}

#[test]
fn unshown_items_are_drawn_uniformly() {
    let unshown: Vec<usize> = (100..ITEMS).collect();
    let (mut rng, mut decision) = (ChaCha8Rng::seed_from_u64(1), Decision::default());
    let mut policy = shown(PrefixUcb::rsf(shape()));
    let all = statistics(&unshown, |_| {
        policy.select(&mut rng, &mut decision);
        items_of(&decision.action)
    });
    let mut policy = shown(PrefixKlUcb::new(shape(), confidence::Rate::LOG));
    let all_by_kl = statistics(&unshown, |_| {
        policy.select(&mut rng, &mut decision);
        items_of(&decision.action)
    });
    for statistic in all.into_iter().chain(all_by_kl) {
        assert!(statistic < MOST, "{all:?}, {all_by_kl:?}");
    }
}

/// Among those that are present and may be shown.
#[test]
fn unshown_items_are_drawn_uniformly_in_live_use() {
    let settings = Settings { keep_open: 1, ..Settings::default() };
    let policy = shown(PrefixUcb::rsf(shape()));
    let mut live = Live::<SemiBandit, _>::new(policy, settings).expect("settings of this policy");
    let handles: Vec<_> = live.items().collect();
    let retired: Vec<usize> = (100..ITEMS).step_by(22).collect();
    for &item in &retired {
        assert!(live.retire(handles[item]));
    }
    let among: Vec<usize> = (100..ITEMS).filter(|item| !retired.contains(item)).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut list = |among: Among<'_>, round| -> Vec<usize> {
        live.decide(&round, among, &mut rng).iter().map(|item| item.slot.index()).collect()
    };
    let present = statistics(&among, |round| list(Among::All, round));
    let few = &among[..among.len() - 20];
    let except: Vec<_> = among[few.len()..].iter().map(|&item| handles[item]).collect();
    let others = statistics(few, |round| list(Among::Except(&except), LISTS + round));
    for statistic in present.into_iter().chain(others) {
        assert!(statistic < MOST, "{present:?}, {others:?}");
    }
}

/// The test itself: a draw that leaves out one item in ten is caught.
#[test]
fn a_draw_that_prefers_some_items_is_caught() {
    let unshown: Vec<usize> = (100..ITEMS).collect();
    let (mut rng, mut decision) = (ChaCha8Rng::seed_from_u64(3), Decision::default());
    let mut policy = shown(PrefixUcb::rsf(shape()));
    let skewed = statistics(&unshown, |_| {
        loop {
            policy.select(&mut rng, &mut decision);
            let list = items_of(&decision.action);
            if !list[0].is_multiple_of(10) && !list[POSITIONS - 1].is_multiple_of(10) {
                return list;
            }
        }
    });
    assert!(skewed.iter().all(|&statistic| statistic > MOST), "{skewed:?}");
}
