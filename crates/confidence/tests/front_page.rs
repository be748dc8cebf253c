//! The numbers on the crate's front page match the code.

#[expect(dead_code, reason = "its main and the measurement of costs")]
#[path = "../../../measurements/src/bin/which_bound.rs"]
mod which_bound;

#[test]
fn table_shows_the_computed_widths() {
    let page = include_str!("../README.md");
    for row in which_bound::rows() {
        let widths = which_bound::printed_widths(&row);
        let line = page.lines().find(|line| line.starts_with(&format!("| {} |", row.name)));
        let line = line.unwrap_or_else(|| panic!("{} is not on the front page", row.name));
        assert!(
            line.contains(&format!("| {widths} |")),
            "{} has widths {widths}, but the page says {line}",
            row.name
        );
    }
}
