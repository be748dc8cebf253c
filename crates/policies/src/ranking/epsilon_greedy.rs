use crate::error::check_counts;
use crate::setup::Setup;
use crate::top_l::{Ties, TopL};
use crate::{Decision, Error, Select, Uniform, Update};
use click_models::{ItemId, ListFeedback, ListShape, Ranking};
use confidence::Probability;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Epsilon-greedy: shows the items clicked most often, and sometimes a random list.
///
/// With probability `epsilon` the policy shows a uniformly random list. Otherwise it shows the
/// items with the most clicks per display, from the top down; an item that was never shown goes
/// first. Every display counts, examined or not, so the clicks per display overrate items that
/// stood high.
///
/// Reference: Sutton, Barto, *Reinforcement Learning*, second edition, section 2.2, for one item;
/// the extension to lists is ours. Regret grows by at least `epsilon` times the regret of a random
/// list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct EpsilonGreedy {
    shape: ListShape,
    epsilon: Probability,
    /// Rounds decided so far.
    rounds: u64,
    shows: Vec<u64>,
    clicks: Vec<u64>,
    #[serde(skip)]
    top: TopL,
}

#[derive(Deserialize)]
struct Saved {
    shape: ListShape,
    epsilon: Probability,
    rounds: u64,
    shows: Vec<u64>,
    clicks: Vec<u64>,
}

impl EpsilonGreedy {
    /// A fresh policy that shows a random list with probability `epsilon`.
    pub fn new(shape: ListShape, epsilon: Probability) -> Self {
        let fresh = vec![0; shape.n_items()];
        Self::assemble(Saved { shape, epsilon, rounds: 0, shows: fresh.clone(), clicks: fresh })
    }

    /// The `epsilon` of the catalogue: 0.1.
    #[expect(clippy::missing_panics_doc, reason = "0.1 is a probability")]
    pub fn default_epsilon() -> Probability {
        Probability::new(0.1).expect("a constant between 0 and 1")
    }

    fn assemble(Saved { shape, epsilon, rounds, shows, clicks }: Saved) -> Self {
        Self { shape, epsilon, rounds, shows, clicks, top: TopL::new(shape.n_positions()) }
    }
}

impl TryFrom<Saved> for EpsilonGreedy {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        if saved.shows.len() != saved.shape.n_items() {
            return Err(Error::SavedSizes);
        }
        check_counts(saved.rounds, &saved.shows, &saved.clicks)?;
        Ok(Self::assemble(saved))
    }
}

impl Setup for EpsilonGreedy {
    const SETTINGS: &'static [&'static str] = &["/epsilon"];

    fn sizes(&self) -> [usize; 2] {
        [self.shape.n_items(), self.shape.n_positions()]
    }
}

impl Select<Ranking> for EpsilonGreedy {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.rounds += 1;
        if rng.random::<f64>() < self.epsilon.get() {
            return Uniform::new(self.shape).select(rng, out);
        }
        let ties = Ties::draw(rng);
        self.top.clear();
        for (item, (&shows, &clicks)) in (0_u32..).zip(self.shows.iter().zip(&self.clicks)) {
            let rate = if shows == 0 { f64::INFINITY } else { clicks as f64 / shows as f64 };
            self.top.offer(item, rate, ties);
        }
        out.action.clear();
        for &(_, item) in self.top.best() {
            out.action.push(ItemId::new(item));
        }
    }
}

impl<F: ListFeedback> Update<Ranking, F> for EpsilonGreedy {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let clicks = feedback.list_clicks();
        for (position, item) in decision.action.by_position().take(self.shape.n_positions()) {
            if let Some(shows) = self.shows.get_mut(item.index()) {
                *shows += 1;
                self.clicks[item.index()] += u64::from(clicks.get(position));
            }
        }
    }
}
