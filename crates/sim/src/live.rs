//! The round loop of live use: items come and go, attractions drift, answers are late.
//!
//! Regret is dynamic: the mean reward of the best list of the items that may be shown in a round,
//! under the attractions of that round, minus that of the list shown. If there are fewer of these
//! items than positions, the best list has all of them. A late answer changes nothing in this.
//!
//! The catalogue and the delays of a replication have random streams of their own, so all policies
//! meet the same. A short list takes as many draws of the users as a whole one.

mod catalogue;
mod conditions;
mod learner;

pub use catalogue::{Newcomer, Replacement};
pub use conditions::{Availability, Churn, Conditions, Delay, Delays, Drift, NewAttraction};
pub use learner::{Answer, InParts, InWhole, LivePolicy, OnTable};

use crate::saver::Saver as _;
use crate::session::{EarlyEnd, Player, Session};
use crate::state::{Loop, Progress};
use crate::{Curve, Entry, Plays, Replication, Saves, Schedule, SimRng, Start, StateError};
use catalogue::{Catalogue, Items};
use click_models::{Feedback, ListFeedback as _, Ranking, WithAttraction};
use rand::RngExt;
use serde::{Serialize, de::DeserializeOwned};

/// The loop of live use.
#[derive(Debug, Clone, Copy)]
pub struct UnderConditions(Conditions);

impl<F> Entry<F, Saves, UnderConditions> {
    /// Enters the learner that `build` constructs from what policies may know of the users at the
    /// beginning, under the name `label` and under these conditions of live use.
    pub fn live(label: impl Into<String>, conditions: Conditions, build: F) -> Self {
        Entry::played_by(UnderConditions(conditions), label, build).saved()
    }
}

impl<M, F, L> Plays<M, Schedule, F, Saves> for UnderConditions
where
    M: WithAttraction,
    Feedback<M>: InParts,
    F: Fn(M::Known<'_>) -> L,
    L: LivePolicy + Serialize + DeserializeOwned,
{
    fn resume(
        entry: &Entry<F, Saves, Self>,
        start: Start<'_, M>,
        schedule: &Schedule,
    ) -> Result<Curve, StateError> {
        let UnderConditions(conditions) = entry.played;
        let Start { replication: Replication { users, told, streams, number, .. }, state, store } = start;
        let session = Session::of_curve(entry.name(), Loop::Live, schedule, state, store, true);
        let rounds = session.begin(streams, number)?.0.rounds;
        session.replicate(streams, number, &mut |bytes, play_rounds| {
            let (catalogue, delays, learner) = match bytes {
                None => {
                    let catalogue = Catalogue::new(conditions, users, streams, number);
                    (catalogue, streams.delays(number), (entry.build)(told.known()))
                }
                Some(bytes) => {
                    let (items, delays, learner): (Items, SimRng, L) = Saves::read(bytes)?;
                    let catalogue = Catalogue::with_items(conditions, users, items, rounds);
                    (catalogue.ok_or("items of another replication")?, delays, learner)
                }
            };
            let (delay, list, answer) = (conditions.delay, Ranking::default(), Answer::default());
            play_rounds(&mut Rounds { catalogue, learner, delay, delays, list, answer });
            Ok(())
        })
    }
}

/// A learner that plays round by round.
struct Rounds<'a, M, L> {
    catalogue: Catalogue<'a, M>,
    learner: L,
    delay: Delays,
    delays: SimRng,
    list: Ranking,
    answer: Answer,
}

impl<M, L> Player for Rounds<'_, M, L>
where
    M: WithAttraction,
    Feedback<M>: InParts,
    L: LivePolicy + Serialize + DeserializeOwned,
{
    fn advance(&mut self, progress: &mut Progress, last: u64) -> Result<(), EarlyEnd> {
        let last = last.min(progress.next_pause());
        while progress.rounds < last {
            self.play(progress.rounds + 1, progress)?;
            progress.rounds += 1;
        }
        Ok(())
    }

    fn write(&self) -> Result<Vec<u8>, String> {
        let state = (&self.catalogue.items, &self.delays, &self.learner);
        postcard::to_allocvec(&state).map_err(|error| error.to_string())
    }
}

impl<M, L> Rounds<'_, M, L>
where
    M: WithAttraction,
    Feedback<M>: InParts,
    L: LivePolicy,
{
    fn play(&mut self, round: u64, progress: &mut Progress) -> Result<(), EarlyEnd> {
        let Self { catalogue, learner, list, .. } = self;
        for &replacement in catalogue.begin(round) {
            learner.replace(replacement);
        }
        learner.select(round, catalogue.available(), &mut progress.randomness, list);
        if !catalogue.admits(list) {
            return Err(EarlyEnd::not_admitted(round, list));
        }
        progress.regret += catalogue.gap(list);
        let users = &catalogue.users;
        let shown = list.len();
        let feedback = if shown == catalogue.n_positions() {
            users.respond(list, &mut progress.environment)
        } else {
            users.respond(&catalogue.filled(list), &mut progress.environment)
        };
        let below =
            1_u64.checked_shl(u32::try_from(shown).unwrap_or(u32::MAX)).map_or(u64::MAX, |bit| bit - 1);
        let clicks = feedback.list_clicks().bits() & below;
        progress.clicks += f64::from(clicks.count_ones());
        self.draw_answer(round, clicks, feedback.seen(shown), <Feedback<M> as InParts>::CLICK_ENDS);
        self.learner.answered(round, &self.answer);
        Ok(())
    }

    /// Draws when the parts of an answer are known, with as many draws for every list.
    fn draw_answer(&mut self, round: u64, clicks: u64, seen: usize, click_ends: bool) {
        let Delays { click, skip, lost_click, lost_skip } = self.delay;
        let delays = &mut self.delays;
        self.answer.clicks.clear();
        for position in 0..self.catalogue.n_positions() {
            let is_lost = lost_click > 0.0 && delays.random::<f64>() < lost_click;
            let known = round.saturating_add(click.draw(delays));
            if clicks >> position & 1 == 1 && !is_lost {
                self.answer.clicks.push((position, known));
            }
        }
        let is_lost = lost_skip > 0.0 && delays.random::<f64>() < lost_skip;
        let known = round.saturating_add(skip.draw(delays));
        self.answer.seen = seen;
        self.answer.end = match self.answer.clicks.first() {
            Some(&(_, click)) if click_ends => Some(click),
            _ => (!is_lost).then_some(known),
        };
    }
}
