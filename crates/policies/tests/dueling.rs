//! RUCB plays the pairs of its plain version, and has the reference values.

use crate::support::duelists::{circle, users};
use crate::support::plain_rucb::PlainRucb;
use click_models::{
    ClickModel, DuelOutcome, DuelShape, Dueling, DuelingModel, ItemId, Pair, PreferenceMatrix,
};
use confidence::NonNegative;
use policies::{Decision, Policy, Recommend, Rucb, Select, Update};
use quickcheck::{QuickCheck, quickcheck};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

type Generator = Xoshiro256PlusPlus;

fn generator(seed: u64) -> Generator {
    Generator::seed_from_u64(seed)
}

fn shape(n_items: usize) -> DuelShape {
    DuelShape::new(n_items).expect("valid")
}

fn number(value: f64) -> NonNegative {
    NonNegative::new(value).expect("valid")
}

/// The better of two wins the more often the further they are apart.
fn in_line(n_items: usize) -> DuelingModel {
    users(n_items, |i, j| 0.5 + 0.4 * (j - i) as f64 / n_items as f64)
}

/// One beats everybody by little, and the others beat each other in circles by much.
fn cyclic(n_items: usize) -> DuelingModel {
    let others = n_items - 1;
    users(n_items, |i, j| match i {
        0 => 0.6,
        _ if (j - i) % others <= others / 2 => 0.9,
        _ => 0.1,
    })
}

fn random(n_items: usize, seed: u64) -> DuelingModel {
    let mut rng = generator(seed);
    users(n_items, |_, _| rng.random())
}

/// The pairs of the two until they differ.
fn first_difference<P, Q>(users: &DuelingModel, mut one: P, mut other: Q, rounds: u64) -> Option<u64>
where
    P: Policy<Dueling>,
    Q: Policy<Dueling>,
{
    let mut streams = [generator(1), generator(1), generator(2), generator(2)];
    let [own, other_own, user, other_user] = &mut streams;
    let (mut decision, mut other_decision) = (Decision::default(), Decision::default());
    (1..=rounds).find(|_| {
        one.select(own, &mut decision);
        other.select(other_own, &mut other_decision);
        let answer = users.respond(&decision.action, user);
        one.update(&decision, &answer);
        let answer = users.respond(&other_decision.action, other_user);
        other.update(&other_decision, &answer);
        decision.action != other_decision.action
    })
}

fn assert_same_pairs(users: &DuelingModel, alpha: f64, unseen: f64, rounds: u64) {
    let policy = Rucb::new(users.known(), number(alpha)).with_unseen(number(unseen));
    let plain = PlainRucb { unseen, ..PlainRucb::new(users.known(), alpha) };
    let difference = first_difference(users, policy, plain, rounds);
    assert_eq!(difference, None, "alpha = {alpha}, unseen = {unseen}, {users:?}");
}

/// A version that is one round late plays another pair in the first 1,000 rounds of each of these,
/// and among the first 7,000 with 64 items.
#[test]
fn same_pairs_as_the_plain_version() {
    for n_items in [2, 3, 5, 8, 16] {
        for users in [in_line(n_items), random(n_items, 3)] {
            assert_same_pairs(&users, 0.51, 2.0, 10_000);
            assert_same_pairs(&users, 1.5, 1.0, 10_000);
        }
    }
    for users in [cyclic(4), cyclic(10), circle(3), circle(9)] {
        assert_same_pairs(&users, 0.51, 2.0, 10_000);
        assert_same_pairs(&users, 0.51, 1.0, 10_000);
    }
}

#[test]
fn same_pairs_as_the_plain_version_with_64_items() {
    assert_same_pairs(&in_line(64), 0.51, 2.0, 10_000);
    assert_same_pairs(&cyclic(64), 0.51, 2.0, 10_000);
}

/// More items than a word of the pool has.
#[test]
fn same_pairs_as_the_plain_version_with_130_items() {
    assert_same_pairs(&random(130, 5), 0.51, 2.0, 5000);
}

/// Ties all the way: every item is as good as every other, or wins with certainty, or nothing is
/// explored.
#[test]
fn same_pairs_as_the_plain_version_where_much_is_equal() {
    assert_same_pairs(&users(6, |_, _| 0.5), 0.51, 2.0, 30_000);
    assert_same_pairs(&users(6, |_, _| 1.0), 0.51, 1.0, 30_000);
    assert_same_pairs(&users(20, |_, _| 1.0), 0.75, 2.0, 30_000);
    assert_same_pairs(&in_line(5), 0.0, 2.0, 10_000);
    assert_same_pairs(&in_line(5), 0.51, 0.25, 10_000);
}

/// RUCB that decides as of the round before.
#[derive(Debug)]
struct Late {
    plain: PlainRucb,
}

impl Select<Pair> for Late {
    type Note = ();

    fn select<R: rand::Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        let late = u64::from(self.plain.t > 0);
        self.plain.t -= late;
        self.plain.select(rng, out);
        self.plain.t += late;
    }
}

impl Update<Pair, DuelOutcome> for Late {
    fn update(&mut self, decision: &Decision<Pair>, feedback: &DuelOutcome) {
        self.plain.update(decision, feedback);
    }
}

/// An expiry that is one round late is what a lazy version gets wrong.
#[test]
fn rounds_that_are_late_by_one_are_seen() {
    let users = in_line(16);
    let policy = Rucb::new(users.known(), number(0.51));
    let late = Late { plain: PlainRucb::new(users.known(), 0.51) };
    assert!(first_difference(&users, policy, late, 100_000).is_some_and(|round| round > 10));
}

#[test]
fn another_reading_of_what_was_never_compared_is_seen() {
    let users = in_line(8);
    let policy = Rucb::new(users.known(), number(0.51));
    let other = PlainRucb { unseen: 1.0, ..PlainRucb::new(users.known(), 0.51) };
    assert!(first_difference(&users, policy, other, 100_000).is_some());
}

#[test]
fn after_the_horizon_what_would_be_returned_meets_itself() {
    let users = in_line(6);
    let mut policy = Rucb::new(users.known(), number(0.51)).with_horizon(5000);
    let mut endless = Rucb::new(users.known(), number(0.51));
    let (mut rng, mut user) = (generator(1), generator(2));
    let mut decision = Decision::default();
    for _ in 0..5000 {
        let mut same = rng.clone();
        let mut other = Decision::default();
        endless.select(&mut same, &mut other);
        policy.select(&mut rng, &mut decision);
        assert_eq!(decision, other);
        let answer = users.respond(&decision.action, &mut user);
        policy.update(&decision, &answer);
        endless.update(&decision, &answer);
    }
    let mut best = ItemId::new(1);
    policy.recommend(&mut rng, &mut best);
    assert_eq!(best, ItemId::new(0));
    for _ in 0..100 {
        policy.select(&mut rng, &mut decision);
        assert_eq!(decision.action, Pair::of_one(best));
    }
    // Nobody has met anybody: all are returned equally often. A count over 60,000 rounds has mean
    // 10,000 and standard deviation 91.3; six stay within 480 of the mean but for a probability of
    // 1e-6.
    let mut fresh = Rucb::new(users.known(), number(0.51)).with_horizon(0);
    let mut returned = [0_u32; 6];
    for _ in 0..60_000 {
        fresh.select(&mut rng, &mut decision);
        assert_eq!(decision.action.first, decision.action.second);
        returned[decision.action.first.index()] += 1;
    }
    assert!(returned.iter().all(|count| count.abs_diff(10_000) < 480), "{returned:?}");
}

/// The first pair of a fresh policy is any of two different items, each equally often: 12 pairs in
/// 120,000, standard deviation 95.7; all within 500 of 10,000 but for a probability of 3e-6 / 2.
/// One key for both draws would miss.
#[test]
fn first_pairs_are_uniform() {
    let mut rng = generator(4);
    let mut pairs = [[0_u32; 4]; 4];
    for _ in 0..120_000 {
        let mut policy = Rucb::new(shape(4), number(0.51));
        let mut decision = Decision::default();
        policy.select(&mut rng, &mut decision);
        pairs[decision.action.first.index()][decision.action.second.index()] += 1;
    }
    for (first, row) in pairs.iter().enumerate() {
        for (second, &count) in row.iter().enumerate() {
            assert!(if first == second { count == 0 } else { count.abs_diff(10_000) < 500 }, "{pairs:?}");
        }
    }
}

#[test]
fn damaged_policies_are_refused() {
    let good = serde_json::to_value(Rucb::new(shape(3), number(0.51))).expect("saved");
    let restore = |value: Value| serde_json::from_value::<Rucb>(value);
    assert!(restore(good.clone()).is_ok());
    for (path, wrong) in [
        ("/alpha", json!(-1.0)),
        ("/unseen", json!(null)),
        ("/counts/shape/n_items", json!(2)),
        ("/counts/shape/n_items", json!(1)),
        ("/counts/rounds", json!(u64::MAX)),
        ("/counts/wins", json!([0, 0, 0])),
        ("/counts/wins/1", json!(u64::MAX)),
        ("/counts/wins/1", json!(-1)),
    ] {
        let mut damaged = good.clone();
        *damaged.pointer_mut(path).expect("there") = wrong;
        assert!(restore(damaged).is_err(), "{path}");
    }
}

/// Answers that are late, doubled, or on items that there are not.
#[test]
fn whatever_comes_back_it_goes_on() {
    #[expect(clippy::needless_pass_by_value, reason = "what quickcheck hands over")]
    fn goes_on(events: Vec<(u8, u8, u8)>, n_items: u8, seed: u64) -> bool {
        let n_items = 2 + usize::from(n_items % 9);
        let mut policy = Rucb::new(shape(n_items), number(0.51));
        let mut plain = PlainRucb::new(shape(n_items), 0.51);
        let (mut rng, mut other_rng) = (generator(seed), generator(seed));
        let mut decisions = vec![Decision::default()];
        events.iter().all(|&(what, which, other)| {
            let seen = if what & 1 == 0 { DuelOutcome::FirstWon } else { DuelOutcome::SecondWon };
            match what % 8 {
                0..4 => {
                    let (mut decision, mut other) = (Decision::default(), Decision::default());
                    policy.select(&mut rng, &mut decision);
                    plain.select(&mut other_rng, &mut other);
                    decisions.push(decision.clone());
                    return decision == other && shape(n_items).contains(decision.action);
                }
                4..7 => {
                    let decision = &decisions[usize::from(which) % decisions.len()];
                    policy.update(decision, &seen);
                    plain.update(decision, &seen);
                }
                _ => {
                    let strange = Pair::new(
                        ItemId::from_index(n_items + usize::from(which)),
                        ItemId::new(u32::from(other)),
                    );
                    policy.update(&Decision { action: strange, note: () }, &seen);
                }
            }
            true
        })
    }
    QuickCheck::new().tests(300).quickcheck(goes_on as fn(Vec<(u8, u8, u8)>, u8, u64) -> bool);
}

quickcheck! {
    /// For all counts, the next pairs are those of the plain version.
    fn any_counts_are_taken_up(counts: Vec<u16>, n_items: u8, rounds: u32, seed: u64) -> bool {
        let n_items = 2 + usize::from(n_items % 7);
        let mut wins: Vec<u64> = (0..n_items * n_items)
            .map(|at| counts.get(at).map_or(0, |&count| u64::from(count >> (count % 16))))
            .collect();
        for item in 0..n_items {
            wins[item * n_items + item] = 0;
        }
        let saved = json!({
            "alpha": 0.51,
            "unseen": 2.0,
            "counts": { "shape": { "n_items": n_items }, "rounds": rounds, "wins": wins },
        });
        let mut policy: Rucb = serde_json::from_value(saved).expect("valid");
        let mut plain = PlainRucb::new(shape(n_items), 0.51);
        plain.t = u64::from(rounds);
        for (at, &wins) in wins.iter().enumerate() {
            plain.wins[at / n_items][at % n_items] = wins as f64;
        }
        let (mut rng, mut other_rng) = (generator(seed), generator(seed));
        (0..50).all(|_| {
            let (mut decision, mut other) = (Decision::default(), Decision::default());
            policy.select(&mut rng, &mut decision);
            plain.select(&mut other_rng, &mut other);
            policy.update(&decision, &DuelOutcome::FirstWon);
            plain.update(&other, &DuelOutcome::FirstWon);
            decision == other
        })
    }
}

/// Reference values with at least 60 digits: bounds, champions, rivals, and what is returned, of
/// the plain version and of the policy.
#[test]
fn reference_values() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("data/rucb_matrix.json")).expect("cases");
    assert!(!cases.is_empty());
    let indices = |value: &Value| -> Vec<usize> { serde_json::from_value(value.clone()).expect("indices") };
    for case in &cases {
        let (inputs, output) = (&case["inputs"], &case["output"]);
        let wins: Vec<Vec<u64>> = serde_json::from_value(inputs["W"].clone()).expect("counts");
        let alpha = inputs["alpha"].as_f64().expect("a number");
        let t = inputs["t"].as_u64().expect("a count");
        let n_items = wins.len();
        let mut plain = PlainRucb::new(shape(n_items), alpha);
        for (row, counts) in plain.wins.iter_mut().zip(&wins) {
            *row = counts.iter().map(|&count| count as f64).collect();
        }
        let upper = plain.upper(t);
        let wanted: Vec<Vec<f64>> = serde_json::from_value(output["U"].clone()).expect("numbers");
        for (found, wanted) in upper.iter().flatten().zip(wanted.iter().flatten()) {
            assert!((found - wanted).abs() <= 1e-12 * wanted, "{found} {wanted}");
        }
        let champions = indices(&output["champion_candidates_0based"]);
        assert_eq!(PlainRucb::champions(&upper), champions);
        let rivals: Vec<Vec<usize>> =
            (0..n_items).map(|c| indices(&output["argmax_j_u_jc_per_c_0based"][c])).collect();
        for (champion, rivals) in rivals.iter().enumerate() {
            assert_eq!(&PlainRucb::rivals(&upper, champion), rivals);
        }
        let beaten = indices(&output["copeland_counts_unseen_not_won"]);
        let most = beaten.iter().max();
        let best: Vec<usize> = (0..n_items).filter(|&item| beaten.get(item) == most).collect();
        assert_eq!(plain.returned(), best);

        // The policy's choices at that round, often enough that one that is possible and does not
        // occur is one in 1e8: at most 36 pairs.
        let counts = json!({ "shape": { "n_items": n_items }, "rounds": t - 1, "wins": wins.concat() });
        let policy: Rucb = serde_json::from_value(json!({ "alpha": alpha, "unseen": 2.0, "counts": counts }))
            .expect("valid");
        let champions = if champions.is_empty() { (0..n_items).collect() } else { champions };
        let mut pairs: Vec<(usize, usize)> =
            champions.iter().flat_map(|&c| rivals[c].iter().map(move |&d| (c, d))).collect();
        let (mut played, mut recommended) = (vec![], vec![]);
        let mut rng = generator(9);
        let mut decision = Decision::default();
        for _ in 0..2000 {
            policy.clone().select(&mut rng, &mut decision);
            played.push((decision.action.first.index(), decision.action.second.index()));
            let mut item = ItemId::default();
            policy.recommend(&mut rng, &mut item);
            recommended.push(item.index());
        }
        for list in [&mut played, &mut pairs] {
            list.sort_unstable();
            list.dedup();
        }
        recommended.sort_unstable();
        recommended.dedup();
        assert_eq!((played, recommended), (pairs, best));
    }
}

/// Another RUCB, which shares nothing with the crates but the paper: its own users, counts, ties
/// (shuffle, then take the first) and generator. The regret of a run, and whether the item returned
/// is the best.
fn second_simulation(
    chances: &[&[f64]],
    best: usize,
    alpha: f64,
    rounds: u32,
    rng: &mut ChaCha8Rng,
) -> (f64, bool) {
    let k = chances.len();
    let mut wins = vec![vec![0.0_f64; k]; k];
    let mut order: Vec<usize> = (0..k).collect();
    let mut regret = 0.0;
    for t in 1..=rounds {
        let level = alpha * libm::log(f64::from(t));
        let u = |i: usize, j: usize| match wins[i][j] + wins[j][i] {
            _ if i == j => 0.5,
            0.0 => 2.0,
            n => wins[i][j] / n + (level / n).sqrt(),
        };
        order.shuffle(rng);
        let champion = order.iter().copied().find(|&c| (0..k).all(|j| u(c, j) >= 0.5)).unwrap_or(order[0]);
        order.shuffle(rng);
        let largest = (0..k).map(|j| u(j, champion)).fold(0.0, f64::max);
        let rival = order.iter().copied().find(|&j| u(j, champion) == largest).expect("there is one");
        regret += (chances[best][champion] + chances[best][rival] - 1.0) / 2.0;
        if champion != rival {
            let won = rng.random::<f64>() < chances[champion][rival];
            let (winner, loser) = if won { (champion, rival) } else { (rival, champion) };
            wins[winner][loser] += 1.0;
        }
    }
    order.shuffle(rng);
    let beaten = |i: usize| (0..k).filter(|&j| wins[i][j] > wins[j][i]).count();
    (regret, order.iter().copied().max_by_key(|&i| beaten(i)) == Some(best))
}

/// Mean, and its squared standard error.
fn estimate(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0) / n)
}

fn z(values: &[f64], others: &[f64]) -> f64 {
    let ((mean, variance), (other_mean, other_variance)) = (estimate(values), estimate(others));
    (mean - other_mean) / (variance + other_variance).sqrt()
}

/// Regret and accuracy of 700 runs of 1,000 rounds against 700 of the second simulation. The means
/// are independent and as good as normal: |z| is above 5 by chance with probability 6e-7. An alpha
/// that is off by a tenth is told apart with a probability of .99.
#[test]
fn regret_and_accuracy_of_a_second_simulation() {
    const RUNS: u64 = 700;
    const ROUNDS: u32 = 1000;
    let chances: [&[f64]; 5] = [
        &[0.5, 0.3, 0.8, 0.47, 0.7],
        &[0.7, 0.5, 0.1, 0.47, 0.2],
        &[0.2, 0.9, 0.5, 0.47, 0.6],
        &[0.53, 0.53, 0.53, 0.5, 0.53],
        &[0.3, 0.8, 0.4, 0.47, 0.5],
    ];
    let users = DuelingModel::new(PreferenceMatrix::new(&chances.map(<[f64]>::to_vec)).expect("valid"));
    let runs = |run: u64| {
        let (mut rng, mut user) = (generator(2 * run), generator(2 * run + 1));
        let mut policy = Rucb::new(users.known(), number(0.51));
        let mut decision = Decision::default();
        let mut regret = 0.0;
        for _ in 0..ROUNDS {
            policy.select(&mut rng, &mut decision);
            regret += users.gap(&decision.action);
            let answer = users.respond(&decision.action, &mut user);
            policy.update(&decision, &answer);
        }
        let mut item = ItemId::default();
        policy.recommend(&mut rng, &mut item);
        (regret, f64::from(u8::from(item == ItemId::new(3))))
    };
    let (regrets, hits): (Vec<f64>, Vec<f64>) = (0..RUNS).map(runs).unzip();
    let second = |alpha: f64, seed: u64| -> (Vec<f64>, Vec<f64>) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let run = |_| {
            let (regret, hit) = second_simulation(&chances, 3, alpha, ROUNDS, &mut rng);
            (regret, f64::from(u8::from(hit)))
        };
        (0..RUNS).map(run).unzip()
    };
    let (second_regrets, second_hits) = second(0.51, 1);
    assert!(z(&regrets, &second_regrets).abs() < 5.0, "{}", z(&regrets, &second_regrets));
    assert!(z(&hits, &second_hits).abs() < 5.0, "{}", z(&hits, &second_hits));
    assert!(estimate(&hits).0 > 0.5 && estimate(&hits).0 < 0.999, "{:?}", estimate(&hits));
    let off = z(&regrets, &second(0.561, 2).0);
    println!("an alpha that is off by a tenth: z = {off:.2}");
    assert!(off.abs() > 5.0, "{off}");
}
