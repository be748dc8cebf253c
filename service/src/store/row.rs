//! A row of a store with a checksum, so that a flipped bit is found where it would change a count.

use sha2::{Digest as _, Sha256};

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
pub fn checksum(key: &[u8], content: &[u8]) -> [u8; 8] {
    let sum = Sha256::new().chain_update(key).chain_update(content).finalize();
    std::array::from_fn(|place| sum[place])
}
