use super::*;

#[test]
fn a_number_of_many_digits_is_cut() {
    let text = |number: &str| format!("horizon: {number} is too large: at most 2, {number}");
    assert_eq!(with_short_numbers(&text(&"7".repeat(40))), text(&"7".repeat(40)));
    let cut = format!("-1.{}... (300 digits)", "7".repeat(20));
    assert_eq!(with_short_numbers(&text(&format!("-1.{}", "7".repeat(300)))), text(&cut));
    assert_eq!(with_short_numbers(""), "");
}
