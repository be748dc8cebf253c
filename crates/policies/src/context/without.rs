use super::{Coefficients, HybridPrior, NamedArray, SelectFor, UpdateFor};
use crate::{Decision, Error, Select, Setup, Update};
use click_models::Context;
use rand::Rng;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A policy for users who differ as one for users of whom it is told nothing.
///
/// # Examples
///
/// ```
/// use click_models::{ContextKnown, ListShape, Ranking};
/// use policies::{Decision, HybridSettings, HybridTs, Select, WithoutContext};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let known = ContextKnown::new(5, &[])?;
/// let policy = HybridTs::new(ListShape::new(5, 2)?, known, HybridSettings::default())?;
/// let mut decision = Decision::<Ranking>::default();
/// WithoutContext::new(policy).select(&mut ChaCha8Rng::seed_from_u64(1), &mut decision);
/// assert_eq!(decision.action.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct WithoutContext<P, A> {
    /// The policy.
    #[field]
    policy: P,
    nobody: Context,
    /// The decision whose feedback is read, with the note that says that nothing was told.
    decision: Decision<A, Context>,
}

impl<P: SelectFor<A, Note = Context>, A: Default> WithoutContext<P, A> {
    /// This policy, told nothing from now on.
    pub fn new(policy: P) -> Self {
        Self { policy, nobody: Context::default(), decision: Decision::default() }
    }
}

impl<P: SelectFor<A, Note = Context> + Setup, A: Default> Setup for WithoutContext<P, A> {
    const SETTINGS: &'static [&'static str] = P::SETTINGS;

    fn sizes(&self) -> [usize; 2] {
        self.policy.sizes()
    }
}

impl<P: Coefficients, A> Coefficients for WithoutContext<P, A> {
    fn posterior(&self) -> Vec<NamedArray> {
        self.policy.posterior()
    }

    fn scores(&mut self, context: &Context) -> Vec<NamedArray> {
        self.policy.scores(context)
    }

    fn learned(&self) -> Option<HybridPrior> {
        self.policy.learned()
    }

    fn begin_with(&mut self, prior: &HybridPrior) -> Result<(), Error> {
        self.policy.begin_with(prior)
    }
}

/// Saved as the policy itself.
impl<P: Serialize, A> Serialize for WithoutContext<P, A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.policy.serialize(serializer)
    }
}

impl<'de, P, A> Deserialize<'de> for WithoutContext<P, A>
where
    P: SelectFor<A, Note = Context> + Deserialize<'de>,
    A: Default,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        P::deserialize(deserializer).map(Self::new)
    }
}

impl<A: Clone, P: SelectFor<A, Note = Context>> Select<A> for WithoutContext<P, A> {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<A>) {
        self.policy.select_for(&self.nobody, rng, &mut self.decision);
        out.action.clone_from(&self.decision.action);
    }

    fn repeat_round(&mut self) -> bool {
        self.policy.repeat_round_for()
    }
}

impl<A: Clone, F, P: UpdateFor<A, F, Note = Context>> Update<A, F> for WithoutContext<P, A> {
    fn update(&mut self, decision: &Decision<A>, feedback: &F) {
        self.decision.action.clone_from(&decision.action);
        self.policy.update_for(&self.decision, feedback);
    }
}
