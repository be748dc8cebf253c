use crate::best_arms::BestArms;
use crate::checked::with_state;
use crate::error::check_counts;
use crate::kl_arms::KlArm;
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Error, Select, Update};
use click_models::{ItemId, ListFeedback, ListShape, Ranking};
use confidence::Rate;
use rand::{Rng, RngExt};

with_state! {
/// RBA-KL-UCB: ranked bandits, one KL-UCB bandit for every position.
///
/// From the top position down, the bandit of a position picks its arm of largest KL-UCB index, at
/// level `ln t`. If that item is shown above, an unshown item drawn uniformly is displayed instead
/// and the bandit records a pull of *its pick* with reward 0; otherwise it records the click at its
/// position. A missing click means a reward of 0, so the policy reads the feedback of any list.
///
/// Reference: Radlinski, Kleinberg, Joachims, *Learning diverse rankings with multi-armed bandits*,
/// ICML 2008, with the index of Garivier and Cappe 2011. Lagree, Vernade, Cappe 2016, section 4,
/// compare with it. Deviations: none. The paper leaves open which item replaces a repeated pick.
///
/// The decision's note holds the picks, since the list may show other items.
pub struct RbaKlUcb {
    shape: ListShape,
    /// Rounds decided so far.
    rounds: u64,
    /// Pulls and clicks of every position's bandit: position by position, every item.
    pulls: Vec<u64>,
    clicks: Vec<u64>,
} derived {
    bandits: Vec<BestArms<KlArm>> = {
        let bandit = |(pulls, clicks): (&[u64], &[u64])| {
            BestArms::new(pulls.iter().zip(clicks).map(|(&pulls, &clicks)| KlArm::new(pulls, clicks)), 1)
        };
        pulls.chunks(shape.n_items()).zip(clicks.chunks(shape.n_items())).map(bandit).collect()
    },
}
}

impl RbaKlUcb {
    /// A fresh policy.
    pub fn new(shape: ListShape) -> Self {
        let fresh = vec![0; shape.n_items() * shape.n_positions()];
        Self::assemble(State { shape, rounds: 0, pulls: fresh.clone(), clicks: fresh })
    }
}

restored!(RbaKlUcb, |saved| {
    if saved.pulls.len() != saved.shape.n_items() * saved.shape.n_positions() {
        return Err(Error::SavedSizes);
    }
    check_counts(saved.rounds, &saved.pulls, &saved.clicks)?;
    Ok(Self::assemble(saved))
});

setup!(RbaKlUcb, &[], |policy| [policy.shape.n_items(), policy.shape.n_positions()]);

impl Select<Ranking> for RbaKlUcb {
    /// The picks of the bandits, position by position.
    type Note = Ranking;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking, Ranking>) {
        self.rounds += 1;
        let level = Rate::LOG.level(self.rounds);
        out.action.clear();
        out.note.clear();
        for bandit in &mut self.bandits {
            let pick = ItemId::new(bandit.select(level, Ties::draw(rng))[0]);
            let mut shown = pick;
            while out.action.contains(shown) {
                shown = ItemId::from_index(rng.random_range(0..self.shape.n_items()));
            }
            out.note.push(pick);
            out.action.push(shown);
        }
    }

    fn repeat_round(&mut self) -> bool {
        self.rounds = self.rounds.saturating_sub(1);
        true
    }
}

impl<F: ListFeedback> Update<Ranking, F> for RbaKlUcb {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking, Ranking>, feedback: &F) {
        let clicks = feedback.list_clicks();
        let n_items = self.shape.n_items();
        let places =
            decision.note.by_position().zip(decision.action.by_position()).take(self.shape.n_positions());
        for ((position, pick), (_, shown)) in places {
            if pick.index() < n_items {
                let arm = position * n_items + pick.index();
                self.pulls[arm] += 1;
                self.clicks[arm] += u64::from(pick == shown && clicks.get(position));
                self.bandits[position].set(pick.index(), KlArm::new(self.pulls[arm], self.clicks[arm]));
            }
        }
    }
}
