//! An integration test: it plays the round loops of the library and compiles none.

mod kept;
mod orders;
