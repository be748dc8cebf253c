//! What queries and items are called in a log, and the numbers they are counted under.
//!
//! A name that is a decimal number below 2^63, written as such numbers are (no sign, no leading zero), is that number. Any other name is
//! text; while a log is read a text stands under a hash of it, with the highest bit set, and two texts under one hash are an error.
//! Once the log has been read, texts are numbered from 2^63 on in their order. So identifiers order as names do: numbers first, by
//! size, then texts, letter by letter; and nothing depends on who read which part of the log.

use crate::fault::Fault;
use hashbrown::HashTable;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The highest bit tells texts from numbers.
const TEXT: u64 = 1 << 63;
/// Texts are kept in so many tables, each with a lock of its own.
const SHARDS: usize = 64;

/// A query or an item of a log; [`Names`] says what the log calls it.
///
/// # Examples
///
/// ```
/// use click_logs::{Format, Reader};
///
/// let log = "item,position,click\n7,1,0\nshoes,2,1\n";
/// let format = Format::delimited("item=item,position=position,click=click")?;
/// let counts = Reader::new(format).read("log.csv", log.as_bytes())?.counts;
/// let query = counts.queries().next().unwrap();
/// let items: Vec<_> = query.items().map(|item| counts.names().name(item).into_owned()).collect();
/// assert_eq!(items, ["7", "shoes"]);
/// # Ok::<(), click_logs::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(crate) u64);

/// What the identifiers of a log are called there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// In order; the identifier of a text is 2^63 and its place here.
    texts: Vec<Box<str>>,
}

impl Names {
    /// What the log calls this query or item.
    ///
    /// An identifier of another log may be nothing here, and is then called `?`.
    pub fn name(&self, id: Id) -> Cow<'_, str> {
        if id.0 < TEXT {
            return id.0.to_string().into();
        }
        let place = usize::try_from(id.0 - TEXT).unwrap_or(usize::MAX);
        self.texts.get(place).map_or("?", |text| text).into()
    }

    /// The query or item of this name, as far as the name is known; numbers always are.
    pub fn find(&self, name: &str) -> Option<Id> {
        if let Some(number) = plain_number(name.as_bytes()) {
            return Some(Id(number));
        }
        let place = self.texts.binary_search_by(|text| text.as_ref().cmp(name)).ok()?;
        Some(Id(TEXT + place as u64))
    }
}

/// The number that this is the one way of writing, if it is below 2^63.
pub(crate) fn plain_number(text: &[u8]) -> Option<u64> {
    let &[first, ref rest @ ..] = text else { return None };
    if text.len() > 19 || (first == b'0' && !rest.is_empty()) {
        return None;
    }
    let mut number = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // At most 19 digits: below 10^19, which is below 2^64.
        number = number * 10 + u64::from(digit);
    }
    (number < TEXT).then_some(number)
}

/// Where a text stands while a log is read.
#[inline]
pub(crate) fn text_id(text: &[u8]) -> Id {
    Id(hash_bytes(text) | TEXT)
}

/// Where a text stands, and the text.
type Known = (u64, Box<str>);

/// Names met so far, from all threads that read.
#[derive(Debug)]
pub(crate) struct Interner {
    shards: Vec<Mutex<HashTable<Known>>>,
}

impl Interner {
    pub(crate) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// The identifier of a name while the log is read.
    pub(crate) fn id(&self, name: &[u8]) -> Result<Id, Fault> {
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
        let Id(id) = text_id(name);
        #[expect(clippy::cast_possible_truncation, reason = "the remainder of a division by 64")]
        let mut shard = lock(&self.shards[(id % SHARDS as u64) as usize]);
        // The lowest bits chose the shard, so that they say nothing in it.
        match shard.find(mix(id, MIX_B), |entry| entry.0 == id) {
            Some((_, known)) if known.as_ref() == text => {}
            Some(_) => return Err(Fault::SameHash),
            None => {
                shard.insert_unique(mix(id, MIX_B), (id, text.into()), |entry| mix(entry.0, MIX_B));
            }
        }
        Ok(Id(id))
    }

    /// All names in order, and what the identifiers handed out while reading are from now on.
    pub(crate) fn finish(self) -> (Names, Renaming) {
        let mut texts: Vec<Known> = Vec::new();
        for shard in self.shards {
            texts.extend(shard.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        texts.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        let mut renaming = HashTable::with_capacity(texts.len());
        for (place, &(id, _)) in texts.iter().enumerate() {
            renaming.insert_unique(mix(id, MIX_B), (id, TEXT + place as u64), |entry| mix(entry.0, MIX_B));
        }
        (Names { texts: texts.into_iter().map(|entry| entry.1).collect() }, Renaming(renaming))
    }
}

/// From hashes to places in the order.
#[derive(Debug)]
pub(crate) struct Renaming(HashTable<(u64, u64)>);

impl Renaming {
    /// Everything keeps its name.
    pub(crate) fn none() -> Self {
        Self(HashTable::new())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn apply(&self, id: u64) -> u64 {
        if id < TEXT {
            return id;
        }
        self.0.find(mix(id, MIX_B), |entry| entry.0 == id).map_or(id, |entry| entry.1)
    }
}

/// Names of two logs made names of one: all texts, and the renaming for each of the two.
pub(crate) fn merge(a: &Names, b: &Names) -> (Names, [Renaming; 2]) {
    let mut places: BTreeMap<&str, u64> =
        a.texts.iter().chain(&b.texts).map(|text| (text.as_ref(), 0)).collect();
    for (place, entry) in places.values_mut().enumerate() {
        *entry = place as u64;
    }
    let renaming = |names: &Names| {
        let mut table = HashTable::with_capacity(names.texts.len());
        for (old, text) in (TEXT..).zip(&names.texts) {
            table.insert_unique(mix(old, MIX_B), (old, TEXT + places[text.as_ref()]), |entry| {
                mix(entry.0, MIX_B)
            });
        }
        Renaming(table)
    };
    let renamings = [renaming(a), renaming(b)];
    (Names { texts: places.into_keys().map(Into::into).collect() }, renamings)
}

/// What another thread left behind when it panicked is as good as ever: nobody panics in the middle of a change.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Odd constants of no structure (binary digits of pi and of the square root of 2).
const MIX_A: u64 = 0x243f_6a88_85a3_08d3;
pub(crate) const MIX_B: u64 = 0xb504_f333_f9de_6485;

/// The two halves of a product, folded: every bit of the result depends on every bit of both.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ MIX_A) * u128::from(b ^ MIX_B.rotate_left(32));
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

/// A hash of a text that is the same on every machine.
fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        // Not with MIX_B: together with its own rotation it leaves 32 bits of difference, too few to tell names by.
        hash = mix(hash ^ u64::from_le_bytes(word), MIX_A);
    }
    mix(hash, MIX_A)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a million names two share one of 2^63 hashes with a probability of 5e-8.
    #[test]
    fn names_do_not_share_hashes() {
        for form in ["/1", "/213 ", " red shoes", "abcdefg/12"] {
            let mut ids: Vec<Id> = (0..1_000_000).map(|n| text_id(format!("{n}{form}").as_bytes())).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), 1_000_000, "{form}");
        }
    }
}
