//! Tests of the crate `evaluation`.

mod cases;
mod gaps;
mod generated;
mod rankings;
