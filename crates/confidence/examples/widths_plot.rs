//! Draws the widths of the front page's bounds against the number of observations, as a share of the width of
//! the interval for one n.
//!
//! `cargo run --release -p confidence --example widths_plot > crates/confidence/docs/widths.svg`

#[expect(dead_code, reason = "the table's own main and costs")]
#[path = "which_bound.rs"]
mod which_bound;

use plotters::prelude::*;

const SIZE: (u32, u32) = (900, 560);
/// Where the labels of the curves begin.
const PLOT_WIDTH: i32 = 640;

/// Distinguishable colours, dark enough for a white page.
const COLORS: [(u8, u8, u8); 10] = [
    (190, 30, 45),
    (30, 120, 60),
    (0, 0, 0),
    (20, 90, 170),
    (200, 110, 0),
    (110, 40, 140),
    (0, 150, 160),
    (190, 60, 150),
    (130, 130, 20),
    (120, 80, 60),
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

    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (left, right) = root.split_horizontally(PLOT_WIDTH);
        let mut chart = ChartBuilder::on(&left)
            .caption(
                "Width of 95 % intervals, over that of KL-UCB for one n (click rate 0.1)",
                ("sans-serif", 15),
            )
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(48)
            .build_cartesian_2d((30.0..1e6).log_scale(), 0.9..6.0)?;
        chart
            .configure_mesh()
            .x_desc("observations")
            .y_desc("relative width")
            .x_label_formatter(&|n| format!("{n:.0}"))
            .light_line_style(WHITE)
            .draw()?;
        let mut labels: Vec<(f64, &str, RGBAColor)> = vec![];
        for (i, (name, widths)) in curves.iter().enumerate() {
            let (red, green, blue) = COLORS[i % COLORS.len()];
            let color = RGBColor(red, green, blue).to_rgba();
            let points: Vec<(f64, f64)> = sizes
                .iter()
                .zip(widths.iter().zip(&reference))
                .map(|(&n, (width, reference))| (n as f64, width / reference))
                .collect();
            labels.push((points.last().map_or(0.0, |point| point.1), name, color));
            chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?;
        }
        // One label a line, in the order of the curves' right ends.
        labels.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (line, (end, name, color)) in (0..).zip(&labels) {
            let y = 60 + 34 * line;
            right.draw(&PathElement::new(vec![(0, y + 6), (18, y + 6)], color.stroke_width(3)))?;
            let text = format!("{}  ({end:.2})", short(name));
            right.draw(&Text::new(text, (24, y), ("sans-serif", 11).into_font().color(&BLACK)))?;
        }
        root.present()?;
    }
    println!("{svg}");
    Ok(())
}

/// A label that fits beside the plot.
fn short(name: &str) -> String {
    let name = name.replace('`', "");
    match name.split_once("level from coverage_bound::") {
        Some((_, bound)) => format!("{bound}_*, for all n up to t"),
        None => name,
    }
}
