//! A row of a store with a checksum, so that a flipped bit is found where it would change a count.

use crate::event::{Event, to_bytes};
use sha2::{Digest as _, Sha256};

/// A checksum.
pub type Sum = [u8; 8];
/// The number and the checksum of an event, by which a snapshot names the events before it.
pub(super) type Last = (u64, Sum);

/// The end of a row that has a checksum. Rows of older versions have none.
const MARK: [u8; 4] = *b"sum1";

/// A row as it is kept: the content, a checksum of it and of the row's key, and the mark.
pub fn sealed(key: &[u8], mut content: Vec<u8>) -> Vec<u8> {
    let sum = checksum(key, &content);
    content.extend(sum);
    content.extend(MARK);
    content
}

/// The content of a row. One without the mark is all content. Its readers refuse bytes beyond what
/// they read, so damage of the mark alone is also found.
pub fn opened(key: &[u8], mut row: Vec<u8>) -> Result<Vec<u8>, String> {
    if let Some((rest, &MARK)) = row.split_last_chunk() {
        let content = rest.split_last_chunk().filter(|(content, sum)| **sum == checksum(key, content));
        let length = content.ok_or("its checksum is not that of its content")?.0.len();
        row.truncate(length);
    }
    Ok(row)
}

/// A checksum of a key and its row.
pub fn checksum(key: &[u8], content: &[u8]) -> Sum {
    let sum = Sha256::new().chain_update(key).chain_update(content).finalize();
    std::array::from_fn(|place| sum[place])
}

/// A checksum of a row that continues the row with the checksum `before`.
pub(super) fn chained(before: Sum, key: &[u8], content: &[u8]) -> Sum {
    let sum = Sha256::new().chain_update(before).chain_update(key).chain_update(content).finalize();
    std::array::from_fn(|place| sum[place])
}

/// The key of an event's row where each event has one: the columns that are read beside its body.
pub(crate) fn key_of_event(number: u64, time: u64) -> Vec<u8> {
    [number.to_le_bytes(), time.to_le_bytes()].concat()
}

/// The checksum that the row of an event has there.
pub fn sum_of_event(number: u64, time: u64, event: &Event) -> Sum {
    checksum(&key_of_event(number, time), &to_bytes(event))
}
