//! Tests of live use.

mod priors;
mod reference;
mod saved;
mod sequences;
mod settings;
