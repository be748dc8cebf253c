//! Tests of live use.

mod changes;
mod context_fit;
mod for_users;
mod priors;
mod reference;
mod saved;
mod sequences;
mod settings;
mod unshown;
mod values;
