//! The first choices of every policy for fixed seeds, and the bits of its regret.
//!
//! These numbers mean nothing in themselves. A change of them means that experiments give other results than before.

use crate::support::{
    Visitor, generator, items, position_based_policies, prefix_policies, round, stopping_policies,
};
use click_models::{
    CascadeModel, ClickModel, DcmReward, DependentClick, Feedback, Interaction, PositionBased,
    RandomSemiBandit, Ranking,
};
use policies::{Decision, Update};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// A line a policy: name, the lists of rounds 1, 2, 3 and 10, and the bits of the regret after 1,000 rounds.
struct Record {
    lines: Vec<String>,
}

impl<M> Visitor<M> for Record
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
{
    fn visit<P>(&mut self, name: &str, model: &M, mut policy: P)
    where
        P: Update<Ranking, Feedback<M>> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let (mut rng, mut users) = (generator(1), generator(2));
        let mut decision = Decision::default();
        let mut regret = 0.0;
        let mut lists = vec![];
        for number in 1..=1000 {
            regret += round(model, &mut policy, &mut decision, &mut rng, &mut users);
            if [1, 2, 3, 10].contains(&number) {
                lists.push(format!("{:?}", items(&decision.action)));
            }
        }
        self.lines.push(format!("{name}: {} {:016x}", lists.join(" "), f64::to_bits(regret)));
    }
}

const EXPECTED: &str = include_str!("data/value_stability.txt");

#[test]
fn choices_are_what_they_always_were() {
    let mut record = Record { lines: vec![] };
    let model = PositionBased::from_values(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3])
        .expect("a valid instance");
    position_based_policies(&model, &mut record);
    let model = RandomSemiBandit::from_values(&[0.6, 0.58, 0.55, 0.45, 0.45, 0.4], &[1.0, 0.8, 0.6])
        .expect("a valid instance");
    prefix_policies(&model, model.shape().into(), &mut record);
    let model = CascadeModel::from_values(&[0.3, 0.25, 0.2, 0.15, 0.1, 0.05], 3).expect("a valid instance");
    prefix_policies(&model, model.shape().into(), &mut record);
    stopping_policies(&model, &mut record);
    let model =
        DependentClick::from_values(&[0.5, 0.4, 0.3, 0.2, 0.1], &[0.5, 0.9, 0.2], DcmReward::Satisfaction)
            .expect("a valid instance");
    prefix_policies(&model, model.known().into(), &mut record);
    let found = record.lines.join("\n");
    assert!(
        found == EXPECTED.trim_end(),
        "choices have changed, so experiments give other results than before. If that is intended (another order of draws, \
         another rounding, a corrected policy), say so in the commit and put these lines into tests/data/value_stability.txt; \
         if not, look for what changed.\n\n{found}\n"
    );
}
