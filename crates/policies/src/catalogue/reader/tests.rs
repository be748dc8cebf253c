use super::Reader;
use serde::de::value::MapDeserializer;
use serde::{Deserialize, Deserializer};
use serde_json::json;

#[derive(Debug, PartialEq, Deserialize)]
struct Fields {
    first: u64,
    #[serde(default)]
    second: u64,
    third: Option<u64>,
    last: u64,
}

const ALL: Fields = Fields { first: 1, second: 2, third: Some(3), last: 4 };

fn from_value(value: serde_json::Value) -> Result<Fields, String> {
    from_format(value)
}

fn from_format<'de>(format: impl Deserializer<'de>) -> Result<Fields, String> {
    let format = &mut <dyn erased_serde::Deserializer<'_>>::erase(format);
    Fields::deserialize(Reader(format)).map_err(|error| error.to_string())
}

#[test]
fn fields_have_any_order_and_names_or_numbers() {
    assert_eq!(from_value(json!({"last": 4, "third": 3, "second": 2, "first": 1, "more": 5})), Ok(ALL));
    assert_eq!(from_value(json!([1, 2, 3, 4])), Ok(ALL));
    let named = [("last", 4_u64), ("first", 1), ("third", 3), ("second", 2), ("more", 5)];
    assert_eq!(from_format(MapDeserializer::<_, serde::de::value::Error>::new(named.into_iter())), Ok(ALL));
    let numbered = [(3_u64, 4_u64), (0, 1), (2, 3), (1, 2), (9, 5)];
    assert_eq!(
        from_format(MapDeserializer::<_, serde::de::value::Error>::new(numbered.into_iter())),
        Ok(ALL)
    );
}

#[test]
fn absent_fields_have_defaults_or_are_named() {
    let part = Fields { second: 0, third: None, ..ALL };
    assert_eq!(from_value(json!({"first": 1, "last": 4})), Ok(part));
    assert_eq!(from_value(json!({"first": 1})), Err("missing field `last`".to_owned()));
    assert_eq!(from_value(json!({})), Err("missing field `first`".to_owned()));
    let misspelt = from_value(json!({"first": 1, "secnd": 2, "third": 3, "last": 4}));
    assert!(misspelt.expect_err("a fault").starts_with("unknown field `secnd`, expected one of `first`"));
    let named = [("first", 1_u64), ("second", 2)];
    let named = MapDeserializer::<_, serde::de::value::Error>::new(named.into_iter());
    assert_eq!(from_format(named), Err("missing field `last`".to_owned()));
}

#[test]
fn other_values_are_refused() {
    let refused = |value| from_value(value).expect_err("a fault");
    assert_eq!(refused(json!("x")), "invalid type: string \"x\", expected struct Fields");
    assert_eq!(refused(json!([1, 2, 3, 4, 5])), "invalid length 5, expected fewer elements in array");
    assert_eq!(refused(json!([1])), "invalid length 2, expected struct Fields with 4 elements");
    assert!(
        refused(json!({"first": -1, "last": 4})).starts_with("invalid value: integer `-1`, expected u64")
    );
}
