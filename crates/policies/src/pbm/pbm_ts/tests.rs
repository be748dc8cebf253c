//! The sampler of the posterior against the posterior's distribution function by quadrature.
//!
//! Each comparison is a Kolmogorov-Smirnov test with the Dvoretzky-Kiefer-Wolfowitz bound in
//! Massart's form: the largest distance of the empirical distribution function of `n` draws exceeds
//! `sqrt(ln(2 / alpha) / (2 n))` with probability at most `alpha` = 1e-6. A sampler whose
//! distribution function is off by 0.018 anywhere is caught with a probability of .99.

mod tails;

use super::posterior::{DisplaySums, Posterior, Series};
use super::*;
use crate::sampling::{BetaShape, Sampler};
use crate::tests::{PbmHistory, falling, placed, ranked};
use crate::{Decision, Prior, Update as _};
use click_models::{ClickModel, Clicks, PbmFeedback, Ranking};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

const DRAWS: usize = 50_000;
const FALSE_ALARM: f64 = 1e-6;

/// Largest distance that the test lets pass: 0.012.
fn tolerance() -> f64 {
    ((2.0 / FALSE_ALARM).ln_of() / (2.0 * DRAWS as f64)).sqrt()
}

trait Log {
    fn ln_of(self) -> f64;
}

impl Log for f64 {
    fn ln_of(self) -> f64 {
        libm::log(self)
    }
}

/// The history of one item.
#[derive(Debug, Clone)]
struct Table {
    examination: Vec<f64>,
    shows: Vec<u64>,
    clicks: Vec<u64>,
}

fn table(examination: &[f64], clicks: &[u64], failures: &[u64]) -> Table {
    Table {
        examination: examination.to_vec(),
        shows: clicks.iter().zip(failures).map(|(clicks, failures)| clicks + failures).collect(),
        clicks: clicks.to_vec(),
    }
}

impl Table {
    /// The posterior's proposal as the policy works it out, with exponents and examinations, the
    /// most examined position first.
    fn posterior(&self) -> (Posterior, Vec<f64>, Vec<f64>) {
        // As many further items as a list needs, of which nothing is known.
        let positions = self.examination.len();
        let mut shows = vec![0_u64; positions * positions];
        let mut clicks = shows.clone();
        shows[..positions].copy_from_slice(&self.shows);
        clicks[..positions].copy_from_slice(&self.clicks);
        let saved = json!({
            "counts": { "examination": self.examination, "rounds": 0, "shows": shows, "clicks": clicks }
        });
        let policy: PbmTs = serde_json::from_value(saved).expect("a valid policy");
        (
            policy.0.posteriors.posteriors[0],
            policy.0.posteriors.exponents[..positions].to_vec(),
            policy.0.posteriors.examination,
        )
    }

    /// Draws, and the share of proposals that were accepted.
    fn draws(&self, seed: u64) -> (Vec<f64>, f64) {
        let (posterior, exponents, examination) = self.posterior();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let sampler = Sampler::new();
        let mut attempts = 0_u64;
        let mut draws = Vec::with_capacity(DRAWS);
        while draws.len() < DRAWS {
            attempts += 1;
            assert!(attempts < 1000 * DRAWS as u64, "hardly anything is accepted: {self:?}");
            draws.extend(posterior.attempt(&exponents, &examination, sampler, &mut rng));
        }
        (draws, DRAWS as f64 / attempts as f64)
    }

    /// The textbook log-posterior at `theta`, given also as its distance from 1, where that is the
    /// more accurate.
    fn log_density(&self, theta: f64, from_1: f64) -> f64 {
        let clicks: u64 = self.clicks.iter().sum();
        let ln_theta = if theta < 0.5 { libm::log(theta) } else { libm::log1p(-from_1) };
        let mut sum = if clicks > 0 { clicks as f64 * ln_theta } else { 0.0 };
        for ((&shows, &clicks), &kappa) in self.shows.iter().zip(&self.clicks).zip(&self.examination) {
            if shows > clicks {
                let miss = if theta < 0.5 {
                    libm::log1p(-kappa * theta)
                } else {
                    libm::log((1.0 - kappa) + kappa * from_1)
                };
                sum += (shows - clicks) as f64 * miss;
            }
        }
        sum
    }

    /// The posterior's distribution function, by Simpson's rule between the two points where the
    /// density has fallen by `exp(-45)`; what is outside is below 1e-15.
    fn distribution(&self) -> Distribution {
        const PANELS: u32 = 5_000;
        // In terms of the distance from 1 where the mass is there, since 1 - 1e-12 has few digits
        // left.
        let coarse = Self::peak(&|theta| self.log_density(theta, 1.0 - theta));
        let reversed = coarse > 0.5;
        let log_density =
            |x: f64| if reversed { self.log_density(1.0 - x, x) } else { self.log_density(x, 1.0 - x) };
        let peak = Self::peak(&log_density);
        let top = log_density(peak);
        let far = |x: f64| log_density(x).is_nan() || log_density(x) < top - 45.0;
        let edge = |end: f64| {
            if !far(end) {
                return end;
            }
            let (mut inside, mut outside) = (peak, end);
            for _ in 0..200 {
                let middle = 0.5 * (inside + outside);
                *if far(middle) { &mut outside } else { &mut inside } = middle;
            }
            outside
        };
        let (low, high) = (edge(0.0), edge(1.0));
        let step = (high - low) / f64::from(PANELS);
        let density = |x: f64| libm::exp(log_density(x) - top);
        let mut cumulated = vec![0.0];
        for panel in 0..PANELS {
            let left = low + f64::from(panel) * step;
            let value =
                (density(left) + 4.0 * density(left + 0.5 * step) + density(left + step)) * step / 6.0;
            cumulated.push(cumulated[panel as usize] + value);
        }
        Distribution { low, step, cumulated, reversed }
    }

    /// Where the log-density, concave, is largest on (0, 1): golden section would do, thirds are
    /// simpler. The logarithm of the argument is searched, since the maximum may be at 1e-9.
    fn peak(log_density: &dyn Fn(f64) -> f64) -> f64 {
        let (mut low, mut high) = (-60.0, 0.0);
        for _ in 0..300 {
            let (left, right) = ((2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0);
            if log_density(libm::exp(left)) < log_density(libm::exp(right)) {
                low = left;
            } else {
                high = right;
            }
        }
        libm::exp(0.5 * (low + high))
    }
}

/// A cumulative sum on equal panels.
struct Distribution {
    low: f64,
    step: f64,
    cumulated: Vec<f64>,
    /// Relative to the distance from 1.
    reversed: bool,
}

impl Distribution {
    fn at(&self, theta: f64) -> f64 {
        let x = if self.reversed { 1.0 - theta } else { theta };
        let panels = self.cumulated.len() - 1;
        let place = ((x - self.low) / self.step).clamp(0.0, panels as f64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and `panels`")]
        let panel = (place as usize).min(panels - 1);
        let (left, right) = (self.cumulated[panel], self.cumulated[panel + 1]);
        let share = (left + (right - left) * (place - panel as f64)) / self.cumulated[panels];
        if self.reversed { 1.0 - share } else { share }
    }

    /// Largest distance of the empirical distribution function of `draws` from this one.
    fn distance(&self, mut draws: Vec<f64>) -> f64 {
        draws.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let mut largest = 0.0_f64;
        for (rank, &draw) in draws.iter().enumerate() {
            let exact = self.at(draw);
            largest = largest.max((exact - rank as f64 / n).abs()).max((exact - (rank + 1) as f64 / n).abs());
        }
        largest
    }
}

/// Count tables of every kind: name, table, and whether counts like these come up when the model is
/// right and attraction is below 0.99.
fn tables() -> Vec<(&'static str, Table, bool)> {
    let paper = [0.9, 0.6, 0.3];
    let kdd = [1.0, 0.526, 0.358];
    let certain = [1.0, 0.3];
    let nearly = [0.999, 0.3];
    let unsorted = [0.3, 0.9, 0.0, 0.6];
    let many: Vec<f64> = (0..64).map(|position| libm::pow(0.95, f64::from(position))).collect();
    let equal = [0.5; 4];
    vec![
        // Nothing or next to nothing known.
        ("fresh", table(&paper, &[0, 0, 0], &[0, 0, 0]), true),
        ("one failure low", table(&paper, &[0, 0, 0], &[0, 0, 1]), true),
        ("one failure high", table(&paper, &[0, 0, 0], &[1, 0, 0]), true),
        ("one failure certain", table(&kdd, &[0, 0, 0], &[1, 0, 0]), true),
        ("one click", table(&paper, &[0, 1, 0], &[0, 0, 0]), true),
        ("one of each", table(&paper, &[1, 0, 0], &[0, 0, 1]), true),
        ("two of each", table(&kdd, &[1, 1, 0], &[1, 0, 1]), true),
        ("early", table(&paper, &[2, 1, 0], &[1, 2, 2]), true),
        ("early all failures", table(&paper, &[0, 0, 0], &[3, 2, 2]), true),
        // No failures.
        ("clicks only", table(&paper, &[5, 3, 1], &[0, 0, 0]), true),
        ("many clicks only", table(&paper, &[1_000_000, 0, 0], &[0, 0, 0]), false),
        ("extreme clicks only", table(&paper, &[1_000_000_000, 0, 7], &[0, 0, 0]), false),
        ("all clicked where kappa is tiny", table(&[1e-9], &[1_000_000_000], &[0]), false),
        // One position with failures: a truncated Beta.
        ("one position", table(&paper, &[40, 0, 0], &[60, 0, 0]), true),
        ("one position low", table(&paper, &[0, 0, 30], &[0, 0, 70]), true),
        ("one position certain", table(&kdd, &[40, 0, 0], &[160, 0, 0]), true),
        ("equal examination", table(&equal, &[10, 9, 12, 11], &[60, 61, 58, 59]), true),
        ("one failure of a million", table(&certain, &[1_000_000, 0], &[1, 0]), false),
        ("one failure of a billion", table(&certain, &[1_000_000_000, 0], &[1, 0]), false),
        // Several positions, the paper's instances after many rounds.
        ("theta .45", table(&paper, &[405, 270, 135], &[595, 730, 865]), true),
        ("theta .05", table(&paper, &[3, 4, 45], &[57, 136, 2955]), true),
        ("theta .95", table(&paper, &[8550, 57, 28], &[1450, 43, 72]), true),
        ("theta .55", table(&paper, &[5, 30, 1650], &[5, 70, 8350]), true),
        ("theta .95 long", table(&paper, &[85_500, 570, 285], &[14_500, 430, 715]), true),
        ("kdd best", table(&kdd, &[14_900, 80, 53], &[85_100, 920, 947]), true),
        ("kdd worst", table(&kdd, &[4, 2, 14], &[996, 998, 9986]), true),
        ("no clicks", table(&kdd, &[0, 0, 0], &[100, 100, 10_000]), true),
        ("unsorted with zero", table(&unsorted, &[50, 300, 0, 200], &[450, 200, 1000, 300]), true),
        ("only the position nobody examines", table(&unsorted, &[0, 0, 0, 0], &[0, 0, 1000, 0]), true),
        ("64 positions", table(&many, &[3; 64], &[4; 64]), true),
        ("64 positions no clicks", table(&many, &[0; 64], &[4; 64]), true),
        ("a billion rounds", table(&paper, &[405_000_000, 270, 135], &[595_000_000, 730, 865]), true),
        (
            "billions everywhere",
            table(&paper, &[405_000_000, 270_000_000, 135_000_000], &[595_000_000, 730_000_000, 865_000_000]),
            true,
        ),
        // Attraction next to 1 with an examination next to 1: the posterior is far narrower than
        // one position's.
        ("theta .99 certain", table(&certain, &[9_900, 30], &[100, 70]), true),
        ("theta .999 certain", table(&certain, &[99_900, 30], &[100, 70]), false),
        ("theta .999 both", table(&certain, &[999_000, 299_700], &[1_000, 700_300]), false),
        ("theta 1 - 1e-6", table(&certain, &[999_999_000, 300_000_000], &[1_000, 700_000_000]), false),
        ("one failure at each", table(&nearly, &[1400, 0], &[1, 1]), false),
        ("one failure at each, certain", table(&certain, &[1400, 0], &[1, 1]), false),
        ("theta .9999 nearly certain", table(&nearly, &[998_900, 300], &[1_100, 700]), false),
        (
            "three scales",
            table(&[1.0, 0.999, 0.3], &[999_900, 998_900, 300_000], &[100, 1_100, 700_000]),
            false,
        ),
        (
            "64 scales",
            table(
                &(0..64).map(|l| 1.0 - libm::pow(0.8, f64::from(63 - l))).collect::<Vec<_>>(),
                &[100_000; 64],
                &[5; 64],
            ),
            false,
        ),
        // More clicks, or fewer, than the model explains.
        ("twice the clicks", table(&paper, &[900, 900, 900], &[100, 100, 100]), false),
        ("all clicks low", table(&paper, &[0, 0, 1000], &[5, 5, 0]), false),
        ("clicks low, failures high", table(&certain, &[0, 1_000_000], &[1_000_000, 0]), false),
        ("clicks high, failures low", table(&certain, &[1_000_000, 0], &[0, 1_000_000]), false),
        ("clicks where nobody looks", table(&unsorted, &[0, 0, 50, 0], &[5, 5, 0, 5]), false),
        ("tiny kappa failures", table(&[1.0, 1e-9], &[3, 0], &[7, 1_000_000_000]), true),
        ("tiny kappa clicks", table(&[1e-9, 1e-9], &[5, 0], &[1_000_000_000, 1_000_000_000]), false),
        ("all clicked at tiny kappa", table(&[1e-9, 0.5], &[1_000_000_000, 3], &[0, 4]), false),
        ("subnormal kappa", table(&[1e-310, 0.5], &[2, 3], &[1_000, 4]), false),
        ("nothing but tiny kappa", table(&[1e-12], &[0], &[5]), true),
    ]
}

/// Draws follow the posterior, for every table, and enough proposals are accepted: at least 0.15
/// where counts are such as come up, at least 0.03 anywhere.
#[test]
fn draws_follow_the_posterior() {
    let tables = tables();
    assert!(tables.len() >= 40, "a table of every kind");
    let mut rates = vec![];
    for (seed, (name, table, usual)) in (0..).zip(&tables) {
        let (draws, accepted) = table.draws(seed);
        assert!(draws.iter().all(|draw| (0.0..=1.0).contains(draw)), "{name}: a draw is no probability");
        let distance = table.distribution().distance(draws);
        println!("{name:34} accepted {accepted:.3}   distance {distance:.4} of {:.4}", tolerance());
        rates.push((name, distance, accepted, usual));
    }
    for (name, distance, accepted, usual) in rates {
        assert!(distance <= tolerance(), "{name}: distance {distance}");
        assert!(accepted >= if *usual { 0.15 } else { 0.03 }, "{name}: only {accepted} accepted");
    }
}

/// Random tables, from small to 1e9, matched and mismatched: no proposal is hopeless. Acceptance is
/// measured on few draws, so the floor is on what 40 draws took: below 4000 attempts, which a rate
/// of 0.03 misses with probability below 1e-15.
#[test]
fn no_table_makes_draws_slow() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(41);
    let mut slowest = (0, table(&[], &[], &[]));
    for _ in 0..20_000 {
        let positions = rng.random_range(1..=8);
        let examination: Vec<f64> = (0..positions)
            .map(|_| match rng.random_range(0..6) {
                0 => 1.0,
                1 => 1.0 - libm::pow(10.0, -15.0 * rng.random::<f64>()),
                2 => libm::pow(10.0, -12.0 * rng.random::<f64>()),
                3 => 0.5,
                _ => rng.random(),
            })
            .collect();
        let mut counts = || -> Vec<u64> {
            let count = |_| {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1e9")]
                let size = libm::pow(10.0, 9.0 * rng.random::<f64>()) as u64;
                if rng.random_range(0..3) == 0 { 0 } else { size }
            };
            (0..positions).map(count).collect()
        };
        let table = table(&examination, &counts(), &counts());
        let (posterior, exponents, examination) = table.posterior();
        let sampler = Sampler::new();
        let (mut draws, mut attempts) = (0, 0);
        while draws < 40 {
            attempts += 1;
            assert!(attempts < 4000, "{draws} draws in {attempts} attempts: {table:?} {posterior:?}");
            draws += u32::from(posterior.attempt(&exponents, &examination, sampler, &mut rng).is_some());
        }
        if attempts > slowest.0 {
            slowest = (attempts, table);
        }
    }
    println!("slowest: 40 draws in {} attempts: {:?}", slowest.0, slowest.1);
}

/// The logarithms agree with every decision that the series makes without them, for every table:
/// the boundary between accepted and rejected uniforms is where they put it. A series without its
/// third term, or without the bound on the others, is caught.
#[test]
fn the_series_says_what_the_logarithms_say() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(12);
    let sampler = Sampler::new();
    let (mut decided, mut undecided) = (0, 0);
    let (mut no_third, mut no_fourth) = (0, 0);
    for (name, table, _) in tables() {
        let (posterior, exponents, examination) = table.posterior();
        for _ in 0..2000 {
            let theta = sampler.beta(posterior.proposal, &mut rng) * posterior.stretch;
            if posterior.exact || theta > 1.0 {
                continue;
            }
            let ratio = libm::exp(posterior.log_ratio(theta, &exponents, &examination));
            let distance = theta - posterior.point;
            // Rounding of the logarithms, as counts go to 1e9.
            let slack = 1e-6;
            let wrong = |series: Series| {
                let below = series.accepts(distance, (ratio - slack).max(0.0)) == Some(false);
                let above = series.accepts(distance, (ratio + slack).min(1.0)) == Some(true);
                (ratio > 2.0 * slack && below) || (ratio < 1.0 - 2.0 * slack && above)
            };
            assert!(!wrong(posterior.series), "{name}: {theta} is accepted with probability {ratio}");
            no_third += u32::from(wrong(Series { third: 0.0, ..posterior.series }));
            no_fourth += u32::from(wrong(Series { fourth: 0.0, ..posterior.series }));
            let uniform = rng.random();
            match posterior.series.accepts(distance, uniform) {
                Some(_) => decided += 1,
                None => undecided += 1,
            }
        }
    }
    println!(
        "decided {decided}, undecided {undecided}, without third {no_third}, without fourth {no_fourth}"
    );
    assert!(decided > undecided && no_third > 100 && no_fourth > 100);
}

/// The same test rejects samplers that are wrong on purpose.
#[test]
fn wrong_samplers_are_caught() {
    let table = table(&[0.9, 0.6, 0.3], &[9, 6, 3], &[11, 14, 17]);
    let exact = table.distribution();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let sampler = Sampler::new();
    assert!(exact.distance(table.draws(5).0) <= tolerance());

    // Beta(S, F) in the place of Beta(S + 1, F + 1), the paper's print: another prior.
    let one = self::table(&[1.0], &[9], &[11]);
    let shape = BetaShape::after(8.0, 10.0);
    let draws = (0..DRAWS).map(|_| sampler.beta(shape, &mut rng)).collect();
    assert!(one.distribution().distance(draws) > tolerance(), "the prior is not seen");

    // No position bias at all.
    let shape = BetaShape::after(18.0, 42.0);
    let draws = (0..DRAWS).map(|_| sampler.beta(shape, &mut rng)).collect();
    assert!(exact.distance(draws) > tolerance(), "position bias is not seen");

    // The bias-corrected Beta of BC-MP-TS: near, but not the posterior.
    let weighted = 20.0 * (0.9 + 0.6 + 0.3);
    let shape = BetaShape::after(18.0, weighted - 18.0);
    let draws = (0..DRAWS).map(|_| sampler.beta(shape, &mut rng)).collect();
    assert!(exact.distance(draws) > tolerance(), "the Beta approximation is not seen");

    // The proposal from the position with most displays, without the correction for the others.
    let shape = BetaShape::after(9.0, 11.0);
    let mut draws = vec![];
    while draws.len() < DRAWS {
        let draw = sampler.beta(shape, &mut rng) / 0.9;
        draws.extend((draw <= 1.0).then_some(draw));
    }
    assert!(exact.distance(draws) > tolerance(), "the other positions are not seen");

    // The stretched proposal without the rejections that correct it.
    let (posterior, ..) = table.posterior();
    let mut draws = vec![];
    while draws.len() < DRAWS {
        let draw = sampler.beta(posterior.proposal, &mut rng) * posterior.stretch;
        draws.extend((draw <= 1.0).then_some(draw));
    }
    assert!(exact.distance(draws) > tolerance(), "the rejections are not seen");
}

/// The tables above go through every way of making a proposal.
#[test]
fn tables_reach_every_branch() {
    let (mut none, mut one, mut power, mut least, mut other) = (0, 0, 0, 0, 0);
    for (_, table, _) in tables() {
        let (posterior, ..) = table.posterior();
        let with_failures =
            (0..table.shows.len()).any(|l| table.examination[l] > 0.0 && table.shows[l] > table.clicks[l]);
        if posterior.exact {
            *if with_failures { &mut one } else { &mut none } += 1;
        } else if posterior.stretch == 1.0 && posterior.proposal_failures_are_flat() {
            power += 1;
        } else if posterior.theta_exponent == 0.0 {
            least += 1;
        } else {
            other += 1;
        }
    }
    println!(
        "no failures {none}, one examination {one}, power {power}, least {least}, another reference {other}"
    );
    assert!(none >= 3 && one >= 3 && power >= 3 && least >= 3 && other >= 3);
}

impl Posterior {
    fn proposal_failures_are_flat(&self) -> bool {
        self.proposal.failures.scale + 1.0 / 3.0 == 1.0
    }
}

/// Updates and draws stay in step: the posterior after updates is that of the counts.
#[test]
fn updates_change_the_posterior_of_what_was_shown() {
    let known = click_models::PositionBased::from_values(&[0.5, 0.5], &[0.9, 0.3]).expect("a valid instance");
    let mut policy = PbmTs::new(known.known());
    let action: Ranking = [1, 0].map(click_models::ItemId::new).into_iter().collect();
    for round in 0..10 {
        let clicks = if round % 3 == 0 { Clicks::new(2).with(0) } else { Clicks::new(2) };
        policy.update(&Decision { action: action.clone(), note: () }, &PbmFeedback { clicks });
    }
    assert_eq!((policy.0.counts.shows(1), policy.0.counts.clicks(1)), (&[10, 0][..], &[4, 0][..]));
    assert_eq!((policy.0.counts.shows(0), policy.0.counts.clicks(0)), (&[0, 10][..], &[0, 0][..]));
    // One position alone: Beta(5, 7) / 0.9 and Beta(1, 11) / 0.3, mode and mean of the Beta by
    // hand.
    assert_eq!(policy.0.posteriors.posteriors[1].stretch, 1.0 / 0.9);
    assert_eq!(policy.0.posteriors.posteriors[0].stretch, 1.0 / 0.3);
    assert!(policy.0.posteriors.posteriors.iter().all(|posterior| posterior.exact));
}

/// Proposals worked out afresh for every item in every round, from counts of one's own, choose the
/// same lists.
#[test]
fn pbm_ts_is_the_naive_one() {
    for (number, model) in crate::tests::position_based_instances().iter().enumerate() {
        let n_items = model.shape().n_items();
        let examination: Vec<f64> = model.examination().iter().map(|examined| examined.get()).collect();
        let descending = falling(&examination);
        crate::tests::assert_same_choices(
            model,
            PbmTs::new(model.known()),
            PbmHistory::new(n_items, &examination),
            if number < 2 { 17 } else { 0 },
            if number < 4 { 20_000 } else { 4_000 },
            |history, _, rng| {
                let ties = rng.next_u64();
                let counts = json!({
                    "examination": examination,
                    "rounds": 0,
                    "shows": history.shows.concat(),
                    "clicks": history.clicks.concat(),
                });
                let counts: PbmCounts = serde_json::from_value(counts).expect("valid counts");
                let draw = |item| {
                    let mut exponents = vec![0.0; examination.len()];
                    let seen = DisplaySums::of(&counts, item, Prior::UNIFORM, &descending, &mut exponents);
                    let (posterior, _) = Posterior::of(&seen, &mut exponents, &descending);
                    posterior.draw(&exponents, &descending, Sampler::new(), rng)
                };
                let draws: Vec<f64> = (0..n_items).map(draw).collect();
                placed(&ranked(&draws, ties), &examination)
            },
            |history, decision, feedback| {
                let list: Vec<usize> = decision.action.iter().map(click_models::ItemId::index).collect();
                history.learn(&list, *feedback);
            },
        );
    }
}
