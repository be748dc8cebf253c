//! Users of the caller: `own-pbm` and the like, one model for each protocol of lists.
//!
//! A file has their sizes, what policies may know, and a best list with its mean reward, so that
//! results can be merged and drawn. Only the program that has their answers can play them
//! ([`Experiment::answer_with`](crate::Experiment::answer_with)). The rows are not in
//! [`MODELS`](super::MODELS): nobody chooses such a model by name.

use super::fields::{read_each, read_positions};
use super::keys::{POSITIONS, SIZE};
use super::pbm::{ALSO_EXAMINATION, KAPPA};
use super::{Instance, Instances, Member, Model, Parameter};
use crate::fields::read_size;
use crate::key::Key;
use crate::schema::{list, number};
use click_models::{Cascade, ClicksOnly, Dcm, ItemId, ListShape, Pbm, Ranking, SemiBandit};
use confidence::Probability;
use contenders::{OwnAnswers, OwnProtocol, OwnUsers};
use documents::toml_reader::{Error, Field, Table};
use policies::catalogue::Protocol;
use std::sync::Arc;

/// The models of the caller's users.
pub static OWN_MODELS: [&Model; 5] = [&OF_PBM, &OF_SEMI_BANDIT, &OF_CASCADE, &OF_DCM, &OF_CLICKS_ONLY];

const ITEMS: Key = Key::required("items", SIZE, "The number of items.", "5");
const BEST: Key = Key::required(
    "best",
    || list(&number(0, u32::MAX.into()), "position"),
    "A best list: numbers of items from the top down.",
    "[0, 1, 2]",
)
.called("Best list");
const BEST_REWARD: Key =
    Key::required("best-reward", || number(0, 1 << 32), "The mean reward of the best list.", "0.8")
        .called("Its mean reward");

/// A model of users whose protocol has a name.
trait HasProtocol: OwnProtocol {
    const MODEL: &'static Model;
}

macro_rules! models {
    ($($MODEL:ident: $name:literal, $Protocol:ident as $protocol:ident, $first_choices:expr;)*) => {$(
        static $MODEL: Model = Model {
            name: $name,
            protocol: Protocol::$protocol,
            sentence: "Users of the program that runs the experiment.",
            keys: &[ITEMS, POSITIONS, BEST, BEST_REWARD, KAPPA, ALSO_EXAMINATION],
            first_choices: $first_choices,
            names_best_items: false,
            read: |tables, _| Ok(Instances::from_users(read_each(tables, read::<$Protocol>)?)),
            of_queries: None,
            of_posterior: None,
        };

        impl HasProtocol for $Protocol {
            const MODEL: &'static Model = &$MODEL;
        }
    )*};
}
models! {
    OF_PBM: "own-pbm", Pbm as PositionBased, &["pbm-ts"];
    OF_SEMI_BANDIT: "own-semi-bandit", SemiBandit as SemiBandit, &["rsf-ts"];
    OF_CASCADE: "own-cascade", Cascade as Cascade, &["cascade-ts"];
    OF_DCM: "own-dcm", Dcm as Dcm, &["dcm-ts"];
    OF_CLICKS_ONLY: "own-clicks-only", ClicksOnly as ClicksOnly, &["top-rank"];
}

impl<I: HasProtocol> Member for OwnUsers<I> {
    const MODEL: &'static Model = I::MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(|users| users.shape);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        let best = users.best.0.iter().map(|item| item.index() as f64).collect();
        let mut parameters = vec![
            ITEMS.with(users.shape.n_items()),
            POSITIONS.with(users.shape.n_positions()),
            BEST.with(Parameter::Numbers(best)),
            BEST_REWARD.with(users.best.1),
        ];
        if !users.examination.is_empty() {
            parameters.push(KAPPA.with(&users.examination[..]));
        }
        parameters
    }

    fn unit(&self) -> &'static str {
        "reward"
    }

    fn can_answer(&self) -> bool {
        self.answers.is_some()
    }

    fn answer_with(instances: &mut [Instance<Self>], answers: &[Arc<dyn OwnAnswers>]) -> bool {
        for (instance, answers) in instances.iter_mut().zip(answers) {
            instance.model.answers = Some(Arc::clone(answers));
        }
        instances.len() == answers.len()
    }
}

fn read<I: HasProtocol>(table: &Table<'_>) -> Result<OwnUsers<I>, Error> {
    let n_items = read_size(table, ITEMS.name)?;
    let positions = read_positions(table)?;
    let best = BEST.read::<Vec<f64>>(table)?;
    let reward = BEST_REWARD.read::<f64>(table)?;
    let kappa = Key::one_of(&[KAPPA, ALSO_EXAMINATION], table)?;
    if kappa.is_none() && I::PROTOCOL == Protocol::PositionBased {
        return Err(table.missing(KAPPA.name, &KAPPA.words()));
    }
    let examination: Vec<Probability> = kappa.as_ref().map_or(Ok(vec![]), Field::get)?;
    table.finish()?;
    let shape =
        ListShape::new(n_items, positions.value).map_err(|error| positions.field.error(error.to_string()))?;
    if let Some(field) = kappa.filter(|_| examination.len() != shape.n_positions()) {
        return Err(
            field.error(format!("{} numbers found: expected one for each position", examination.len()))
        );
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the shape is checked below")]
    let list: Ranking = best.value.iter().map(|&item| ItemId::new(item as u32)).collect();
    if !list.fits(shape) || best.value.iter().any(|item| item.fract() != 0.0) {
        let items: Vec<String> = best.value.iter().map(ToString::to_string).collect();
        return Err(best.field.error(format!("[{}] is no list of these sizes", items.join(", "))));
    }
    if !reward.value.is_finite() {
        return Err(reward.field.error("expected a finite number"));
    }
    Ok(OwnUsers::new(shape, examination, (list, reward.value)))
}
