use crate::toml_reader::Source;

#[test]
fn values_are_those_that_json_has() {
    let text = "a = 1e5\nb = 0x10\nc = nan\nd = 18446744073709551615\ne = 1_0\nf = 99999999999999999999\n\
                g = 1979-05-27\n[t]\nlist = [0.5, \"x\", true, {}]\n";
    let source = Source::from_text("x", text).unwrap();
    let json = source.parse().unwrap().to_json();
    assert_eq!(
        json,
        serde_json::json!({
            "a": 100_000, "b": 16, "c": null, "d": u64::MAX, "e": 10, "f": 1e20, "g": "1979-05-27",
            "t": { "list": [0.5, "x", true, {}] }
        })
    );
}
