use super::*;

/// Where a model is supported, it comes first, and those that the log denies are left out;
/// where none is, all stay in their order.
#[test]
fn models_that_the_log_denies_are_left_out_where_it_supports_one() {
    let [supported, exceeded, contradicted, cannot] =
        [Verdict::Supported, Verdict::Exceeded, Verdict::Contradicted, Verdict::CannotTest].map(Some);
    for (before, after) in [
        (
            vec![exceeded, cannot, supported, contradicted, None, supported],
            vec![supported, supported, cannot, None],
        ),
        (vec![cannot, exceeded, contradicted], vec![cannot, exceeded, contradicted]),
        (vec![contradicted], vec![contradicted]),
    ] {
        let mut models = before;
        keep_supported(&mut models, |verdict| *verdict);
        assert_eq!(models, after);
    }
}
