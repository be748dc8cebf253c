#![doc = include_str!("../README.md")]

mod read;
mod write;
mod zstandard;

pub use bytes::Bytes;
pub use parquet::data_type::ByteArray;
pub use parquet::errors::ParquetError;
pub use read::{Cell, Cells, Table, unsupported};
pub use write::{Column, TableWriter};
