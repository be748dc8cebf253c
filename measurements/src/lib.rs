//! Code that the programs share.

pub mod table_e1;
