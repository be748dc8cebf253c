//! The runs of one policy, in memory or in a file.

use super::record::{Head, Layout, write_record};
use crate::journal::{JournalError, JournalFile, Place};
use crate::timing::Span;
use contenders::Record;
use std::ops::Range;

/// The runs of one policy, in any order.
#[derive(Debug)]
pub(crate) struct Sequence {
    layout: Layout,
    storage: Storage,
    /// The number of the first run.
    first: u64,
    /// The record of every run, in the order of their numbers.
    places: Vec<Option<Place>>,
    /// The time of all runs.
    pub(crate) elapsed: Span,
    /// Whether the policy recommends items.
    pub(crate) has_accuracy: bool,
}

/// The records, one after the other.
#[derive(Debug)]
enum Storage {
    Memory(Vec<u8>),
    File(JournalFile),
}

impl Storage {
    fn values<'a>(&'a mut self, place: Place, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], JournalError> {
        let record = match self {
            Self::Memory(bytes) => place.of(bytes).unwrap_or_default(),
            Self::File(file) => file.read(place, buffer)?,
        };
        let n_head = Head::read(record).map_or(0, |(_, n_head)| n_head);
        Ok(&record[n_head..])
    }
}

impl Sequence {
    /// No runs yet, of `n_runs` from number `first` on. They will be in memory.
    pub(crate) fn in_memory(layout: Layout, first: u64, n_runs: usize) -> Self {
        let places = vec![None; n_runs];
        let storage = Storage::Memory(Vec::new());
        Self { layout, storage, first, places, elapsed: Span::default(), has_accuracy: false }
    }

    /// Puts further records into a file, whose records are then added with [`Sequence::add`].
    pub(crate) fn put_into(&mut self, file: JournalFile) {
        self.storage = Storage::File(file);
    }

    /// The index of a run that the sequence may have.
    fn index(&self, run: u64) -> Option<usize> {
        let index = usize::try_from(run.checked_sub(self.first)?).ok()?;
        (index < self.places.len()).then_some(index)
    }

    /// Returns whether a run is recorded.
    pub(crate) fn has(&self, run: u64) -> bool {
        self.index(run).is_some_and(|index| self.places[index].is_some())
    }

    /// The number of runs that are recorded.
    pub(crate) fn n_recorded(&self) -> u64 {
        self.places.iter().flatten().count() as u64
    }

    /// The number of runs that are not.
    pub(crate) fn n_missing(&self) -> u64 {
        self.places.len() as u64 - self.n_recorded()
    }

    /// The file; `None` if the runs are in memory.
    pub(crate) fn file(&mut self) -> Option<&mut JournalFile> {
        match &mut self.storage {
            Storage::Memory(_) => None,
            Storage::File(file) => Some(file),
        }
    }

    pub(crate) fn record(&mut self, run: u64, elapsed: Span, record: &Record) -> Result<(), JournalError> {
        let mut content = Vec::new();
        Head { run, elapsed }.write_to(&mut content);
        write_record(record, &mut content);
        self.append(&content)
    }

    /// Records a run by the bytes of its record.
    ///
    /// # Panics
    ///
    /// The record does not have the layout, or is recorded already: a contender of the caller
    /// recorded another number of checkpoints.
    pub(crate) fn append(&mut self, content: &[u8]) -> Result<(), JournalError> {
        let place = self.store(content)?;
        if let Err(fault) = self.add(place, content) {
            panic!("a run {fault}");
        }
        Ok(())
    }

    /// As [`Sequence::append`], of records that may be anything.
    pub(crate) fn restore(&mut self, content: &[u8]) -> Result<(), String> {
        let place = self.store(content).map_err(|error| error.to_string())?;
        self.add(place, content)
    }

    fn store(&mut self, content: &[u8]) -> Result<Place, JournalError> {
        match &mut self.storage {
            Storage::Memory(bytes) => {
                bytes.extend(content);
                Ok(Place::in_memory(bytes.len() - content.len(), content))
            }
            Storage::File(file) => file.append(content),
        }
    }

    /// The record of the run with this index, without its time.
    pub(crate) fn record_of(&mut self, index: usize) -> Result<Vec<u8>, JournalError> {
        let mut content = Vec::new();
        Head { run: self.first + index as u64, elapsed: Span::default() }.write_to(&mut content);
        content.extend(self.values(index)?);
        Ok(content)
    }

    /// The number of the run of a record.
    pub(crate) fn run_of(content: &[u8]) -> Result<u64, String> {
        Head::read(content).map(|(head, _)| head.run).ok_or_else(|| "has no number".to_owned())
    }

    /// Adds a record that is in the storage already. An error names its fault.
    pub(crate) fn add(&mut self, place: Place, content: &[u8]) -> Result<(), String> {
        let (head, n_head) = Head::read(content).ok_or("has no number")?;
        let length = content.len() - n_head;
        if !self.layout.admits(length) {
            return Err(format!("has {length} bytes, which are not the values of {:?}", self.layout));
        }
        let index = self.index(head.run).ok_or_else(|| format!("is number {}", head.run + 1))?;
        if self.places[index].is_some() {
            return Err(format!("has number {}, which another one also has", head.run + 1));
        }
        self.has_accuracy |= self.layout.has_accuracy(length);
        self.elapsed = self.elapsed + head.elapsed;
        self.places[index] = Some(place);
        Ok(())
    }

    /// Calls `each` with the bytes `part` of the values of every recorded run, in the order of the
    /// runs. Without a part, with all values.
    pub(crate) fn each(
        &mut self,
        part: Option<&Range<usize>>,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), JournalError> {
        let mut buffer = Vec::new();
        for place in self.places.iter().flatten() {
            let values = self.storage.values(*place, &mut buffer)?;
            // Every record has the layout, so it has the part.
            each(part.map_or(values, |part| values.get(part.clone()).unwrap_or_default()));
        }
        Ok(())
    }

    /// The values of the run with this index, if it is recorded.
    pub(crate) fn values(&mut self, index: usize) -> Result<Vec<u8>, JournalError> {
        let Some(Some(place)) = self.places.get(index).copied() else { return Ok(Vec::new()) };
        self.storage.values(place, &mut Vec::new()).map(<[u8]>::to_vec)
    }

    /// Loads the file, if there is one.
    pub(crate) fn load(&mut self) -> Result<(), JournalError> {
        match &mut self.storage {
            Storage::Memory(_) => Ok(()),
            Storage::File(file) => file.load(self.places.iter().copied().flatten()),
        }
    }
}
