use super::super::conditions::{Availability, Churn, NewAttraction};
use super::*;
use click_models::{CascadeModel, DcmReward, DependentClick, PositionBased, RandomSemiBandit};
use confidence::math::ln;
use itertools::Itertools as _;

const ATTRACTION: [f64; 6] = [0.5, 0.05, 0.35, 0.1, 0.2, 0.9];

fn under<M: WithAttraction>(conditions: Conditions, users: &M) -> Catalogue<'_, M> {
    Catalogue::new(conditions, users, Streams::new(1), 0)
}

/// The best list is that of a search through all lists.
fn finds_the_best<M: WithAttraction>(users: &M) {
    let conditions = Conditions {
        availability: Some(Availability { share: 0.6, rounds: 2 }),
        churn: Some(Churn { rate: 0.02, prior: NewAttraction::Beta(1.0, 2.0), returning: 0.5 }),
        drift: Some(Drift::Waves { waves: 50, height: 1.5 }),
        ..Conditions::default()
    };
    let mut catalogue = under(conditions, users);
    let mut sizes = std::collections::BTreeSet::new();
    for round in 1..=300 {
        catalogue.begin(round);
        let items = catalogue.available.iter().collect_vec();
        let n_shown = items.len().min(users.n_positions());
        sizes.insert(n_shown);
        let lists = items.iter().copied().permutations(n_shown).map(Ranking::from_iter);
        let best = lists
            .inspect(|list| assert!(catalogue.admits(list) && catalogue.gap(list) >= 0.0))
            .map(|list| catalogue.users.expected_reward(&list))
            .fold(0.0, f64::max);
        assert!((best - catalogue.best).abs() < 1e-12, "round {round}: {best}, found {}", catalogue.best);
    }
    assert_eq!(sizes, (0..=users.n_positions()).collect());
}

#[test]
fn the_best_list_is_that_of_the_items_that_may_be_shown() {
    finds_the_best(&PositionBased::from_values(&ATTRACTION, &[0.5, 1.0, 0.3]).expect("valid"));
    finds_the_best(&RandomSemiBandit::from_values(&ATTRACTION, &[1.0, 0.7, 0.4]).expect("valid"));
    let cascade = CascadeModel::from_values(&ATTRACTION, 3).expect("valid");
    finds_the_best(&cascade);
    finds_the_best(&cascade.with_weights(&[1.0, 0.5, 0.4]).expect("valid"));
    for reward in [DcmReward::Satisfaction, DcmReward::Clicks] {
        let users = DependentClick::from_values(&ATTRACTION, &[0.3, 0.9, 0.2], reward);
        finds_the_best(&users.expect("valid"));
    }
}

#[test]
fn items_are_replaced_at_the_rate() {
    let users = CascadeModel::from_values(&[0.25; 500], 3).expect("valid");
    let prior = NewAttraction::Beta(1.0, 9.0);
    for returning in [0.0, 0.4] {
        let churn = Some(Churn { rate: 1e-3, prior, returning });
        let mut catalogue = under(Conditions { churn, ..Conditions::default() }, &users);
        let (mut n_replaced, mut n_again, mut sum) = (0.0, 0.0, 0.0);
        for round in 1..=5_000 {
            for replacement in catalogue.begin(round).to_vec() {
                n_replaced += 1.0;
                match replacement.comes {
                    Newcomer::New(item) => sum += catalogue.items.attraction[item.index()],
                    Newcomer::Again(_) => n_again += 1.0,
                }
            }
            assert_eq!(catalogue.available().map(ItemSet::len), Some(500));
        }
        // 500 * 5,000 * .001 = 2,500, with a standard deviation of 50.
        assert!(f64::abs(n_replaced - 2_500.0) < 200.0, "{n_replaced}");
        assert!(f64::abs(n_again - returning * n_replaced) < 110.0, "{n_again}");
        assert!(f64::abs(sum / (n_replaced - n_again) - 0.1) < 0.01, "{sum}");
        let n_places = catalogue.items.attraction.len();
        assert_eq!(n_places > 500, returning > 0.0);
    }
}

#[test]
fn an_item_that_returns_is_as_attractive_as_before() {
    let users = CascadeModel::from_values(&ATTRACTION, 3).expect("valid");
    let prior = NewAttraction::Beta(1.0, 1.0);
    let churn = Some(Churn { rate: 0.05, prior, returning: 0.5 });
    let mut catalogue = under(Conditions { churn, ..Conditions::default() }, &users);
    let mut before = std::collections::BTreeMap::new();
    let mut n_again = 0;
    for round in 1..=500 {
        for replacement in catalogue.begin(round).to_vec() {
            let attraction = |item: ItemId| catalogue.items.attraction[item.index()];
            match replacement.comes {
                Newcomer::New(item) => assert_eq!(before.insert(item, attraction(item)), None),
                Newcomer::Again(item) => {
                    n_again += 1;
                    let first = ATTRACTION.get(item.index()).or(before.get(&item));
                    assert_eq!(first, Some(&attraction(item)));
                }
            }
        }
    }
    assert!(n_again > 30);
}

#[test]
fn a_jump_changes_a_share_of_the_items() {
    let users = CascadeModel::from_values(&[0.25; 50], 3).expect("valid");
    let prior = NewAttraction::Beta(1.0, 9.0);
    let drift = Some(Drift::Jumps { jumps: 100, share: 0.2, prior });
    let mut catalogue = under(Conditions { drift, ..Conditions::default() }, &users);
    for round in 1..=1_000 {
        let before = catalogue.users.attraction().to_vec();
        catalogue.begin(round);
        let n_changed = before.iter().zip(catalogue.users.attraction()).filter(|(one, other)| one != other);
        assert_eq!(n_changed.count(), if round > 1 && round % 100 == 1 { 10 } else { 0 }, "round {round}");
    }
}

#[test]
fn waves_return_after_their_period() {
    let users = CascadeModel::from_values(&[0.25, 0.0, 1.0, 0.5], 3).expect("valid");
    let drift = Some(Drift::Waves { waves: 40, height: 1.0 });
    let mut catalogue = under(Conditions { drift, ..Conditions::default() }, &users);
    let mut rounds = Vec::new();
    for round in 1..=80 {
        catalogue.begin(round);
        rounds.push(catalogue.users.attraction().iter().map(|attraction| attraction.get()).collect_vec());
    }
    assert_eq!(rounds[..40], rounds[40..]);
    let log_odds = |item: usize| rounds[..40].iter().map(move |now| ln(now[item] / (1.0 - now[item])));
    for (item, middle) in [(0, ln(1.0 / 3.0)), (3, 0.0)] {
        let mean = log_odds(item).sum::<f64>() / 40.0;
        let highest = log_odds(item).fold(f64::MIN, f64::max);
        assert!((mean - middle).abs() < 1e-12 && (highest - middle - 1.0).abs() < 0.01);
    }
    assert!(rounds.iter().all(|now| now[1] == 0.0 && now[2] == 1.0));
}

#[test]
fn availability_is_drawn_in_blocks() {
    let users = CascadeModel::from_values(&[0.25; 100], 3).expect("valid");
    let availability = Some(Availability { share: 0.7, rounds: 5 });
    let mut catalogue = under(Conditions { availability, ..Conditions::default() }, &users);
    let (mut n_available, mut before) = (0, Vec::new());
    for round in 1..=5_000 {
        catalogue.begin(round);
        let now = catalogue.items.is_available.clone();
        assert_eq!(now == before, round % 5 != 1, "round {round}");
        n_available += catalogue.available.len();
        before = now;
    }
    // A standard deviation of .00145.
    assert!((n_available as f64 / 500_000.0 - 0.7).abs() < 0.006, "{n_available}");
}
