//! A shortlist and the comparison of all arms pick the same arms in the same order.
