use crate::checked::with_state;
use crate::error::check_counts;
use crate::generic::{draw_list, draw_list_among};
use crate::live::{LiveState, OnTable, Table, on_table};
use crate::setup::{restored, setup};
use crate::top_l::{Ties, TopL};
use crate::{Decision, Error, Select, SelectAmong, Tally, Update};
use click_models::{ItemId, ItemSet, ListFeedback, ListShape, Ranking};
use confidence::Probability;
use rand::{Rng, RngExt};

with_state! {
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
pub struct EpsilonGreedy {
    shape: ListShape,
    epsilon: Probability,
    /// Rounds decided so far.
    rounds: u64,
    shows: Vec<u64>,
    clicks: Vec<u64>,
} live derived {
    top: TopL = TopL::new(shape.n_positions()),
}
}

impl EpsilonGreedy {
    /// A fresh policy that shows a random list with probability `epsilon`.
    pub fn new(shape: ListShape, epsilon: Probability) -> Self {
        let fresh = vec![0; shape.n_items()];
        Self::over(shape, epsilon, 0, fresh.clone(), fresh, LiveState::default())
    }

    /// The `epsilon` of the catalogue: 0.1.
    #[expect(clippy::missing_panics_doc, reason = "0.1 is a probability")]
    pub fn default_epsilon() -> Probability {
        Probability::new(0.1).expect("a constant between 0 and 1")
    }

    #[inline]
    fn show_best(&self, list: &mut Ranking) {
        list.clear();
        for &(_, item) in &self.top.best {
            list.push(ItemId::new(item));
        }
    }
}

restored!(EpsilonGreedy, |State { shape, epsilon, rounds, shows, clicks, live }| {
    if shows.len() != shape.n_items() {
        return Err(Error::SavedSizes);
    }
    check_counts(rounds, &shows, &clicks)?;
    let live = LiveState::restore(live, shows.len())?;
    Ok(Self::over(shape, epsilon, rounds, shows, clicks, live))
});

setup!(EpsilonGreedy, &["/epsilon"], |policy| [policy.shape.n_items(), policy.shape.n_positions()]);

impl Select<Ranking> for EpsilonGreedy {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.rounds += 1;
        if rng.random::<f64>() < self.epsilon.get() {
            return draw_list(self.shape, rng, &mut out.action);
        }
        let ties = Ties::draw(rng);
        self.top.clear();
        for (item, (&shows, &clicks)) in (0_u32..).zip(self.shows.iter().zip(&self.clicks)) {
            self.top.offer(item, rate(shows, clicks), ties);
        }
        self.show_best(&mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        self.rounds = self.rounds.saturating_sub(1);
        true
    }
}

impl SelectAmong<Ranking> for EpsilonGreedy {
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        self.top.limit(self.live.terms.as_deref());
        if !self.live.has_terms() && self.live.absent.is_empty() && available.is_all(self.shows.len()) {
            return self.select(rng, out);
        }
        self.pass_round();
        let Self { epsilon, shows, clicks, live, top, .. } = self;
        if rng.random::<f64>() < epsilon.get() {
            return draw_list_among(available, (&live.absent, shows.len()), top, rng, &mut out.action);
        }
        let ties = Ties::draw(rng);
        top.clear();
        for item in live.items(available, shows.len()) {
            top.offer(item.number(), rate(shows[item.index()], clicks[item.index()]), ties);
        }
        self.show_best(&mut out.action);
    }

    fn pass_round(&mut self) {
        self.rounds += 1;
    }
}

impl Table for EpsilonGreedy {
    fn n_items(&self) -> usize {
        self.shows.len()
    }

    fn n_kinds(&self) -> usize {
        1
    }

    fn tally(&self, item: usize, _kind: usize) -> Tally {
        Tally { shows: self.shows[item], clicks: self.clicks[item] }
    }

    fn set_tally(&mut self, item: usize, _kind: usize, tally: Tally) {
        (self.shows[item], self.clicks[item]) = (tally.shows, tally.clicks);
    }

    fn push(&mut self) {
        self.shape = self.shape.with_another_item();
        self.shows.push(0);
        self.clicks.push(0);
    }
}

impl OnTable for EpsilonGreedy {
    on_table!(Self, |policy| *policy);
}

/// Clicks per display; infinite for an item that was never shown.
fn rate(shows: u64, clicks: u64) -> f64 {
    if shows == 0 { f64::INFINITY } else { clicks as f64 / shows as f64 }
}

impl<F: ListFeedback> Update<Ranking, F> for EpsilonGreedy {
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
