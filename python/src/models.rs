//! Click models: users who respond to lists, cells and pairs.
//!
//! A model is one entry of `classes` and one row below.

mod class;
mod classes;
mod crowd;

pub(crate) use self::crowd::not_admitted;

use crate::json::dict;
use crate::message::value_error;
use crate::simulate::InPython;
use click_models::{CascadeModel, ClickModel, DependentClick, Personal, PositionBased};
use experiment::Runner;
use policies::catalogue::{CatalogueProtocol, Knowledge, Protocol};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::Schedule;
use spec::models::{Instance, OwnUsers, Parameter, UserModel};

/// Users that tell policies of the catalogue what they may know.
pub(crate) trait PolicyFacts: ClickModel<Interaction: CatalogueProtocol> {
    const PROTOCOL: Protocol = <Self::Interaction as CatalogueProtocol>::PROTOCOL;

    fn told(&self) -> Knowledge;

    /// Keyword arguments of `Policy`.
    fn known_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Knowledge { sizes, examination, places, .. } = self.told();
        let known = dict!(py; "model": Self::PROTOCOL.name());
        let names: &[&str] = match Self::PROTOCOL {
            Protocol::RankOne => &["rows", "columns"],
            Protocol::Dueling => &["items"],
            _ => &["items", "positions"],
        };
        for (name, size) in names.iter().zip(sizes) {
            known.set_item(name, size)?;
        }
        if !examination.is_empty() {
            known.set_item("examination", examination.iter().map(|p| p.get()).collect::<Vec<_>>())?;
        }
        if !places.is_empty() {
            known.set_item("order", places)?;
        }
        Ok(known)
    }
}

/// Does something with the protocol of users written in Python, and their list.
macro_rules! with_protocol {
    ($instances:expr, $I:ident, $list:ident => $do:expr) => {{
        $crate::models::with_protocol!(@each $instances, $I, $list => $do, Pbm SemiBandit Cascade Dcm ClicksOnly);
    }};
    (@each $instances:expr, $I:ident, $list:ident => $do:expr, $($Protocol:ident)+) => {$({
        type $I = click_models::$Protocol;
        if let Some($list) = $instances.typed::<::spec::models::OwnUsers<$I>>() {
            $do
        }
    })+};
}
pub(crate) use with_protocol;

/// Adds a policy written in Python for users who differ.
fn with_personal(runner: Runner<'_>, contender: InPython) -> PyResult<Runner<'_>> {
    match runner.experiment().instances().model().name {
        "cascade" => Ok(runner.with_contender::<Personal<CascadeModel>, Schedule>(contender)),
        "dcm" => Ok(runner.with_contender::<Personal<DependentClick>, Schedule>(contender)),
        "pbm" => Ok(runner.with_contender::<Personal<PositionBased>, Schedule>(contender)),
        other => Err(value_error(format!("policies: users of model {other:?} who differ are not supported"))),
    }
}

/// The table of an instance with the parameters of these users. Asked of the model: `Instances`
/// would compile all that an experiment does with it once more.
fn table<M: UserModel>(users: M) -> PyResult<toml::Table> {
    let mut table = toml::Table::new();
    table.insert("model".to_owned(), M::MODEL.name.into());
    for (key, value) in M::parameters(&Instance::new(None, users)) {
        table.insert(key.to_owned(), toml::Value::try_from(value).map_err(value_error)?);
    }
    Ok(table)
}

/// The arguments by these names that make users, long ones cut.
pub(crate) fn arguments<M: UserModel>(users: M, names: &[&str]) -> String {
    let argument = |(name, (_, value)): (&&str, (_, Parameter))| {
        let value =
            toml::Value::try_from(value).map_or_else(|error| error.to_string(), |value| value.to_string());
        let cut = value.char_indices().nth(60).map(|(end, _)| format!("{}..", &value[..end]));
        format!("{name}={}", cut.unwrap_or(value))
    };
    let values = M::parameters(&Instance::new(None, users));
    names.iter().zip(values).map(argument).collect::<Vec<_>>().join(", ")
}

/// Exports the classes of these models, and enters policies written in Python on their users.
macro_rules! models {
    ($($Class:ident: $Model:ident;)+) => {
        /// The classes of all models, as the module `click_bandits.models`.
        #[pymodule]
        pub(crate) mod models {
            $(#[pymodule_export]
            use super::classes::$Class;)+
        }

        /// The table of an instance with the parameters of users of these classes; `None` for other
        /// objects.
        pub(crate) fn instance(users: &Bound<'_, PyAny>) -> PyResult<Option<toml::Table>> {
            $(if let Ok(users) = users.cast::<classes::$Class>() {
                return table(users.get().model()).map(Some);
            })+
            Ok(None)
        }

        /// Adds a policy written in Python for the users of the experiment.
        pub(crate) fn with_contender(runner: Runner<'_>, contender: InPython) -> PyResult<Runner<'_>> {
            let instances = runner.experiment().instances();
            if instances.contexts().is_some() {
                return with_personal(runner, contender);
            }
            $(if instances.typed::<click_models::$Model>().is_some() {
                return Ok(runner.with_contender::<click_models::$Model, Schedule>(contender));
            })+
            with_protocol!(instances, I, _list => {
                return Ok(runner.with_contender::<OwnUsers<I>, Schedule>(contender));
            });
            let model = instances.model().name;
            Err(value_error(format!("policies: users of model {model:?} are not supported")))
        }
    };
}

models! {
    Cascade: CascadeModel;
    ClickChain: ClickChain;
    DependentClick: DependentClick;
    Dueling: DuelingModel;
    DynamicBayesian: DynamicBayesian;
    PositionBased: PositionBased;
    RandomSemiBandit: RandomSemiBandit;
    RankOne: RankOneModel;
    UserBrowsing: UserBrowsing;
}
