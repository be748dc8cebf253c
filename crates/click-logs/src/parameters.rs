//! Fits as files for other programs: `parameters.json`, and tables of their parameters.
//!
//! [`write()`] writes the [`Parameters`] of fits, with eight significant digits, and
//! [`Parameters::from_json`] reads them. A log with many items makes a large file.
//! [`write_with_table`] leaves out what belongs to single queries, and names the table that has it
//! instead, which `write_table` (with the feature `parquet`) writes as Parquet. Such a file has
//! version 2, so that no reader of version 1 takes it for a fit without queries.
//!
//! # Examples
//!
//! ```
//! use click_logs::fit::{Model, Options, fit};
//! use click_logs::parameters::{Parameters, write};
//! use click_logs::study::FilteredLog;
//! use log_reader::{Format, Reader};
//!
//! let log = "query,item,position,clicks,impressions\nq,a,1,600,1000\nq,a,2,200,1000\nq,b,1,300,1000\nq,b,2,100,1000\n";
//! let log = Reader::new(Format::counts()).read("counts.csv", log.as_bytes())?;
//! let options = Options::default();
//! let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &options)?;
//! let (report, n_queries, counts) = (log.report, log.counts.n_queries(), log.counts);
//! let log = FilteredLog { report, n_queries, counts, sessions: log.sessions };
//! let mut json = Vec::new();
//! write(&log, &[pbm], &options, &|_| true, &mut json)?;
//!
//! let read = Parameters::from_json("parameters.json", &json)?;
//! let query = &read.model(Model::Pbm).unwrap().queries[0];
//! assert_eq!((query.query.as_str(), query.items[1].item.as_str()), ("q", "b"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fits;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod records;
mod rows;
mod with_table;

pub use documents::parameters::*;
pub use fits::fits;
#[cfg(feature = "parquet")]
pub use parquet::write_table;
pub use records::{record, write};
pub use rows::{ParameterRow, for_each_parameter};
pub use with_table::write_with_table;

/// Items with fewer impressions, and positions with fewer clicks, are listed as having few.
pub const FEW: u64 = 20;
