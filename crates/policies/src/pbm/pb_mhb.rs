use super::cells::CellCounts;
use super::counts::{place, sort_by_examination};
use crate::checked::with_state;
use crate::exact::float;
use crate::sampling::Sampler;
use crate::setup::{restored, setup};
use crate::top_l::{Ties, TopL};
use crate::{Decision, Error, PrefixKnown, Select, Update};
use click_models::{Ranking, RenderedClicks};
use confidence::NonNegative;
use confidence::math::ln;
use rand::Rng;
use std::num::NonZeroU32;

with_state! {
/// PB-MHB: Thompson sampling with unknown examination, by a Metropolis-Hastings chain.
///
/// Item i at position k is clicked with probability `theta_i kappa_k`, and `kappa = 1` at the
/// position that is examined most. The chain continues from its state of the round before. In round
/// t it makes m sweeps over all `theta` and the other `kappa`. For each of them, x, it proposes x'
/// from a normal distribution with mean x and standard deviation `sigma = c / sqrt(t)`, conditioned
/// on [0, 1], and accepts if `ln U < ln rho`, where U is uniform and
///
/// ```text
/// ln rho = sum over the cells (i, k) with x of  S ln(theta'_i kappa'_k / (theta_i kappa_k)) + F ln((1 - theta'_i kappa'_k) / (1 - theta_i kappa_k))
///          + ln(Phi((1 - x) / sigma) - Phi(-x / sigma)) - ln(Phi((1 - x') / sigma) - Phi(-x' / sigma)),
/// S = 1/2 + clicks,    F = 1/2 + displays without a click.
/// ```
///
/// Then it shows the items of largest theta by decreasing kappa.
///
/// Reference: Gauthier, Gaudel, Fromont, *Position-based multiple-play bandits with unknown
/// position bias*, IDA 2021. The paper was not at hand: this is a reading of the authors' program
/// (`gaudel/ranking_bandits`, `pb_mhb.py`, `target.py`, `proposal.py`, MIT licence; no code was
/// taken), with `c = 1000` and `m = 1` as in its experiments. The two halves are in the target for
/// every cell, so the prior is not uniform. Deviations: the program takes the first position for
/// the one that is examined most; here the caller may name it.
///
/// | here | formula | shape | unit |
/// |---|---|---|---|
/// | `theta` | theta | `n_items` | probability |
/// | `kappa` | kappa | `n_positions` | share of the largest examination |
/// | `anchor` | position of `kappa = 1` | - | position |
/// | `successes`, `failures` | S, F | `n_items` x `n_positions` | displays |
/// | `width`, `sweeps` | c, m | - | - |
///
/// If another position than `anchor` is examined most, the policy never learns the best order,
/// since its kappa would have to exceed 1. Numerics: if sigma is below 1/2, a proposal is a normal
/// draw, repeated until it is inside; otherwise a uniform one, accepted with probability
/// `exp(-(x' - x)^2 / (2 sigma^2))`. Memory: 32 bytes for each item and position.
pub struct PbMhb {
    width: NonNegative,
    sweeps: NonZeroU32,
    anchor: usize,
    counts: CellCounts,
    /// The chain; before the first round any numbers.
    theta: Vec<f64>,
    kappa: Vec<f64>,
} derived {
    successes: Vec<f64> = counts.all().map(|(_, clicks)| 0.5 + float(clicks)).collect(),
    failures: Vec<f64> = counts.all().map(|(shows, clicks)| 0.5 + float(shows - clicks)).collect(),
    item_successes: Vec<f64> = successes.chunks_exact(kappa.len()).map(|item| item.iter().sum()).collect(),
    position_successes: Vec<f64> =
        (0..kappa.len()).map(|position| successes.iter().skip(position).step_by(kappa.len()).sum()).collect(),
    order: Vec<usize> = (0..kappa.len()).collect(),
    top: TopL = TopL::new(kappa.len()),
    sampler: Sampler = Sampler::new(),
}
}

/// Below this deviation normal draws are repeated; from it on uniform ones are thinned.
const NARROW: f64 = 0.5;

impl PbMhb {
    /// A fresh policy. It uses which position is examined most: by default the first.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>, width: NonNegative, sweeps: NonZeroU32) -> Self {
        let known = known.into();
        let shape = known.shape();
        let anchor = known.places.first().copied().unwrap_or(0);
        Self::assemble(State {
            width,
            sweeps,
            anchor,
            counts: CellCounts::new(shape),
            theta: vec![0.5; shape.n_items()],
            kappa: (0..shape.n_positions()).map(|place| if place == anchor { 1.0 } else { 0.5 }).collect(),
        })
    }

    /// The `c` of the authors' experiments: 1000.
    pub fn default_width() -> NonNegative {
        NonNegative::from_count(1000)
    }

    /// The `m` of the authors' experiments: 1.
    pub fn default_sweeps() -> NonZeroU32 {
        NonZeroU32::MIN
    }

    /// Draws the chain's start.
    #[cold]
    fn start<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        for theta in &mut self.theta {
            *theta = inside(rng);
        }
        for (position, kappa) in self.kappa.iter_mut().enumerate() {
            *kappa = if position == self.anchor { 1.0 } else { inside(rng) };
        }
    }

    /// Moves every attraction, then every examination.
    fn sweep<R: Rng + ?Sized>(&mut self, sigma: f64, rng: &mut R) {
        let Self { theta, kappa, failures, item_successes, position_successes, .. } = self;
        let n_positions = kappa.len();
        let chain = Chain { sigma, sampler: self.sampler };
        for ((x, failures), &successes) in
            theta.iter_mut().zip(failures.chunks_exact(n_positions)).zip(&*item_successes)
        {
            *x = chain.step(*x, successes, || failures.iter().zip(&*kappa), rng);
        }
        for position in (0..n_positions).filter(|&position| position != self.anchor) {
            let failures = || failures.iter().skip(position).step_by(n_positions).zip(&*theta);
            kappa[position] = chain.step(kappa[position], position_successes[position], failures, rng);
        }
    }
}

/// The step of a round.
#[derive(Debug, Clone, Copy)]
struct Chain {
    sigma: f64,
    sampler: Sampler,
}

impl Chain {
    /// The next state of a factor. `cells` has failures of its cells and their other factors.
    fn step<'a, C, R>(self, x: f64, successes: f64, cells: impl Fn() -> C, rng: &mut R) -> f64
    where
        C: Iterator<Item = (&'a f64, &'a f64)>,
        R: Rng + ?Sized,
    {
        let proposed = propose(x, self.sigma, self.sampler, rng);
        let level = ln(inside(rng));
        let mut log_ratio = successes * ln(proposed / x);
        for (failures, factor) in cells() {
            log_ratio += failures * ln((1.0 - proposed * factor) / (1.0 - x * factor));
        }
        log_ratio += ln(mass(x, self.sigma) / mass(proposed, self.sigma));
        if level < log_ratio { proposed } else { x }
    }
}

/// A uniform draw, neither 0 nor 1.
fn inside<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    ((rng.next_u64() >> 12) as f64 + 0.5) * (1.0 / 4_503_599_627_370_496.0)
}

/// A draw from the normal distribution with mean `x`, conditioned on the inside of [0, 1].
fn propose<R: Rng + ?Sized>(x: f64, sigma: f64, sampler: Sampler, rng: &mut R) -> f64 {
    loop {
        if sigma < NARROW {
            let proposed = x + sigma * sampler.normal(rng);
            if proposed > 0.0 && proposed < 1.0 {
                return proposed;
            }
        } else {
            let proposed = inside(rng);
            let distance = (proposed - x) / sigma;
            if inside(rng) < libm::exp(-0.5 * distance * distance) {
                return proposed;
            }
        }
    }
}

/// The probability that a normal draw with this mean is inside [0, 1].
#[inline]
fn mass(x: f64, sigma: f64) -> f64 {
    let scale = std::f64::consts::FRAC_1_SQRT_2 / sigma;
    0.5 * (libm::erf((1.0 - x) * scale) + libm::erf(x * scale))
}

restored!(PbMhb, |saved| {
    let [n_items, n_positions] = saved.counts.sizes();
    if [saved.theta.len(), saved.kappa.len()] != [n_items, n_positions] {
        return Err(Error::SavedSizes);
    }
    if saved.anchor >= n_positions {
        return Err(Error::PositionBeyondList { position: saved.anchor, n_positions });
    }
    let is_inside = |x: &f64| *x > 0.0 && *x < 1.0;
    let is_examined =
        |(position, x): (usize, &f64)| if position == saved.anchor { *x == 1.0 } else { is_inside(x) };
    if !saved.theta.iter().all(is_inside) || !saved.kappa.iter().enumerate().all(is_examined) {
        return Err(Error::SavedChain);
    }
    Ok(Self::assemble(saved))
});

setup!(PbMhb, &["/width", "/sweeps", "/anchor"], |policy| policy.counts.sizes());

impl Select<Ranking> for PbMhb {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let ties = Ties::draw(rng);
        if self.counts.rounds.get() == 0 {
            self.start(rng);
        }
        let sigma = self.width.get() / float(self.counts.rounds.next()).sqrt();
        if sigma > 0.0 {
            for _ in 0..self.sweeps.get() {
                self.sweep(sigma, rng);
            }
        }
        self.top.clear();
        for (item, &attraction) in (0_u32..).zip(&self.theta) {
            self.top.offer(item, attraction, ties);
        }
        sort_by_examination(&mut self.order, &self.kappa);
        place(&self.top.best, &self.order, &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        self.counts.rounds.repeat()
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbMhb {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, successes, failures, item_successes, position_successes, .. } = self;
        counts.record(&decision.action, feedback, |counts, cell| {
            let (shows, clicks) = counts.cell(cell);
            let (success, n_positions) = (0.5 + float(clicks), counts.n_positions);
            let clicked = success - successes[cell];
            successes[cell] = success;
            failures[cell] = 0.5 + float(shows - clicks);
            // Sums of halves are exact.
            item_successes[cell / n_positions] += clicked;
            position_successes[cell % n_positions] += clicked;
        });
    }
}
