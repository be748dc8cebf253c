//! The instances of dueling users: a matrix with all items, selected items, or random subsets.

use super::{Arms, MatrixFile};
use crate::models::Instance;
use click_models::{DuelingModel, ItemId, PreferenceMatrix};
use documents::toml_reader::{Error, Location};
use sim::Streams;
use std::sync::Arc;

/// How often a subset is drawn until it has a Condorcet winner.
const MAX_DRAWS: u32 = 10_000;

/// The instances of dueling users, and the tables that they come from.
#[derive(Debug, Clone)]
pub struct Duels {
    /// One for each table.
    groups: Vec<Group>,
    /// The instances of all tables.
    list: Vec<Instance<DuelingModel>>,
}

/// One table of a file: a matrix, and the items of each instance.
#[derive(Debug, Clone)]
pub struct Group {
    /// Name, if the file gives one.
    pub name: Option<String>,
    /// The preference matrix.
    pub matrix: Arc<PreferenceMatrix>,
    /// The file that the matrix was read from.
    pub(super) source: Option<Arc<MatrixFile>>,
    /// The items of each instance.
    pub arms: Arms,
    pub(super) location: Location,
}

impl Duels {
    /// The instances of these tables; random subsets are drawn with this seed.
    ///
    /// # Errors
    ///
    /// None of many random subsets has a Condorcet winner.
    pub(super) fn new(groups: Vec<Group>, seed: u64) -> Result<Self, Error> {
        let mut duels = Self { groups, list: Vec::new() };
        duels.draw(seed)?;
        Ok(duels)
    }

    /// Instances that were built in Rust, each with all items.
    pub(super) fn of(list: Vec<Instance<DuelingModel>>) -> Self {
        let group = |(index, instance): (usize, &Instance<DuelingModel>)| Group {
            name: instance.name.clone(),
            matrix: Arc::new(instance.model.preferences().clone()),
            source: None,
            arms: Arms::All,
            location: Location::new("experiment", 0, 0, &format!("instances[{index}]")),
        };
        Self { groups: list.iter().enumerate().map(group).collect(), list }
    }

    /// Redraws random subsets with this seed.
    ///
    /// # Errors
    ///
    /// None of many random subsets has a Condorcet winner.
    pub(crate) fn draw(&mut self, seed: u64) -> Result<(), Error> {
        let mut list = Vec::new();
        for (number, group) in (0..).zip(&self.groups) {
            for items in group.subsets(seed, number)? {
                let whole = items.len() == group.matrix.shape().n_items() && items.is_sorted();
                let matrix = if whole {
                    PreferenceMatrix::clone(&group.matrix)
                } else {
                    let part = group.matrix.restricted_to(&items);
                    part.map_err(|error| group.location.error(error.to_string()))?
                };
                list.push(Instance::new(group.name.clone(), DuelingModel::new(matrix)));
            }
        }
        self.list = list;
        Ok(())
    }

    /// Sets the number of subsets of each table with random subsets.
    pub(crate) fn with_subsets(&mut self, number: usize) {
        for group in &mut self.groups {
            if let Arms::Random { subsets, .. } = &mut group.arms {
                *subsets = number;
            }
        }
    }

    /// Returns whether a table has random subsets.
    pub(crate) fn are_random(&self) -> bool {
        self.groups.iter().any(|group| matches!(group.arms, Arms::Random { .. }))
    }

    /// Returns whether all instances are random subsets of one table.
    pub(crate) fn are_one_sample(&self) -> bool {
        matches!(&*self.groups, [group] if matches!(group.arms, Arms::Random { .. }))
    }

    /// The tables.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The instances.
    pub fn list(&self) -> &Vec<Instance<DuelingModel>> {
        &self.list
    }

    /// The file of the first table that has one.
    pub fn file(&self) -> Option<&MatrixFile> {
        self.groups.iter().find_map(|group| group.source.as_deref())
    }
}

impl Group {
    /// The number of items of each of its instances.
    pub(super) fn n_items(&self) -> usize {
        match &self.arms {
            Arms::All => self.matrix.shape().n_items(),
            Arms::Listed(items) => items.len(),
            Arms::Random { random, .. } => *random,
        }
    }

    /// The number of items that a random subset takes from the matrix of a file.
    pub fn drawn_from_file(&self) -> Option<usize> {
        self.source.as_ref().filter(|_| matches!(self.arms, Arms::Random { .. })).map(|_| self.n_items())
    }

    /// The source of the matrix, for readers.
    pub(super) fn source(&self) -> String {
        match &self.source {
            Some(file) => file.label(),
            None => format!("{} items, in the experiment's file", self.matrix.shape().n_items()),
        }
    }

    /// The items of each of its instances.
    fn subsets(&self, seed: u64, group: u64) -> Result<Vec<Vec<ItemId>>, Error> {
        match &self.arms {
            Arms::All => Ok(vec![self.matrix.shape().items().collect()]),
            Arms::Listed(items) => Ok(vec![items.iter().map(|&item| ItemId::from_index(item)).collect()]),
            Arms::Random { random, subsets } => {
                let one = |number: usize| self.random_subset(*random, seed, group, number as u64);
                (0..*subsets).map(one).collect()
            }
        }
    }

    fn random_subset(&self, size: usize, seed: u64, group: u64, number: u64) -> Result<Vec<ItemId>, Error> {
        let mut rng = Streams::new(seed).subset(group, number);
        for _ in 0..MAX_DRAWS {
            let items = self.matrix.random_items(size, &mut rng);
            let items = items.map_err(|error| self.location.error(error.to_string()))?;
            let beats_all = |item: ItemId| {
                items.iter().filter(|&&other| self.matrix.beats(item, other)).count() + 1 == items.len()
            };
            if items.iter().any(|&item| beats_all(item)) {
                return Ok(items);
            }
        }
        Err(self.location.error(format!(
            "none of {MAX_DRAWS} random subsets of {size} items has a Condorcet winner, which regret is measured against"
        )))
    }
}
