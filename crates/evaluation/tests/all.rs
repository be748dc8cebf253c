//! Tests of the crate `evaluation`.

// Modules with tests of what is private. They are compiled once more, and not the whole crate.
#[path = "../src/exact.rs"]
#[allow(dead_code)]
mod exact;
#[path = "../src/online/places.rs"]
#[allow(dead_code, unreachable_pub)]
mod places;

mod assumptions;
mod cases;
mod gaps;
mod generated;
mod rankings;
