//! `click-bandits plot`: draws a figure of a finished result as SVG.

use crate::destination::{Destination, not_for_terminals};
use crate::usage::{Usage, integer};
use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use experiment::{Finished, ResultFile};
use report::Scale;
use report::figure::{PlotOptions, PolicyStyles};
use std::path::PathBuf;

/// The largest width and height in pixels.
const LARGEST: u64 = 20_000;

/// The arguments of `plot`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Directory of a finished experiment
    dir: PathBuf,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE.svg")]
    out: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,
    /// Kind of figure [default: regret; of runs that end with an answer, final]
    #[arg(long, value_name = "KIND", value_parser = PlotOptions::kinds())]
    figure: Option<String>,
    /// Scale of the horizontal axis
    #[arg(long, value_enum)]
    x: Option<AxisScale>,
    /// Scale of the vertical axis [default: of regret, the one on which the curves can be distinguished]
    #[arg(long, value_enum)]
    y: Option<AxisScale>,
    /// Show only these policies, by their labels; several times for labels with commas
    #[arg(long, value_name = "A,B")]
    policies: Vec<String>,
    /// Width and height in pixels; the picture keeps its shape
    #[arg(long, value_name = "WxH", value_parser = size, conflicts_with_all = ["width", "height"])]
    size: Option<(u32, u32)>,
    /// Width in pixels; the height follows
    #[arg(long, value_name = "PIXELS", value_parser = integer::<u32>(1..=LARGEST))]
    width: Option<u32>,
    /// Height in pixels; the width follows
    #[arg(long, value_name = "PIXELS", value_parser = integer::<u32>(1..=LARGEST))]
    height: Option<u32>,
    /// Heading
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AxisScale {
    /// Equal differences have equal lengths
    Linear,
    /// Equal ratios have equal lengths
    Log,
}

impl From<AxisScale> for Scale {
    fn from(scale: AxisScale) -> Self {
        match scale {
            AxisScale::Linear => Self::Linear,
            AxisScale::Log => Self::Log,
        }
    }
}

/// Draws the figure.
///
/// # Errors
///
/// The directory has no finished result; the figure cannot be drawn; the file may not be written.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let destination = Destination::of(arguments.out.as_deref(), arguments.force)?;
    if destination.is_terminal() {
        return Err(not_for_terminals("A picture"));
    }
    if let Destination::File(path) = &destination
        && path.extension().is_some_and(|end| !end.eq_ignore_ascii_case("svg"))
    {
        bail!(Usage(format!(
            "{}: pictures are written as SVG: expected a name that ends in .svg",
            path.display()
        )));
    }
    let finished = Finished::open(&arguments.dir)?;
    let mut result = finished.result().clone();
    // Colours and markers are those of the figures in the directory, whichever policies are shown.
    let styles = PolicyStyles::of(finished.result().policies.iter().map(|policy| policy.label.as_str()));
    keep_only(&mut result, &arguments.policies)?;
    let options = PlotOptions {
        kind: arguments.figure.clone(),
        x: arguments.x.map(Scale::from),
        y: arguments.y.map(Scale::from),
        width: arguments.size.map(|(width, _)| width).or(arguments.width),
        height: arguments.size.map(|(_, height)| height).or(arguments.height),
        title: arguments.title.clone(),
    };
    let svg = options.draw(&result, &styles).with_context(|| arguments.dir.display().to_string())?;
    destination.write(|output| Ok(output.write_all(svg.as_bytes())?))
}

/// Keeps the policies with these labels, or all without any. A text that is no label is a list of labels.
fn keep_only(result: &mut ResultFile, asked: &[String]) -> Result<()> {
    if asked.is_empty() {
        return Ok(());
    }
    let mut labels: Vec<&str> = Vec::new();
    for text in asked {
        if result.policy(text).is_some() {
            labels.push(text);
        } else {
            labels.extend(text.split(',').map(str::trim));
        }
    }
    if let Some(unknown) = labels.iter().find(|label| result.policy(label).is_none()) {
        let known: Vec<String> = result.policies.iter().map(|policy| format!("{:?}", policy.label)).collect();
        bail!("--policies: the result has no policy {unknown:?}: expected {}", known.join(", "));
    }
    result.policies.retain(|policy| labels.contains(&policy.label.as_str()));
    Ok(())
}

/// Parses `800x460`.
fn size(text: &str) -> Result<(u32, u32), String> {
    let pixels = |text: &str| integer::<u32>(1..=LARGEST)(text).ok();
    let parts = text.split_once(['x', 'X', '×']);
    let size = parts.and_then(|(width, height)| Some((pixels(width)?, pixels(height)?)));
    size.ok_or_else(|| format!("expected WIDTHxHEIGHT in pixels from 1 to {LARGEST}, such as 800x460"))
}
