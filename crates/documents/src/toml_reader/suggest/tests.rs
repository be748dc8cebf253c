use super::*;

#[test]
fn the_closest_known_name_is_suggested() {
    let keys = ["horizon", "runs", "seed", "checkpoints"];
    assert_eq!(closest("horizn", &keys), Some("horizon"));
    assert_eq!(closest("Horizon", &keys), Some("horizon"));
    assert_eq!(closest("sede", &keys), Some("seed"));
    assert_eq!(closest("colour", &keys), None);
    assert_eq!(closest("", &[]), None);
    assert_eq!(closest("policy", &["instances", "policies"]), Some("policies"));
    assert_eq!(closest("instance", &["instances", "policies"]), Some("instances"));
    assert_eq!(closest("pbm_ts", &["pbm-ts", "pbm-ucb"]), Some("pbm-ts"));
    assert_eq!(closest("pbm-ucb-plug-in", &["pbm-ucb", "pbm-gibbs"]), Some("pbm-gibbs"));
    assert_eq!(closest("pbm-synth", &["pbm-beyond", "pbm-synthetic"]), Some("pbm-synthetic"));
    assert_eq!(closest("run", &["running"]), None);
}
