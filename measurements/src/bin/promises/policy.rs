//! The gain of a policy on the true users, and after how many lists it has passed today's ranking.

use crate::Error;
use crate::log::{Query, Span, ranking};
use click_models::{Cascade, ClicksOnly, Dcm, ListProtocol, ListShape, Pbm, PbmKnown, Ranking};
use confidence::Probability;
use policies::catalogue::{CatalogueProtocol, NamedPolicy, Note};
use policies::{Decision, PolicySpec, PrefixKnown, Select as _, Update as _};
use sim::{SimRng, Streams};

/// Runs of a policy on each query.
const RUNS: u64 = 40;

/// A query's part in the runs of a policy.
pub(crate) struct Part<'a> {
    pub query: &'a Query,
    /// Its share of all lists.
    pub share: f64,
    /// The examination that a position-based policy knows.
    pub examination: &'a [f64],
}

/// A policy over its runs.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(crate) struct PolicyTruth {
    /// Mean gain over today's lists, in expected clicks per 1,000 lists.
    pub gain: f64,
    /// Lists after which today's ranking is passed for good, in the median run; `None` beyond the
    /// horizon.
    pub passed: Option<u64>,
}

impl PolicyTruth {
    /// Runs of `horizon` lists of all queries together.
    pub(crate) fn new(
        policy: &str,
        parts: &[Part<'_>],
        span: Span,
        horizon: u64,
        seed: u64,
    ) -> Result<Self, Error> {
        let next = |&checkpoint: &u64| {
            (checkpoint < horizon).then(|| horizon.min(checkpoint + (checkpoint / 10).max(1)))
        };
        let checkpoints: Vec<u64> = std::iter::successors(Some(1), next).collect();
        let (mut total, mut passed) = (0.0, Vec::new());
        for run in 0..RUNS {
            let mut gains = vec![0.0; checkpoints.len()];
            for (number, part) in parts.iter().enumerate() {
                let rng = &mut Streams::new(seed).subset(number as u64 + 1, run);
                part.add_gains(policy, span, &checkpoints, rng, &mut gains)?;
            }
            total += gains.last().copied().unwrap_or(0.0);
            let behind = gains.iter().rposition(|&gain| gain <= 0.0);
            passed.push(checkpoints.get(behind.map_or(0, |at| at + 1)).copied().unwrap_or(u64::MAX));
        }
        passed.sort_unstable();
        let median = passed[passed.len() / 2];
        Ok(Self {
            gain: 1000.0 * total / (RUNS * horizon) as f64,
            passed: (median <= horizon).then_some(median),
        })
    }
}

impl Part<'_> {
    /// Adds the gain on this query after each checkpoint of all queries.
    fn add_gains(
        &self,
        name: &str,
        span: Span,
        checkpoints: &[u64],
        rng: &mut SimRng,
        gains: &mut [f64],
    ) -> Result<(), Error> {
        let spec: PolicySpec = name.parse()?;
        let horizon = checkpoints.last().copied();
        let shape = ListShape::new(self.query.items().len(), crate::users::POSITIONS)?;
        let prefix = PrefixKnown::from(shape);
        match name.split('-').next() {
            Some("pbm") => {
                let examination: Vec<Probability> =
                    self.examination.iter().map(|&p| Probability::new(p)).collect::<Result<_, _>>()?;
                let known = PbmKnown::new(shape, &examination)?;
                self.play(NamedPolicy::<Pbm>::build(spec, known, horizon)?, span, checkpoints, rng, gains);
            }
            Some("dcm") => {
                self.play(NamedPolicy::<Dcm>::build(spec, prefix, horizon)?, span, checkpoints, rng, gains);
            }
            Some("cascade") => {
                let policy = NamedPolicy::<Cascade>::build(spec, prefix, horizon)?;
                self.play(policy, span, checkpoints, rng, gains);
            }
            _ => {
                let policy = NamedPolicy::<ClicksOnly>::build(spec, shape, horizon)?;
                self.play(policy, span, checkpoints, rng, gains);
            }
        }
        Ok(())
    }

    fn play<I: CatalogueProtocol + ListProtocol>(
        &self,
        mut policy: NamedPolicy<I>,
        span: Span,
        checkpoints: &[u64],
        rng: &mut SimRng,
        gains: &mut [f64],
    ) {
        let (today, items) = (self.query.today(span), self.query.items());
        let mut decision = Decision::<Ranking, Note>::default();
        let (mut lists, mut gain) = (0_u32, 0.0);
        for (gained, &checkpoint) in gains.iter_mut().zip(checkpoints) {
            while f64::from(lists) + 0.5 < checkpoint as f64 * self.share {
                policy.select(rng, &mut decision);
                let list: Vec<usize> = decision.action.iter().map(|item| items[item.index()]).collect();
                let list = ranking(&list);
                let clicks = self.query.clicks_on(&list, span, rng);
                gain += self.query.expects(&list, span) - today;
                policy.update(&decision, &I::read(clicks, decision.action.len()));
                lists += 1;
            }
            *gained += gain;
        }
    }
}
