//! Frames: pieces of an append-only file, each with its length and a checksum.
//!
//! A frame is the length of its content (4 bytes), a checksum (4 bytes), both in little-endian
//! order, and the content. The checksum is the CRC-32 of length and content. A process that is
//! killed while it appends leaves an unfinished frame at the end, or, after a power failure, zeros
//! or old bytes. A bad frame with a good one behind it is no unfinished end but damage.

/// Bytes before the content.
pub(super) const HEAD: usize = 8;

/// Appends a frame with this content. Returns its checksum.
pub(super) fn write(content: &[u8], out: &mut Vec<u8>) -> u32 {
    let sum = checksum(content);
    out.extend(length_of(content));
    out.extend(sum.to_le_bytes());
    out.extend(content);
    sum
}

/// Checksum and content of the frame at the beginning of `bytes`; `None` if no whole, undamaged
/// frame of at most `longest` bytes is there.
pub(super) fn read(bytes: &[u8], longest: usize) -> Option<(u32, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let sum = u32::from_le_bytes(*sum);
    let size = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    // No frame is empty, so zeros are no frame.
    let content = rest.get(..size).filter(|_| (1..=longest).contains(&size))?;
    (checksum(content) == sum).then_some((sum, content))
}

/// Returns whether a frame begins anywhere in `bytes`.
pub(super) fn is_within(bytes: &[u8], longest: usize) -> bool {
    (0..bytes.len()).any(|place| read(&bytes[place..], longest).is_some())
}

fn length_of(content: &[u8]) -> [u8; 4] {
    u32::try_from(content.len()).unwrap_or(u32::MAX).to_le_bytes()
}

pub(super) fn checksum(content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length_of(content));
    hasher.update(content);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_only_if_it_is_whole_and_undamaged() {
        let mut frame = Vec::new();
        let sum = write(b"content", &mut frame);
        assert_eq!((read(&frame, 7), read(&frame, 6)), (Some((sum, &b"content"[..])), None));
        for length in 0..frame.len() {
            assert_eq!(read(&frame[..length], 7), None);
        }
        for bit in 0..8 * frame.len() {
            let mut damaged = frame.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&damaged, 1 << 20), None, "bit {bit}");
        }
        assert_eq!(read(&[0; 64], 64), None);
    }

    #[test]
    fn a_frame_is_found_behind_damage() {
        let mut bytes = b"damage".to_vec();
        assert!(!is_within(&bytes, 7));
        write(b"content", &mut bytes);
        assert!(is_within(&bytes, 7) && !is_within(&bytes[..bytes.len() - 1], 7));
    }
}
