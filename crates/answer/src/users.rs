//! Fits whose users can be simulated, the policies for them, and the experiment `spec.toml`.

mod rows;

use crate::Error;
use click_logs::fit::{Choice, Fit, Model, QueryFit, Users};
use click_logs::study::{FilteredLog, Study};
use contenders::Entrant;
use itertools::Itertools as _;
use policies::catalogue::{Live, Protocol};
use rows::{ROWS, Row};
use spec::experiment::{quoted, title_fault};
use spec::{Experiment, Instances};

/// The maximal number of queries in an experiment.
const QUERIES: usize = 1000;

/// A fit whose users can be simulated.
#[derive(Debug, Clone, Copy)]
pub struct FittedUsers<'a> {
    fit: &'a Fit,
    row: &'static Row,
}

impl<'a> FittedUsers<'a> {
    /// The users of the chosen model; without a comparison, of the first fit with users that can be
    /// simulated.
    pub fn new(study: &'a Study) -> Option<Self> {
        study.simulated().and_then(Self::of_fit)
    }

    /// The fits for the answer: the chosen one first, then those that are not told apart from it.
    /// Users of a cascade are left out if a list has several clicks, which they never make; user
    /// browsing and the dependent click model, if their best lists take too long to find.
    ///
    /// # Errors
    ///
    /// Why no fit is among them.
    pub(crate) fn for_answer(study: &'a Study) -> Result<Vec<Self>, String> {
        let with_users = study.fits.iter().filter(|fit| study.has_users(fit)).filter_map(Self::of_fit);
        let (mut able, mut why_not) = (Vec::new(), Vec::new());
        for users in with_users {
            match (users.row.why_not)(&study.log, users.fit) {
                None => able.push(users),
                Some(why) => why_not.push(format!("users of {} {why}", users.model())),
            }
        }
        if able.is_empty() {
            let none = why_not.is_empty().then(|| "no fitted model can be simulated".to_owned());
            return Err(none.unwrap_or_else(|| why_not.join("; ")));
        }
        let users_of = |model: Model| able.iter().copied().find(|users| users.fit.model() == model);
        Ok(match study.choose(&|model| users_of(model).is_some()) {
            None => able[..1].to_vec(),
            // The simplest one comes first.
            Some(Choice { alike, .. }) => alike.into_iter().filter_map(users_of).collect(),
        })
    }

    /// The users of a fit; `None` for click-through rates, which have none.
    pub fn of_fit(fit: &'a Fit) -> Option<Self> {
        let row = ROWS.iter().find(|row| row.fits.contains(&fit.model()))?;
        Some(Self { fit, row })
    }

    /// The name of the fit.
    pub(crate) fn model(self) -> &'static str {
        self.fit.model().name()
    }

    /// The policies that are compared with today's ranking.
    pub(crate) fn contenders(self) -> Vec<Entrant> {
        let entrant = |&(name, read_as): &(&str, Option<Protocol>)| {
            let spec = name.parse().ok()?;
            Some(Entrant { read_as, ..Entrant::new(name, spec) })
        };
        self.row.contenders.iter().filter_map(entrant).collect()
    }

    /// The table `policy` of the service for a policy that was compared, with the number of
    /// positions of a list; `None` if it cannot play it, or begins with none of these fits.
    pub fn of_service(self, policy: &str, positions: usize, fits: &[Fit]) -> Option<String> {
        let entrant = self.contenders().into_iter().find(|entrant| entrant.label == policy)?;
        let users = entrant.read_as.map_or(self.model(), Protocol::name);
        let is_live =
            entrant.spec.row().live == Live::Table && fits.iter().any(|fit| fit.model().name() == users);
        let text =
            || format!("policy = {{ users = \"{users}\", policy = \"{policy}\", positions = {positions} }}");
        is_live.then(text)
    }

    /// The fit.
    pub fn fit(self) -> &'a Fit {
        self.fit
    }

    /// The users of some queries, with their names, as those of an experiment; users of another fit
    /// are left out.
    pub fn instances(self, users: Vec<(Option<String>, Users)>) -> Instances {
        (self.row.instances)(users)
    }

    /// The content of `spec.toml`, an experiment that `simulate` runs unchanged: one instance for
    /// each fitted query, at most 1,000, those with the most impressions. `log` names the log in a
    /// comment.
    ///
    /// # Errors
    ///
    /// Never for valid fits.
    pub fn spec(self, filtered: &FilteredLog, log: &str, seed: u64) -> Result<String, Error> {
        let fit = self.fit;
        let queries = fit.queries();
        let impressions =
            |query: &QueryFit| filtered.counts.query(query.id).map_or(0, |query| query.impressions());
        let mut shown: Vec<&QueryFit> = queries.iter().collect();
        if queries.len() > QUERIES {
            shown.sort_by_key(|query| std::cmp::Reverse(impressions(query)));
            shown.truncate(QUERIES);
            shown.sort_by_key(|query| query.id);
        }
        let (mut users, mut comments) = (Vec::new(), Vec::new());
        for query in &shown {
            let n_positions = filtered.counts.query(query.id).map_or(1, |query| query.n_positions());
            let of_query = fit.users(query, n_positions).ok_or(Error::NoUsers)?;
            comments.push(comments_on(query, n_positions, filtered));
            let name = filtered.counts.names().name(query.id).into_owned();
            // A name that `simulate` would refuse is left out.
            users.push((Some(name).filter(|name| title_fault(name).is_none()), of_query));
        }
        let instances = self.instances(users);
        let model = instances.model().name;
        let mut about = vec![format!("Users as fitted to {} (model {model}).", quoted(log))];
        if shown.len() < queries.len() {
            about.push(format!("The {QUERIES} of {} queries with the most impressions.", queries.len()));
        }
        about.push("Policies, horizon and runs are a beginning: change them as you like.".to_owned());
        // With fewer than ten runs of each, pages tell no policies apart, and ask for more.
        let builder = Experiment::builder(format!("fitted-{model}"), instances)
            .runs((shown.len() as u64 * 10).max(20))
            .seed(seed)
            .comments(about, comments);
        let builder = self.contenders().into_iter().fold(builder, spec::Builder::entrant);
        let builder = self.row.others.iter().fold(builder, |builder, policy| builder.policy(policy));
        Ok(builder.build()?.to_toml())
    }
}

/// Comments on an instance: the names of its items in the log, and its positions if they are not
/// the log's first ones.
fn comments_on(query: &QueryFit, n_positions: usize, filtered: &FilteredLog) -> Vec<String> {
    let names = filtered.counts.names();
    let mut items = query.items.iter().map(|item| quoted(&names.name(item.item)));
    let mut comments = vec![format!("Items: {}.", items.join(", "))];
    let mut positions = query.first_positions(n_positions).enumerate();
    if positions.any(|(place, position)| place != position) {
        let shown = query.first_positions(n_positions).map(|position| position + 1).join(", ");
        comments.push(format!("Positions of the log, counted from 1: {shown}."));
    }
    comments
}
