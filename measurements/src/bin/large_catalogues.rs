//! Large catalogues: the library's policies beside the same rules with every item compared in every
//! round.
//!
//! Both play the same rounds in one process, from the same state, and show the same lists. The
//! program prints rounds per CPU-second, users included, and the median of five ratios.
//!
//! ```sh
//! cargo run --release -p measurements --bin large_catalogues -- 10000 300 4096     # rounds before the measurement, then items
//! ```

use benches::{AllCandidates, AllItems, IndexRule};
use click_models::{ClickModel, Feedback, Interaction, ListShape, PositionBased, RandomSemiBandit, Ranking};
use confidence::Rate;
use policies::{Decision, PbmPie, PbmUcb, Pie, PrefixUcb, PrefixUcbV, Select, Update};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Examination of the positions, and probability that users continue to them.
const EXAMINATION: [f64; 5] = [1.0, 0.9, 0.81, 0.73, 0.66];
const REPETITIONS: u64 = 5;

fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("a time since the thread began")
}

/// Users to whom most items are rarely attractive, as in advertising.
fn attraction(n_items: usize) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..n_items).map(|_| 0.4 * rng.random::<f64>() * rng.random::<f64>()).collect()
}

/// Plays rounds, calls `watch` in each, and returns the time and a sum over the lists.
fn play<M, P>(
    model: &M,
    policy: &mut P,
    rounds: u64,
    seed: u64,
    mut watch: impl FnMut(&Decision<Ranking>, &Feedback<M>),
) -> (f64, usize)
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>> + Select<Ranking, Note = ()>,
{
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2 + seed);
    let mut users = Xoshiro256PlusPlus::seed_from_u64(3 + seed);
    let mut decision = Decision::default();
    let mut sum = 0_usize;
    let start = cpu_time();
    for _ in 0..rounds {
        policy.select(&mut rng, &mut decision);
        let feedback = model.respond(&decision.action, &mut users);
        policy.update(&decision, &feedback);
        for (position, item) in decision.action.by_position() {
            sum = sum.wrapping_mul(31).wrapping_add(item.index() + position);
        }
        watch(&decision, &feedback);
    }
    (cpu_time().saturating_sub(start).as_secs_f64(), sum)
}

/// A policy that compares all items, and counts rounds whose list another policy chose.
trait Plain {
    fn skip_round(&mut self);
}

impl Plain for AllItems {
    fn skip_round(&mut self) {
        self.skip_round();
    }
}

impl Plain for AllCandidates {
    fn skip_round(&mut self) {
        self.skip_round();
    }
}

fn compare<M, P, Q>(name: &str, model: &M, mut fast: P, mut plain: Q, [before, rounds]: [u64; 2])
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>> + Select<Ranking, Note = ()> + Clone,
    Q: Update<Ranking, Feedback<M>> + Select<Ranking, Note = ()> + Clone + Plain,
{
    play(model, &mut fast, before, 0, |decision, feedback| {
        plain.skip_round();
        plain.update(decision, feedback);
    });
    let mut times: Vec<[f64; 3]> = (1..=REPETITIONS)
        .map(|seed| {
            let (fast_time, ours) = play(model, &mut fast.clone(), rounds, seed, |_, _| ());
            let (plain_time, theirs) = play(model, &mut plain.clone(), rounds, seed, |_, _| ());
            assert_eq!(ours, theirs, "the same lists");
            [plain_time / fast_time, fast_time, plain_time]
        })
        .collect();
    times.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let [ratio, fast_time, plain_time] = times[times.len() / 2];
    let rate = |time: f64| rounds as f64 / time;
    println!("{name:<12} {:>9.0} {:>9.0} {ratio:>7.2}", rate(fast_time), rate(plain_time));
}

fn main() {
    let numbers: Vec<u64> =
        std::env::args().skip(1).map(|number| number.parse().expect("a number")).collect();
    let (before, sizes) =
        numbers.split_first().expect("rounds before the measurement, then numbers of items");
    for &size in sizes {
        let n_items = usize::try_from(size).expect("a size");
        let rounds = [*before, (40_000_000 / size).clamp(2_000, 200_000)];
        println!("{n_items} items, rounds {before} to {}: fast, plain, ratio", rounds[0] + rounds[1]);
        let attraction = attraction(n_items);
        let shape = ListShape::new(n_items, EXAMINATION.len()).expect("a shape");
        let prefix = RandomSemiBandit::from_values(&attraction, &EXAMINATION).expect("users");
        let positions = PositionBased::from_values(&attraction, &EXAMINATION).expect("users");
        let all = |rule| AllItems::prefix(rule, shape);
        compare("rsf-ucb", &prefix, PrefixUcb::rsf(shape), all(IndexRule::RsfUcb), rounds);
        let plain = AllItems::position_based(positions.known());
        compare("pbm-ucb", &positions, PbmUcb::new(positions.known(), Rate::LOG), plain, rounds);
        compare("cascade-ucb1", &prefix, PrefixUcb::cascade(shape), all(IndexRule::CascadeUcb1), rounds);
        compare("cascade-ucbv", &prefix, PrefixUcbV::new(shape), all(IndexRule::CascadeUcbV), rounds);
        let (pie, pbm_pie) = (Pie::last(shape, Rate::LOG), PbmPie::new(positions.known(), Rate::LOG));
        compare("pie", &prefix, pie, AllCandidates::prefix(shape, shape.n_positions() - 1), rounds);
        let plain = AllCandidates::position_based(positions.known());
        compare("pbm-pie", &positions, pbm_pie, plain, rounds);
    }
}
