//! Functions that the standard library has for Unix alone: the file that a name means, and devices.

use std::fs::Metadata;

/// The number of names of a file, and what tells it from every other file.
#[cfg(all(unix, not(feature = "portable")))]
pub fn names_and_identity(file: &Metadata) -> (u64, (u64, u64)) {
    use std::os::unix::fs::MetadataExt as _;

    (file.nlink(), (file.dev(), file.ino()))
}

/// One name, and files that are not told apart.
#[cfg(any(not(unix), feature = "portable"))]
pub fn names_and_identity(_: &Metadata) -> (u64, (u64, u64)) {
    (1, (0, 0))
}

/// Returns whether a file is a device, which may never end.
#[cfg(all(unix, not(feature = "portable")))]
pub fn is_device(file: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;

    file.file_type().is_char_device() || file.file_type().is_block_device()
}

/// No file is known to be a device.
#[cfg(any(not(unix), feature = "portable"))]
pub fn is_device(_: &Metadata) -> bool {
    false
}
