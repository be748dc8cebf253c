use super::*;
use click_models::ItemId;
use rand::{SeedableRng, rngs::ChaCha8Rng};

fn list(items: [u32; 2]) -> Ranking {
    items.map(ItemId::new).into_iter().collect()
}

/// 40,000 draws of lists with frequencies 1/4 and 3/4: within six standard deviations (false alarm
/// 2e-9). Equal frequencies would be off by 115 of them.
#[test]
fn lists_are_shown_as_often_as_in_the_log() {
    let counted = vec![(list([0, 1]), 1), (list([1, 2]), 0), (list([2, 0]), 3)];
    let mut logged = Logged::new(counted).expect("lists");
    assert_eq!((logged.count(), logged.lists().count()), (4, 2));
    let (mut rng, mut decision) = (ChaCha8Rng::seed_from_u64(1), Decision::default());
    let mut first = 0_u32;
    for _ in 0..40_000 {
        logged.select(&mut rng, &mut decision);
        assert!([list([0, 1]), list([2, 0])].contains(&decision.action));
        first += u32::from(decision.action == list([0, 1]));
    }
    assert!(first.abs_diff(10_000) < 520, "{first}");
    assert_eq!(logged.mean(|list| list[0].index() as f64), 1.5);
}

#[test]
fn a_log_without_lists_is_refused() {
    for counted in [vec![], vec![(list([0, 1]), 0)], vec![(list([0, 1]), u64::MAX), (list([1, 0]), 1)]] {
        assert_eq!(Logged::new(counted), Err(NoLists));
    }
    assert!(serde_json::from_str::<Logged>("[]").is_err());
    let logged = Logged::new(vec![(list([0, 1]), 7)]).expect("a list");
    let text = serde_json::to_string(&logged).expect("saved");
    assert_eq!((text.as_str(), serde_json::from_str(&text).ok()), ("[[[0,1],7]]", Some(logged)));
}
