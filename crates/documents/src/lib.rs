#![doc = include_str!("../README.md")]

/// Lets errors print in Debug as in Display: a `main` that returns one prints it so.
#[macro_export]
macro_rules! debug_is_display {
    ($($error:ty),+) => {
        $(impl ::std::fmt::Debug for $error {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, formatter)
            }
        })+
    };
}

mod gzip;
mod hash;
mod input_file;
mod json;
mod regular;
mod temporary;
mod unix;

pub mod names;
pub mod number;
pub mod parameters;
pub mod remark;
pub mod toml_reader;

#[cfg(feature = "gzip")]
pub use gzip::Decompressor;
pub use gzip::unpack;
pub use hash::{sha256, sha256_of_file, sha256_of_stream};
pub use input_file::{BYTE_ORDER_MARK, InputFile, RecordLines, named_cell, without_byte_order_mark};
pub use json::{read_json, without_place};
pub use regular::{is_link, named_twice, open_regular, read_own, read_regular};
pub use temporary::{TemporaryFile, remove_left_overs, sync_dir_of, try_to_create_in};
pub use unix::{is_device, names_and_identity};
