//! The file and the canonical form of an experiment.

use super::*;

#[test]
fn a_written_spec_reads_back_as_the_same_experiment() {
    let odd = GOOD
        .replace("seed = 1", "seed = 18446744073709551615")
        .replace("0.45", "0.1234567890123456789, 5e-324, 1, 0, -0.0, 0.30000000000000004")
        .replace("PBM-PIE (log T)", "\\u03b5 = \\\"1\\\" \\\\ 'x' ''' ]")
        .replace("epsilon = 0.1", "epsilon = 1e300")
        .replace("model = \"pbm\"", "model = \"pbm\"\nname = \"query #1, [a]\"");
    for text in [GOOD.to_owned(), odd, GOOD.replace("[10000, 1000]", "{ log = 17 }")] {
        let mut experiment = read(&text).unwrap();
        for horizon in [100_000, 77, 1_000_000] {
            experiment.apply(Overrides { horizon: Some(horizon), ..Overrides::default() }).unwrap();
            let written = experiment.to_toml();
            let again = read(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
            assert_eq!(again.canonical(), experiment.canonical());
            assert_eq!(again.identity(), experiment.identity());
        }
    }
}

#[test]
fn a_parameter_without_a_value_is_not_written() {
    // By default `gamma` of GRAB is the number of items, and has no value.
    let experiment = read(&GOOD.replace("policy = \"pbm-ts\"", "policy = \"grab\"")).unwrap();
    let written = experiment.to_toml();
    assert!(written.contains("policy = \"grab\"") && !written.contains("gamma"), "{written}");
    assert_eq!(read(&written).unwrap().identity(), experiment.identity());
}

#[test]
fn numbers_of_the_canonical_form_read_back_exactly() {
    let theta = [0.1, 1.0 / 3.0, 5e-324, 0.300_000_000_000_000_04, f64::EPSILON];
    let text = GOOD.replace("[0.45, 0.35, 0.25, 0.15, 0.05]", &format!("{theta:?}"));
    let json: serde_json::Value = serde_json::from_str(&read(&text).unwrap().canonical().json).unwrap();
    let read: Vec<f64> = serde_json::from_value(json["instances"][0]["theta"].clone()).unwrap();
    assert_eq!(read.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), theta.map(f64::to_bits));
}
