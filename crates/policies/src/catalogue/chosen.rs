//! A policy chosen at run time: by name, for the users of one protocol.
//!
//! It is a [`Policy`](crate::Policy) as any other. It is saved with its name, its parameters and what it was told, and nothing else is restored from what was
//! saved than the policy that it names.
//!
//! # Examples
//!
//! ```
//! use click_models::{ClickModel, Pbm, PositionBased};
//! use policies::catalogue::{Chosen, PolicySpec};
//! use policies::{Decision, Select, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let users = PositionBased::from_values(&[0.5, 0.2, 0.1], &[1.0, 0.5])?;
//! let spec: PolicySpec = "pbm-pie(level=log-horizon)".parse()?;
//! let mut policy = Chosen::<Pbm>::build(spec, users.known(), 10_000)?;
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! policy.select(&mut rng, &mut decision);
//! policy.update(&decision, &users.respond(&decision.action, &mut rng));
//!
//! let saved = serde_json::to_string(&policy)?;
//! assert!(saved.starts_with(r#"{"format":1,"policy":"pbm-pie","parameters":{"epsilon":0.0,"level":"log-horizon""#));
//! let restored: Chosen<Pbm> = serde_json::from_str(&saved)?;
//! assert_eq!(restored.spec(), policy.spec());
//!
//! // A policy that cannot read these answers is refused by name.
//! let error = Chosen::<Pbm>::build("ucb1".parse()?, users.known(), None).unwrap_err();
//! assert_eq!(error.to_string(), "`ucb1` cannot read the answers of position-based users: it plays rank-one users");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::families::{
    AnyListPolicy, CellPolicy, IdentifyPolicy, Note, OneOf, PairPolicy, PositionBasedPolicy, PrefixPolicy,
};
use super::{
    Family, Limit, PairKnown, PolicySpec, Protocol, WithAnyList, WithBudgeted, WithCells, WithPairs,
    WithPositionBased, WithPrefix, WithStopping,
};
use crate::sizes::Sizes;
use crate::{Decision, Error, PrefixKnown, Recommend, Select, Update};
use click_models::{
    Cascade, Dcm, DuelShape, Dueling, Interaction, ItemId, ListShape, Pbm, PbmKnown, RankOne, Ranking,
    SemiBandit, TableShape,
};
use confidence::{NonNegative, Probability};
use rand::Rng;
use serde::de::{self, DeserializeOwned, DeserializeSeed, SeqAccess, Visitor};
use serde::ser::SerializeTuple as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt::{self, Debug, Display, Formatter};
use std::marker::PhantomData;

/// The format of saved policies.
const FORMAT: u32 = 1;

/// A policy that cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// It cannot read these users' answers.
    #[error("`{policy}` cannot read the answers of {users} users: it plays {plays}")]
    Protocol {
        /// The policy's name.
        policy: &'static str,
        /// Whose answers it was to read.
        users: Protocol,
        /// Whose answers it reads.
        plays: String,
    },
    /// It has to be told how many rounds there will be.
    #[error("`{0}` needs a horizon: give the number of rounds")]
    NoHorizon(&'static str),
    /// There is no memory for it.
    #[error("`{policy}` keeps numbers for {of}, of which there are {found}: at most {most} are supported")]
    TooLarge {
        /// The policy's name.
        policy: &'static str,
        /// What it keeps numbers for.
        of: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Its parameters do not go with these sizes.
    #[error("`{policy}`: {error}")]
    Parameters {
        /// The policy's name.
        policy: &'static str,
        /// What is wrong.
        error: Error,
    },
}

/// What a policy was told of its users before the first round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knowledge {
    /// Items and positions; rows and columns; or items and the two that are compared.
    pub sizes: [usize; 2],
    /// Examination probabilities, one a position; empty where the policy knows nothing of them.
    pub examination: Vec<Probability>,
    /// Positions of the best item, of the next one, and so on; empty for from the top down.
    pub places: Vec<usize>,
    /// The constant of relaxed stochastic transitivity, if it was told one.
    pub gamma: Option<NonNegative>,
    /// Rounds, if it was told how many.
    pub horizon: Option<u64>,
}

impl Knowledge {
    fn sizes(n_items: usize, n_positions: usize) -> Self {
        Self {
            sizes: [n_items, n_positions],
            examination: vec![],
            places: vec![],
            gamma: None,
            horizon: None,
        }
    }

    fn list(shape: ListShape) -> Self {
        Self::sizes(shape.n_items(), shape.n_positions())
    }

    fn prefix(known: &PrefixKnown<'_>) -> Self {
        Self { places: known.places().to_vec(), ..Self::list(known.shape()) }
    }

    /// The first field that differs, with both values.
    fn first_difference(&self, other: &Self) -> Option<(String, Value, Value)> {
        let fields = |knowledge| serde_json::to_value(knowledge).unwrap_or_default();
        let (Value::Object(own), mut others) = (fields(self), fields(other)) else { return None };
        own.into_iter()
            .map(|(key, value)| {
                let other = others[&key].take();
                (key, value, other)
            })
            .find(|(_, value, other)| value != other)
    }

    fn list_shape(&self) -> Result<ListShape, Error> {
        Ok(ListShape::new(self.sizes[0], self.sizes[1])?)
    }
}

/// A protocol for which the catalogue has policies.
pub trait Catalogued: Interaction + Sized {
    /// The protocol among those that rows of the catalogue name.
    const PROTOCOL: Protocol;
    /// What its policies are told.
    type Known<'a>;
    /// Any of its policies.
    type Chosen: Select<Self::Action, Note = Note>
        + Update<Self::Action, Self::Feedback>
        + Sizes
        + Serialize
        + Clone
        + Debug
        + Send
        + Sync;

    /// What was told, to be kept.
    fn told(known: &Self::Known<'_>) -> Knowledge;

    /// A fresh policy; none if it is not of this protocol.
    fn fresh(spec: &PolicySpec, told: &Knowledge) -> Option<Result<Self::Chosen, Error>>;

    /// The policy that was saved; none if it is not of this protocol.
    fn restored<'de, D: Deserializer<'de>>(
        spec: &PolicySpec,
        state: D,
    ) -> Option<Result<Self::Chosen, D::Error>>;
}

/// A policy of the catalogue for the protocol `I`, chosen at run time.
pub struct Chosen<I: Catalogued> {
    spec: PolicySpec,
    told: Knowledge,
    policy: I::Chosen,
}

impl<I: Catalogued> Chosen<I> {
    /// A fresh policy. `known` is what the users' model lets a learner know, `horizon` the number of rounds, which only some policies ask for.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: a policy of another protocol, a horizon or examination probabilities that are missing, sizes for which there is no memory, or
    /// parameters that do not go with these sizes.
    pub fn build<'a>(
        spec: PolicySpec,
        known: impl Into<I::Known<'a>>,
        horizon: impl Into<Option<u64>>,
    ) -> Result<Self, BuildError> {
        let told = Knowledge { horizon: horizon.into(), ..I::told(&known.into()) };
        let policy = Self::fresh(&spec, &told)?;
        Ok(Self { spec, told, policy })
    }

    fn fresh(spec: &PolicySpec, told: &Knowledge) -> Result<I::Chosen, BuildError> {
        let (row, policy) = (spec.row(), spec.name());
        let foreign = || {
            let models: Vec<String> = row.protocols().map(|protocol| format!("{protocol} users")).collect();
            BuildError::Protocol { policy, users: I::PROTOCOL, plays: models.join(", ") }
        };
        if !row.speaks(I::PROTOCOL) {
            return Err(foreign());
        }
        if spec.needs_horizon() && told.horizon.is_none() {
            return Err(BuildError::NoHorizon(policy));
        }
        let [first, second] = told.sizes;
        let too_large = match row.limit {
            Limit::Cells(most) if I::PROTOCOL == Protocol::RankOne => {
                Some(("every cell", first.saturating_mul(second), most))
            }
            Limit::Items(most) => Some(("every pair of items", first, most)),
            Limit::Cells(_) | Limit::None => None,
        };
        if let Some((of, found, most)) = too_large.filter(|(_, found, most)| found > most) {
            return Err(BuildError::TooLarge { policy, of, found, most });
        }
        let built = I::fresh(spec, told).ok_or_else(foreign)?;
        built.map_err(|error| BuildError::Parameters { policy, error })
    }

    /// Which policy it is.
    pub fn spec(&self) -> &PolicySpec {
        &self.spec
    }

    /// What it was told.
    pub fn told(&self) -> &Knowledge {
        &self.told
    }

    /// The policy that `saved` holds, if it is this one: the same name, the same parameters, told the same.
    ///
    /// # Errors
    ///
    /// Data that hold no policy, or another one.
    pub fn restore<'de, D: Deserializer<'de>>(&self, saved: D) -> Result<Self, D::Error> {
        let name = self.spec.name();
        let restored = Self::deserialize(saved)
            .map_err(|error| de::Error::custom(format!("`{name}` cannot be restored: {error}")))?;
        if restored.spec != self.spec {
            let (found, expected) = (restored.spec, self.spec);
            return Err(de::Error::custom(format!("the saved policy is `{found}`, expected `{expected}`")));
        }
        if let Some((key, found, expected)) = restored.told.first_difference(&self.told) {
            return Err(de::Error::custom(format!(
                "the saved policy `{}` was told {key} = {found}, expected {expected}",
                self.spec
            )));
        }
        Ok(restored)
    }
}

impl Chosen<Cascade> {
    /// The best items, once it is sure of them; only policies that stop ever are.
    pub fn answer(&self) -> Option<Vec<ItemId>> {
        self.identify()?.answer()
    }

    /// Writes the items that it would name as the best to `out`; false, and nothing written, of a policy that names none.
    pub fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut Ranking) -> bool {
        let policy = self.identify();
        if let Some(policy) = policy {
            policy.recommend(rng, out);
        }
        policy.is_some()
    }

    fn identify(&self) -> Option<&IdentifyPolicy> {
        if let OneOf::First(OneOf::Second(policy)) = &self.policy { Some(policy) } else { None }
    }
}

impl Recommend<ItemId> for Chosen<Dueling> {
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        self.policy.recommend(rng, out);
    }
}

// By hand, since a derived one would ask the protocol for it, which has no values.
impl<I: Catalogued> Clone for Chosen<I> {
    fn clone(&self) -> Self {
        Self { spec: self.spec, told: self.told.clone(), policy: self.policy.clone() }
    }
}

impl<I: Catalogued> Debug for Chosen<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chosen").field("spec", &self.spec).field("told", &self.told).finish_non_exhaustive()
    }
}

impl<I: Catalogued> Select<I::Action> for Chosen<I> {
    type Note = Note;

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<I::Action, Note>) {
        self.policy.select(rng, out);
    }
}

impl<I: Catalogued> Update<I::Action, I::Feedback> for Chosen<I> {
    #[inline]
    fn update(&mut self, decision: &Decision<I::Action, Note>, feedback: &I::Feedback) {
        self.policy.update(decision, feedback);
    }
}

/// Builds a policy from what it is told.
struct Fresh<'a>(&'a Knowledge);

/// Reads a policy that was saved.
struct Restored<'de, D>(D, PhantomData<&'de ()>);

/// Both for a family: what a policy is told, of all that is told.
macro_rules! build {
    ($($Visitor:ident -> $Chosen:ty, |$told:ident| -> $Known:ty $known:block)*) => {$(
        impl $Visitor for Fresh<'_> {
            type Output = Result<$Chosen, Error>;

            fn with<P, F>(self, build: F) -> Self::Output
            where
                P: Into<$Chosen>,
                F: Fn($Known, u64) -> Result<P, Error>,
            {
                let $told = self.0;
                build($known, $told.horizon.unwrap_or(0)).map(Into::into)
            }
        }

        impl<'de, D: Deserializer<'de>> $Visitor for Restored<'de, D> {
            type Output = Result<$Chosen, D::Error>;

            fn with<P, F>(self, _build: F) -> Self::Output
            where
                P: Into<$Chosen> + DeserializeOwned,
            {
                P::deserialize(self.0).map(Into::into)
            }
        }
    )*};
}

build! {
    WithPositionBased -> PositionBasedPolicy, |told| -> PbmKnown<'_> {
        PbmKnown::new(told.list_shape()?, &told.examination)?
    }
    WithPrefix -> PrefixPolicy, |told| -> PrefixKnown<'_> { PrefixKnown::with_places(told.list_shape()?, &told.places)? }
    WithAnyList -> AnyListPolicy, |told| -> ListShape { told.list_shape()? }
    WithBudgeted -> IdentifyPolicy, |told| -> ListShape { told.list_shape()? }
    WithCells -> CellPolicy, |told| -> TableShape { TableShape::new(told.sizes[0], told.sizes[1])? }
    WithPairs -> PairPolicy, |told| -> PairKnown {
        PairKnown { shape: DuelShape::new(told.sizes[0])?, gamma: told.gamma }
    }
}

impl WithStopping for Fresh<'_> {
    type Output = Result<IdentifyPolicy, Error>;

    fn with<P, F>(self, build: F, _tolerance: NonNegative) -> Self::Output
    where
        P: Into<IdentifyPolicy>,
        F: Fn(ListShape, u64) -> Result<P, Error>,
    {
        build(self.0.list_shape()?, 0).map(Into::into)
    }
}

impl<'de, D: Deserializer<'de>> WithStopping for Restored<'de, D> {
    type Output = Result<IdentifyPolicy, D::Error>;

    fn with<P, F>(self, _build: F, _tolerance: NonNegative) -> Self::Output
    where
        P: Into<IdentifyPolicy> + DeserializeOwned,
    {
        P::deserialize(self.0).map(Into::into)
    }
}

/// A policy of the protocol's own, or for any list.
type OrAnyList<P> = OneOf<P, AnyListPolicy>;

/// A protocol of lists.
macro_rules! lists {
    ($($Interaction:ident: $Protocol:ident, $Known:ident, $Policy:ty,
        |$known:ident| $told:expr, |$spec:ident, $family:ident, $visitor:ident| $visit:expr;)*) => {$(
        impl Catalogued for $Interaction {
            const PROTOCOL: Protocol = Protocol::$Protocol;
            type Known<'a> = $Known<'a>;
            type Chosen = OrAnyList<$Policy>;

            fn told($known: &$Known<'_>) -> Knowledge {
                $told
            }

            fn fresh($spec: &PolicySpec, told: &Knowledge) -> Option<Result<Self::Chosen, Error>> {
                let ($visitor, $family) = (Fresh(told), $spec.row().family_on(Self::PROTOCOL)?);
                if $family == Family::AnyList {
                    return $spec.with_any_list($visitor).map(|built| built.map(OneOf::Second));
                }
                $visit.map(|built| built.map(OneOf::First))
            }

            fn restored<'de, D: Deserializer<'de>>(
                $spec: &PolicySpec,
                state: D,
            ) -> Option<Result<Self::Chosen, D::Error>> {
                let ($visitor, $family) = (Restored(state, PhantomData), $spec.row().family_on(Self::PROTOCOL)?);
                if $family == Family::AnyList {
                    return $spec.with_any_list($visitor).map(|read| read.map(OneOf::Second));
                }
                $visit.map(|read| read.map(OneOf::First))
            }
        }
    )*};
}

lists! {
    Pbm: PositionBased, PbmKnown, PositionBasedPolicy,
        |known| Knowledge { examination: known.examination().to_vec(), ..Knowledge::list(known.shape()) },
        |spec, family, visitor| spec.with_position_based(visitor);
    SemiBandit: SemiBandit, PrefixKnown, PrefixPolicy,
        |known| Knowledge::prefix(known), |spec, family, visitor| spec.with_prefix(visitor);
    Dcm: Dcm, PrefixKnown, PrefixPolicy,
        |known| Knowledge::prefix(known), |spec, family, visitor| spec.with_prefix(visitor);
    Cascade: Cascade, PrefixKnown, OneOf<PrefixPolicy, IdentifyPolicy>,
        |known| Knowledge::prefix(known), |spec, family, visitor| match family {
            Family::Stopping => spec.with_stopping(visitor).map(|made| made.map(OneOf::Second)),
            Family::FullFeedback => spec.with_full_feedback(visitor).map(|made| made.map(OneOf::Second)),
            Family::Budgeted => spec.with_budgeted(visitor).map(|made| made.map(OneOf::Second)),
            _ => spec.with_prefix(visitor).map(|made| made.map(OneOf::First)),
        };
}

impl Catalogued for RankOne {
    const PROTOCOL: Protocol = Protocol::RankOne;
    type Known<'a> = TableShape;
    type Chosen = CellPolicy;

    fn told(known: &TableShape) -> Knowledge {
        Knowledge::sizes(known.n_rows(), known.n_columns())
    }

    fn fresh(spec: &PolicySpec, told: &Knowledge) -> Option<Result<CellPolicy, Error>> {
        spec.with_cells(Fresh(told))
    }

    fn restored<'de, D: Deserializer<'de>>(
        spec: &PolicySpec,
        state: D,
    ) -> Option<Result<CellPolicy, D::Error>> {
        spec.with_cells(Restored(state, PhantomData))
    }
}

impl Catalogued for Dueling {
    const PROTOCOL: Protocol = Protocol::Dueling;
    type Known<'a> = PairKnown;
    type Chosen = PairPolicy;

    fn told(known: &PairKnown) -> Knowledge {
        Knowledge { gamma: known.gamma, ..Knowledge::sizes(known.shape.n_items(), 2) }
    }

    fn fresh(spec: &PolicySpec, told: &Knowledge) -> Option<Result<PairPolicy, Error>> {
        spec.with_pairs(Fresh(told))
    }

    fn restored<'de, D: Deserializer<'de>>(
        spec: &PolicySpec,
        state: D,
    ) -> Option<Result<PairPolicy, D::Error>> {
        spec.with_pairs(Restored(state, PhantomData))
    }
}

/// What is written where people read.
#[derive(Serialize)]
struct Readable<'a, P> {
    format: u32,
    policy: &'static str,
    parameters: Map<String, Value>,
    told: &'a Knowledge,
    state: &'a P,
}

impl<I: Catalogued> Serialize for Chosen<I> {
    /// As a map where people read, and as a tuple (format, policy as text, told, state) where programs do.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { spec, told, policy } = self;
        if serializer.is_human_readable() {
            let (name, parameters) = (spec.name(), spec.parameters());
            return Readable { format: FORMAT, policy: name, parameters, told, state: policy }
                .serialize(serializer);
        }
        let mut tuple = serializer.serialize_tuple(4)?;
        tuple.serialize_element(&FORMAT)?;
        tuple.serialize_element(&spec.to_string())?;
        tuple.serialize_element(told)?;
        tuple.serialize_element(policy)?;
        tuple.end()
    }
}

impl<'de, I: Catalogued> Deserialize<'de> for Chosen<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Self::from_map(Map::deserialize(deserializer)?).map_err(de::Error::custom);
        }
        deserializer.deserialize_tuple(4, Compact(PhantomData))
    }
}

impl<I: Catalogued> Chosen<I> {
    fn from_map(mut saved: Map<String, Value>) -> Result<Self, String> {
        let mut take =
            |key: &str| saved.remove(key).ok_or_else(|| format!("a saved policy has `{key}`: none found"));
        check_format(&take("format")?)?;
        let (name, parameters) = (take("policy")?, take("parameters")?);
        let name = name.as_str().ok_or_else(|| format!("`policy` is {name}, expected a name"))?;
        let parameters = match parameters {
            Value::Object(parameters) => parameters,
            other => return Err(format!("`parameters` of `{name}` is {other}, expected a map")),
        };
        let spec = PolicySpec::from_parameters(name, parameters).map_err(|error| error.to_string())?;
        let told =
            Knowledge::deserialize(take("told")?).map_err(|error| format!("`told` of `{name}`: {error}"))?;
        let state = take("state")?;
        if let Some(key) = saved.keys().next() {
            return Err(format!("a saved policy has no `{key}`"));
        }
        let policy =
            restored::<I, _>(&spec, state)?.map_err(|error| format!("`state` of `{name}`: {error}"))?;
        Self::assemble(spec, told, policy)
    }

    /// Refuses a state of other sizes or settings than those of the policy that it is said to be.
    fn assemble(spec: PolicySpec, told: Knowledge, policy: I::Chosen) -> Result<Self, String> {
        let (name, sizes) = (spec.name(), policy.sizes());
        // Before a fresh policy is made, which takes memory for what was told.
        if sizes != told.sizes {
            return Err(format!(
                "the saved policy `{name}` was told the sizes {:?}, but has {sizes:?}",
                told.sizes
            ));
        }
        let fresh = Self::fresh(&spec, &told).map_err(|error| error.to_string())?;
        let [expected, found] = [&fresh, &policy].map(|policy| {
            let mut settings = Vec::new();
            collect_settings(&serde_json::to_value(policy).unwrap_or_default(), &mut settings);
            settings
        });
        if let Some(((key, expected), (_, found))) =
            expected.iter().zip(&found).find(|(one, other)| one != other)
        {
            return Err(format!(
                "the state of the saved policy `{name}` has {key} = {found}, expected {expected}"
            ));
        }
        Ok(Self { spec, told, policy })
    }
}

/// What saved states call settings, which do not change while a policy plays: its parameters, and what it was told.
const SETTINGS: [&str; 22] = [
    "alpha",
    "batch_size",
    "bounds",
    "clipped",
    "delta",
    "epsilon",
    "examination",
    "gamma",
    "head_start",
    "horizon",
    "lead_every",
    "n_best",
    "n_positions",
    "places",
    "position",
    "radius",
    "rate",
    "scale",
    "settings",
    "shape",
    "unseen",
    "zeta",
];

/// The settings in a saved state, in its order.
fn collect_settings(state: &Value, settings: &mut Vec<(String, Value)>) {
    for (key, value) in state.as_object().into_iter().flatten() {
        if SETTINGS.contains(&key.as_str()) {
            settings.push((key.clone(), value.clone()));
        } else {
            collect_settings(value, settings);
        }
    }
}

fn check_format(format: &impl Display) -> Result<(), String> {
    let format = format.to_string();
    if format == FORMAT.to_string() {
        return Ok(());
    }
    Err(format!("a saved policy of format {format}: expected {FORMAT}"))
}

/// The state of a policy, if it is one of the protocol's.
fn restored<'de, I: Catalogued, D: Deserializer<'de>>(
    spec: &PolicySpec,
    state: D,
) -> Result<Result<I::Chosen, D::Error>, String> {
    let (name, users) = (spec.name(), I::PROTOCOL);
    let none = || format!("the saved policy `{name}` cannot read the answers of {users} users");
    I::restored(spec, state).ok_or_else(none)
}

/// Reads what programs write.
struct Compact<I>(PhantomData<fn() -> I>);

/// Reads the state of a policy that is known by now.
struct State<'a, I>(&'a PolicySpec, PhantomData<fn() -> I>);

impl<'de, I: Catalogued> Visitor<'de> for Compact<I> {
    type Value = Chosen<I>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "a saved policy: format, policy, what it was told, state")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut saved: A) -> Result<Chosen<I>, A::Error> {
        let short = || de::Error::custom("a saved policy that ends too early");
        let format: u32 = saved.next_element()?.ok_or_else(short)?;
        check_format(&format).map_err(de::Error::custom)?;
        let spec: String = saved.next_element()?.ok_or_else(short)?;
        let spec: PolicySpec = spec.parse().map_err(de::Error::custom)?;
        let told: Knowledge = saved.next_element()?.ok_or_else(short)?;
        let policy = saved.next_element_seed(State::<I>(&spec, PhantomData))?.ok_or_else(short)?;
        Chosen::assemble(spec, told, policy).map_err(de::Error::custom)
    }
}

impl<'de, I: Catalogued> DeserializeSeed<'de> for State<'_, I> {
    type Value = I::Chosen;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<I::Chosen, D::Error> {
        restored::<I, D>(self.0, deserializer).map_err(de::Error::custom)?
    }
}
