//! Where events and snapshots are kept.

mod embedded;

pub use embedded::Embedded;

use crate::event::{Batch, Name};
use std::ops::ControlFlow;

/// Why a store did not do what it was asked for.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached or written at the moment, such as a full disk.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// Another process has it.
    #[error("another process uses {0}")]
    InUse(String),
    /// It contains what this version cannot read.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// It was made for other settings.
    #[error("the store was made for other settings: {0}")]
    OtherSettings(String),
}

/// Events in the order of their commits, numbered from 0, and the last snapshot.
///
/// One thread appends. Others read, and write snapshots, at the same time.
pub trait Store: Send + Sync {
    /// Appends the events of a batch, the first of which has this number, and returns once they are
    /// durable. After [`StoreError::Unavailable`], the same batch may be appended again, whether or not
    /// it was kept the first time.
    fn append(&self, first: u64, batch: &Batch) -> Result<(), StoreError>;

    /// Hands over the batches from the event with this number on, with the number of the first event
    /// of each.
    fn read(
        &self,
        from: u64,
        receive: &mut dyn FnMut(u64, Batch) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// What the last snapshot has of everything but the queries.
    fn head(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// What the last snapshot has of a query.
    fn query(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Replaces the last snapshot, all of it or nothing: `head` is everything but the queries,
    /// `queries` those that changed, and `next` the number of the event that comes after it.
    fn replace(
        &self,
        next: u64,
        head: &[u8],
        queries: &mut dyn Iterator<Item = Result<(Name, Vec<u8>), StoreError>>,
    ) -> Result<(), StoreError>;

    /// The settings that the store was made for; none if it is new.
    fn settings(&self) -> Result<Option<String>, StoreError>;

    /// Makes a new store one for these settings.
    fn make_for(&self, settings: &str) -> Result<(), StoreError>;
}
