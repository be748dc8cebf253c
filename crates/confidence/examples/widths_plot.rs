//! Draws the widths of the front page's bounds against the number of observations, as a share of the width of
//! the interval for one n.
//!
//! `cargo run --release -p confidence --example widths_plot > crates/confidence/docs/widths.svg`

#[expect(dead_code, reason = "the table's own main and costs")]
#[path = "which_bound.rs"]
mod which_bound;

use svg::Document;
use svg::node::element::{Group, Path, Rectangle, Text};

/// Width and height of the picture.
const SIZE: (f64, f64) = (960.0, 560.0);
/// Left, top, right and bottom of the frame around the curves.
const FRAME: (f64, f64, f64, f64) = (60.0, 44.0, 628.0, 506.0);
/// The ranges of the axes: observations, on a logarithmic scale, and widths.
const OBSERVATIONS: (f64, f64) = (30.0, 1e6);
const WIDTHS: (f64, f64) = (0.9, 6.0);

/// Distinguishable colours, dark enough for a white page.
const COLORS: [&str; 10] = [
    "#be1e2d", "#1e783c", "#000000", "#145aaa", "#c86e00", "#6e288c", "#0096a0", "#be3c96", "#828214",
    "#78503c",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 25 sizes, evenly spaced in the logarithm, from 30 to 10^6.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 30 and 10^6")]
    let sizes: Vec<u64> =
        (0..=24).map(|i| libm::round(30.0 * libm::pow(1e6 / 30.0, f64::from(i) / 24.0)) as u64).collect();
    let rows = which_bound::rows();
    let curves: Vec<(&str, Vec<f64>)> = rows.iter().map(|row| (row.name, (row.widths)(&sizes))).collect();
    let reference =
        curves.iter().find(|(name, _)| name.starts_with("`kl_ucb_upper`")).ok_or("no reference")?.1.clone();

    let mut picture = Document::new()
        .set("viewBox", format!("0 0 {} {}", SIZE.0, SIZE.1))
        .set("width", SIZE.0)
        .set("height", SIZE.1)
        .set("font-family", "sans-serif")
        .add(Rectangle::new().set("width", SIZE.0).set("height", SIZE.1).set("fill", "#ffffff"))
        .add(text(20.0, 26.0, 15, "Width of 95 % intervals, over that of KL-UCB for one n (click rate 0.1)"))
        .add(axes());
    let mut labels: Vec<(f64, &str, &str)> = vec![];
    for (i, (name, widths)) in curves.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let relative: Vec<f64> = widths.iter().zip(&reference).map(|(width, one)| width / one).collect();
        let points: Vec<String> = sizes
            .iter()
            .zip(&relative)
            .map(|(&n, width)| format!("{:.1} {:.1}", x(n as f64), y(width.min(WIDTHS.1))))
            .collect();
        labels.push((relative.last().copied().unwrap_or(0.0), name, color));
        picture = picture.add(line(&format!("M{}", points.join("L")), color, 2.0));
    }
    // One label a line, in the order of the curves' right ends.
    labels.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (number, (end, name, color)) in (0..).zip(&labels) {
        let y = 66.0 + 34.0 * f64::from(number);
        let words = format!("{}  ({end:.2})", short(name));
        picture =
            picture.add(line(&format!("M640 {y}h18"), color, 3.0)).add(text(664.0, y + 4.0, 11, &words));
    }
    println!("{picture}");
    Ok(())
}

fn x(observations: f64) -> f64 {
    let share = libm::log(observations / OBSERVATIONS.0) / libm::log(OBSERVATIONS.1 / OBSERVATIONS.0);
    FRAME.0 + share * (FRAME.2 - FRAME.0)
}

fn y(width: f64) -> f64 {
    FRAME.3 - (width - WIDTHS.0) / (WIDTHS.1 - WIDTHS.0) * (FRAME.3 - FRAME.1)
}

/// Both axes, with their ticks.
fn axes() -> Group {
    let (left, top, right, bottom) = FRAME;
    let mut group = Group::new();
    for (n, label) in [(1e2, "100"), (1e3, "1000"), (1e4, "10000"), (1e5, "100000"), (1e6, "1000000")] {
        let x = x(n);
        let words = text(x, bottom + 18.0, 12, label).set("text-anchor", "middle");
        group = group.add(line(&format!("M{x:.1} {top}V{bottom}"), "#dddddd", 1.0)).add(words);
    }
    for width in 1..=6 {
        let y = y(f64::from(width));
        let words = text(left - 8.0, y + 4.0, 12, &width.to_string()).set("text-anchor", "end");
        group = group.add(line(&format!("M{left} {y:.1}H{right}"), "#dddddd", 1.0)).add(words);
    }
    let beside = format!("rotate(-90 24 {0})", f64::midpoint(top, bottom));
    let vertical = text(24.0, f64::midpoint(top, bottom), 13, "relative width").set("transform", beside);
    let horizontal = text(f64::midpoint(left, right), bottom + 40.0, 13, "observations");
    group
        .add(line(&format!("M{left} {top}V{bottom}H{right}"), "#000000", 1.0))
        .add(vertical.set("text-anchor", "middle"))
        .add(horizontal.set("text-anchor", "middle"))
}

fn line(path: &str, color: &str, width: f64) -> Path {
    Path::new().set("d", path).set("fill", "none").set("stroke", color).set("stroke-width", width)
}

fn text(x: f64, y: f64, size: u32, words: &str) -> Text {
    Text::new(words).set("x", format!("{x:.1}")).set("y", format!("{y:.1}")).set("font-size", size)
}

/// A label that fits beside the plot.
fn short(name: &str) -> String {
    let name = name.replace('`', "");
    match name.split_once("level from coverage_bound::") {
        Some((_, bound)) => format!("{bound}_*, for all n up to t"),
        None => name,
    }
}
