//! Names of queries and items in a log, and their identifiers.
//!
//! A name that is a decimal number below 2^63, without sign and leading zeros, is its own
//! identifier. Any other name is text. While a log is read, threads number new texts from 2^63 on;
//! afterwards, texts are numbered in their order. So identifiers sort as names do, numbers first,
//! by size, then texts, byte by byte, and do not depend on threads.

use crate::fault::Fault;
use crate::fields::digits;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The highest bit distinguishes texts from numbers.
const TEXT: u64 = 1 << 63;
/// Number of tables of texts, each with its own lock.
const SHARDS: usize = 64;

/// The identifier of a query or an item; [`Names`] has its name.
///
/// # Examples
///
/// ```
/// use log_reader::{Format, Reader};
///
/// let log = "item,position,click\n7,1,0\nshoes,2,1\n";
/// let format = Format::delimited("item=item,position=position,click=click")?;
/// let counts = Reader::new(format).read("log.csv", log.as_bytes())?.counts;
/// let query = counts.queries().next().unwrap();
/// let items: Vec<_> = query.items().map(|item| counts.names().name(item).into_owned()).collect();
/// assert_eq!(items, ["7", "shoes"]);
/// # Ok::<(), log_reader::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Id(pub(crate) u64);

/// The names of a log's identifiers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// Texts in order; the identifier of a text is 2^63 plus its index.
    texts: Vec<Box<str>>,
}

impl Names {
    /// Names without a log.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let texts: BTreeSet<&str> =
            names.into_iter().filter(|name| plain_number(name.as_bytes()).is_none()).collect();
        Self { texts: texts.into_iter().map(Box::from).collect() }
    }

    /// The name of this query or item.
    ///
    /// An identifier of another log may be unknown here; its name is then `?`.
    pub fn name(&self, id: Id) -> Cow<'_, str> {
        if id.0 < TEXT {
            return id.0.to_string().into();
        }
        let place = usize::try_from(id.0 - TEXT).unwrap_or(usize::MAX);
        self.texts.get(place).map_or("?", |text| text).into()
    }

    /// The query or item with this name. `None` for an unknown text; numbers are always known.
    pub fn find(&self, name: &str) -> Option<Id> {
        if let Some(number) = plain_number(name.as_bytes()) {
            return Some(Id(number));
        }
        let place = self.texts.binary_search_by(|text| text.as_ref().cmp(name)).ok()?;
        Some(Id(TEXT + place as u64))
    }

    /// The identifier here of what other names call `id`; one without a name here if it has none.
    pub fn same(&self, id: Id, others: &Self) -> Id {
        self.find(&others.name(id)).unwrap_or(Id(u64::MAX))
    }
}

/// The number whose decimal form this text is, if it is below 2^63.
pub(crate) fn plain_number(text: &[u8]) -> Option<u64> {
    let &[first, ref rest @ ..] = text else { return None };
    if text.len() > 19 || (first == b'0' && !rest.is_empty()) {
        return None;
    }
    // At most 19 digits: below 10^19, which is below 2^64.
    digits(text).filter(|&number| number < TEXT)
}

/// A hash of texts with a random key, so that nobody can write a log whose names collide.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextHash {
    key: u64,
}

impl Default for TextHash {
    fn default() -> Self {
        Self { key: RandomState::new().build_hasher().finish() }
    }
}

impl TextHash {
    #[inline]
    pub(crate) fn of(self, text: &[u8]) -> u64 {
        let (words, rest) = text.as_chunks();
        let add = |hash: u64, word: &[u8; 8]| mix(hash ^ u64::from_le_bytes(*word), self.key);
        let hash = words.iter().fold(self.key ^ text.len() as u64, add);
        // The last eight bytes, some of them once more: a copy of a few bytes takes longer.
        let last = text.last_chunk().map_or_else(
            || rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
            |last| u64::from_le_bytes(*last),
        );
        mix(mix(hash ^ last, self.key), self.key)
    }

    /// A hash of two numbers.
    pub(crate) fn of_numbers(self, a: u64, b: u64) -> u64 {
        mix(a ^ self.key, b ^ self.key)
    }
}

/// The names found so far, by all threads, and their identifiers while a log is read.
///
/// Names of a ranking may be given identifiers before; those of the log's lists are then the same
/// ([`Reader::read_lists`](crate::Reader::read_lists)). In a [`Log`](crate::Log) names have other
/// identifiers: its [`Names`] find them.
#[derive(Debug)]
pub struct Ids {
    hash: TextHash,
    shards: Vec<Mutex<Texts>>,
}

/// Texts with their hashes, in order of arrival, and a table that finds them.
#[derive(Debug, Default)]
struct Texts {
    index: HashTable<u32>,
    texts: Vec<(u64, Box<str>)>,
}

impl Default for Ids {
    fn default() -> Self {
        Self::new()
    }
}

impl Ids {
    /// Without names.
    pub fn new() -> Self {
        Self { hash: TextHash::default(), shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// The identifier of a name during reading; a new one if the name is new.
    ///
    /// # Errors
    ///
    /// [`Fault::Empty`] and [`Fault::NotUtf8`].
    pub fn id(&self, name: &[u8]) -> Result<Id, Fault> {
        if let Some(number) = plain_number(name) {
            return Ok(Id(number));
        }
        self.text(name)
    }

    fn text(&self, name: &[u8]) -> Result<Id, Fault> {
        let text = std::str::from_utf8(name).map_err(|_| Fault::NotUtf8)?;
        if text.is_empty() {
            return Err(Fault::Empty);
        }
        let hash = self.hash.of(name);
        // The hash table uses the lowest and the highest bits.
        let number = (hash >> 32) as usize % SHARDS;
        let mut shard = lock(&self.shards[number]);
        let Texts { index, texts } = &mut *shard;
        let is = |known: &(u64, Box<str>)| *known.1 == *text;
        let (place, _) = find_or_add(index, texts, hash, is, |known| known.0, || (hash, text.into()));
        Ok(Id(TEXT + u64::from(place) * SHARDS as u64 + number as u64))
    }

    /// All names in order, and the renaming from identifiers during reading to final ones.
    pub(crate) fn finish(self) -> (Names, Renaming) {
        let mut texts = Vec::new();
        let mut renaming = Vec::with_capacity(SHARDS);
        for (number, shard) in self.shards.into_iter().enumerate() {
            let of_shard = unlocked(shard).texts;
            renaming.push(vec![0; of_shard.len()]);
            texts.extend(of_shard.into_iter().enumerate().map(|(place, (_, text))| (text, number, place)));
        }
        texts.sort_unstable();
        for (id, &(_, number, place)) in (TEXT..).zip(&texts) {
            renaming[number][place] = id;
        }
        (Names { texts: texts.into_iter().map(|entry| entry.0).collect() }, Renaming(renaming))
    }
}

/// Renaming from the number of a text in one of several lists to its number in order.
#[derive(Debug, Default)]
pub(crate) struct Renaming(Vec<Vec<u64>>);

impl Renaming {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    pub(crate) fn apply(&self, id: u64) -> u64 {
        if id < TEXT || self.is_empty() {
            return id;
        }
        let [number, n_lists] =
            [id - TEXT, self.0.len() as u64].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        self.0[number % n_lists][number / n_lists]
    }
}

/// The place of an entry, and whether it was added since `index` found none.
///
/// # Panics
///
/// With 2^32 - 1 entries, which take 100 GB.
#[inline]
pub(crate) fn find_or_add<T>(
    index: &mut HashTable<u32>,
    entries: &mut Vec<T>,
    hash: u64,
    is: impl Fn(&T) -> bool,
    hash_of: impl Fn(&T) -> u64,
    new: impl FnOnce() -> T,
) -> (u32, bool) {
    match index.entry(hash, |&place| is(&entries[place as usize]), |&place| hash_of(&entries[place as usize]))
    {
        Entry::Occupied(place) => (*place.get(), false),
        Entry::Vacant(vacant) => {
            let place = u32::try_from(entries.len()).ok().filter(|&place| place != u32::MAX);
            let place = place.expect("fewer than 2^32 - 1 entries, 100 GB");
            vacant.insert(place);
            // By an eighth: memory limits large logs, and copies cost less than look-ups.
            if entries.len() == entries.capacity() {
                entries.reserve_exact(entries.len() / 8 + 64);
            }
            entries.push(new());
            (place, true)
        }
    }
}

/// Locks, even after a panic of another thread: none panics in the middle of a change.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The content of a lock, even if a thread panicked while holding it.
pub(crate) fn unlocked<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Odd constants without structure (binary digits of pi and of the square root of 2).
const MIX_A: u64 = 0x243f_6a88_85a3_08d3;
pub(crate) const MIX_B: u64 = 0xb504_f333_f9de_6485;

/// Folds the halves of the product: every bit of the result depends on all bits of both.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ MIX_A) * u128::from(b ^ MIX_B.rotate_left(32));
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

#[cfg(test)]
#[path = "names/tests.rs"]
mod tests;
