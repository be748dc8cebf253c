//! Users drawn from the posterior distribution of a fit: one instance for each query of its file.

use super::{Instance, Instances, Member};
use crate::posterior::{PosteriorFile, Query, Uncertain};
use documents::names::title_fault;
use documents::toml_reader::Error;
use sim::{DrawUsers, SimRng};
use std::fmt;
use std::sync::Arc;

/// The users of a model: from its lists of parameters, and the number of positions.
type Build<M> = fn(&[Vec<f64>], usize) -> Result<M, click_models::Error>;

/// The posterior distribution of an instance.
pub(super) struct Posterior<M> {
    pub(super) file: Arc<PosteriorFile>,
    lists: Vec<Vec<Uncertain>>,
    n_positions: usize,
    build: Build<M>,
}

impl<M> fmt::Debug for Posterior<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Posterior").field("file", &self.file.file().name).finish_non_exhaustive()
    }
}

impl<M: Clone> Posterior<M> {
    pub(super) fn draw(&self, rng: &mut SimRng) -> Option<M> {
        let mut one = |list: &Vec<Uncertain>| list.iter().map(|parameter| parameter.draw(rng)).collect();
        let lists: Vec<Vec<f64>> = self.lists.iter().map(&mut one).collect();
        (self.build)(&lists, self.n_positions).ok()
    }

    /// Users with parameters this many standard deviations below their means.
    pub(super) fn below_the_mean(&self, deviations: f64) -> Option<M> {
        let one = |parameter: &Uncertain| (parameter.mean - deviations * parameter.deviation).max(0.0);
        let lists: Vec<Vec<f64>> = self.lists.iter().map(|list| list.iter().map(one).collect()).collect();
        (self.build)(&lists, self.n_positions).ok()
    }
}

/// The instances of a file: one for each query. `lists` gives the model's parameters of a query
/// with lists of this length.
pub(super) fn instances<M: Member>(
    file: &Arc<PosteriorFile>,
    lists: impl Fn(&PosteriorFile, &Query, usize) -> Vec<Vec<Uncertain>>,
    build: Build<M>,
) -> Result<Instances, Error> {
    let instance = |query: &Query| {
        let n_positions = file.n_positions(query);
        let lists = lists(file, query, n_positions);
        let means: Vec<Vec<f64>> =
            lists.iter().map(|list| list.iter().map(|parameter| parameter.mean).collect()).collect();
        let model = build(&means, n_positions)
            .map_err(|error| file.error(format!("query {:?}: {error}", query.name())))?;
        let posterior = Posterior { file: Arc::clone(file), lists, n_positions, build };
        let name = Some(query.name().to_owned()).filter(|name| title_fault(name).is_none());
        Ok(Instance { posterior: Some(Arc::new(posterior)), ..Instance::new(name, model) })
    };
    let instances: Result<Vec<Instance<M>>, Error> = file.of_queries().iter().map(instance).collect();
    Ok(Instances::from_users(instances?))
}

/// Draws the users of a run.
pub(super) struct Draws<'a, M>(pub(super) &'a [Instance<M>]);

impl<M: Clone + Sync + Send> DrawUsers<M> for Draws<'_, M> {
    fn draw(&self, instance: usize, rng: &mut SimRng) -> M {
        let instance = &self.0[instance];
        let drawn = instance.posterior.as_ref().and_then(|posterior| posterior.draw(rng));
        drawn.unwrap_or_else(|| instance.model.clone())
    }
}
