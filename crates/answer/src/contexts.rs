//! From a log whose lists have contexts to a policy that starts where the log ends: the log is
//! replayed, in its order, through the update of `hybrid-ts`.
//!
//! Counts lose who saw what, so nothing is counted together: a first pass finds segments, items and
//! the scale of the features, a second one learns. Memory has the posterior, some contexts, and the
//! lists that are held out, at most [`MOST_HELD_OUT`] or so.

mod judged;

use self::judged::Judge;
use click_logs::fit::{FitError, Model, Options, fit, jackknife};
use click_models::{
    Cascade, CascadeModel, Clicks, Context, ContextKnown, Dcm, DcmReward, DependentClick, Interaction,
    ItemId, ListShape, LogOdds, ObservedPrefix as _, Personal, PositionBased, Ranking, WithAttraction,
};
use confidence::Probability;
use log_reader::{Format, ListNames, PersonalList, ReadReport, Reader, unit_hash};
use policies::catalogue::{BuildError, CatalogueProtocol as _, Knowledge, Note, Protocol};
use policies::{AnyPolicy, Decision, FeatureScale, HybridPrior, HybridSettings, HybridTs};
use spec::{ClicksByList, ColumnGain, ContextFit, ContextReport, FeatureTable, Gain};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// The most lists that are held out, on average.
const MOST_HELD_OUT: u64 = 100_000;
/// The most lists from which leaving is estimated.
const MOST_SAMPLED: usize = 20_000;
/// The most contexts in the file, and the most pairs of them and items.
const MOST_USERS: (usize, usize) = (1_000, 1 << 24);
/// The standard deviations of features; squares of others are not exact.
const DEVIATIONS: RangeInclusive<f64> = 1e-100..=1e100;
/// The normal quantile of intervals of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// The settings of a fit with contexts.
#[derive(Debug, Clone)]
pub struct ContextSettings {
    /// One of [`ContextSettings::MODELS`].
    pub model: Model,
    /// The query, if one was chosen.
    pub query: Option<String>,
    /// The names of the features of users.
    pub features: Vec<String>,
    /// Features of the items; without them items have none.
    pub items: Option<FeatureTable>,
    /// One user in this number is held out; without users, one session.
    pub held_out_one_in: u64,
    /// Seed of the choice of what is held out.
    pub seed: u64,
    /// Whether to find out what each column tells, with one more pass for each.
    pub ablate: bool,
}

impl ContextSettings {
    /// The models whose users `hybrid-ts` learns from.
    pub const MODELS: [Model; 3] = [Model::Cascade, Model::Dcm, Model::Pbm];
}

/// Why a log with contexts cannot be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum ContextError {
    #[error("{of} feature `{name}`: constant, so it tells nothing: leave it out")]
    Constant { of: &'static str, name: String },
    #[error("{of} feature `{name}`: its deviation is too large or too small: divide it by a constant")]
    OffScale { of: &'static str, name: String },
    /// The log has no list, or not at least one for a fit and one held out.
    #[error("no list to fit: the log has none of this query")]
    NoLists,
    /// The model has no `hybrid-ts`.
    #[error("`{0}`: with contexts, cascade, dcm and pbm are fitted")]
    Model(Model),
    /// Sizes or features that `hybrid-ts` does not support.
    #[error(transparent)]
    Policy(#[from] policies::Error),
    /// As above, of the policy by name.
    #[error(transparent)]
    Named(#[from] BuildError),
    /// Users that cannot be made from the fit.
    #[error(transparent)]
    Users(#[from] click_models::Error),
    /// The examination of positions, or the probabilities of leaving, cannot be fitted.
    #[error("the examination of positions")]
    Examination(#[source] FitError),
}

/// Takes lists.
pub type TakeList<'a> = dyn FnMut(&PersonalList<'_>) + Send + 'a;

/// Fits `hybrid-ts` to a log with contexts. `read` reads the log once, from its beginning, and may
/// be called several times. Also returns what was read.
///
/// # Errors
///
/// [`ContextError`], and the first error of `read`.
pub fn fit_contexts<E: From<ContextError>>(
    settings: &ContextSettings,
    mut read: impl FnMut(&mut ListNames, &mut TakeList<'_>) -> Result<ReadReport, E>,
) -> Result<(ContextFit, ReadReport), E> {
    if !ContextSettings::MODELS.contains(&settings.model) {
        return Err(ContextError::Model(settings.model).into());
    }
    let mut names = match &settings.items {
        None => ListNames::new(),
        Some(items) => ListNames::of_items(items.rows.iter().cloned()),
    };
    let mut summary = Summary::new(settings.features.len());
    let report = read(&mut names, &mut |list| summary.add(list))?;
    if summary.lists == 0 {
        return Err(ContextError::NoLists.into());
    }
    let world = World::new(settings, &summary, &names)?;
    let all = SeenColumns {
        segment: true,
        user: vec![true; world.scale[0].len()],
        item: vec![true; world.scale[1].len()],
    };
    let nothing =
        SeenColumns { segment: false, user: vec![false; all.user.len()], item: vec![false; all.item.len()] };
    let mut whole = Replay::new(&world, all.clone())?;
    let mut judge = Judge::new(&world, [&all, &nothing], settings.seed)?;
    let mut tried = [Replay::new(&world, all.clone())?, Replay::new(&world, nothing)?];
    let (mut held_out, is_held_out) = (vec![], world.is_held_out(settings.seed));
    read(&mut names, &mut |list| {
        whole.learn(list);
        if let Some(judge) = &mut judge {
            judge.add(list);
        }
        if is_held_out(list) {
            held_out.push(HeldOut { unit: list.unit, list: LogList::new(list) });
        } else {
            for learner in &mut tried {
                learner.learn(list);
            }
        }
    })?;
    let losses = |learner: &mut Replay<'_>| learner.losses(&held_out);
    let [with, without] = tried.each_mut().map(losses);
    let mut columns = vec![];
    for (column, seen) in if settings.ablate { all.without_each(settings, &world) } else { vec![] } {
        let mut learner = Replay::new(&world, seen)?;
        let mut train = |list: &PersonalList<'_>| {
            if !is_held_out(list) {
                learner.learn(list);
            }
        };
        read(&mut names, &mut train)?;
        columns.push(ColumnGain { column, gain: gain(&held_out, &with, &losses(&mut learner)) });
    }
    let prior = whole.prior();
    let users = summary.sampled(names.items().len());
    let mean = |losses: &[f64]| {
        let sum = losses.iter().sum::<f64>();
        (!losses.is_empty()).then(|| sum / losses.len() as f64)
    };
    let quality = ContextReport {
        held_out_one_in: world.one_in,
        lists: held_out.len() as u64,
        units: held_out.iter().map(|list| list.unit).collect::<BTreeSet<_>>().len() as u64,
        log_loss: mean(&with),
        log_loss_without: mean(&without),
        gain: gain(&held_out, &with, &without),
        columns,
        clicks: world.clicks(&prior, &users)?,
        personal_gain: judge.map(|mut judge| judge.gain()).transpose()?.flatten(),
    };
    let fit = ContextFit {
        version: ContextFit::VERSION,
        model: settings.model.name().to_owned(),
        query: settings.query.clone(),
        lists: summary.lists,
        positions: world.shape.n_positions(),
        segments: names.segments().to_vec(),
        items: names.items().to_vec(),
        item_type: report.ids.of()[0],
        user_features: settings.features.clone(),
        item_features: settings.items.as_ref().map_or_else(Vec::new, |items| items.features.clone()),
        ranges: summary.features.iter().map(|spread| spread.range).collect(),
        of_positions: world.of_positions.iter().map(|number| number.get()).collect(),
        users,
        report: quality,
        prior,
    };
    Ok((fit, report))
}

/// Mean, sum of squared deviations and range of a number.
#[derive(Debug, Clone, Copy)]
struct Spread {
    n: f64,
    mean: f64,
    squares: f64,
    range: [f64; 2],
}

impl Spread {
    const NOTHING: Self = Self { n: 0.0, mean: 0.0, squares: 0.0, range: [f64::INFINITY, f64::NEG_INFINITY] };

    /// Welford 1962.
    fn add(&mut self, number: f64) {
        self.n += 1.0;
        let before = number - self.mean;
        self.mean += before / self.n;
        self.squares += before * (number - self.mean);
        self.range = [self.range[0].min(number), self.range[1].max(number)];
    }

    /// Mean and standard deviation of a feature of users or items.
    fn scale(self, of: &'static str, name: &str) -> Result<[f64; 2], ContextError> {
        let (deviation, name) = ((self.squares / self.n).sqrt(), name.to_owned());
        if self.range[0] >= self.range[1] {
            return Err(ContextError::Constant { of, name });
        }
        let is_on_scale = DEVIATIONS.contains(&deviation) && self.mean.abs() <= *DEVIATIONS.end();
        if is_on_scale { Ok([self.mean, deviation]) } else { Err(ContextError::OffScale { of, name }) }
    }
}

/// The findings of the first pass.
#[derive(Default)]
struct Summary {
    lists: u64,
    longest: usize,
    features: Vec<Spread>,
    /// Clicks and impressions of items at positions.
    cells: BTreeMap<(u32, usize), [u64; 2]>,
    /// The lists whose numbers have the least hashes.
    sample: BTreeMap<(u64, u64), LogList>,
}

/// A list with its context.
struct LogList {
    context: Context,
    items: Box<[u32]>,
    clicks: u64,
}

impl LogList {
    fn new(list: &PersonalList<'_>) -> Self {
        let context = Context { segment: list.segment, features: list.features.to_vec() };
        Self { context, items: list.items.into(), clicks: list.clicks }
    }
}

impl Summary {
    fn new(n_features: usize) -> Self {
        Self { features: vec![Spread::NOTHING; n_features], ..Self::default() }
    }

    fn add(&mut self, list: &PersonalList<'_>) {
        self.lists += 1;
        self.longest = self.longest.max(list.items.len());
        for (spread, &feature) in self.features.iter_mut().zip(list.features) {
            spread.add(feature);
        }
        for (position, &item) in list.items.iter().enumerate() {
            let click = list.clicks >> position & 1;
            let [clicks, impressions] = self.cells.entry((item, position)).or_default();
            *clicks += click;
            *impressions += 1;
        }
        let key = (unit_hash(&list.number.to_le_bytes()), list.number);
        let is_last = || self.sample.last_key_value().is_some_and(|(last, _)| key >= *last);
        if self.sample.len() < MOST_SAMPLED || !is_last() {
            self.sample.insert(key, LogList::new(list));
            if self.sample.len() > MOST_SAMPLED {
                self.sample.pop_last();
            }
        }
    }

    fn sampled(&self, n_items: usize) -> Vec<Context> {
        let most = (MOST_USERS.1 / n_items).clamp(1, MOST_USERS.0);
        self.sample.values().take(most).map(|list| list.context.clone()).collect()
    }
}

/// Users and items of the log.
struct World {
    model: Model,
    shape: ListShape,
    n_segments: u32,
    item_features: Vec<f64>,
    /// Of users and of items.
    scale: [Vec<[f64; 2]>; 2],
    /// Examination (pbm) or leaving (dcm).
    of_positions: Vec<Probability>,
    one_in: u64,
}

impl World {
    fn new(settings: &ContextSettings, summary: &Summary, names: &ListNames) -> Result<Self, ContextError> {
        let of_users = summary.features.iter().zip(&settings.features);
        let of_users = of_users.map(|(spread, name)| spread.scale("user", name));
        let items = settings.items.clone().unwrap_or_default();
        let width = items.features.len();
        let of_items = items.features.iter().enumerate().map(|(column, name)| {
            let mut spread = Spread::NOTHING;
            for &value in items.values.iter().skip(column).step_by(width) {
                spread.add(value);
            }
            spread.scale("item", name)
        });
        let n_items = names.items().len();
        let n_positions = summary.longest.min(n_items);
        Ok(Self {
            model: settings.model,
            shape: ListShape::new(n_items, n_positions)?,
            n_segments: u32::try_from(names.segments().len()).unwrap_or(u32::MAX).max(1),
            scale: [of_users.collect::<Result<_, _>>()?, of_items.collect::<Result<_, _>>()?],
            item_features: items.values,
            of_positions: match settings.model {
                Model::Pbm => examination(summary, n_positions).map_err(ContextError::Examination)?,
                Model::Dcm => leaving(summary, n_positions).map_err(ContextError::Examination)?,
                _ => vec![],
            },
            one_in: settings.held_out_one_in.max(summary.lists / MOST_HELD_OUT),
        })
    }

    /// Whether a list is held out: that of one user in a number of them.
    fn is_held_out(&self, seed: u64) -> impl Fn(&PersonalList<'_>) -> bool + use<> {
        let one_in = self.one_in;
        move |list| drawn(list.unit, seed, &[]).is_multiple_of(one_in)
    }

    /// Number of columns of a context: a constant, segments but the first, and features.
    fn width(&self) -> usize {
        self.n_segments as usize + self.scale[0].len()
    }

    fn columns(&self, context: &Context) -> Vec<f64> {
        let mut columns = vec![0.0; self.n_segments as usize];
        columns[0] = 1.0;
        if context.segment > 0 {
            columns[context.segment as usize] = 1.0;
        }
        let scaled = context.features.iter().zip(&self.scale[0]);
        columns.extend(scaled.map(|(feature, [mean, deviation])| (feature - mean) / deviation));
        columns
    }

    fn of_position(&self, position: usize) -> f64 {
        self.of_positions.get(position).map_or(0.0, |number| number.get())
    }

    /// The probability that an item is examined which tells its attraction.
    fn examined(&self, position: usize) -> f64 {
        if self.model == Model::Pbm { self.of_position(position) } else { 1.0 }
    }

    /// Number of items of a list, from the top, that tell attractions.
    fn observed(&self, list: &LogList) -> usize {
        let clicks = clicks_of(list.clicks, list.items.len());
        match self.model {
            Model::Pbm => list.items.len(),
            Model::Dcm => Dcm::feedback(clicks).observed_clicks().len(),
            _ => Cascade::feedback(clicks).observed_clicks().len(),
        }
    }

    /// The clicks that lists would collect from these users.
    fn clicks(&self, prior: &HybridPrior, users: &[Context]) -> Result<ClicksByList, ContextError> {
        let half = vec![Probability::new(0.5).expect("a probability"); self.shape.n_items()];
        let contexts: Vec<Context> = users.iter().map(|user| prior.standardised(user)).collect();
        let (known, mean) = (prior.known(), prior.mean());
        let clicks = match self.model {
            Model::Pbm => {
                collected(&PositionBased::new(half, self.of_positions.clone())?, &mean, contexts, known)
            }
            Model::Dcm => {
                let users = DependentClick::new(half, self.of_positions.clone(), DcmReward::Clicks)?;
                collected(&users, &mean, contexts, known)
            }
            _ => collected(&CascadeModel::new(half, self.shape.n_positions())?, &mean, contexts, known),
        };
        Ok(clicks?)
    }
}

fn collected<M: WithAttraction>(
    model: &M,
    mean: &LogOdds,
    contexts: Vec<Context>,
    known: ContextKnown<'_>,
) -> Result<ClicksByList, click_models::Error> {
    let users: Personal<M> =
        mean.users(model, contexts, known.n_segments(), known.item_features().to_vec())?;
    let of_user = |user: usize| users.user(user).optimal_reward();
    let personal = (0..users.n_users()).map(of_user).sum::<f64>() / users.n_users() as f64;
    let lost = users.yardsticks();
    Ok(ClicksByList {
        best_list: personal - lost.best_list,
        best_list_of_segment: personal - lost.best_list_of_segment,
        personal,
    })
}

/// The items of the best list of each context.
fn best_lists<M: WithAttraction<Interaction: Interaction<Action = Ranking>>>(
    model: &M,
    mean: &LogOdds,
    contexts: &[Context],
    known: ContextKnown<'_>,
) -> Result<Vec<Vec<usize>>, click_models::Error> {
    let of_context = |context: &Context| {
        let log_odds = mean.for_user(context, known.n_items(), known.item_features());
        let attraction = |item| Probability::new(1.0 / (1.0 + libm::exp(-log_odds(item))));
        let attractions: Result<Vec<Probability>, _> = (0..known.n_items()).map(attraction).collect();
        let list = model.with_attraction(attractions.expect("probabilities"))?.optimal_action();
        Ok(list.iter().map(ItemId::index).collect())
    };
    contexts.iter().map(of_context).collect()
}

/// Examination of positions by the position-based model of all users together; 1 where it is
/// largest.
fn examination(summary: &Summary, n_positions: usize) -> Result<Vec<Probability>, FitError> {
    let mut log = "query,item,position,clicks,impressions\n".to_owned();
    for ((item, position), [clicks, shown]) in &summary.cells {
        // Writing to memory cannot fail.
        let _ = writeln!(log, "0,{item},{},{clicks},{shown}", position + 1);
    }
    let found = of_positions(Model::Pbm, Format::counts(), &log, n_positions, 0.0)?;
    let most = found.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    Ok(found.iter().map(|of| Probability::new((of / most).clamp(0.0, 1.0)).expect("a share")).collect())
}

/// Leaving after a click at each position, by the dependent click model of all users together, from
/// a sample of the lists.
fn leaving(summary: &Summary, n_positions: usize) -> Result<Vec<Probability>, FitError> {
    let mut log = "session,item,position,click\n".to_owned();
    for (session, list) in summary.sample.values().enumerate() {
        for (place, item) in list.items.iter().enumerate() {
            let _ = writeln!(log, "{session},{item},{},{}", place + 1, list.clicks >> place & 1);
        }
    }
    let format = Format::delimited("session=session,item=item,position=position,click=click");
    let found = of_positions(Model::Dcm, format.expect("columns of lists"), &log, n_positions, 0.5)?;
    Ok(found.into_iter().map(|leaving| Probability::new(leaving).expect("a probability")).collect())
}

/// A model's numbers of the positions of a log of one query; where it has none, another.
fn of_positions(
    model: Model,
    format: Format,
    log: &str,
    n_positions: usize,
    unknown: f64,
) -> Result<Vec<f64>, FitError> {
    let log = Reader::new(format).keep_sessions().read("log", log.as_bytes()).expect("lists that were read");
    let fitted = fit(model, &log.counts, &log.sessions, &Options::default())?;
    let found = fitted.positions(&fitted.queries()[0]);
    Ok((0..n_positions).map(|place| found.get(place).map_or(unknown, |found| found.value)).collect())
}

/// The columns that a learner sees.
#[derive(Debug, Clone)]
struct SeenColumns {
    segment: bool,
    user: Vec<bool>,
    item: Vec<bool>,
}

impl SeenColumns {
    /// Returns the part of a context that a learner sees.
    fn context(&self, segment: u32, features: &[f64]) -> Context {
        let segment = if self.segment { segment } else { 0 };
        Context { segment, features: kept(features, &self.user) }
    }

    /// All columns but one, for each of them.
    fn without_each(&self, settings: &ContextSettings, world: &World) -> Vec<(String, Self)> {
        let mut found = vec![];
        if world.n_segments > 1 {
            found.push(("segment".to_owned(), Self { segment: false, ..self.clone() }));
        }
        for (feature, name) in settings.features.iter().enumerate() {
            let mut other = self.clone();
            other.user[feature] = false;
            found.push((name.clone(), other));
        }
        for (feature, name) in settings.items.iter().flat_map(|items| &items.features).enumerate() {
            let mut other = self.clone();
            other.item[feature] = false;
            found.push((name.clone(), other));
        }
        found
    }
}

/// The numbers of columns that are seen, row by row.
fn kept<T: Copy>(values: &[T], seen: &[bool]) -> Vec<T> {
    let is_seen = values.iter().zip(seen.iter().cycle());
    is_seen.filter(|(_, seen)| **seen).map(|(value, _)| *value).collect()
}

/// A policy that learns from the log.
struct Replay<'a> {
    world: &'a World,
    seen: SeenColumns,
    policy: AnyPolicy,
    decision: Decision<Ranking, Note>,
}

impl<'a> Replay<'a> {
    fn new(world: &'a World, seen: SeenColumns) -> Result<Self, ContextError> {
        let scale = [(&world.scale[0], &seen.user), (&world.scale[1], &seen.item)];
        let [of_users, of_items] = scale.map(|(scale, seen)| kept(scale, seen));
        let item_features = kept(&world.item_features, &seen.item);
        let known = ContextKnown::new(world.shape.n_items(), &item_features)?
            .with_user_features(of_users.len())
            .with_segments(if seen.segment { world.n_segments } else { 1 });
        let scale = FeatureScale::new(of_users, of_items)?;
        // A prior that contains the scale alone.
        let prior = HybridTs::new(world.shape, known, HybridSettings::default())?.standardising(scale)?;
        let knowledge = Knowledge { context: Some(known.into()), ..Knowledge::list(world.shape) };
        let (protocol, examination) = match world.model {
            Model::Pbm => (Protocol::PositionBased, world.of_positions.clone()),
            Model::Dcm => (Protocol::Dcm, vec![]),
            _ => (Protocol::Cascade, vec![]),
        };
        let spec = "hybrid-ts".parse().expect("a row of the catalogue");
        let mut policy = AnyPolicy::build(spec, protocol, Knowledge { examination, ..knowledge })?;
        policy.begin_with(&prior.learned())?;
        Ok(Self { world, seen, policy, decision: Decision::default() })
    }

    fn learn(&mut self, list: &PersonalList<'_>) {
        let Decision { action, note } = &mut self.decision;
        *note = Note::Context(self.seen.context(list.segment, list.features));
        action.clear();
        for &item in list.items {
            action.push(ItemId::new(item));
        }
        self.policy.update(&self.decision, clicks_of(list.clicks, list.items.len()));
    }

    /// The seen columns of a context, standardised.
    fn seen(&self, context: &Context, prior: &HybridPrior) -> Context {
        prior.standardised(&self.seen.context(context.segment, &context.features))
    }

    /// The items of the best list of each context, by the mean coefficients.
    fn best_lists(&mut self, contexts: &[&Context]) -> Result<Vec<Vec<usize>>, ContextError> {
        let prior = self.prior();
        let (known, mean) = (prior.known(), prior.mean());
        let contexts: Vec<Context> = contexts.iter().map(|context| self.seen(context, &prior)).collect();
        let half = vec![Probability::new(0.5).expect("a probability"); self.world.shape.n_items()];
        let of_positions = self.world.of_positions.clone();
        Ok(match self.world.model {
            Model::Pbm => best_lists(&PositionBased::new(half, of_positions)?, &mean, &contexts, known),
            Model::Dcm => {
                let users = DependentClick::new(half, of_positions, DcmReward::Clicks)?;
                best_lists(&users, &mean, &contexts, known)
            }
            _ => {
                let users = CascadeModel::new(half, self.world.shape.n_positions())?;
                best_lists(&users, &mean, &contexts, known)
            }
        }?)
    }

    fn prior(&mut self) -> HybridPrior {
        let learned = self.policy.coefficients().and_then(|coefficients| coefficients.learned());
        learned.expect("a hybrid policy")
    }

    /// The log-loss of each list in nats, by the mean coefficients.
    fn losses(&mut self, held_out: &[HeldOut]) -> Vec<f64> {
        let prior = self.prior();
        let (known, mean) = (prior.known(), prior.mean());
        let loss = |HeldOut { list, .. }: &HeldOut| {
            let context = self.seen(&list.context, &prior);
            let log_odds = mean.for_user(&context, known.n_items(), known.item_features());
            let clicks = clicks_of(list.clicks, list.items.len());
            let of_position = |position: usize| {
                let examined = self.world.examined(position);
                let attracts = 1.0 / (1.0 + libm::exp(-log_odds(list.items[position] as usize)));
                let clicked = (examined * attracts).clamp(1e-12, 1.0 - 1e-12);
                -confidence::math::ln(if clicks.get(position) { clicked } else { 1.0 - clicked })
            };
            (0..self.world.observed(list)).map(of_position).sum()
        };
        held_out.iter().map(loss).collect()
    }
}

/// A number of a user or session, drawn with a seed for a role.
fn drawn(unit: u64, seed: u64, role: &[u8]) -> u64 {
    unit_hash(&[&unit.to_le_bytes()[..], &seed.to_le_bytes(), role].concat())
}

fn clicks_of(bits: u64, n: usize) -> Clicks {
    Clicks::from_bits(bits, n).expect("clicks within a list")
}

/// A list that no compared fit learns from.
struct HeldOut {
    unit: u64,
    list: LogList,
}

/// The mean difference of losses, with an interval over users or sessions.
fn gain(held_out: &[HeldOut], with: &[f64], without: &[f64]) -> Option<Gain> {
    let mut of_units: BTreeMap<u64, [f64; 2]> = BTreeMap::new();
    for (list, (with, without)) in held_out.iter().zip(with.iter().zip(without)) {
        let [sum, n] = of_units.entry(list.unit).or_default();
        *sum += without - with;
        *n += 1.0;
    }
    ratio(&of_units.into_values().collect::<Vec<_>>(), Z)
}

/// The ratio of two sums over parts, with the interval of a jackknife over them.
fn ratio(parts: &[[f64; 2]], quantile: f64) -> Option<Gain> {
    let [sum, n] = parts.iter().fold([0.0; 2], |all, of| [all[0] + of[0], all[1] + of[1]]);
    let without: Vec<f64> = parts.iter().map(|of| (sum - of[0]) / (n - of[1])).collect();
    let (mean, half) = (sum / n, quantile * jackknife(&without)?);
    Some(Gain { mean, lower: mean - half, upper: mean + half })
}
