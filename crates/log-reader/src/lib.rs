#![doc = include_str!("../README.md")]

mod collect;
mod columns;
mod counts;
mod error;
mod fault;
mod fields;
mod hand_over;
mod hold_out;
mod keys;
mod list_cells;
mod lists;
mod log;
mod logged;
mod names;
mod personal;
mod read;
mod read_report;
mod session;
mod settings;
mod table;

pub mod time;

pub use columns::Columns;
pub use counts::{Cell, Counts, Filter, Positions, QueryCounts};
pub use error::{Error, ErrorKind, Place};
pub use fault::Fault;
pub use list_cells::{NUMBERS, TEXTS};
pub use lists::{GROUPS, LoggerColumns, ReadLists, ReceiveLists, ShownList, unit_hash};
pub use log::{Log, Part};
pub use names::{Id, Ids, Names};
pub use personal::{ListNames, PersonalList, PersonalLists};
pub use read::{
    Format, Frame, Input, ReadColumn, Reader, RowColumn, TakeRows, Ubi, Value, formats, read_rows,
    read_ubi_clicks,
};
pub use read_report::{IdTypes, ReadReport, SkippedLines, UbiBase, UbiReport};
pub use session::{ListSessions, Pattern, QuerySessions, Session, Sessions};
pub use settings::ReadSettings;
