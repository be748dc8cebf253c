//! Where thinned draws become cheaper than one draw an item: `Large` of `policies::sampling` has
//! these sizes.
//!
//! ```sh
//! cargo bench -p benches --bench thinning
//! cargo bench -p benches --bench thinning -- pbm-ts 10
//! ```
//!
//! For each policy and number of positions, the first 1,000 rounds and those from 10,000 to 20,000,
//! users included: CPU microseconds a round of both ways by the number of items, medians of five
//! runs, and the size from which thinned rounds cost less.

use click_models::{ClickModel, Feedback, Interaction, PositionBased, RandomSemiBandit, Ranking};
use policies::{BcMpTs, Decision, PbmTs, PrefixTs, Select, Update};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};

const POSITIONS: [usize; 4] = [1, 5, 10, 50];
const ITEMS: [usize; 13] = [16, 32, 50, 64, 90, 128, 180, 256, 360, 512, 720, 1_024, 1_448];
/// The rounds that are measured: from the first number to the second.
const WINDOWS: [[u64; 2]; 2] = [[0, 1_000], [10_000, 20_000]];
const REPETITIONS: u64 = 5;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let is_chosen = |what: &str, others: &[&str]| {
        chosen.iter().any(|argument| argument == what)
            || chosen.iter().all(|argument| !others.contains(&argument.as_str()))
    };
    let names = ["rsf-ts", "bc-mp-ts", "pbm-ts"];
    for name in names.into_iter().filter(|name| is_chosen(name, &names)) {
        for positions in POSITIONS {
            if is_chosen(&positions.to_string(), &POSITIONS.map(|n| n.to_string()).each_ref().map(|n| &**n)) {
                sweep(name, positions);
            }
        }
    }
}

/// Prints the costs of both ways by size, and where they cross.
fn sweep(name: &str, positions: usize) {
    println!("{name}, {positions} positions: plain and thinned microseconds a round");
    let mut cross = [None; WINDOWS.len()];
    for items in ITEMS.into_iter().filter(|&items| items > positions) {
        let costs = costs(name, items, positions);
        print!("{items:>7} items");
        for (cross, [plain, thinned]) in cross.iter_mut().zip(costs) {
            print!("   {plain:7.2} {thinned:7.2}");
            *cross = if thinned < plain { cross.or(Some(items)) } else { None };
        }
        println!();
    }
    for (cross, [from, to]) in cross.into_iter().zip(WINDOWS) {
        let cross = cross.map_or("none of these sizes".to_owned(), |items| format!("{items} items"));
        println!("  thinned rounds {from} to {to} cost less from: {cross}");
    }
}

fn costs(name: &str, items: usize, positions: usize) -> [[f64; 2]; WINDOWS.len()] {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    // Most items rarely attract, as in advertising.
    let attraction: Vec<f64> = (0..items).map(|_| 0.4 * rng.random::<f64>() * rng.random::<f64>()).collect();
    let examination: Vec<f64> =
        std::iter::successors(Some(1.0), |examined| Some(examined * 0.9)).take(positions).collect();
    let lists = RandomSemiBandit::from_values(&attraction, &examination).expect("valid");
    let pages = PositionBased::from_values(&attraction, &examination).expect("valid");
    let both = match name {
        "rsf-ts" => [
            run(&lists, || PrefixTs::new(lists.shape()).drawing_all()),
            run(&lists, || PrefixTs::new(lists.shape()).thinning()),
        ],
        "bc-mp-ts" => [
            run(&pages, || BcMpTs::new(pages.known()).drawing_all()),
            run(&pages, || BcMpTs::new(pages.known()).thinning()),
        ],
        _ => [
            run(&pages, || PbmTs::new(pages.known()).drawing_all()),
            run(&pages, || PbmTs::new(pages.known()).thinning()),
        ],
    };
    std::array::from_fn(|window| both.map(|costs| costs[window]))
}

/// CPU microseconds a round in every window.
fn run<M, P>(model: &M, fresh: impl Fn() -> P) -> [f64; WINDOWS.len()]
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>> + Select<Ranking, Note = ()>,
{
    let mut costs = [(); WINDOWS.len()].map(|()| vec![]);
    for repetition in 0..REPETITIONS {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2 + repetition);
        let mut users = Xoshiro256PlusPlus::seed_from_u64(100 + repetition);
        let (mut policy, mut decision, mut round) = (fresh(), Decision::default(), 0);
        let mut play = |until: u64| {
            let before = now();
            while round < until {
                policy.select(&mut rng, &mut decision);
                policy.update(&decision, &model.respond(&decision.action, &mut users));
                round += 1;
            }
            now() - before
        };
        for (costs, [from, to]) in costs.iter_mut().zip(WINDOWS) {
            play(from);
            costs.push(play(to) * 1e6 / (to - from) as f64);
        }
    }
    costs.map(|mut costs| {
        costs.sort_by(f64::total_cmp);
        costs[costs.len() / 2]
    })
}

/// Seconds of CPU time of this thread.
fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
