//! What the programs share.

pub mod table_e1;
