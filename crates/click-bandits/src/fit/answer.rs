//! The answer to what an engineer with a log asks: what does today's ranking lose, what gains a policy, from when on, and how sure is that?
//!
//! It is about the queries with the most lists. Their users are drawn from the posterior distribution of the fit, today's lists are the
//! log's, and both play against each other in `decision.toml`, an experiment that `simulate` can run again. All values are in expected
//! clicks.

mod gain;
mod lists;
mod page;
mod words;

use self::gain::Gains;
use self::lists::{LoggedQueries, logged_queries};
use super::arguments::Arguments;
use super::simulation::Simulable;
use super::{DECISION_PARAMETERS, LOGGED, PARAMETERS_JSON};
use crate::progress::RunCounter;
use anyhow::{Context as _, Result};
use click_logs::Id;
use click_logs::fit::Options;
use click_logs::study::Study;
use contenders::Entrant;
use experiment::models::Evidence;
use experiment::{Experiment, Instances, PosteriorFile, Runner, logged_lists};
use policies::PolicySpec;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rounds of a run: the lists after which a gain is stated.
const HORIZON: u64 = 10_000;
/// Runs on each query.
const RUNS: u64 = 40;
/// Draws from the posterior distribution of each query's users.
const DRAWS: usize = 1_000;
/// The label of today's ranking.
const TODAY: &str = "logged";

/// A mean with an interval that has the value with a probability of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Interval {
    pub(super) mean: f64,
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl Interval {
    /// Of draws of a value.
    pub(super) fn of(draws: &[f64]) -> Self {
        let mut sorted = draws.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |probability| sim::quantile(&sorted, probability);
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        Self { mean, lower: at(0.025), upper: at(0.975) }
    }

    /// Whether it has a value inside, or misses it by less than one twentieth.
    pub(super) fn is_near(self, value: f64) -> bool {
        let allowed = 0.05 * value.abs();
        (self.lower - allowed..=self.upper + allowed).contains(&value)
    }

    /// Whether it has 0 inside.
    pub(super) fn cannot_tell(self) -> bool {
        self.lower <= 0.0 && self.upper >= 0.0
    }
}

/// What the posterior distribution says of lists, in clicks per 1,000 lists; and what a policy gains.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Finding {
    /// Share of these lists among all lists of the answer.
    pub(super) share: f64,
    /// Expected clicks of today's lists.
    pub(super) today: Interval,
    /// Clicks that were observed.
    pub(super) observed: f64,
    /// What today's lists lose against the best ones, which nobody knows.
    pub(super) loss: Interval,
    /// What the fit's best lists gain over today's.
    pub(super) fitted: Interval,
    /// What the best lists gain that are better than today's with a probability of 95 %. Today's lists stay where there is none.
    pub(super) sure: Interval,
    /// What the policy gains after 10,000 lists, in clicks.
    pub(super) gained: Interval,
    /// The number of lists after which the policy has passed today's lists for good, in the middle one of the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) passed: Option<u64>,
    /// The share of the runs in which it passes them within 10,000 lists.
    pub(super) share_passed: f64,
}

/// A query's part of the answer.
#[derive(Debug, Clone, Serialize)]
pub(super) struct QueryFinding {
    pub(super) query: String,
    /// Lists in the log.
    pub(super) lists: u64,
    /// The items of the best list that is surely better than today's; `None` if none was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sure_list: Option<Vec<String>>,
    #[serde(flatten)]
    pub(super) finding: Finding,
}

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Answer {
    /// The model of the users, and those that predict the log as well.
    pub(super) models: Vec<&'static str>,
    /// The policy that is compared with today's lists: the one with the least regret.
    pub(super) policy: String,
    /// Lists of the log, and those that the answer is about.
    pub(super) lists_of_log: u64,
    pub(super) lists: u64,
    /// Lists of its queries that are left out: shorter than others of their query, or with an item that is not fitted or shown twice.
    pub(super) left_out: u64,
    /// All queries together, each with its share of the lists.
    pub(super) all: Finding,
    pub(super) queries: Vec<QueryFinding>,
}

/// The answer with the files that it was made from.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) answer: Answer,
    /// `logged.csv`.
    pub(super) logged: Vec<u8>,
    /// `decision.toml`.
    pub(super) spec: String,
    /// `decision.json`: the parameters of the answer's queries; `None` if `parameters.json` has them.
    pub(super) parameters: Option<Vec<u8>>,
}

impl Decision {
    /// Makes the answer; `None` if the log has no lists of the fitted queries. `parameters` is the content of `parameters.json`;
    /// `None` if it has no queries.
    ///
    /// # Errors
    ///
    /// Never for valid fits.
    pub(super) fn new(
        arguments: &Arguments,
        models: &[Simulable<'_>],
        study: &Study,
        options: &Options,
        parameters: Option<&[u8]>,
    ) -> Result<Option<Self>> {
        let whole = &study.whole;
        let n_queries = usize::from(arguments.answer);
        let mut models: Vec<(Simulable<'_>, LoggedQueries)> = models
            .iter()
            .filter_map(|&model| Some((model, logged_queries(model.fit(), whole, n_queries)?)))
            .collect();
        if models.is_empty() {
            return Ok(None);
        }
        let (simulable, logged) = models.remove(0);
        // The draws of all models are put together query by query.
        models.retain(|(_, its)| its.names == logged.names);
        let (file, content) = match parameters {
            Some(parameters) => (PARAMETERS_JSON, Cow::Borrowed(parameters)),
            None => (DECISION_PARAMETERS, Cow::Owned(of_queries(study, options, &logged.names)?)),
        };
        let posterior = Posterior { file, content: &content };
        let experiment = decision(arguments, simulable, &logged, posterior, simulable.contenders())?;
        let progress = RunCounter::new(&experiment, arguments.quiet);
        let mut runner = Runner::new(&experiment).observer(&progress);
        if let Some(threads) = arguments.threads {
            runner = runner.threads(threads.into());
        }
        let measured = runner.run().context("simulating the decision")?;
        drop(progress);
        let mut evidence = experiment.evidence(DRAWS);
        for (other, its) in &models {
            let found = decision(arguments, *other, its, posterior, Vec::new())?.evidence(DRAWS);
            for (of, other) in evidence.iter_mut().zip(&found) {
                of.today.extend(&other.today);
                of.best.extend(&other.best);
                // Its lists need not be those of this model, but it has to have one that is surely better, too.
                of.sure = of.sure.take().filter(|_| other.sure.is_some());
            }
        }
        let gains = Gains::new(&measured, TODAY)?.context("today's ranking has no runs")?;
        let names: Vec<&'static str> =
            std::iter::once(simulable.model()).chain(models.iter().map(|(model, _)| model.model())).collect();
        let answer = Answer::new(names, &logged, &evidence, &gains);
        let parameters = parameters.is_none().then(|| content.into_owned());
        Ok(Some(Self { answer, logged: logged.csv.into_bytes(), spec: experiment.to_toml(), parameters }))
    }

    /// `answer.json`.
    ///
    /// # Errors
    ///
    /// Never, since it has only numbers and text.
    pub(super) fn to_json(&self) -> Result<Vec<u8>> {
        super::records::to_json(&self.answer)
    }
}

/// The file with the fits of the answer's queries, and its content.
#[derive(Clone, Copy)]
struct Posterior<'a> {
    file: &'static str,
    content: &'a [u8],
}

/// The fits of the queries with these names, as a file of parameters.
fn of_queries(study: &Study, options: &Options, names: &[String]) -> Result<Vec<u8>> {
    let found = |name: &String| study.whole.counts.names().find(name);
    let queries: BTreeSet<Id> = names.iter().filter_map(found).collect();
    let mut json = Vec::new();
    study.write_parameters(options, &|query| queries.contains(&query), &mut json)?;
    Ok(json)
}

/// Policies and today's lists on users drawn from the posterior distribution of a fit.
fn decision(
    arguments: &Arguments,
    simulable: Simulable<'_>,
    logged: &LoggedQueries,
    posterior: Posterior<'_>,
    policies: Vec<Entrant>,
) -> Result<Experiment> {
    let Posterior { file, content } = posterior;
    let posterior = PosteriorFile::from_json(file, content.to_vec(), Some(simulable.model()))?;
    let posterior = posterior.with_queries(&logged.names).map_err(anyhow::Error::msg)?;
    let instances = Instances::uncertain(posterior).context("drawing users")?;
    let lists = logged_lists(LOGGED, logged.csv.as_bytes(), &instances).context("the log's lists")?;
    let today = Entrant { lists: Some(Arc::new(lists)), ..Entrant::new(TODAY, PolicySpec::Logged {}) };
    let builder = Experiment::builder("decision", instances)
        .horizon(HORIZON)
        .runs_per_instance(RUNS)
        .seed(arguments.seed);
    let builder = policies.into_iter().fold(builder, experiment::Builder::entrant);
    builder.entrant(today).build().context("building the decision")
}

/// Draws of a difference, for 1,000 lists.
fn difference(more: &[f64], less: &[f64]) -> Vec<f64> {
    more.iter().zip(less).map(|(more, less)| 1000.0 * (more - less)).collect()
}

/// Draws of several queries together: each with its share.
fn together<'a>(draws: impl Iterator<Item = (f64, &'a [f64])>) -> Vec<f64> {
    let mut sum: Vec<f64> = Vec::new();
    for (share, draws) in draws {
        sum.resize(draws.len().max(sum.len()), 0.0);
        sum.iter_mut().zip(draws).for_each(|(sum, draw)| *sum += share * draw);
    }
    sum
}

/// Draws of what matters, of one query or of all.
struct Draws {
    today: Vec<f64>,
    loss: Vec<f64>,
    fitted: Vec<f64>,
    sure: Vec<f64>,
}

impl Draws {
    fn of(evidence: &Evidence) -> Self {
        let today = &evidence.today;
        // Those of the first model, if several are pooled.
        let of_first = &today[..evidence.fitted.len()];
        let sure = evidence.sure.as_ref().map_or(of_first, |(_, values)| values);
        Self {
            today: today.iter().map(|value| 1000.0 * value).collect(),
            loss: difference(&evidence.best, today),
            fitted: difference(&evidence.fitted, of_first),
            sure: difference(sure, of_first),
        }
    }
}

impl Answer {
    fn new(models: Vec<&'static str>, logged: &LoggedQueries, evidence: &[Evidence], gains: &Gains) -> Self {
        let total: u64 = logged.lists.iter().sum();
        let shares: Vec<f64> = logged.lists.iter().map(|&lists| lists as f64 / total as f64).collect();
        let draws: Vec<Draws> = evidence.iter().map(Draws::of).collect();
        let finding = |share: f64, draws: &Draws, observed: f64, gained: &gain::Gained| Finding {
            share,
            today: Interval::of(&draws.today),
            observed,
            loss: Interval::of(&draws.loss),
            fitted: Interval::of(&draws.fitted),
            sure: Interval::of(&draws.sure),
            gained: gained.at_the_end,
            passed: gained.passed,
            share_passed: gained.share_passed,
        };
        let queries: Vec<QueryFinding> = (0..evidence.len())
            .map(|query| QueryFinding {
                query: logged.names[query].clone(),
                lists: logged.lists[query],
                sure_list: evidence[query].sure.as_ref().map(|(list, _)| logged.items(query, list)),
                finding: finding(
                    shares[query],
                    &draws[query],
                    1000.0 * logged.clicks[query] as f64 / logged.lists[query] as f64,
                    &gains.of_query(query),
                ),
            })
            .collect();
        let all = |of: fn(&Draws) -> &[f64]| together(shares.iter().copied().zip(draws.iter().map(of)));
        let draws_of_all = Draws {
            today: all(|draws| &draws.today),
            loss: all(|draws| &draws.loss),
            fitted: all(|draws| &draws.fitted),
            sure: all(|draws| &draws.sure),
        };
        let observed = 1000.0 * logged.clicks.iter().sum::<u64>() as f64 / total as f64;
        Self {
            models,
            policy: gains.policy().to_owned(),
            lists_of_log: logged.lists_of_log,
            lists: total,
            left_out: logged.left_out,
            all: finding(1.0, &draws_of_all, observed, &gains.of_all(&shares)),
            queries,
        }
    }
}
