//! Users drawn from the posterior distribution of a fit: one instance for each query of its files.

use super::transfer::{Today, TransferData};
use super::{Instance, Instances, Member};
use crate::logged_lists::logged_lists;
use crate::posterior::{LogPart, PosteriorFile, Query, Uncertain};
use documents::names::title_fault;
use documents::toml_reader::Error;
use sim::{DrawUsers, SimRng, Streams};
use std::fmt;
use std::sync::Arc;

/// The number of the streams that draw what all instances share.
const SHARED: u64 = u64::MAX - 1;

/// How users of a model are made from lists of parameters.
pub(super) struct Drawn<M> {
    /// The parameters of a query in a fit, with lists of this length. Lists with a number for each
    /// item come first, attraction at the very first.
    pub(super) parameters: fn(&LogPart, &Query, usize) -> Vec<Vec<Uncertain>>,
    /// How many lists have a number for each item.
    pub(super) of_items: usize,
    /// The expected clicks at each position of a list of items.
    pub(super) clicks: fn(&[Vec<f64>], &[usize], &mut Vec<f64>),
    /// The users, with lists of this length.
    pub(super) build: fn(&[Vec<f64>], usize) -> Result<M, click_models::Error>,
}

/// The posterior distribution of an instance.
pub(super) struct Posterior<M: 'static> {
    pub(super) file: Arc<PosteriorFile>,
    /// The parameters in each part of the log.
    parts: Vec<Vec<Vec<Uncertain>>>,
    /// Whether parameters of positions are those of all queries.
    shares_positions: bool,
    n_positions: usize,
    drawn: &'static Drawn<M>,
    /// The lists of the log, with a transfer.
    transferred: Option<TransferData>,
}

impl<M> fmt::Debug for Posterior<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Posterior").field("file", &self.file.file().name).finish_non_exhaustive()
    }
}

impl<M> Posterior<M> {
    /// The draw with this number. Every part of the log has its turn. `shared` draws what all
    /// queries share, `own` the rest.
    pub(super) fn draw(&self, number: u64, mut shared: SimRng, own: &mut SimRng) -> Option<M> {
        self.users(&self.parameters(number, &mut shared, own))
    }

    pub(super) fn users(&self, parameters: &[Vec<f64>]) -> Option<M> {
        (self.drawn.build)(parameters, self.n_positions).ok()
    }

    /// The parameters of [`Posterior::draw`].
    pub(super) fn parameters(&self, number: u64, shared: &mut SimRng, own: &mut SimRng) -> Vec<Vec<f64>> {
        let part = &self.parts[self.part(number)];
        let one = |list: &Vec<Uncertain>, rng: &mut SimRng| -> Vec<f64> {
            list.iter().map(|parameter| parameter.draw(rng)).collect()
        };
        let Some(transferred) = &self.transferred else {
            return part.iter().map(|list| one(list, own)).collect();
        };
        let slope = transferred.slope(shared, own);
        let (of_items, of_positions) = part.split_at(self.drawn.of_items);
        let positions: Vec<Vec<f64>> = of_positions
            .iter()
            .map(|list| one(list, if self.shares_positions { &mut *shared } else { &mut *own }))
            .collect();
        let means: Vec<Vec<f64>> = of_items.iter().map(|list| means(list)).collect();
        let at_means: Vec<Vec<f64>> =
            means.iter().cloned().chain(of_positions.iter().map(|list| self::means(list))).collect();
        let at_positions: Vec<Vec<f64>> = means.into_iter().chain(positions.iter().cloned()).collect();
        let clicks = self.drawn.clicks;
        // Clicks on an item are known better than its attraction: where positions are less examined
        // than on average, it attracts more.
        let factors = transferred.today.ratios(clicks, &at_means, &at_positions);
        let items = of_items.iter().enumerate().map(|(list, parameters)| {
            let draw = |(item, parameter): (usize, &Uncertain)| {
                let factor = if list == 0 { factors[item] } else { 1.0 };
                parameter.times(factor).draw(own)
            };
            parameters.iter().enumerate().map(draw).collect()
        });
        let drawn: Vec<Vec<f64>> = items.chain(positions).collect();
        transferred.today.pulled(clicks, drawn, self.drawn.of_items, slope, own)
    }

    /// The part of the log that a draw is from.
    pub(super) fn part(&self, number: u64) -> usize {
        usize::try_from(number % self.parts.len() as u64).unwrap_or(0)
    }

    /// The users with the mean parameters in each part of the log.
    pub(super) fn of_parts(&self) -> Vec<Option<M>> {
        let of_part =
            |part: &Vec<Vec<Uncertain>>| self.users(&part.iter().map(|list| means(list)).collect::<Vec<_>>());
        self.parts.iter().map(of_part).collect()
    }

    /// The expected clicks on the log's lists.
    pub(super) fn today(&self, parameters: &[Vec<f64>]) -> Option<f64> {
        Some(self.transferred.as_ref()?.today.value(self.drawn.clicks, parameters))
    }

    /// The expected clicks on lists of which the log shows a sample.
    pub(super) fn sampled(&self, lists: &Today, parameters: &[Vec<f64>], rng: &mut SimRng) -> f64 {
        lists.sampled(self.drawn.clicks, parameters, rng)
    }
}

fn means(list: &[Uncertain]) -> Vec<f64> {
    list.iter().map(|parameter| parameter.mean).collect()
}

/// The mean of the parts, parameter by parameter.
fn mean_of_parts(parts: &[Vec<Vec<Uncertain>>]) -> Vec<Vec<f64>> {
    let mut sum: Vec<Vec<f64>> = parts[0].iter().map(|list| means(list)).collect();
    for part in &parts[1..] {
        for (sum, list) in sum.iter_mut().zip(part) {
            sum.iter_mut().zip(list).for_each(|(sum, parameter)| *sum += parameter.mean);
        }
    }
    sum.iter_mut().flatten().for_each(|sum| *sum /= parts.len() as f64);
    sum
}

/// The instances of a file: one for each query.
pub(super) fn instances<M: Member>(
    file: &Arc<PosteriorFile>,
    drawn: &'static Drawn<M>,
) -> Result<Instances, Error> {
    let instance = |query: usize| {
        let first = &file.of_queries()[query];
        let n_positions = file.n_positions(first);
        let of_part = |part: &LogPart| (drawn.parameters)(part, &part.queries[query], n_positions);
        let parts: Vec<Vec<Vec<Uncertain>>> = file.parts.iter().map(of_part).collect();
        let model = (drawn.build)(&mean_of_parts(&parts), n_positions)
            .map_err(|error| file.error(format!("query {:?}: {error}", first.name())))?;
        let shares_positions = first.shares_positions();
        let file = Arc::clone(file);
        let posterior = Posterior { file, parts, shares_positions, n_positions, drawn, transferred: None };
        let name = Some(first.name().to_owned()).filter(|name| title_fault(name).is_none());
        Ok((Instance::new(name, model), posterior))
    };
    let mut found: Vec<(Instance<M>, Posterior<M>)> =
        (0..file.of_queries().len()).map(instance).collect::<Result<_, Error>>()?;
    if let Some(transfer) = &file.transfer {
        let known = found.iter().map(|(instance, _)| instance.clone()).collect::<Vec<_>>();
        let lists = &transfer.lists;
        let lists = logged_lists(&lists.name, &lists.content, &Instances::from_users(known))?;
        let clicks = lists.clicks.as_deref().ok_or_else(|| {
            Error::whole_file(
                &lists.file.name,
                "no column clicks: the lists of a transfer need it".to_owned(),
            )
        })?;
        for (query, (_, posterior)) in found.iter_mut().enumerate() {
            let of_log = lists.of_log.as_ref().unwrap_or(&lists.of_instances);
            let today = Today::new(&of_log[query], clicks[query]);
            posterior.transferred = Some(TransferData::new(transfer, query, today));
        }
    }
    let with_posterior =
        |(instance, posterior)| Instance { posterior: Some(Arc::new(posterior)), ..instance };
    Ok(Instances::from_users(found.into_iter().map(with_posterior).collect::<Vec<_>>()))
}

/// The stream of what all instances share in the draw with this number.
pub(super) fn shared(streams: Streams, number: u64) -> SimRng {
    streams.subset(SHARED, number)
}

/// Draws the users of a run.
pub(super) struct Draws<'a, M: 'static> {
    pub(super) instances: &'a [Instance<M>],
    pub(super) streams: Streams,
}

impl<M: Clone + Sync + Send + 'static> DrawUsers<M> for Draws<'_, M> {
    fn draw(&self, instance: usize, number: u64, rng: &mut SimRng) -> M {
        let instance = &self.instances[instance];
        let draw = |posterior: &Arc<Posterior<M>>| posterior.draw(number, shared(self.streams, number), rng);
        instance.posterior.as_ref().and_then(draw).unwrap_or_else(|| instance.model.clone())
    }
}

/// The clicks of users who scan a list: at each position the probability of a click if it is
/// examined, and of examining the next one.
pub(super) fn scanned(out: &mut Vec<f64>, positions: impl Iterator<Item = (f64, f64)>) {
    let mut examined = 1.0;
    out.clear();
    for (attraction, continues) in positions {
        out.push(examined * attraction);
        examined *= continues;
    }
}
