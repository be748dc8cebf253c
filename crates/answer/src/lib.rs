#![doc = include_str!("../README.md")]

mod gain;
mod lists;
mod users;
mod words;

pub use users::FittedUsers;

use click_logs::Id;
use click_logs::fit::Options;
use click_logs::study::Study;
use contenders::Entrant;
use experiment::models::Evidence;
use experiment::toml_reader::Error as FileError;
use experiment::{
    BuildError, Experiment, Instances, JournalError, Observer, PosteriorFile, RunError, Runner, logged_lists,
};
use gain::Gains;
use lists::LoggedQueries;
use policies::PolicySpec;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The file with the parameters of a fit, which the experiment of an answer names.
pub const PARAMETERS: &str = "parameters.json";
/// The file with the parameters of the answer's queries, if [`PARAMETERS`] has none of queries.
pub const DECISION_PARAMETERS: &str = "decision.json";
/// The file with today's lists, which the experiment of an answer names.
pub const LOGGED: &str = "logged.csv";
/// The lists of a run, after which gains are stated.
pub const HORIZON: u64 = 10_000;
/// Runs on each query.
const RUNS: u64 = 40;
/// Draws from the posterior distribution of each query's users.
const DRAWS: usize = 1_000;
/// The label of today's ranking.
const TODAY: &str = "logged";

/// A mean, and an interval that contains the value with a probability of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Mean.
    pub mean: f64,
    /// Lower end, the 2.5 % quantile.
    pub lower: f64,
    /// Upper end, the 97.5 % quantile.
    pub upper: f64,
}

impl Interval {
    /// The interval of draws of a value.
    fn of_draws(draws: &[f64]) -> Self {
        let mut sorted = draws.to_vec();
        sorted.sort_by(f64::total_cmp);
        let [lower, upper] = [0.025, 0.975].map(|probability| sim::quantile(&sorted, probability));
        Self { mean: draws.iter().sum::<f64>() / draws.len() as f64, lower, upper }
    }

    /// Whether the interval contains a value, or misses it by less than one twentieth.
    fn is_near(self, value: f64) -> bool {
        let allowed = 0.05 * value.abs();
        (self.lower - allowed..=self.upper + allowed).contains(&value)
    }

    /// Whether the interval contains 0.
    pub fn cannot_tell(self) -> bool {
        self.lower <= 0.0 && self.upper >= 0.0
    }
}

/// The loss of today's lists and the gain of others, in expected clicks per 1,000 lists.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// Share of these lists among all lists of the answer.
    pub share: f64,
    /// Clicks of today's lists.
    pub today: Interval,
    /// Observed clicks.
    pub observed: f64,
    /// Loss of today's lists against the best ones, which nobody knows.
    pub loss: Interval,
    /// Gain of the fit's best lists over today's.
    pub fitted: Interval,
    /// Gain of the best lists among those that are better than today's with a probability of 95 %;
    /// today's lists stay where there are none.
    pub sure: Interval,
    /// Gain of the policy after [`HORIZON`] lists, in clicks.
    pub gained: Interval,
    /// Number of lists after which the policy has passed today's lists for good, in the median run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// Share of the runs in which the policy passes today's lists within [`HORIZON`] lists.
    pub share_passed: f64,
}

/// A query's part of the answer.
#[derive(Debug, Clone, Serialize)]
pub struct QueryFinding {
    /// Name of the query.
    pub query: String,
    /// Lists in the log.
    pub lists: u64,
    /// Items of the best list that is surely better than today's; `None` if none was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sure_list: Option<Vec<String>>,
    /// Losses and gains.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The model of the users, then the models that are not told apart from it.
    pub models: Vec<&'static str>,
    /// The policy that plays against today's lists: the one with the least regret.
    pub policy: String,
    /// Lists of the log.
    pub lists_of_log: u64,
    /// Lists that the answer is about.
    pub lists: u64,
    /// Lists of its queries that are left out: shorter than others of their query, or with an item
    /// that is not fitted or shown twice.
    pub left_out: u64,
    /// All queries together, each with its share of the lists.
    pub all: Finding,
    /// Query by query, in the order of the fit.
    pub queries: Vec<QueryFinding>,
}

/// The settings of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// Number of queries, those with the most lists.
    pub n_queries: usize,
    /// Seed of the users and of the policies.
    pub seed: u64,
    /// Number of threads, by default one per core; the answer does not depend on it.
    pub threads: Option<usize>,
    /// Gets the progress of the simulation.
    pub observer: &'a dyn Observer,
    /// Stops the simulation when it is set.
    pub stop: Option<&'a AtomicBool>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The parameters of the queries cannot be written.
    #[error("writing the parameters")]
    Parameters(#[from] serde_json::Error),
    /// The parameters cannot be read, or lack a query.
    #[error("{0}")]
    Posterior(String),
    /// The users cannot be drawn.
    #[error("drawing users")]
    Users(#[source] FileError),
    /// Today's lists cannot be shown to the users.
    #[error("the log's lists")]
    Lists(#[source] FileError),
    /// The experiment is invalid.
    #[error("building the experiment")]
    Experiment(#[from] BuildError),
    /// The experiment failed, or was stopped.
    #[error("simulating the decision")]
    Run(#[from] RunError),
    /// The runs cannot be read.
    #[error(transparent)]
    Runs(#[from] JournalError),
    /// Today's ranking has no runs.
    #[error("today's ranking has no runs")]
    NoRuns,
    /// A query has no users.
    #[error("a query without users")]
    NoUsers,
}

/// An answer, with the files of the experiment that it was made from.
#[derive(Debug)]
pub struct Decision {
    /// The answer.
    pub answer: Answer,
    /// Content of [`LOGGED`].
    pub logged: Vec<u8>,
    /// Content of `decision.toml`: the experiment.
    pub spec: String,
    /// Content of [`DECISION_PARAMETERS`]; `None` if [`PARAMETERS`] has the parameters of queries.
    pub parameters: Option<Vec<u8>>,
}

impl Decision {
    /// Simulates the decision between today's ranking and policies; `None` if the log has no whole
    /// lists of the fitted queries, or no fitted model can be simulated. `parameters` is the
    /// content of [`PARAMETERS`]; without it, [`DECISION_PARAMETERS`] is made.
    ///
    /// # Errors
    ///
    /// The simulation was stopped. Others do not occur for valid fits.
    pub fn new(
        study: &Study,
        options: &Options,
        parameters: Option<&[u8]>,
        settings: &Settings<'_>,
    ) -> Result<Option<Self>, Error> {
        let mut models = FittedUsers::for_answer(study).into_iter().filter_map(|users| {
            Some((users, LoggedQueries::new(users.fit(), &study.log, settings.n_queries)?))
        });
        let Some((users, logged)) = models.next() else { return Ok(None) };
        // The draws of all models are put together query by query.
        let others: Vec<(FittedUsers<'_>, LoggedQueries)> =
            models.filter(|(_, other)| other.names == logged.names).collect();
        let (file, content) = match parameters {
            Some(parameters) => (PARAMETERS, Cow::Borrowed(parameters)),
            None => (DECISION_PARAMETERS, Cow::Owned(parameters_of(study, options, &logged.names)?)),
        };
        let posterior = Posterior { file, content: &content };
        let experiment = decision(settings.seed, users, &logged, posterior, users.contenders())?;
        let mut runner = Runner::new(&experiment).observer(settings.observer);
        if let Some(threads) = settings.threads {
            runner = runner.threads(threads);
        }
        if let Some(stop) = settings.stop {
            runner = runner.stop_when(stop);
        }
        let measured = runner.run()?;
        let mut evidence = experiment.evidence(DRAWS);
        for (users, logged) in &others {
            let other = decision(settings.seed, *users, logged, posterior, Vec::new())?.evidence(DRAWS);
            for (pooled, other) in evidence.iter_mut().zip(&other) {
                pooled.today.extend(&other.today);
                pooled.best.extend(&other.best);
                // The other model's list may differ, but it must also have one that is surely
                // better.
                pooled.sure = pooled.sure.take().filter(|_| other.sure.is_some());
            }
        }
        let gains = Gains::new(&measured, TODAY)?.ok_or(Error::NoRuns)?;
        let names = std::iter::once(users).chain(others.iter().map(|(users, _)| *users));
        let answer = Answer::new(names.map(FittedUsers::model).collect(), &logged, &evidence, &gains);
        let parameters = parameters.is_none().then(|| content.into_owned());
        Ok(Some(Self { answer, logged: logged.csv.into_bytes(), spec: experiment.to_toml(), parameters }))
    }
}

/// The file with the fits of the answer's queries, and its content.
#[derive(Clone, Copy)]
struct Posterior<'a> {
    file: &'static str,
    content: &'a [u8],
}

/// The fits of the queries with these names, as a file of parameters.
fn parameters_of(study: &Study, options: &Options, names: &[String]) -> Result<Vec<u8>, Error> {
    let queries: BTreeSet<Id> = names.iter().filter_map(|name| study.log.counts.names().find(name)).collect();
    let mut json = Vec::new();
    study.write_parameters(options, &|query| queries.contains(&query), &mut json)?;
    Ok(json)
}

/// Policies and today's lists on users drawn from the posterior distribution of a fit.
fn decision(
    seed: u64,
    users: FittedUsers<'_>,
    logged: &LoggedQueries,
    Posterior { file, content }: Posterior<'_>,
    policies: Vec<Entrant>,
) -> Result<Experiment, Error> {
    let posterior = PosteriorFile::from_json(file, content.to_vec(), Some(users.model()))
        .map_err(|error| Error::Posterior(error.to_string()))?;
    let posterior = posterior.with_queries(&logged.names).map_err(Error::Posterior)?;
    let instances = Instances::uncertain(posterior).map_err(Error::Users)?;
    let lists = logged_lists(LOGGED, logged.csv.as_bytes(), &instances).map_err(Error::Lists)?;
    let today = Entrant { lists: Some(Arc::new(lists)), ..Entrant::new(TODAY, PolicySpec::Logged {}) };
    let builder =
        Experiment::builder("decision", instances).horizon(HORIZON).runs_per_instance(RUNS).seed(seed);
    let builder = policies.into_iter().fold(builder, experiment::Builder::entrant);
    Ok(builder.entrant(today).build()?)
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
    fn new(evidence: &Evidence) -> Self {
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
        let draws: Vec<Draws> = evidence.iter().map(Draws::new).collect();
        let finding = |share: f64, draws: &Draws, observed: f64, gained: &gain::Gained| Finding {
            share,
            today: Interval::of_draws(&draws.today),
            observed,
            loss: Interval::of_draws(&draws.loss),
            fitted: Interval::of_draws(&draws.fitted),
            sure: Interval::of_draws(&draws.sure),
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
        let all = |value: fn(&Draws) -> &[f64]| together(shares.iter().copied().zip(draws.iter().map(value)));
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
