//! Tests of the crate `evaluation`.

mod cases;
mod generated;
mod rankings;
