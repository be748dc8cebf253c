#![doc = include_str!("../README.md")]

mod read;
mod write;

pub use bytes::Bytes;
pub use parquet::data_type::ByteArray;
pub use parquet::errors::ParquetError;
pub use read::{Cell, Cells, of_bytes, of_file, unsupported};
pub use write::{Column, TableWriter};
