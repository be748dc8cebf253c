//! Names, each stored once: a ranking repeats its queries and items.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::{BuildHasher, RandomState};

/// Names by number, in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    text: String,
    /// The end of each name in the text.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
    hash: RandomState,
}

impl Names {
    /// The number of a name; a new one if the name is new.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        let Self { text, ends, numbers, hash } = self;
        let of = |number: u32| part(text, ends, number);
        let known = |&number: &u32| of(number) == name;
        match numbers.entry(hash.hash_one(name), known, |&number| hash.hash_one(of(number))) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(vacant) => {
                let number = u32::try_from(ends.len()).expect("fewer than 2^32 names, 50 GB");
                vacant.insert(number);
                text.push_str(name);
                ends.push(text.len());
                number
            }
        }
    }

    pub(crate) fn name(&self, number: u32) -> &str {
        part(&self.text, &self.ends, number)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The rank of each number in the order of the names.
    pub(super) fn ranks(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..).take(self.len()).collect();
        order.sort_unstable_by_key(|&number| self.name(number));
        let mut ranks = vec![0; order.len()];
        (0..).zip(&order).for_each(|(rank, &number)| ranks[number as usize] = rank);
        ranks
    }
}

fn part<'a>(text: &'a str, ends: &[usize], number: u32) -> &'a str {
    let place = number as usize;
    let start = place.checked_sub(1).map_or(0, |before| ends[before]);
    &text[start..ends[place]]
}
