//! Makes an answer: draws users, values lists, and plays policies.
//!
//! All sentences of an answer are about the same users. They are drawn from the fits of two halves
//! of the log, in turn, and for every model that is not told apart from the chosen one.
//!
//! A list that is chosen and valued on the same sessions looks better than it is. So half of the
//! draws value the list that is best in the half of the log that their users are not from, both
//! ways. That is too little for the recommended list, which both halves choose; the other draws
//! value that one. The best list for drawn users also looks better than any list is: it bounds the
//! loss from above, and what the recommended list gains from below.

use crate::gain::{Gains, OfDraws};
use crate::lists::{LoggedQueries, LoggedQuery};
use crate::strata::{self, Strata};
use crate::today::{self, Today};
use crate::users::FittedUsers;
use crate::without;
use crate::{
    Answer, Finding, HALVES, Interval, LOGGED, QueryFinding, Recommendation, TransferSlope, VERSION,
};
use click_logs::fit::{self, Deviation, Fit, FitError, Model, Options, Verdict};
use click_logs::parameters;
use click_logs::study::{Checks, FilteredLog, ListsAlone, ONLY_CLICKED, Repeats, Study};
use click_models::Ranking;
use contenders::Entrant;
use documents::InputFile;
use documents::toml_reader::Error as FileError;
use experiment::{JournalError, Observer, RunError, Runner};
use log_reader::{Id, Part};
use policies::PolicySpec;
use sim::Streams;
use spec::models::{Evidence, LogLists};
use spec::{BuildError, Experiment, Instances, PosteriorFile, Transfer, logged_lists};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs on each query, of all models together.
const RUNS: u64 = 40;
/// Draws of users, of all models together.
pub(crate) const DRAWS: usize = 400;
/// Queries with the most lists, on which policies are played.
const PLAYED: usize = 10;
/// A list is recommended if at most this share of users likes it less than today's, half better.
const RISK: f64 = 0.025;
/// The label of today's ranking.
const TODAY: &str = "logged";

/// The settings of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// Number of queries, drawn in proportion to their lists.
    pub n_queries: usize,
    /// Seed of the queries, the users and the policies.
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
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum Error {
    #[error("fitting a half of the log")]
    Fit(#[from] FitError),
    #[error("writing the parameters")]
    Parameters(#[from] serde_json::Error),
    /// The parameters cannot be read, or lack a query.
    #[error("{0}")]
    Posterior(String),
    #[error("drawing users")]
    Users(#[source] FileError),
    /// Today's lists cannot be shown to the users.
    #[error("the log's lists")]
    Lists(#[source] FileError),
    #[error("building the experiment")]
    Experiment(#[from] BuildError),
    /// The experiment failed, or was stopped.
    #[error("simulating the decision")]
    Run(#[from] RunError),
    #[error(transparent)]
    Runs(#[from] JournalError),
    #[error("today's ranking has no runs")]
    NoRuns,
    /// The log has too many sessions or files for its order to be known.
    #[error("the order of the sessions is not known")]
    NoOrder,
    /// No query has a second session, so the log has no two halves.
    #[error("no query has two lists")]
    OneHalf,
    #[error("a query without users")]
    NoUsers,
}

/// An answer, with the files of the experiment that it was made from.
#[derive(Debug)]
pub struct Decision {
    /// The answer.
    pub answer: Answer,
    /// Content of `decision.toml`: the experiment with the users of the first model.
    pub spec: String,
    /// The files that the experiment names, with their content.
    pub files: Vec<(&'static str, Vec<u8>)>,
}

impl Decision {
    /// Simulates the decision between today's ranking and policies. Without whole lists of the
    /// fitted queries in the log, clicks on them in both halves, or a fitted model that can be
    /// simulated, there is none: a clause says why.
    ///
    /// # Errors
    ///
    /// The simulation was stopped. Others do not occur for valid fits.
    pub fn new(
        study: &Study,
        checks: &Checks,
        options: &Options,
        settings: &Settings<'_>,
    ) -> Result<Result<Self, String>, Error> {
        if checks.only_clicked {
            return Ok(Err(ONLY_CLICKED.to_owned()));
        }
        let copies = Repeats::overdispersion(checks.repeats.as_ref());
        let deciding = SharedPart::of_study(study, (checks.lists_alone.as_ref(), copies), options, settings)?;
        let (mut deciding, users) = match deciding {
            Ok(deciding) => deciding,
            Err(why) => return Ok(Err(why)),
        };
        let mut decision = match deciding.decision(&users) {
            Err(Error::NoUsers) => {
                return Ok(Err(
                    "a half of the log has too few clicks for users to be drawn from it".to_owned()
                ));
            }
            decision => decision?,
        };
        decision.answer.without = without::all(study, checks, options, settings, &decision.answer)?;
        Ok(Ok(decision))
    }
}

/// The part that all models of an answer share.
pub(crate) struct SharedPart<'a> {
    study: &'a Study,
    lists_alone: Option<&'a ListsAlone>,
    settings: &'a Settings<'a>,
    queries: LoggedQueries,
    /// The shares of the log's last parts that may be today.
    parts: Vec<f64>,
    /// The fits of both halves, as files of parameters.
    halves: [Vec<u8>; 2],
    /// The variance of lists around the predictions of each model, beyond that of its draws.
    own_variances: Vec<f64>,
    /// The overdispersion of repeated sessions.
    copies: f64,
}

/// The shared part, with the users of each model; or a clause that says why there is no answer.
type Deciding<'a> = Result<(SharedPart<'a>, Vec<FittedUsers<'a>>), String>;

impl<'a> SharedPart<'a> {
    /// The users of a study, the supported ones first, and its queries. The test of the lists comes
    /// with the overdispersion of repeated sessions.
    pub(crate) fn of_study(
        study: &'a Study,
        (lists_alone, copies): (Option<&'a ListsAlone>, f64),
        options: &Options,
        settings: &'a Settings<'a>,
    ) -> Result<Deciding<'a>, Error> {
        let streams = Streams::new(settings.seed);
        let parts = match today::shares(study.today, &study.log.sessions) {
            Ok(parts) => parts,
            Err(why) => return Ok(Err(why)),
        };
        let mut models = match FittedUsers::for_answer(study) {
            Ok(models) => models,
            Err(why) => return Ok(Err(why)),
        };
        let transfers = study.transfer.as_ref();
        let verdict = |users: &FittedUsers<'_>| Some(transfers?.of(users.fit().model())?.verdict());
        keep_supported(&mut models, verdict);
        let mut models = models.into_iter();
        let first = models.find_map(|users| {
            let n = settings.n_queries;
            Some((users, LoggedQueries::new(users.fit(), &study.log, n, streams, &parts)?))
        });
        let Some((users, queries)) = first else {
            let why = if study.log.sessions.queries().next().is_some() {
                "every list of this log has an item at several places, or lacks a place: is `item` the right column?"
            } else if study.log.report.sessions > 0 {
                "lists are cut short, so it cannot tell what they lose: leave out `--positions`"
            } else {
                "this log has no whole lists in their order, so it cannot tell what they lose; if a column \
                 names the list or the visit of each line, `session=COLUMN` makes lists of them"
            };
            return Ok(Err(why.to_owned()));
        };
        if queries.queries.iter().all(|query| query.lists.clicks() == 0) {
            let why =
                "no list of the queries of an answer was clicked, so nothing tells how sure it would be";
            return Ok(Err(why.to_owned()));
        }
        let others = models.filter(|other| queries.are_those_of(other.fit(), &study.log));
        let users: Vec<FittedUsers<'_>> = std::iter::once(users).chain(others).collect();
        let (halves, own_variances) = fitted_halves(study, options, &users, &queries, copies)?;
        let deciding = Self { study, lists_alone, settings, queries, parts, halves, own_variances, copies };
        Ok(Ok((deciding, users)))
    }

    /// The evidence on all queries, and whether a gain may be promised. Chooses today.
    fn known(&mut self, users: &[FittedUsers<'_>]) -> Result<(Vec<Evidence>, bool), Error> {
        let all: Vec<usize> = (0..self.queries.queries.len()).collect();
        let evidence = self.evidence(users, &all, &|_| Vec::new())?;
        self.queries.today = today::chosen(self.study.today.is_some(), &evidence, &self.queries);
        let verdict =
            self.transfer(users[0].fit().model()).map_or(Verdict::CannotTest, fit::Transfer::verdict);
        Ok((evidence, verdict != Verdict::Contradicted && !is_alarm(verdict, self.lists_alone)))
    }

    /// The gain of the recommended lists, without policies; `None` if none is promised.
    pub(crate) fn gain(&mut self, users: &[FittedUsers<'_>]) -> Result<Option<Interval>, Error> {
        let (evidence, promises) = self.known(users)?;
        let draws = self.draws(&evidence, true);
        let gain = together(&draws, &self.drawn_shares(&draws), |draws| &draws.gain);
        Ok(promises.then(|| Interval::of_draws(&gain)))
    }

    fn draws(&self, evidence: &[Evidence], promises: bool) -> Vec<Draws> {
        let of_query = |(evidence, query): (&Evidence, &LoggedQuery)| {
            let is_apart = || query.keeps_apart(&evidence.recommended, &self.study.log);
            Draws::new(evidence, self.queries.today, promises, is_apart)
        };
        evidence.iter().zip(&self.queries.queries).map(of_query).collect()
    }

    fn drawn_shares(&self, draws: &[Draws]) -> Vec<Vec<f64>> {
        let n_draws = draws.iter().map(|draws| draws.today.len()).min().unwrap_or(0);
        let streams = Streams::new(self.settings.seed);
        (0..n_draws as u64).map(|draw| self.queries.drawn_shares(streams, draw)).collect()
    }

    fn decision(&mut self, users: &[FittedUsers<'_>]) -> Result<Decision, Error> {
        let (evidence, promises) = self.known(users)?;
        let models: Vec<TransferSlope> =
            users.iter().map(|users| self.transferred(users.fit().model())).collect();
        let largest = self.queries.largest(PLAYED);
        let spec = self.experiment(users[0], &largest, users[0].contenders())?;
        let gains = if promises { Some(self.gains(users, &largest, &spec)?) } else { None };
        let strata = if promises { self.strata(users, &evidence)? } else { Vec::new() };
        let answer = self.answer(users[0], models, strata, &evidence, &largest, gains.as_ref());
        let [first, second] = self.halves.clone();
        let files = vec![
            (HALVES[0], first),
            (HALVES[1], second),
            (LOGGED, self.queries.csv(largest.iter().copied())),
        ];
        Ok(Decision { answer, spec: spec.to_toml(), files })
    }

    /// The evidence on the lists of the queries at these places, of all models together; `others`
    /// are further lists of a query.
    fn evidence(
        &self,
        users: &[FittedUsers<'_>],
        places: &[usize],
        others: &dyn Fn(usize) -> Vec<Ranking>,
    ) -> Result<Vec<Evidence>, Error> {
        let mut evidence: Option<Vec<Evidence>> = None;
        for (model, own_variance) in users.iter().zip(&self.own_variances) {
            let experiment = self.experiment(*model, places, Vec::new())?;
            let lists = |(number, place): (usize, &usize)| {
                let lists = self.queries.queries[*place].in_log(*own_variance, self.copies);
                LogLists { others: others(number), ..lists }
            };
            let lists: Vec<LogLists> = places.iter().enumerate().map(lists).collect();
            let of_model = experiment.evidence(DRAWS.div_ceil(users.len()), &lists, evidence.as_deref());
            if of_model.len() < places.len() {
                return Err(Error::NoUsers);
            }
            match &mut evidence {
                None => evidence = Some(of_model),
                Some(pooled) => pooled.iter_mut().zip(of_model).for_each(|(pooled, other)| pooled.add(other)),
            }
        }
        evidence.ok_or(Error::NoUsers)
    }

    /// Whether one list for all strata of a query loses against a list for each.
    fn strata(&self, users: &[FittedUsers<'_>], evidence: &[Evidence]) -> Result<Vec<Strata>, Error> {
        let (queries, log) = (&self.queries.queries, &self.study.log);
        let n_columns = log.report.strata;
        let of_query = |(name, places): (String, Vec<usize>)| {
            let of_strata: Vec<&LoggedQuery> = places.iter().map(|&place| &queries[place]).collect();
            let known: Vec<&Evidence> = places.iter().map(|&place| &evidence[place]).collect();
            let lists = strata::candidates(&of_strata, &known);
            let others = |number: usize| lists.iter().map(|list| list[number].clone()).collect();
            let valued = self.evidence(users, &places, &others)?;
            let is_of = |id: Id| strata::without(&log.counts.names().name(id), n_columns) == Some(&*name);
            let in_log = log.sessions.queries().filter(|query| is_of(query.id())).count();
            Ok(Strata::new((name, in_log), places, &of_strata, &valued, &lists))
        };
        strata::grouped(queries, n_columns).into_iter().map(of_query).collect()
    }

    /// Policies and today's lists on the users of a model, for the queries at these places.
    fn experiment(
        &self,
        users: FittedUsers<'_>,
        places: &[usize],
        policies: Vec<Entrant>,
    ) -> Result<Experiment, Error> {
        let lists = InputFile::new(LOGGED, self.queries.csv(places.iter().copied()));
        let queries: Vec<&LoggedQuery> = places.iter().map(|&place| &self.queries.queries[place]).collect();
        let names: Vec<String> = queries.iter().map(|query| query.name.clone()).collect();
        let halves = HALVES.iter().zip(&self.halves).map(|(name, content)| (*name, content.clone()));
        let transfer = self.transfer(users.fit().model());
        let ids = self.study.log.counts.names();
        let deviation = |name: &String| {
            transfer.zip(ids.find(name)).map_or([0.0; 2], |(transfer, query)| {
                let Deviation { mean, standard_deviation, .. } = transfer.deviation(query);
                [mean, standard_deviation]
            })
        };
        let deviations: Vec<[f64; 2]> = names.iter().map(deviation).collect();
        let are_alike = deviations.iter().flatten().all(|number| *number == 0.0);
        let transfer = Transfer {
            estimate: transfer.and_then(|transfer| Some([transfer.slope?, transfer.standard_error?])),
            deviations: if are_alike { Vec::new() } else { deviations },
            lists: lists.clone(),
        };
        let posterior = PosteriorFile::from_parts(halves, Some(users.model()))
            .map_err(|error| Error::Posterior(error.to_string()))?
            .with_queries(&names)
            .map_err(Error::Posterior)?
            .with_transfer(transfer);
        let instances = Instances::uncertain(posterior).map_err(Error::Users)?;
        let lists = logged_lists(LOGGED, &lists.content, &instances).map_err(Error::Lists)?;
        let today = Entrant { lists: Some(Arc::new(lists)), ..Entrant::new(TODAY, PolicySpec::Logged {}) };
        let builder = Experiment::builder("decision", instances)
            .horizon(crate::HORIZON)
            .runs_per_instance(RUNS.div_ceil(self.own_variances.len() as u64))
            .seed(self.settings.seed);
        let builder = policies.into_iter().fold(builder, spec::Builder::entrant);
        Ok(builder.entrant(today).build()?)
    }

    /// The gains of the policy that regrets least with the users of the first model, with the users
    /// of all.
    fn gains(&self, users: &[FittedUsers<'_>], places: &[usize], first: &Experiment) -> Result<Gains, Error> {
        let mut gains = self.played(first)?;
        for model in &users[1..] {
            let same = users[0].contenders().into_iter().filter(|entrant| entrant.label == gains.policy());
            // Users of another model may not show what the policy needs.
            if let Ok(other) = self.experiment(*model, places, same.collect()) {
                gains.add(self.played(&other)?);
            }
        }
        Ok(gains)
    }

    fn played(&self, experiment: &Experiment) -> Result<Gains, Error> {
        let mut runner = Runner::new(experiment).observer(self.settings.observer);
        if let Some(threads) = self.settings.threads {
            runner = runner.threads(threads);
        }
        if let Some(stop) = self.settings.stop {
            runner = runner.stop_when(stop);
        }
        Gains::new(&runner.run()?, TODAY)?.ok_or(Error::NoRuns)
    }

    fn transfer(&self, model: Model) -> Option<&'a fit::Transfer> {
        self.study.transfer.as_ref()?.of(model)
    }

    fn today(&self) -> Today {
        let share = self.queries.today.checked_sub(1).map_or(1.0, |part| self.parts[part]);
        let queries = self.queries.queries.iter();
        let lists: Vec<Option<u64>> = queries.map(|query| query.lists_of(self.queries.today)).collect();
        Today::new(share, &lists, self.study.today.is_some(), &self.study.log.sessions)
    }

    fn transferred(&self, model: Model) -> TransferSlope {
        let (all, own) = (self.study.transfer.as_ref(), self.transfer(model));
        let slope = own.and_then(|own| {
            let ((lower, upper), mean) = own.interval().zip(own.slope)?;
            Some(Interval { mean, lower, upper })
        });
        TransferSlope {
            model: model.name(),
            slope,
            verdict: own.map_or(Verdict::CannotTest, fit::Transfer::verdict),
            needed: own.and_then(fit::Transfer::needed),
            queries: all.map_or(0, |all| all.queries as u64),
            lists: all.map_or(0, |all| all.lists as u64),
            sessions: all.map_or(0, |all| all.sessions),
        }
    }

    fn answer(
        &self,
        users: FittedUsers<'_>,
        models: Vec<TransferSlope>,
        strata: Vec<Strata>,
        evidence: &[Evidence],
        largest: &[usize],
        gains: Option<&Gains>,
    ) -> Answer {
        let queries = &self.queries;
        let (draws, shares) = (self.draws(evidence, gains.is_some()), queries.shares());
        let drawn_shares = self.drawn_shares(&draws);
        let together = |value: fn(&Draws) -> &[f64]| together(&draws, &drawn_shares, value);
        // The log's clicks are known for all queries. So the sample tells only how far those of
        // drawn users differ from them (a difference estimator; Särndal, Swensson, Wretman 1992).
        let [fitted_clicks, observed] = queries.clicks_of_all;
        let of_log: Vec<f64> = queries.queries.iter().map(LoggedQuery::observed).collect();
        let today = together(|draws| &draws.today).into_iter().zip(&drawn_shares).map(|(today, shares)| {
            let of_sample: f64 = shares.iter().zip(&of_log).map(|(share, clicks)| share * clicks).sum();
            (today + observed - of_sample).max(0.0)
        });
        let all = Draws {
            today: today.collect(),
            named_loss: together(|draws| &draws.named_loss),
            loss: together(|draws| &draws.loss),
            gain: together(|draws| &draws.gain),
            ..Draws::default()
        };
        let all = all.finding(observed);
        let lists_of = |place: &usize| queries.queries[*place].lists.count() as f64;
        let played_lists: f64 = largest.iter().map(lists_of).sum();
        let shares_of_played: Vec<f64> = largest.iter().map(|of| lists_of(of) / played_lists).collect();
        let findings: Vec<Finding> =
            draws.iter().zip(&of_log).map(|(draws, observed)| draws.finding(*observed)).collect();
        let of_draws =
            |place: usize| OfDraws { loss: findings[place].loss.mean, gain: draws[place].gain.as_slice() };
        let of_played: Vec<OfDraws<'_>> = largest.iter().map(|&place| of_draws(place)).collect();
        let played_all = gains.map(|gains| gains.of_all(&shares_of_played, &of_played));
        let played = |place: usize| {
            let number = largest.iter().position(|&other| other == place)?;
            Some(gains?.of_query(number, of_draws(place)))
        };
        let of_query = |place: usize| {
            let (query, draws) = (&queries.queries[place], &draws[place]);
            QueryFinding {
                query: query.name.clone(),
                lists: query.lists.count(),
                lists_today: query.lists_of(queries.today).unwrap_or(0),
                share: shares[place],
                deviation: query.variance.sqrt(),
                finding: findings[place].clone(),
                recommended: draws.recommended(query, &evidence[place], users.fit(), &self.study.log),
                played: played(place),
            }
        };
        let mut answer = Answer {
            version: VERSION,
            models,
            lists_alone: self.lists_alone.cloned(),
            today: self.today(),
            lists_of_log: queries.lists_of_log,
            queries_of_log: queries.n_queries,
            are_strata: self.study.log.report.strata > 0,
            lists: queries.queries.iter().map(|query| query.lists.count()).sum(),
            left_out: queries.left_out,
            kept_apart: draws.iter().filter(|draws| draws.is_apart).count() as u64,
            fitted_clicks,
            all,
            policy: gains.map_or_else(String::new, |gains| gains.policy().to_owned()),
            played: played_all,
            queries: (0..draws.len()).map(of_query).collect(),
            strata,
            without: Vec::new(),
            remarks: Vec::new(),
        };
        let is_in_doubt = answer.is_in_doubt();
        let lists = answer.queries.iter_mut().filter_map(|query| query.recommended.as_mut());
        lists.for_each(|list| list.is_guess |= is_in_doubt);
        answer.remarks = answer.remarked();
        answer
    }
}

/// The fits of both halves of the log, as files of parameters, and the variance of lists around the
/// predictions of each model, beyond that of its draws.
fn fitted_halves(
    study: &Study,
    options: &Options,
    users: &[FittedUsers<'_>],
    queries: &LoggedQueries,
    copies: f64,
) -> Result<([Vec<u8>; 2], Vec<f64>), Error> {
    let (names, sessions) = (study.log.counts.names(), &study.log.sessions);
    let wanted: BTreeSet<Id> = queries.names().iter().filter_map(|name| names.find(name)).collect();
    let half = |half: Part| -> Result<(Vec<u8>, Vec<Fit>), Error> {
        let of_half = |users: &FittedUsers<'_>| -> Result<Fit, FitError> {
            let fit = fit::fit(users.fit().model(), &half.counts, &half.sessions, options)?;
            Ok(fit.with_items_of(users.fit()))
        };
        let fits = users.iter().map(of_half).collect::<Result<Vec<_>, _>>()?;
        let (mut json, keep) = (Vec::new(), |query| wanted.contains(&query));
        parameters::write(&study.log, &fits, options, &keep, &mut json)?;
        Ok((json, fits))
    };
    let [first, second] = sessions.dealt().ok_or(Error::NoOrder)?.map(Part::from);
    if second.sessions.is_empty() {
        return Err(Error::OneHalf);
    }
    let ((first, of_first), (second, of_second)) = (half(first)?, half(second)?);
    let own_variance = |((users, first), second): ((&FittedUsers<'_>, &Fit), &Fit)| {
        let transfer = study.transfer.as_ref()?.of(users.fit().model())?;
        Some(transfer.variance_of_lists(sessions, [first, second], copies))
    };
    let both = users.iter().zip(&of_first).zip(&of_second);
    let own_variances = both.map(|models| own_variance(models).unwrap_or(0.0)).collect();
    Ok(([first, second], own_variances))
}

/// A value of all queries together, draw by draw.
fn together(draws: &[Draws], drawn_shares: &[Vec<f64>], value: fn(&Draws) -> &[f64]) -> Vec<f64> {
    let of_draw = |(draw, shares): (usize, &Vec<f64>)| -> f64 {
        draws.iter().zip(shares).map(|(draws, share)| share * value(draws)[draw]).sum()
    };
    drawn_shares.iter().enumerate().map(of_draw).collect()
}

/// Puts models whose transfer the log supports first, so that one of them opens the answer, if any
/// is. Then the log also denies those whose slope surely differs from what it supports.
fn keep_supported<M>(models: &mut Vec<M>, verdict: impl Fn(&M) -> Option<Verdict>) {
    models.sort_by_key(|model| verdict(model) != Some(Verdict::Supported));
    if models.first().and_then(&verdict) == Some(Verdict::Supported) {
        let denied = [Some(Verdict::Exceeded), Some(Verdict::Contradicted)];
        models.retain(|model| !denied.contains(&verdict(model)));
    }
}

/// Whether the log shows that more than the list decides the clicks.
pub(crate) fn is_alarm(verdict: Verdict, lists_alone: Option<&ListsAlone>) -> bool {
    verdict == Verdict::Exceeded || lists_alone.is_some_and(ListsAlone::is_denied)
}

/// Draws for a query, per 1,000 lists.
#[derive(Default)]
struct Draws {
    today: Vec<f64>,
    /// Loss against the best list for the drawn users.
    loss: Vec<f64>,
    /// In every second pair of draws, loss against the best list that can be named.
    named_loss: Vec<f64>,
    /// Gain of the recommended list; 0 if there is none.
    gain: Vec<f64>,
    is_recommended: bool,
    /// Whether it would be, if it did not put items together that today's ranking keeps apart.
    is_apart: bool,
}

impl Draws {
    fn new(evidence: &Evidence, part: usize, promises: bool, is_apart: impl FnOnce() -> bool) -> Self {
        let (best, today) = (&evidence.best, &evidence.today[part]);
        let is_named = |draw: usize| (draw / HALVES.len()).is_multiple_of(2);
        let rounded = |gain: f64| if (1000.0 * gain).abs() < ROUNDING { 0.0 } else { 1000.0 * gain };
        let gain: Vec<f64> = evidence.gains(part).into_iter().map(rounded).collect();
        let worse = gain.iter().filter(|gain| **gain < 0.0).count() as f64;
        let better = gain.iter().filter(|gain| **gain > 0.0).count();
        let is_better = promises && worse <= RISK * gain.len() as f64 && 2 * better >= gain.len().max(1);
        let is_apart = is_better && is_apart();
        let is_recommended = is_better && !is_apart;
        let gain = if is_recommended { gain } else { vec![0.0; today.len()] };
        let loss: Vec<f64> = difference(best, today).into_iter().map(|loss| loss.max(0.0)).collect();
        let named_loss = |draw: usize| if is_named(draw) { gain[draw].max(0.0) } else { loss[draw] };
        Self {
            today: today.iter().map(|value| 1000.0 * value).collect(),
            named_loss: (0..today.len()).map(named_loss).collect(),
            loss,
            gain,
            is_recommended,
            is_apart,
        }
    }

    /// The finding on lists with these observed clicks.
    fn finding(&self, observed: f64) -> Finding {
        Finding {
            today: Interval::of_draws(&self.today),
            observed,
            loss: Interval::of_draws(&self.named_loss).around(&self.loss),
            gain: Interval::of_draws(&self.gain),
        }
    }

    fn recommended(
        &self,
        query: &LoggedQuery,
        evidence: &Evidence,
        fit: &Fit,
        log: &FilteredLog,
    ) -> Option<Recommendation> {
        if !self.is_recommended {
            return None;
        }
        let gain = Interval::of_draws(&self.gain);
        let beyond = Interval::of_draws(&difference(&evidence.of_recommended, &evidence.best_shown));
        let known_share = query.known_share(&evidence.recommended);
        let gone = query.gone(&evidence.recommended, log);
        let predicted = query.fitted_gain(fit, &evidence.recommended);
        let items = query.items(&evidence.recommended);
        let is_guess = !gone.is_empty();
        let found = Recommendation { items, predicted, gain, beyond, known_share, gone, is_guess };
        Some(Recommendation { is_guess: is_guess || found.is_far(), ..found })
    }
}

/// Smaller differences, in clicks per 1,000 lists, are none.
const ROUNDING: f64 = 1e-6;

/// Draws of a difference, for 1,000 lists.
fn difference(more: &[f64], less: &[f64]) -> Vec<f64> {
    more.iter().zip(less).map(|(more, less)| 1000.0 * (more - less)).collect()
}

#[cfg(test)]
mod tests;
