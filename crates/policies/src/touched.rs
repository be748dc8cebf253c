//! Counts what a round costs, in tests of its growth.

#[cfg(test)]
thread_local! {
    pub(crate) static TOUCHED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts an item whose index, posterior draw or bound is computed, or that is put into a class.
pub(crate) fn touch() {
    #[cfg(test)]
    TOUCHED.with(|touched| touched.set(touched.get() + 1));
}
