//! Settings that are valid, but perhaps not meant.

use super::{Experiment, assumes_examination};
use crate::canonical::settings;
use crate::models::{ATTRACTION, COPELAND, Duels, InstanceTable, KAPPA, Model, THETA};
use crate::task::Task;
use click_models::ListShape;
use contenders::Entrant;
use documents::number::counted;
use policies::ShowOrder;
use policies::catalogue::{PolicySpec, find};

impl Experiment {
    /// Settings that are valid, but perhaps not meant, one sentence each.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        let n_instances = self.instances.per_block().max(1) as u64;
        let block = n_instances * self.runs_per_draw();
        if self.runs == 1 {
            doubts.push("one run: means have no standard error, and figures no band".to_owned());
        } else if self.runs / block < 2 {
            let few = match n_instances {
                1 => " with the same users: a single draw of users tells".to_owned(),
                many => format!(" for {}: fewer than two of each tell", counted(many, "instance")),
            };
            let not_played = if self.runs < n_instances { "; some instances are not played" } else { "" };
            doubts.push(format!(
                "{}{few} nothing apart, and means have no standard error{not_played}",
                counted(self.runs, "run"),
            ));
        } else if !self.runs.is_multiple_of(block) {
            doubts.push(format!(
                "{} for {}: means leave out the last {}, since every instance counts alike: expected a multiple of {block}",
                counted(self.runs, "run"),
                counted(n_instances, "instance"),
                counted(self.runs % block, "run")
            ));
        } else if self.runs < 10 {
            doubts.push(format!("{} tell little apart: expected 10 or more", counted(self.runs, "run")));
        }
        if let Some(index) = self.instances.shapes().iter().position(|shape| {
            let n_lists = shape.n_items().div_ceil(shape.n_positions().max(1));
            self.horizon < n_lists as u64
        }) {
            doubts.push(format!(
                "{} a run: too few to show every item of instances[{index}] once",
                counted(self.horizon, "round"),
            ));
        }
        for table in self.instances.tables() {
            let list = [THETA, ATTRACTION].iter().find_map(|key| Some((key.name, table.list(key.name)?)));
            if let Some((key, [first, rest @ ..])) = list
                && !rest.is_empty()
                && rest.iter().all(|value| value == first)
            {
                doubts.push(format!(
                    "{}: all items have the same {key}, so no list of them is better than another one",
                    table.name
                ));
            }
        }
        doubts.extend(self.ties());
        doubts.extend(self.instances.doubts());
        let settings: Vec<String> = self.policies.iter().map(settings).collect();
        for (index, entry) in self.policies.iter().enumerate() {
            doubts.extend(self.doubts_of(entry).into_iter().map(|doubt| format!("{}: {doubt}", entry.label)));
            if let Some(other) = settings[..index].iter().position(|other| *other == settings[index]) {
                doubts.push(format!(
                    "{}: the same policy as {}, with other random numbers",
                    entry.label, self.policies[other].label
                ));
            }
        }
        doubts
    }

    /// Ties between the last of the best items and the next one, for policies without a tolerance.
    fn ties(&self) -> Vec<String> {
        let needs_a_gap = |entry: &Entrant| entry.spec.epsilon_of_answer() == 0.0;
        let tied = |(table, shape): (InstanceTable, ListShape)| {
            let (mut sorted, k) = (table.list(ATTRACTION.name)?.to_vec(), shape.n_positions());
            sorted.sort_by(|a, b| b.total_cmp(a));
            let (name, next) = (&table.name, k + 1);
            (sorted.get(k.checked_sub(1)?)? == sorted.get(k)?).then(|| {
                format!(
                    "{name}: the items of ranks {k} and {next} have the same attraction: policies with epsilon = 0 may never stop"
                )
            })
        };
        let asks = self.task == Task::Identify && self.policies.iter().any(needs_a_gap);
        let tables = self.instances.tables().into_iter().filter(|_| asks);
        tables.zip(self.instances.shapes()).filter_map(tied).collect()
    }

    /// The doubts about one policy.
    fn doubts_of(&self, entry: &Entrant) -> Vec<String> {
        let mut doubts = Vec::new();
        let row = entry.spec.row();
        if entry.label != entry.name && find(&entry.label).is_some() {
            doubts.push(format!("the label is the name of another policy; this one is {:?}", entry.name));
        }
        let is_proven = !row.guarantee.starts_with("none") && !row.guarantee.starts_with("conjectured");
        if let Some(protocol) = entry.read_as
            && is_proven
        {
            let (model, users) = (Model::of(protocol).name, self.instances.model().name);
            doubts.push(format!(
                "its guarantee ({}) is for users of {model:?}, and these are of {users:?}",
                row.guarantee.trim_end_matches('*')
            ));
        }
        if let Some(assumed) = &entry.examination
            && assumes_examination(&entry.spec)
        {
            let assumed: Vec<f64> = assumed.iter().map(|probability| probability.get()).collect();
            let tables = self.instances.tables();
            let differs = |own: &[f64]| own != assumed.as_slice();
            if tables.iter().any(|table| table.list(KAPPA.name).is_some_and(differs)) {
                doubts.push("it assumes another examination (`kappa`) than the users have".to_owned());
            }
        }
        let needs = |what: &str, has: f64| Some(format!("its guarantee needs {what}, and it has {has}"));
        doubts.extend(match &entry.spec {
            PolicySpec::Rucb { alpha, .. } if alpha.get() <= 0.5 => needs("an alpha above 1/2", alpha.get()),
            PolicySpec::CascadeBai { radius_scale: scale, .. }
            | PolicySpec::Batrac { radius_scale: scale, .. }
                if scale.get() < 2.0 =>
            {
                needs("a radius_scale of at least 2", scale.get())
            }
            PolicySpec::CascadeBai {
                epsilon,
                order: ShowOrder::MeanDesc | ShowOrder::UpperAsc | ShowOrder::LowerDesc,
                ..
            } if epsilon.get() > 0.0 => {
                Some("with this order and an epsilon above 0 its guarantee is void (docs/errata.md)".to_owned())
            }
            PolicySpec::Rucb { .. } | PolicySpec::Rmed1 {} | PolicySpec::CondorcetSavage {}
                if self.instances.unit() == COPELAND =>
            {
                Some("its guarantee needs an item that beats all others, and there is none: regret is Copeland regret".to_owned())
            }
            _ => None,
        });
        if let PolicySpec::BeatTheMean { gamma, .. } = entry.spec
            && !entry.told_gamma
        {
            let needed = self.instances.duels().into_iter().flat_map(Duels::list);
            let needed = needed.filter_map(|instance| instance.model.preferences().gamma());
            let needed = needed.fold(0.0, f64::max);
            if needed > gamma.get() {
                doubts.push(format!(
                    "its guarantee needs a gamma of at least {needed}, and it has {}: `told = \"gamma\"` gives it",
                    gamma.get()
                ));
            }
        }
        doubts
    }
}
