//! Policies that show the items of largest index.

/// Implements a policy with the fields `counts`, `live` and `arms` that shows the items of largest
/// index: how it is made and read, chooses, learns and is used live.
///
/// A row is the policy with its other fields, the types of `counts` and of an arm, the settings in
/// a saved state (see [`Setup`](crate::setup::Setup)), the feedback and what its counts record of
/// it, the level of the indices in a round, and the arm of an item, which its counts determine.
macro_rules! shows_largest_indices {
    (
        $Policy:ident { $($field:ident: $Field:ty),* } on $Counts:ty, of $Arm:ty, settings $settings:expr,
        reads $Feedback:ident, |$feedback:ident| $seen:expr,
        level |$round:ident| $level:expr,
        arm |$counts:ident, $item:ident| $arm:expr
    ) => {
        #[allow(unused_variables, reason = "level and arm need some of the fields")]
        const _: () = {
            use crate::live::{OnTable, on_table};
            use crate::shortlist::Arm as _;
            use crate::top_l::Ties;
            use crate::{Decision, Error, Select, SelectAmong, Update};
            use click_models::{ItemSet, Ranking};
            use rand::Rng;

            impl $Policy {
                fn ranked($($field: $Field,)* $counts: &$Counts, live: &LiveState) -> BestArms<$Arm> {
                    let arms = (0..$counts.n_items()).map(|$item| $arm);
                    BestArms::new(arms, $counts.sizes()[1]).without(&live.absent)
                }
            }

            impl TryFrom<State> for $Policy {
                type Error = Error;

                fn try_from(State { $($field,)* counts, live }: State) -> Result<Self, Error> {
                    let live = LiveState::restore(live, counts.n_items())?;
                    Ok(Self::over($($field,)* counts, live))
                }
            }

            crate::setup::setup!($Policy, $settings, |policy| policy.counts.sizes());

            impl Select<Ranking> for $Policy {
                type Note = ();

                fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
                    let Self { counts, arms, $($field,)* .. } = self;
                    $(let $field = *$field;)*
                    let $round = counts.rounds.next();
                    let winners = arms.select($level, Ties::draw(rng));
                    counts.show_items(winners.iter().copied(), &mut out.action);
                }

                fn repeat_round(&mut self) -> bool {
                    self.counts.rounds.repeat()
                }
            }

            impl SelectAmong<Ranking> for $Policy {
                fn select_among<R: Rng + ?Sized>(
                    &mut self,
                    available: &ItemSet,
                    rng: &mut R,
                    out: &mut Decision<Ranking>,
                ) {
                    let Self { counts, live, arms, $($field,)* } = self;
                    $(let $field = *$field;)*
                    let $round = counts.rounds.next();
                    let winners = arms.select_among(available, live, $level, Ties::draw(rng));
                    counts.show_items(winners.iter().copied(), &mut out.action);
                }

                fn pass_round(&mut self) {
                    self.counts.rounds.next();
                }
            }

            impl OnTable for $Policy {
                on_table!($Counts, |policy| policy.counts);

                #[inline]
                fn changed(&mut self, $item: usize) {
                    let Self { counts: $counts, arms, $($field,)* .. } = self;
                    $(let $field = *$field;)*
                    arms.set($item, $arm);
                }

                fn pushed(&mut self) {
                    let Self { counts: $counts, live, arms, $($field,)* } = self;
                    $(let $field = *$field;)*
                    let $item = $counts.n_items() - 1;
                    arms.push($arm, &live.absent);
                }

                fn came_or_went(&mut self, item: usize, present: bool) {
                    self.arms.set_present(item, present);
                }

                fn index(&self, $item: usize) -> Option<f64> {
                    let Self { counts: $counts, $($field,)* .. } = self;
                    $(let $field = *$field;)*
                    let $round = $counts.rounds.coming();
                    Some($arm.index($level))
                }
            }

            impl<F: $Feedback> Update<Ranking, F> for $Policy {
                #[inline]
                fn update(&mut self, decision: &Decision<Ranking>, $feedback: &F) {
                    let Self { counts, arms, $($field,)* .. } = self;
                    $(let $field = *$field;)*
                    counts.record(&decision.action, $seen, |$counts, $item| arms.set($item, $arm));
                }
            }
        };
    };
}
pub(crate) use shows_largest_indices;
