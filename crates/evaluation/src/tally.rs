//! Sums over lists, by group of users, level and position: of one thread, in fixed memory.

use crate::exact::ExactSums;
use crate::jackknife::GROUPS;
use crate::level::Level;
use crate::ranking::TOLERANCE;
use crate::targets::{Marks, Targets};
use hashbrown::HashMap;
use log_reader::{Id, ReceiveLists, ShownList};

/// Sums of one level at one position of a group.
const SUMS: usize = 3;
pub(crate) const WEIGHT: usize = 0;
pub(crate) const SQUARE: usize = 1;
pub(crate) const CLICKED: usize = 2;
const LEVELS: usize = Level::ALL.len();
/// In the place of a level, the values of what was clicked.
const EARNED: usize = LEVELS;
const MAX_POSITIONS: usize = 64;

/// The sums of what a thread has read.
#[derive(Debug)]
pub struct Tally<'a> {
    targets: &'a Targets,
    /// Values of a click by position.
    values: &'a [f64],
    pub(crate) marks: Marks,
    pub(crate) lists: [u64; GROUPS],
    /// Lists that begin at a position less those that ended above it, by group and position.
    shown: Vec<i64>,
    /// For the list that is added: the probabilities of its items at their positions, and of its
    /// prefixes, in the new ranking.
    marginals: [[f64; MAX_POSITIONS]; 2],
    /// The positions of its items.
    positions: [usize; MAX_POSITIONS],
    /// The items of a new list that it is compared with.
    new_items: Vec<Option<Id>>,
    sums: ExactSums,
    /// The largest `w v c` of a list, by level.
    pub(crate) largest: [f64; LEVELS],
    /// Lists with a weight of each level; without one, the log lacks a propensity.
    pub(crate) weighted: [u64; LEVELS],
    users: HashMap<u64, u64>,
    about: About,
}

/// Lists that are not compared as they are, or that the new ranking also shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct About {
    /// Lists of queries without a new list: left out.
    pub without_new_list: u64,
    /// Lists longer than the new one: compared down to its end.
    pub longer: u64,
    /// Lists shorter than the new one, which is compared down to their ends.
    pub shorter: u64,
    /// Lists that the new ranking is sure to show, down to the end of the shorter.
    pub as_shown: u64,
    /// Users; without a column for users sessions or rows.
    pub users: u64,
    /// Lists of the user with the most.
    pub most_of_a_user: u64,
}

impl ReceiveLists for Tally<'_> {
    fn list(&mut self, list: &ShownList<'_>) {
        let Some(places) = self.targets.find(list.query, list.session) else {
            self.about.without_new_list += list.times;
            return;
        };
        let targets = self.targets;
        let (n_positions, end) = (targets.n_positions(places.start), list.positions.end());
        self.about.longer += if end > n_positions { list.times } else { 0 };
        self.about.shorter += if end < n_positions { list.times } else { 0 };
        let mut n = 0;
        for position in list.positions.iter().take_while(|position| *position < n_positions) {
            self.positions[n] = position;
            n += 1;
        }
        if n == 0 {
            return;
        }
        let positions = &self.positions[..n];
        let items = &list.items[..n];
        let [of_items, of_prefixes] = &mut self.marginals;
        of_items[..n].fill(0.0);
        of_prefixes[..n].fill(0.0);
        for place in places {
            let (probability, new) = targets.list(place);
            let mark = self.marks.entry(place).or_default();
            mark.lists += list.times;
            self.new_items.clear();
            self.new_items.extend(new);
            let mut prefix = 0;
            for (place, (item, &position)) in items.iter().zip(positions).enumerate() {
                if Some(*item) == self.new_items[position] {
                    of_items[place] += probability;
                    mark.positions |= 1 << position;
                    if prefix == position {
                        of_prefixes[place] += probability;
                        prefix += 1;
                    }
                }
            }
            mark.prefix = mark.prefix.max(prefix);
            if (mark.items.count_ones() as usize) < n_positions {
                let is_seen = |item: &Option<Id>| item.is_some_and(|item| items.contains(&item));
                let seen = (0..).zip(&self.new_items).filter(|(_, item)| is_seen(item));
                mark.items = seen.fold(mark.items, |bits, (position, _): (u32, _)| bits | 1 << position);
            }
        }
        let is_sure = |probability: &f64| *probability > 1.0 - TOLERANCE;
        self.about.as_shown += if of_items[..n].iter().all(is_sure) { list.times } else { 0 };
        *self.users.entry(list.unit).or_default() += list.times;
        // A remainder is below the number of groups.
        let group = usize::try_from(list.unit % GROUPS as u64).unwrap_or(0);
        self.lists[group] += list.times;
        let times = i64::try_from(list.times).unwrap_or(i64::MAX);
        let first = group * (self.values.len() + 1);
        for place in 0..n {
            let position = self.positions[place];
            let shown = &mut self.shown[first..];
            shown[position] += times;
            shown[position + 1] -= times;
            if list.clicks >> place & 1 == 1 {
                let sum = self.place(EARNED, group, position);
                self.sums.add(sum, list.times as f64 * value(list, place));
            }
        }
        if let Some(propensities) = list.propensities {
            self.add_weights(Level::Position, group, list, |place| propensities[place], n);
        }
        if let Some(propensities) = list.prefix_propensities {
            self.add_weights(Level::Prefix, group, list, |place| propensities[place], n);
        }
        // A longer list is compared down to the end of the new one.
        let prefix = list.prefix_propensities.map(|propensities| propensities[n - 1]);
        let of_list = if n == list.items.len() { list.list_propensity } else { prefix };
        if let Some(propensity) = of_list {
            // The last prefix is the list.
            let whole = self.marginals[1][n - 1];
            self.marginals[1][..n].fill(whole);
            self.add_weights(Level::List, group, list, |_| propensity, n);
        }
    }
}

fn value(list: &ShownList<'_>, place: usize) -> f64 {
    list.values.map_or(1.0, |values| values[place])
}

impl<'a> Tally<'a> {
    /// `values` has one for each position of the new lists.
    pub(crate) fn new(targets: &'a Targets, values: &'a [f64]) -> Self {
        Self {
            targets,
            values,
            marks: Marks::default(),
            lists: [0; GROUPS],
            shown: vec![0; GROUPS * (values.len() + 1)],
            marginals: [[0.0; MAX_POSITIONS]; 2],
            positions: [0; MAX_POSITIONS],
            new_items: Vec::with_capacity(MAX_POSITIONS),
            sums: ExactSums::new(GROUPS * (LEVELS + 1) * values.len() * SUMS),
            largest: [0.0; LEVELS],
            weighted: [0; LEVELS],
            users: HashMap::default(),
            about: About::default(),
        }
    }

    /// Adds the weights of a list at a level, with the propensity at each place.
    #[inline]
    fn add_weights(
        &mut self,
        level: Level,
        group: usize,
        list: &ShownList<'_>,
        propensity: impl Fn(usize) -> f64,
        n: usize,
    ) {
        let mut earned = 0.0;
        for place in 0..n {
            let probability = self.marginals[usize::from(level != Level::Position)][place];
            if probability == 0.0 {
                continue;
            }
            let position = self.positions[place];
            let weight = probability / propensity(place);
            let (sum, all) = (self.place(level as usize, group, position), list.times as f64 * weight);
            self.sums.add(sum + WEIGHT, all);
            self.sums.add(sum + SQUARE, all * weight);
            if list.clicks >> place & 1 == 1 {
                let value = value(list, place);
                self.sums.add(sum + CLICKED, all * value);
                earned += weight * self.values[position] * value;
            }
        }
        self.weighted[level as usize] += list.times;
        self.largest[level as usize] = self.largest[level as usize].max(earned);
    }

    fn place(&self, level: usize, group: usize, position: usize) -> usize {
        ((group * (LEVELS + 1) + level) * self.values.len() + position) * SUMS
    }

    pub(crate) fn sum(&self, level: Level, group: usize, position: usize, which: usize) -> f64 {
        self.sums.get(self.place(level as usize, group, position) + which)
    }

    pub(crate) fn shown(&self, group: usize, position: usize) -> u64 {
        self.shown[group * (self.values.len() + 1)..][..=position].iter().sum::<i64>().unsigned_abs()
    }

    /// Clicks of a group at a position, by their values.
    pub(crate) fn earned(&self, group: usize, position: usize) -> f64 {
        self.sums.get(self.place(EARNED, group, position))
    }

    /// Adds what another thread has read.
    pub(crate) fn merge(&mut self, other: &Self) {
        let add =
            |sums: &mut [u64], more: &[u64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        for (&place, more) in &other.marks {
            self.marks.entry(place).or_default().merge(more);
        }
        self.shown.iter_mut().zip(&other.shown).for_each(|(sum, more)| *sum += more);
        add(&mut self.lists, &other.lists);
        add(&mut self.weighted, &other.weighted);
        self.sums.merge(&other.sums);
        self.largest = std::array::from_fn(|level| self.largest[level].max(other.largest[level]));
        for (&unit, lists) in &other.users {
            *self.users.entry(unit).or_default() += lists;
        }
        self.about.without_new_list += other.about.without_new_list;
        self.about.longer += other.about.longer;
        self.about.shorter += other.about.shorter;
        self.about.as_shown += other.about.as_shown;
    }

    /// The counts of what is not compared as it is, of rows or of whole lists.
    pub(crate) fn about(&self, are_rows: bool) -> About {
        About {
            shorter: if are_rows { 0 } else { self.about.shorter },
            users: self.users.len() as u64,
            most_of_a_user: self.users.values().copied().max().unwrap_or(0),
            ..self.about
        }
    }
}
