//! The position-based model and the random semi-bandit: the distribution of their clicks, and the
//! properties that paired experiments rely on.
//!
//! The statistical checks simulate [`ROUNDS`] users from a fixed seed and compare counts with exact
//! binomial bounds. A right model fails one check with probability at most 1e-6; at least one check
//! detects each wrong model below with probability 1 - 1e-6 or more, as the tests compute and
//! confirm.

#![expect(clippy::needless_pass_by_value, reason = "quickcheck hands a property its arguments by value")]

use crate::support::{FALSE_ALARM, all_lists, binomial_check, power};
use click_models::{
    ClickModel, Clicks, Feedback, ItemId, ListShape, ObservedPrefix, Pbm, PbmFeedback, PositionBased,
    PrefixFeedback, RandomSemiBandit, Ranking, SemiBandit,
};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use rand::{Rng, RngExt, SeedableRng, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::convert::Infallible;

const ROUNDS: u64 = 200_000;
const SEED: u64 = 20_160_606;

fn ranking(items: &[u32]) -> Ranking {
    items.iter().copied().map(ItemId::new).collect()
}

// --- Laws
// -------------------------------------------------------------------------------------------------

/// Clicks at every position, and at every pair of positions, against the probabilities of the
/// position-based model.
fn check_pbm(users: &impl ClickModel<Interaction = Pbm>, list: &Ranking, click: &[f64]) -> Vec<String> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let n = click.len();
    let (mut single, mut pairs) = (vec![0; n], vec![0; n * n]);
    for _ in 0..ROUNDS {
        let clicks = users.respond(list, &mut rng).clicks;
        assert_eq!(clicks.len(), n);
        for first in (0..n).filter(|&position| clicks.get(position)) {
            single[first] += 1;
            (0..first)
                .filter(|&position| clicks.get(position))
                .for_each(|second| pairs[first * n + second] += 1);
        }
    }
    let mut alarms = Vec::new();
    for first in 0..n {
        alarms.extend(binomial_check(&format!("clicks at {first}"), single[first], ROUNDS, click[first]));
        for second in 0..first {
            let what = format!("clicks at {first} and {second}");
            alarms.extend(binomial_check(
                &what,
                pairs[first * n + second],
                ROUNDS,
                click[first] * click[second],
            ));
        }
    }
    alarms
}

/// Lengths of the observed prefix, and clicks inside it given that it reaches them, alone and with
/// the position above.
fn check_semi_bandit(
    readers: &impl ClickModel<Interaction = SemiBandit>,
    list: &Ranking,
    attraction: &[f64],
    examination: &[f64],
) -> Vec<String> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let n = examination.len();
    let (mut lengths, mut observed) = (vec![0; n + 1], vec![0; n]);
    let (mut clicked, mut with_the_one_above) = (vec![0; n], vec![0; n]);
    for _ in 0..ROUNDS {
        let clicks = readers.respond(list, &mut rng).observed_clicks();
        lengths[clicks.len()] += 1;
        for position in 0..clicks.len() {
            observed[position] += 1;
            if clicks.get(position) {
                clicked[position] += 1;
                with_the_one_above[position] += u64::from(position > 0 && clicks.get(position - 1));
            }
        }
    }
    let mut alarms = Vec::new();
    let reached =
        |length: usize| if length == 0 { 1.0 } else { examination.get(length - 1).copied().unwrap_or(0.0) };
    for (length, &count) in lengths.iter().enumerate() {
        let probability = reached(length) - reached(length + 1);
        alarms.extend(binomial_check(&format!("prefixes of {length}"), count, ROUNDS, probability));
    }
    let mut above = 0.0;
    for (position, item) in list.by_position() {
        let (trials, liked) = (observed[position], attraction[item.index()]);
        alarms.extend(binomial_check(&format!("clicks at {position}"), clicked[position], trials, liked));
        let what = format!("clicks at {position} and above it");
        alarms.extend(binomial_check(&what, with_the_one_above[position], trials, liked * above));
        above = liked;
    }
    alarms
}

const THETA: [f64; 5] = [0.35, 0.05, 0.45, 0.15, 0.25];
const KAPPA: [f64; 3] = [0.9, 0.6, 0.3];

#[test]
fn position_based_clicks_follow_the_model() {
    let users = PositionBased::from_values(&THETA, &KAPPA).unwrap();
    for list in [ranking(&[2, 0, 4]), ranking(&[1, 3, 2])] {
        let click: Vec<f64> =
            list.by_position().map(|(position, item)| KAPPA[position] * THETA[item.index()]).collect();
        assert_eq!(check_pbm(&users, &list, &click), Vec::<String>::new());
    }
    // Also where examination rises down the list.
    let users = PositionBased::from_values(&THETA, &[0.3, 0.9, 0.6]).unwrap();
    assert_eq!(
        check_pbm(&users, &ranking(&[2, 0, 4]), &[0.3 * 0.45, 0.9 * 0.35, 0.6 * 0.25]),
        Vec::<String>::new()
    );
}

#[test]
fn semi_bandit_prefixes_and_clicks_follow_the_model() {
    for kappa in [KAPPA, [1.0, 0.8, 0.6], [0.5, 0.5, 0.1]] {
        let readers = RandomSemiBandit::from_values(&THETA, &kappa).unwrap();
        for list in [ranking(&[2, 0, 4]), ranking(&[1, 3, 2])] {
            assert_eq!(check_semi_bandit(&readers, &list, &THETA, &kappa), Vec::<String>::new());
        }
    }
}

/// Wrong: users examine all positions.
struct BlindToPositions(PositionBased);

/// Wrong: the user examines all positions or none, so single clicks have the right distribution but
/// pairs do not.
struct AllOrNothing(PositionBased);

/// Wrong: the user reads one item more before leaving.
struct LeavesOneLate(RandomSemiBandit);

/// Wrong: the user leaves at the first click, as in the cascade model.
struct LeavesAtTheClick(RandomSemiBandit);

macro_rules! same_as_the_right_model {
    ($right:ty) => {
        type Interaction = <$right as ClickModel>::Interaction;
        type Known<'a> = <$right as ClickModel>::Known<'a>;

        fn known(&self) -> Self::Known<'_> {
            self.0.known()
        }

        fn admits(&self, list: &Ranking) -> bool {
            self.0.admits(list)
        }

        fn clicks(&self, feedback: &Feedback<Self>) -> f64 {
            self.0.clicks(feedback)
        }

        fn expected_reward(&self, list: &Ranking) -> f64 {
            self.0.expected_reward(list)
        }

        fn best(&self) -> &(Ranking, f64) {
            self.0.best()
        }
    };
}

fn clicks_where(n: usize, clicked: impl Fn(usize) -> bool) -> Clicks {
    (0..n).filter(|&position| clicked(position)).fold(Clicks::new(n), Clicks::with)
}

impl ClickModel for BlindToPositions {
    same_as_the_right_model!(PositionBased);

    fn respond<R: Rng + ?Sized>(&self, list: &Ranking, rng: &mut R) -> PbmFeedback {
        let liked: Vec<bool> = list
            .by_position()
            .map(|(_, item)| rng.random::<f64>() < self.0.attraction()[item.index()].get())
            .collect();
        PbmFeedback { clicks: clicks_where(list.len(), |position| liked[position]) }
    }
}

impl ClickModel for AllOrNothing {
    same_as_the_right_model!(PositionBased);

    fn respond<R: Rng + ?Sized>(&self, list: &Ranking, rng: &mut R) -> PbmFeedback {
        let patience = rng.random::<f64>();
        let liked: Vec<bool> = list
            .by_position()
            .map(|(_, item)| rng.random::<f64>() < self.0.attraction()[item.index()].get())
            .collect();
        let examined = |position: usize| patience < self.0.examination()[position].get();
        PbmFeedback { clicks: clicks_where(list.len(), |position| examined(position) && liked[position]) }
    }
}

impl ClickModel for LeavesOneLate {
    same_as_the_right_model!(RandomSemiBandit);

    fn respond<R: Rng + ?Sized>(&self, list: &Ranking, rng: &mut R) -> PrefixFeedback {
        let seen = self.0.respond(list, rng).clicks;
        if seen.len() == list.len() {
            return PrefixFeedback { clicks: seen };
        }
        let liked = rng.random::<f64>() < self.0.attraction()[list[seen.len()].index()].get();
        let clicked = |position| if position < seen.len() { seen.get(position) } else { liked };
        PrefixFeedback { clicks: clicks_where(seen.len() + 1, clicked) }
    }
}

impl ClickModel for LeavesAtTheClick {
    same_as_the_right_model!(RandomSemiBandit);

    fn respond<R: Rng + ?Sized>(&self, list: &Ranking, rng: &mut R) -> PrefixFeedback {
        let seen = self.0.respond(list, rng).clicks;
        let end = (0..seen.len()).find(|&position| seen.get(position)).map_or(seen.len(), |click| click + 1);
        PrefixFeedback { clicks: clicks_where(end, |position| seen.get(position)) }
    }
}

#[test]
fn wrong_position_based_models_are_noticed() {
    let users = PositionBased::from_values(&THETA, &KAPPA).unwrap();
    let (list, click) = (ranking(&[2, 0, 4]), [0.9 * 0.45, 0.6 * 0.35, 0.3 * 0.25]);

    assert!(power(ROUNDS, click[2], 0.25) > 1.0 - FALSE_ALARM);
    let alarms = check_pbm(&BlindToPositions(users.clone()), &list, &click);
    assert!(alarms.iter().any(|alarm| alarm.starts_with("clicks at 2:")), "{alarms:?}");

    // The second and the third position are examined together with probability .3, not .6 * .3.
    assert!(power(ROUNDS, click[1] * click[2], 0.3 * 0.35 * 0.25) > 1.0 - FALSE_ALARM);
    let alarms = check_pbm(&AllOrNothing(users), &list, &click);
    assert!(alarms.iter().any(|alarm| alarm.starts_with("clicks at 2 and 1")), "{alarms:?}");
    assert!(!alarms.iter().any(|alarm| alarm.starts_with("clicks at 2:")), "{alarms:?}");
}

#[test]
fn wrong_semi_bandits_are_noticed() {
    let readers = RandomSemiBandit::from_values(&THETA, &KAPPA).unwrap();
    let list = ranking(&[2, 0, 4]);

    assert!(power(ROUNDS, KAPPA[2], KAPPA[1]) > 1.0 - FALSE_ALARM);
    let alarms = check_semi_bandit(&LeavesOneLate(readers.clone()), &list, &THETA, &KAPPA);
    assert!(alarms.iter().any(|alarm| alarm.starts_with("prefixes of 3")), "{alarms:?}");

    assert!(power(ROUNDS, KAPPA[2], KAPPA[2] * 0.55 * 0.65) > 1.0 - FALSE_ALARM);
    let alarms = check_semi_bandit(&LeavesAtTheClick(readers), &list, &THETA, &KAPPA);
    assert!(alarms.iter().any(|alarm| alarm.starts_with("prefixes of 3")), "{alarms:?}");
}

// --- Random numbers
// -------------------------------------------------------------------------------------------------

/// Counts the draws from another generator.
#[derive(Clone)]
struct Counting {
    inner: Xoshiro256PlusPlus,
    draws: usize,
}

impl TryRng for Counting {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.draws += 1;
        self.inner.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.draws += 1;
        self.inner.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.draws += bytes.len();
        self.inner.try_fill_bytes(bytes)
    }
}

#[test]
fn a_round_takes_one_draw_per_position_for_every_list() {
    let mut rng = Counting { inner: Xoshiro256PlusPlus::seed_from_u64(SEED), draws: 0 };
    for (theta, kappa) in [
        (vec![0.9, 0.4, 0.6, 0.2], vec![0.9, 0.5, 0.3]),
        (vec![1.0, 0.0, 1.0, 0.5], vec![1.0, 0.0, 0.0]),
        (vec![0.0, 0.0, 0.0], vec![1.0, 1.0, 1.0]),
        (vec![0.5], vec![0.0]),
    ] {
        let users = PositionBased::from_values(&theta, &kappa).unwrap();
        let readers = RandomSemiBandit::from_values(&theta, &kappa).unwrap();
        for list in all_lists(theta.len(), kappa.len()) {
            for _ in 0..50 {
                rng.draws = 0;
                users.respond(&list, &mut rng);
                assert_eq!(rng.draws, kappa.len());
                readers.respond(&list, &mut rng);
                assert_eq!(rng.draws, 2 * kappa.len());
            }
        }
    }
}

#[test]
fn equal_generators_meet_the_same_users() {
    let lists = all_lists(4, 3);
    let theta = [0.9, 0.4, 0.6, 0.2];
    let kappa = [0.9, 0.7, 0.4];
    let (users, readers) = (
        PositionBased::from_values(&theta, &kappa).unwrap(),
        RandomSemiBandit::from_values(&theta, &kappa).unwrap(),
    );
    for seed in 0..500 {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let read = readers.respond(&lists[0], &mut rng.clone()).observed_clicks();
        let clicked = users.respond(&lists[0], &mut rng.clone()).clicks;
        for list in &lists {
            // The prefix does not depend on the list, nor a click on the rest of the list; a more
            // attractive item is clicked by every user who clicks a less attractive one in its
            // place.
            let other = readers.respond(list, &mut rng.clone()).observed_clicks();
            assert_eq!(other.len(), read.len());
            let other_clicked = users.respond(list, &mut rng.clone()).clicks;
            for (position, item) in list.by_position() {
                let before = lists[0][position];
                if theta[item.index()] >= theta[before.index()] {
                    assert!(!read.get(position) || other.get(position));
                    assert!(!clicked.get(position) || other_clicked.get(position));
                }
                if item == before {
                    assert_eq!(other.get(position), read.get(position));
                    assert_eq!(other_clicked.get(position), clicked.get(position));
                }
            }
        }
    }
}

/// Responses for a fixed generator, computed with an independent implementation of generator and
/// models.
#[test]
fn answers_are_stable() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let users = PositionBased::from_values(&[0.9, 0.8, 0.7, 0.6], &[0.9, 0.8, 0.7]).unwrap();
    let readers = RandomSemiBandit::from_values(&[0.9, 0.8, 0.7, 0.6], &[0.9, 0.8, 0.7]).unwrap();
    let list = ranking(&[3, 1, 2]);
    let clicks: Vec<u64> = (0..8).map(|_| users.respond(&list, &mut rng).clicks.bits()).collect();
    assert_eq!(clicks, [4, 2, 6, 5, 7, 7, 4, 6]);
    let read: Vec<(u64, usize)> = (0..8)
        .map(|_| readers.respond(&list, &mut rng).clicks)
        .map(|clicks| (clicks.bits(), clicks.len()))
        .collect();
    assert_eq!(read, [(7, 3), (0, 0), (6, 3), (0, 1), (1, 2), (6, 3), (5, 3), (6, 3)]);
}

// --- Instances
// -------------------------------------------------------------------------------------------------

/// Attractions and examinations in any order, at most 6 items, sometimes with ties and with the
/// values 0 and 1.
#[derive(Debug, Clone)]
struct Instance {
    theta: Vec<f64>,
    kappa: Vec<f64>,
}

impl Instance {
    fn users(&self) -> PositionBased {
        PositionBased::from_values(&self.theta, &self.kappa).unwrap()
    }

    /// A random semi-bandit with the same parameters, examination sorted.
    fn readers(&self) -> RandomSemiBandit {
        let mut kappa = self.kappa.clone();
        kappa.sort_unstable_by(|left, right| right.total_cmp(left));
        RandomSemiBandit::from_values(&self.theta, &kappa).unwrap()
    }
}

impl Arbitrary for Instance {
    fn arbitrary(g: &mut Gen) -> Self {
        let n_items = 1 + usize::arbitrary(g) % 6;
        let n_positions = 1 + usize::arbitrary(g) % n_items;
        let grid = *g.choose(&[1_u32, 4, 1_000_000]).unwrap();
        let value = |g: &mut Gen| f64::from(u32::arbitrary(g) % (grid + 1)) / f64::from(grid);
        Self {
            theta: (0..n_items).map(|_| value(g)).collect(),
            kappa: (0..n_positions).map(|_| value(g)).collect(),
        }
    }
}

fn assert_optimum_over_all_lists<M>(model: &M, shape: ListShape)
where
    M: ClickModel<Interaction: click_models::Interaction<Action = Ranking>>,
{
    let best = model.optimal_action();
    assert!(best.fits(shape));
    assert_eq!(model.expected_reward(&best), model.optimal_reward());
    assert_eq!(model.gap(&best), 0.0);
    let rewards = all_lists(shape.n_items(), shape.n_positions()).into_iter().map(|list| {
        // Never below 0, up to rounding of two sums of at most 6 terms below 1.
        assert!(model.gap(&list) > -1e-14);
        model.expected_reward(&list)
    });
    let most = rewards.fold(0.0, f64::max);
    assert!((most - model.optimal_reward()).abs() < 1e-14);
}

#[test]
fn the_optimal_list_is_the_best_of_all() {
    fn property(instance: Instance) {
        let (users, readers) = (instance.users(), instance.readers());
        assert_optimum_over_all_lists(&users, users.shape());
        assert_optimum_over_all_lists(&readers, readers.shape());
    }
    QuickCheck::new().tests(500).quickcheck(property as fn(Instance));
}

#[test]
fn names_of_items_do_not_matter() {
    fn property(instance: Instance, rotation: usize) {
        let n_items = instance.theta.len();
        let renamed = |item: usize| (item + rotation % n_items) % n_items;
        let mut other = instance.clone();
        for (item, &theta) in instance.theta.iter().enumerate() {
            other.theta[renamed(item)] = theta;
        }
        let (users, other_users) = (instance.users(), other.users());
        let (readers, other_readers) = (instance.readers(), other.readers());
        assert_eq!(users.optimal_reward(), other_users.optimal_reward());
        assert_eq!(readers.optimal_reward(), other_readers.optimal_reward());
        assert_eq!(users.lower_bound().to_bits(), other_users.lower_bound().to_bits());
        assert_eq!(readers.lower_bound().to_bits(), other_readers.lower_bound().to_bits());
        let rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
        for list in all_lists(n_items, instance.kappa.len()).iter().take(20) {
            let other_list: Ranking =
                list.by_position().map(|(_, item)| ItemId::from_index(renamed(item.index()))).collect();
            assert_eq!(users.expected_reward(list), other_users.expected_reward(&other_list));
            assert_eq!(readers.expected_reward(list), other_readers.expected_reward(&other_list));
            assert_eq!(
                users.respond(list, &mut rng.clone()),
                other_users.respond(&other_list, &mut rng.clone())
            );
            assert_eq!(
                readers.respond(list, &mut rng.clone()),
                other_readers.respond(&other_list, &mut rng.clone())
            );
        }
    }
    QuickCheck::new().tests(500).quickcheck(property as fn(Instance, usize));
}

#[test]
fn probabilities_0_and_1_are_exact() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let list = ranking(&[0, 1, 2]);
    let users = PositionBased::from_values(&[1.0, 0.0, 1.0], &[1.0, 1.0, 0.0]).unwrap();
    let readers = RandomSemiBandit::from_values(&[1.0, 0.0, 1.0], &[1.0, 1.0, 0.0]).unwrap();
    let away = RandomSemiBandit::from_values(&[1.0, 0.0, 1.0], &[0.0, 0.0, 0.0]).unwrap();
    let all = RandomSemiBandit::from_values(&[1.0, 0.0, 1.0], &[1.0, 1.0, 1.0]).unwrap();
    for _ in 0..10_000 {
        assert_eq!(users.respond(&list, &mut rng).clicks, Clicks::new(3).with(0));
        assert_eq!(readers.respond(&list, &mut rng).clicks, Clicks::new(2).with(0));
        assert_eq!(away.respond(&list, &mut rng).clicks, Clicks::new(0));
        assert_eq!(all.respond(&list, &mut rng).clicks, Clicks::new(3).with(0).with(2));
    }
    assert_eq!((away.optimal_reward(), all.optimal_reward()), (0.0, 2.0));
}

/// A generator that always gives the same bits.
struct Constant(u64);

impl TryRng for Constant {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.0 >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(self.0.to_le_bytes()[0]);
        Ok(())
    }
}

#[test]
fn the_smallest_and_the_largest_draw_are_on_the_right_side() {
    let list = ranking(&[0, 1]);
    for draw in [0, u64::MAX] {
        let mut rng = Constant(draw);
        // Attraction 1 and 0 at a position that is always examined, and attraction 1 at one that is
        // never examined.
        let users = PositionBased::from_values(&[1.0, 0.0], &[1.0, 1.0]).unwrap();
        assert_eq!(users.respond(&list, &mut rng).clicks, Clicks::new(2).with(0));
        let users = PositionBased::from_values(&[1.0, 1.0], &[1.0, 0.0]).unwrap();
        assert_eq!(users.respond(&list, &mut rng).clicks, Clicks::new(2).with(0));
        let readers = RandomSemiBandit::from_values(&[1.0, 0.0], &[1.0, 1.0]).unwrap();
        assert_eq!(readers.respond(&list, &mut rng).clicks, Clicks::new(2).with(0));
        let readers = RandomSemiBandit::from_values(&[1.0, 1.0], &[1.0, 0.0]).unwrap();
        assert_eq!(readers.respond(&list, &mut rng).clicks, Clicks::new(1).with(0));
    }
}

#[test]
fn lists_of_64_positions_work() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let users = PositionBased::from_values(&[1.0; 70], &[1.0; 64]).unwrap();
    let readers = RandomSemiBandit::from_values(&[1.0; 70], &[1.0; 64]).unwrap();
    let best = users.optimal_action();
    assert_eq!(users.respond(&best, &mut rng).clicks.count(), 64);
    assert_eq!(readers.respond(&best, &mut rng).clicks.count(), 64);
    assert_eq!(users.optimal_reward(), 64.0);
}

#[test]
fn learners_know_sizes_and_examination() {
    let users = PositionBased::from_values(&THETA, &KAPPA).unwrap();
    let known = users.known();
    assert_eq!((known.shape(), known.examination()), (ListShape::new(5, 3).unwrap(), users.examination()));
    let readers = RandomSemiBandit::from_values(&THETA, &KAPPA).unwrap();
    assert_eq!(readers.known(), ListShape::new(5, 3).unwrap());
}
