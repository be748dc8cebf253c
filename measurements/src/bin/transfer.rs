//! Which part of the predicted differences between lists happens on lists that were not used in the
//! fit? A check of the library by plain code: every number is computed from its definition.
//!
//! ```text
//! cargo run --release -p measurements --bin transfer -- sessions.tsv --seeds 1,2
//! cargo run --release -p measurements --bin transfer -- sessions.tsv --users dbn --models pbm,dbn
//! cargo run --release -p measurements --bin transfer -- sessions.tsv --models dbn --best-third
//! ```
//!
//! The lists of each query are dealt into five parts at random, with all sessions of a list in one
//! part. Each model is fitted to four parts, and predicts the clicks of the lists of the fifth. The
//! *slope* is that of observed on predicted clicks over all sessions, both minus their means in the
//! same query and tenth of its sessions in the order of the log. Its error is a jackknife over
//! queries, or over lists if there are fewer than five queries. *Squared error* is the mean of
//! (observed - predicted clicks)^2 of a session, both minus these means; the difference to the best
//! model is printed with its error by the same jackknife.
//!
//! *Chi-square*: whether the slope estimated without a query holds for this query, over the ten
//! queries with the most sessions.
//!
//! All this is printed twice: with means over all parts, and with means of the sessions of the same
//! part. A list with many clicks raises the predictions of every part but its own, so predictions
//! of different parts are negatively correlated with what is observed, and the first slope is too
//! small under the right model.
//!
//! `--users` replaces the clicks of the log by those of users of a model that is fitted to all of
//! it. `--best-third` leaves out the best lists, and compares their predicted gain with the
//! observed one: a fit to half of the lists chooses the best third of the others, and a fit to all
//! lists but these predicts what they gain over the rest of their query and tenth. The gain after
//! the slope is that times the posterior distribution of the slope, with a 95 % interval.
//!
//! Reads logs of the format `sessions`.

use clap::Parser;
use click_logs::fit::{Fit, Model, Options, Prediction, fit};
use click_logs::study::with_users;
use click_models::Clicks;
use log_reader::{Format, Id, Names, Reader};
use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use sim::{SimRng, Streams};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

const PARTS: usize = 5;
const TENTHS: usize = 10;
const FEW_QUERIES: usize = 5;
const LARGEST_QUERIES: usize = 10;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Measures how much of the differences between lists that models predict happens on other lists.
#[derive(Debug, Parser)]
struct Arguments {
    /// A log of the format `sessions`
    log: PathBuf,
    /// Models, by default all with users
    #[arg(long, value_delimiter = ',', value_name = "MODEL")]
    models: Vec<String>,
    /// Seeds of the parts, and of users
    #[arg(long, value_delimiter = ',', default_value = "1", value_name = "SEED")]
    seeds: Vec<u64>,
    /// Draw the clicks from this model, fitted to the log
    #[arg(long, value_name = "MODEL")]
    users: Option<String>,
    /// Leave out the best third of the lists, and compare their gain
    #[arg(long)]
    best_third: bool,
}

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let named = |name: &String| Model::from_name(name).ok_or_else(|| format!("`{name}` is no model"));
    let mut models = arguments.models.iter().map(named).collect::<Result<Vec<_>, _>>()?;
    if models.is_empty() {
        models.extend(with_users());
    }
    let users = arguments.users.as_ref().map(named).transpose()?;
    let read = Log::read(&std::fs::read_to_string(&arguments.log)?)?;
    for &seed in &arguments.seeds {
        let rng = &mut Streams::new(seed).instance(0);
        let drawn = users.map(|model| read.with_clicks_of(model, rng)).transpose()?;
        let log = drawn.as_ref().unwrap_or(&read);
        println!(
            "seed {seed}: {} sessions of {} lists of {} queries",
            log.sessions.len(),
            log.lists.len(),
            log.queries.len()
        );
        if arguments.best_third { best_third(log, &models, rng)? } else { compare(log, &models, rng)? }
    }
    Ok(())
}

/// Sessions in the order of the log.
#[derive(Debug, Clone)]
struct Log {
    queries: Vec<String>,
    lists: Vec<List>,
    sessions: Vec<Session>,
}

#[derive(Debug, Clone)]
struct List {
    query: usize,
    items: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
struct Session {
    list: usize,
    clicks: Clicks,
    /// Number of its tenth, unique in the log.
    tenth: usize,
}

impl Log {
    fn read(text: &str) -> Outcome<Self> {
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().ok_or("no header")?.split('\t').collect();
        let column = |name: &str| header.iter().position(|other| *other == name);
        let needed = |name| column(name).ok_or(format!("no column `{name}`"));
        let (query_at, items_at, clicks_at) = (needed("query")?, needed("urls")?, needed("clicked_mask")?);
        let region_at = column("region");
        let (mut queries, mut lists) = (BTreeMap::<String, usize>::new(), BTreeMap::new());
        let mut log = Self { queries: Vec::new(), lists: Vec::new(), sessions: Vec::new() };
        let mut of_query: Vec<Vec<usize>> = Vec::new();
        for line in lines {
            let columns: Vec<&str> = line.split('\t').collect();
            let cell = |at: usize| columns.get(at).copied().ok_or("too few columns");
            let region = region_at.map(cell).transpose()?;
            let name = region.map_or_else(String::new, |region| format!("/{region}"));
            let name = format!("{}{name}", cell(query_at)?);
            let query = *queries.entry(name.clone()).or_insert_with(|| {
                log.queries.push(name);
                of_query.push(Vec::new());
                log.queries.len() - 1
            });
            let items: Vec<String> = cell(items_at)?.split(',').map(str::to_owned).collect();
            let list = *lists.entry((query, items.clone())).or_insert_with(|| {
                log.lists.push(List { query, items });
                log.lists.len() - 1
            });
            let marks = cell(clicks_at)?;
            let clicked = marks.bytes().enumerate().filter(|(_, mark)| *mark == b'1');
            let clicks = clicked.fold(Clicks::new(marks.len()), |clicks, (at, _)| clicks.with(at));
            of_query[query].push(log.sessions.len());
            log.sessions.push(Session { list, clicks, tenth: 0 });
        }
        for (query, sessions) in of_query.iter().enumerate() {
            for (at, &session) in sessions.iter().enumerate() {
                log.sessions[session].tenth = TENTHS * query + TENTHS * at / sessions.len();
            }
        }
        Ok(log)
    }

    /// A fit to the sessions of the lists that pass.
    fn fit(&self, model: Model, keep: impl Fn(usize) -> bool) -> Outcome<Fitted> {
        let mut text = "query\turls\tclicked_mask\n".to_owned();
        for session in self.sessions.iter().filter(|session| keep(session.list)) {
            let list = &self.lists[session.list];
            let marks: String =
                (0..list.items.len()).map(|at| if session.clicks.get(at) { '1' } else { '0' }).collect();
            writeln!(text, "{}\t{}\t{marks}", self.queries[list.query], list.items.join(","))?;
        }
        let log = Reader::new(Format::Sessions).keep_sessions().read("part", text.as_bytes())?;
        let fit = fit(model, &log.counts, &log.sessions, &Options::default())?;
        Ok(Fitted { fit, names: log.counts.names().clone() })
    }

    /// The same lists, with clicks drawn from users of a fit to the whole log.
    fn with_clicks_of(&self, model: Model, rng: &mut SimRng) -> Outcome<Self> {
        let fitted = self.fit(model, |_| true)?;
        let mut log = self.clone();
        for session in &mut log.sessions {
            let n_positions = self.lists[session.list].items.len();
            let uniform: Vec<f64> = (0..n_positions).map(|_| rng.random()).collect();
            session.clicks = Clicks::new(n_positions);
            for (position, uniform) in uniform.into_iter().enumerate() {
                // Every probability depends on the clicks above.
                let clicked = fitted.predict(self, session.list, session.clicks).conditional[position];
                if uniform < clicked {
                    session.clicks = session.clicks.with(position);
                }
            }
        }
        Ok(log)
    }

    /// The number of a random part of each list; the parts of a query are equal but for one list.
    fn dealt(&self, n_parts: usize, keep: impl Fn(usize) -> bool, rng: &mut SimRng) -> Vec<usize> {
        let mut parts = vec![usize::MAX; self.lists.len()];
        for query in 0..self.queries.len() {
            let mut lists: Vec<usize> =
                (0..self.lists.len()).filter(|&list| self.lists[list].query == query && keep(list)).collect();
            lists.shuffle(rng);
            for (at, list) in lists.into_iter().enumerate() {
                parts[list] = at % n_parts;
            }
        }
        parts
    }

    /// Predicted clicks of each list that passes, by a fit to other parts.
    fn predicted_by_others(
        &self,
        model: Model,
        parts: &[usize],
        keep: impl Fn(usize) -> bool,
    ) -> Outcome<Vec<f64>> {
        let mut predicted = vec![f64::NAN; self.lists.len()];
        for part in 0..PARTS {
            let fitted = self.fit(model, |list| keep(list) && parts[list] != part)?;
            for list in (0..self.lists.len()).filter(|&list| keep(list) && parts[list] == part) {
                predicted[list] = fitted.clicks(self, list);
            }
        }
        Ok(predicted)
    }
}

struct Fitted {
    fit: Fit,
    names: Names,
}

impl Fitted {
    fn predict(&self, log: &Log, list: usize, clicks: Clicks) -> Prediction {
        // The name of an item outside the fit stands for all of them.
        let id = |name: &str| self.names.find(name).or_else(|| self.names.find(&(u64::MAX / 2).to_string()));
        let List { query, items } = &log.lists[list];
        let items: Vec<Id> = items.iter().filter_map(|item| id(item)).collect();
        let mut prediction = Prediction::default();
        if let Some(query) = id(&log.queries[*query]) {
            self.fit.predict(query, &items, clicks, &mut prediction);
        }
        prediction
    }

    /// Expected clicks of a list.
    fn clicks(&self, log: &Log, list: usize) -> f64 {
        self.predict(log, list, Clicks::new(log.lists[list].items.len())).marginal.iter().sum()
    }
}

/// Observed and predicted clicks of sessions, minus their means.
struct Centred {
    /// (list, observed, predicted) of each session.
    sessions: Vec<(usize, f64, f64)>,
    /// The unit that a jackknife leaves out: the query or the list of each list.
    cluster: Vec<usize>,
}

impl Centred {
    /// Minus the means of the same tenth and the same part of the lists that pass.
    fn new(log: &Log, predicted: &[f64], parts: &[usize], keep: impl Fn(usize) -> bool) -> Self {
        let mut sums = BTreeMap::<(usize, usize), (f64, f64, f64)>::new();
        let group = |session: &Session| (session.tenth, parts[session.list]);
        let kept = || log.sessions.iter().filter(|session| keep(session.list));
        for session in kept() {
            let sum = sums.entry(group(session)).or_default();
            sum.0 += 1.0;
            sum.1 += f64::from(session.clicks.count());
            sum.2 += predicted[session.list];
        }
        let centred = |session: &Session| {
            let (n, observed, sum) = sums[&group(session)];
            let list = session.list;
            (list, f64::from(session.clicks.count()) - observed / n, predicted[list] - sum / n)
        };
        let queries: BTreeSet<usize> = kept().map(|session| log.lists[session.list].query).collect();
        let by_query = queries.len() >= FEW_QUERIES;
        let cluster = log.lists.iter().enumerate().map(|(at, list)| if by_query { list.query } else { at });
        Self { sessions: kept().map(centred).collect(), cluster: cluster.collect() }
    }

    /// The ratio of two sums over sessions, and its error by the jackknife.
    fn ratio(&self, parts: impl Fn(usize) -> (f64, f64)) -> (f64, f64) {
        let mut all = (0.0, 0.0);
        let mut of_cluster = BTreeMap::<usize, (f64, f64)>::new();
        for at in 0..self.sessions.len() {
            let (above, below) = parts(at);
            for sum in [&mut all, of_cluster.entry(self.cluster[self.sessions[at].0]).or_default()] {
                *sum = (sum.0 + above, sum.1 + below);
            }
        }
        let without: Vec<f64> =
            of_cluster.values().map(|(above, below)| (all.0 - above) / (all.1 - below)).collect();
        let n = without.len() as f64;
        let mean = without.iter().sum::<f64>() / n;
        let variance =
            without.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() * (n - 1.0) / n;
        (all.0 / all.1, libm::sqrt(variance))
    }

    /// The slope of observed on predicted clicks.
    fn slope(&self) -> (f64, f64) {
        self.ratio(|at| {
            let (_, observed, predicted) = self.sessions[at];
            (observed * predicted, predicted * predicted)
        })
    }

    fn squared_error(&self, at: usize) -> f64 {
        let (_, observed, predicted) = self.sessions[at];
        (observed - predicted) * (observed - predicted)
    }
}

/// Prints the slope and the squared error of each model.
fn compare(log: &Log, models: &[Model], rng: &mut SimRng) -> Outcome<()> {
    let parts = log.dealt(PARTS, |_| true, rng);
    let predict = |&model: &Model| Ok((model, log.predicted_by_others(model, &parts, |_| true)?));
    let predicted = models.iter().map(predict).collect::<Outcome<Vec<_>>>()?;
    for (means, parts) in [("of all parts", vec![0; parts.len()]), ("of the same part", parts)] {
        let mut rows: Vec<(Model, Centred)> = predicted
            .iter()
            .map(|(model, predicted)| (*model, Centred::new(log, predicted, &parts, |_| true)))
            .collect();
        let squared = |centred: &Centred| centred.ratio(|at| (centred.squared_error(at), 1.0)).0;
        rows.sort_by(|(_, a), (_, b)| squared(a).total_cmp(&squared(b)));
        println!(
            "means {means}\nmodel          slope  error  squared error  above best    error  chi-square"
        );
        for (model, centred) in &rows {
            let of_model = predicted.iter().find(|(other, _)| other == model).ok_or("no predictions")?;
            let (chi_square, n_queries) = chi_square(log, &of_model.1, &parts);
            let best = &rows[0].1;
            let (slope, error) = centred.slope();
            let above = |at| (centred.squared_error(at) - best.squared_error(at), 1.0);
            let (above, error_above) = centred.ratio(above);
            println!(
                "{:<13} {slope:>6.2} {error:>6.2} {:>14.5} {above:>11.5} {error_above:>8.5}  {chi_square:>6.1} of {n_queries}",
                model.name(),
                squared(centred)
            );
        }
    }
    Ok(())
}

/// The sum over the queries with the most sessions of the squared difference between the slope of
/// the query and that of all others, divided by their variances, and the number of these queries.
fn chi_square(log: &Log, predicted: &[f64], parts: &[usize]) -> (f64, usize) {
    let mut n_sessions = vec![0; log.queries.len()];
    log.sessions.iter().for_each(|session| n_sessions[log.lists[session.list].query] += 1);
    let mut queries: Vec<usize> = (0..log.queries.len()).collect();
    queries.sort_by_key(|&query| Reverse(n_sessions[query]));
    let term = |&query: &usize| {
        let slope = |is: bool| {
            Centred::new(log, predicted, parts, |list| (log.lists[list].query == query) == is).slope()
        };
        let ((of_query, error), (of_others, error_of_others)) = (slope(true), slope(false));
        let difference = of_query - of_others;
        difference * difference / (error * error + error_of_others * error_of_others)
    };
    let terms: Vec<f64> =
        queries.iter().take(LARGEST_QUERIES).map(term).filter(|term| term.is_finite()).collect();
    (terms.iter().sum(), terms.len())
}

/// The posterior distribution of a slope: mean, 2.5 % and 97.5 % quantile. Prior: 1 with
/// probability 1/2, 0 with 1/4, and otherwise uniform between.
fn posterior(estimate: f64, error: f64) -> [f64; 3] {
    const STEPS: u32 = 1_000;
    let likelihood = |slope: f64| {
        let off = (estimate - slope) / error;
        libm::exp(-0.5 * off * off)
    };
    let between = (0..STEPS).map(|step| (f64::from(step) + 0.5) / f64::from(STEPS));
    let mut weights = vec![(0.0, 0.25 * likelihood(0.0))];
    weights.extend(between.map(|slope| (slope, 0.25 * likelihood(slope) / f64::from(STEPS))));
    weights.push((1.0, 0.5 * likelihood(1.0)));
    let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let quantile = |probability: f64| {
        let mut below = 0.0;
        let reached = weights.iter().find(|(_, weight)| {
            below += weight / all;
            below >= probability
        });
        reached.map_or(1.0, |&(slope, _)| slope)
    };
    let mean = weights.iter().map(|(slope, weight)| slope * weight).sum::<f64>() / all;
    [mean, quantile(0.025), quantile(0.975)]
}

/// Prints what the best third of the lists gains, as predicted without them and as observed.
fn best_third(log: &Log, models: &[Model], rng: &mut SimRng) -> Outcome<()> {
    let halves = log.dealt(2, |_| true, rng);
    println!(
        "gain in clicks per 1,000 lists\nmodel                   slope predicted after slope              observed"
    );
    for &model in models {
        let chooser = log.fit(model, |list| halves[list] == 0)?;
        let mut left_out = vec![false; log.lists.len()];
        for query in 0..log.queries.len() {
            let others =
                (0..log.lists.len()).filter(|&list| log.lists[list].query == query && halves[list] == 1);
            let mut lists: Vec<(f64, usize)> = others.map(|list| (chooser.clicks(log, list), list)).collect();
            lists.sort_by(|a, b| b.0.total_cmp(&a.0));
            lists.iter().take(lists.len() / 3).for_each(|&(_, list)| left_out[list] = true);
        }
        let rest = |list: usize| !left_out[list];
        let parts = log.dealt(PARTS, rest, rng);
        let predicted = log.predicted_by_others(model, &parts, rest)?;
        let mut centred = Centred::new(log, &predicted, &parts, rest);
        let (slope, error) = centred.slope();
        let fitted = log.fit(model, rest)?;
        let predicted: Vec<f64> = (0..log.lists.len()).map(|list| fitted.clicks(log, list)).collect();
        // Means of the rest by tenth: number, observed, predicted.
        let mut means = BTreeMap::<usize, (f64, f64, f64)>::new();
        for session in log.sessions.iter().filter(|session| rest(session.list)) {
            let sum = means.entry(session.tenth).or_default();
            *sum = (sum.0 + 1.0, sum.1 + f64::from(session.clicks.count()), sum.2 + predicted[session.list]);
        }
        let gain = |session: &Session| {
            let (n, observed, sum) = means.get(&session.tenth)?;
            let clicks = f64::from(session.clicks.count());
            Some((session.list, clicks - observed / n, predicted[session.list] - sum / n))
        };
        centred.sessions =
            log.sessions.iter().filter(|session| !rest(session.list)).filter_map(gain).collect();
        let (observed, of_observed) = centred.ratio(|at| (1000.0 * centred.sessions[at].1, 1.0));
        let (promised, _) = centred.ratio(|at| (1000.0 * centred.sessions[at].2, 1.0));
        let [mean, lower, upper] = posterior(slope, error).map(|slope| slope * promised);
        println!(
            "{:<13} {slope:>7.2} +- {error:>4.2} {promised:>9.1} {mean:>5.1} [{lower:.1}, {upper:.1}] {observed:>9.1} +- {of_observed:>5.1}",
            model.name(),
        );
    }
    Ok(())
}
