//! A policy in live use whose protocol is known at run time only.

use crate::{
    Ask, Entry, Error, Handle, Learns, Live, LiveFor, LiveUse, ObservationRule, Orders, Settings, Taken,
};
use click_models::{Cascade, ClicksOnly, Context, Dcm, ListProtocol, Pbm, SemiBandit};
use policies::catalogue::{CatalogueProtocol, Protocol};
use policies::{AnyPolicy, BuildError, NamedLive, Prior, Propensity, Tally};
use rand::Rng;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::Hash;

/// Declares the functions, each of which is the one of this name of [`LiveUse`].
macro_rules! by_name {
    ($(#[$of_trait:meta])* trait ByName { $(
        fn $name:ident(&$self:ident $(, $argument:ident: $type:ty)*) -> $output:ty $(, $collect:ident)?;
    )* mut $(
        fn $name_mut:ident(&mut $self_mut:ident $(, $argument_mut:ident: $type_mut:ty)*) -> $output_mut:ty;
    )* }) => {
        $(#[$of_trait])*
        pub trait ByName<D>: Send {
            /// The state, to be written.
            #[doc(hidden)]
            fn state(&self) -> &dyn erased_serde::Serialize;

            /// As [`LiveUse::set_policy`], of a policy for the same users.
            ///
            /// # Errors
            ///
            /// As there, and for a policy that cannot be used live.
            fn set_policy(&mut self, policy: AnyPolicy) -> Result<(), ByNameError>;

            $(
                #[doc = concat!("As [`LiveUse::", stringify!($name), "`].")]
                fn $name(&$self $(, $argument: $type)*) -> $output;
            )*

            $(
                #[doc = concat!("As [`LiveUse::", stringify!($name_mut), "`].")]
                fn $name_mut(&mut $self_mut $(, $argument_mut: $type_mut)*) -> $output_mut;
            )*
        }

        impl<I, L, D> ByName<D> for LiveUse<I, L, D>
        where
            I: CatalogueProtocol + ObservationRule,
            L: Learns<I, Policy = NamedLive<I>, Open: Send, Note: Send> + Send,
            D: DecisionName,
            Self: Serialize,
        {
            fn state(&self) -> &dyn erased_serde::Serialize {
                self
            }

            fn set_policy(&mut self, policy: AnyPolicy) -> Result<(), ByNameError> {
                let name = policy.spec().name();
                let set = LiveUse::set_policy(self, NamedLive::<I>::try_from(policy)?);
                set.map_err(|error| ByNameError::Settings { policy: name, error })
            }

            $(fn $name(&$self $(, $argument: $type)*) -> $output {
                LiveUse::$name($self $(, $argument)*)$(.$collect())?
            })*

            $(fn $name_mut(&mut $self_mut $(, $argument_mut: $type_mut)*) -> $output_mut {
                LiveUse::$name_mut($self_mut $(, $argument_mut)*)
            })*
        }
    };
}

by_name! {
    /// A policy of the catalogue in live use, for lists of any protocol: a [`Live`], or a
    /// [`LiveFor`] if the policy was told of contexts. `D` is the client's name of a decision.
    ///
    /// Its functions are those of [`LiveUse`], with the same errors. It is saved as these are.
    ///
    /// # Examples
    ///
    /// ```
    /// use click_models::{Cascade, ListShape};
    /// use live::{Ask, ByName, Settings, Taken};
    /// use policies::NamedPolicy;
    /// use policies::catalogue::Protocol;
    /// use rand::{SeedableRng, rngs::ChaCha8Rng};
    ///
    /// let policy = NamedPolicy::<Cascade>::build("cascade-ts".parse()?, ListShape::new(3, 3)?, None)?;
    /// let mut live = <dyn ByName<String>>::empty(policy.into(), Settings::default())?;
    /// let items = [live.add_item_with(&[])?, live.add_item_with(&[])?];
    /// let (id, rng) = ("first".to_owned(), &mut ChaCha8Rng::seed_from_u64(1));
    /// let list = live.decide(&id, Ask { positions: 1, ..Ask::default() }, rng).to_vec();
    /// assert!(list.len() == 1 && items.contains(&list[0]));
    /// assert_eq!(live.click(&id, 0), Taken::Counted);
    ///
    /// let saved = serde_json::to_value(&*live)?;
    /// let mut restored = <dyn ByName<String>>::read(Protocol::Cascade, false, saved)?;
    /// assert_eq!(restored.click(&id, 0), Taken::Repeated);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::missing_errors_doc, reason = "those of the functions of this name")]
    trait ByName {
        fn policy(&self) -> &AnyPolicy;
        fn settings(&self) -> Settings;
        fn items(&self) -> Vec<Handle>, collect;
        fn entries(&self, item: Handle) -> Vec<Entry>, collect;
        fn is_known(&self, item: Handle) -> bool;
        fn is_present(&self, item: Handle) -> bool;
        fn group(&self, item: Handle) -> Option<&str>;
        fn propensities(&self, id: &D) -> Option<&[Propensity]>;
        fn oldest(&self) -> Option<&D>;
        fn chosen(&self) -> Vec<Handle>, collect;
        fn check_list(&self, list: &[Handle]) -> Result<(), Error>;
        mut
        fn prior(&mut self) -> Option<Prior>;
        fn set_settings(&mut self, settings: Settings) -> Result<(), Error>;
        fn has_features(&mut self, item: Handle, features: &[f64]) -> bool;
        fn begin_with(&mut self, item: Handle, kind: usize, tally: Tally) -> bool;
        fn add_item_with(&mut self, features: &[f64]) -> Result<Handle, policies::Error>;
        fn check_earned(&mut self, id: &D, position: usize, value: f64, revision: Option<u64>) -> Result<(), Error>;
        fn value(&mut self, item: Handle) -> f64;
        fn orders(&mut self, item: Handle) -> Orders;
        fn check_value(&mut self, value: f64, is_told: bool) -> Result<(), Error>;
        fn set_value(&mut self, item: Handle, value: f64) -> Result<bool, Error>;
        fn set_group(&mut self, item: Handle, group: Option<&str>) -> Result<bool, Error>;
        fn check(&mut self, ask: &Ask<'_>) -> Result<(), Error>;
        fn earned(&mut self, id: &D, position: usize, value: f64, revision: Option<u64>) -> Result<Taken, Error>;
        fn retire(&mut self, item: Handle) -> bool;
        fn bring_back(&mut self, item: Handle) -> bool;
        fn forget(&mut self, item: Handle) -> bool;
        fn decide(&mut self, id: &D, ask: Ask<'_>, rng: &mut dyn Rng) -> &[Handle];
        fn draw(&mut self, ask: Ask<'_>, rng: &mut dyn Rng) -> (Vec<Handle>, Vec<Propensity>);
        fn decide_again(&mut self, id: &D, ask: Ask<'_>, shown: &[Handle], rng: &mut dyn Rng) -> Result<bool, Error>;
        fn show(&mut self, id: &D, user: &Context, list: &[Handle]) -> Result<Taken, Error>;
        fn click(&mut self, id: &D, position: usize) -> Taken;
        fn close(&mut self, id: &D, seen: Option<usize>) -> Taken;
        fn forget_oldest(&mut self) -> Option<D>;
    }
}

/// Why a policy by name cannot be used live.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum ByNameError {
    #[error(transparent)]
    Policy(#[from] BuildError),
    /// A setting is out of range, or does not fit the policy.
    #[error("`{policy}`: {error}")]
    Settings { policy: &'static str, error: Error },
}

/// A name of decisions.
pub trait DecisionName: Clone + Eq + Hash + Send + Serialize + for<'de> Deserialize<'de> + 'static {}

impl<D: Clone + Eq + Hash + Send + Serialize + for<'de> Deserialize<'de> + 'static> DecisionName for D {}

impl<D: DecisionName> dyn ByName<D> {
    /// A policy all of whose items are present.
    ///
    /// # Errors
    ///
    /// The policy cannot be used live, or not with these settings.
    pub fn new(policy: AnyPolicy, settings: Settings) -> Result<Box<Self>, ByNameError> {
        begin(policy, settings, true)
    }

    /// A policy whose items are yet to come.
    ///
    /// # Errors
    ///
    /// As `new`.
    pub fn empty(policy: AnyPolicy, settings: Settings) -> Result<Box<Self>, ByNameError> {
        begin(policy, settings, false)
    }

    /// Reads a saved policy for users of this protocol; `sees_contexts` if it was told of any.
    ///
    /// # Errors
    ///
    /// The data are no such policy in live use, or a damaged one.
    pub fn read<'de, S: Deserializer<'de>>(
        protocol: Protocol,
        sees_contexts: bool,
        saved: S,
    ) -> Result<Box<Self>, S::Error> {
        match protocol {
            Protocol::PositionBased => read::<Pbm, D, S>(sees_contexts, saved),
            Protocol::SemiBandit => read::<SemiBandit, D, S>(sees_contexts, saved),
            Protocol::Cascade => read::<Cascade, D, S>(sees_contexts, saved),
            Protocol::Dcm => read::<Dcm, D, S>(sees_contexts, saved),
            Protocol::ClicksOnly => read::<ClicksOnly, D, S>(sees_contexts, saved),
            other => Err(S::Error::custom(format!("{other} users are shown no lists"))),
        }
    }
}

fn begin<D: DecisionName>(
    policy: AnyPolicy,
    settings: Settings,
    present: bool,
) -> Result<Box<dyn ByName<D>>, ByNameError> {
    match policy.protocol() {
        Protocol::PositionBased => begin_on::<Pbm, D>(policy, settings, present),
        Protocol::SemiBandit => begin_on::<SemiBandit, D>(policy, settings, present),
        Protocol::Cascade => begin_on::<Cascade, D>(policy, settings, present),
        Protocol::Dcm => begin_on::<Dcm, D>(policy, settings, present),
        Protocol::ClicksOnly => begin_on::<ClicksOnly, D>(policy, settings, present),
        _ => {
            let (policy, can) = (policy.spec().name(), "it chooses no lists");
            Err(BuildError::NotLive { policy, can }.into())
        }
    }
}

fn begin_on<I: CatalogueProtocol + ObservationRule + ListProtocol, D: DecisionName>(
    policy: AnyPolicy,
    settings: Settings,
    present: bool,
) -> Result<Box<dyn ByName<D>>, ByNameError> {
    let policy = NamedLive::<I>::try_from(policy)?;
    let name = policy.spec().name();
    let live: Result<Box<dyn ByName<D>>, Error> = if policy.sees_contexts() {
        LiveFor::<I, _, D>::with_items(policy, settings, present).map(|live| Box::new(live) as _)
    } else {
        Live::<I, _, D>::with_items(policy, settings, present).map(|live| Box::new(live) as _)
    };
    live.map_err(|error| ByNameError::Settings { policy: name, error })
}

fn read<'de, I: CatalogueProtocol + ObservationRule + ListProtocol, D: DecisionName, S: Deserializer<'de>>(
    sees_contexts: bool,
    saved: S,
) -> Result<Box<dyn ByName<D>>, S::Error> {
    let live: Box<dyn ByName<D>> = if sees_contexts {
        Box::new(LiveFor::<I, NamedLive<I>, D>::deserialize(saved)?)
    } else {
        Box::new(Live::<I, NamedLive<I>, D>::deserialize(saved)?)
    };
    if live.policy().told().context.is_some() != sees_contexts {
        return Err(S::Error::custom(BuildError::NotAmong(live.policy().spec().name())));
    }
    Ok(live)
}

impl<D> Serialize for dyn ByName<D> + '_ {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        erased_serde::serialize(self.state(), serializer)
    }
}
