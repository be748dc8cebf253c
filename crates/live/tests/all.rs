//! Tests of live use.

mod reference;
mod saved;
mod sequences;
mod settings;
