//! Options of a single picture: axes, size and title, for a figure of one result.
//!
//! The shape of a picture belongs to its chart. So a size is applied at the end, to the head of the SVG: the picture is scaled, and keeps its
//! shape within the size.

use super::accuracy::Accuracy;
use super::click_through_rate::ClickThroughRate;
use super::final_values::FinalValues;
use super::regret::Regret;
use super::{Figure, Kind, Plot, PolicyStyles, Rounds, Shown};
use crate::axis::Scale;
use anyhow::{Context as _, Result, bail};
use experiment::{ResultFile, Task};
use std::sync::Arc;

/// Options of a picture. What is absent is chosen by the figure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlotOptions {
    /// The kind of figure by its name in files; the first default figure of the result if absent.
    pub kind: Option<String>,
    /// The scale of the horizontal axis.
    pub x: Option<Scale>,
    /// The scale of the vertical axis.
    pub y: Option<Scale>,
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
    /// Heading.
    pub title: Option<String>,
}

/// A kind of figure that shows a single result.
struct Row {
    kind: &'static Kind,
    /// Whether the scale of the vertical axis can be chosen.
    has_y: bool,
    /// Whether it shows runs that end with an answer; otherwise curves, with a choice of the scale
    /// of their horizontal axis.
    is_of_answers: bool,
    make: fn(&PlotOptions) -> Arc<dyn Plot>,
}

/// The kinds of figures that show a single result.
const KINDS: [Row; 4] = [
    Row {
        kind: &super::regret::KIND,
        has_y: true,
        is_of_answers: false,
        make: |options| Arc::new(Regret { rounds: options.rounds(), y_scale: options.y }),
    },
    Row {
        kind: &super::click_through_rate::KIND,
        has_y: false,
        is_of_answers: false,
        make: |options| Arc::new(ClickThroughRate { rounds: options.rounds() }),
    },
    Row {
        kind: &super::accuracy::KIND,
        has_y: false,
        is_of_answers: false,
        make: |options| Arc::new(Accuracy { rounds: options.rounds() }),
    },
    Row {
        kind: &super::final_values::KIND,
        has_y: true,
        is_of_answers: true,
        make: |options| {
            let default = FinalValues::default();
            Arc::new(FinalValues { scale: options.y.unwrap_or(default.scale), ..default })
        },
    },
];

impl PlotOptions {
    /// The names of the kinds of figures that show a single result.
    pub fn kinds() -> [&'static str; 4] {
        KINDS.map(|row| row.kind.name)
    }

    /// Draws a result as SVG.
    ///
    /// # Errors
    ///
    /// An unknown kind, one that this result does not have, or an axis whose scale is fixed; the drawing library fails.
    pub fn draw(&self, result: &ResultFile, styles: &PolicyStyles) -> Result<String> {
        let figure = self.figure(result)?;
        let drawn = figure.plot.draw(figure.title.as_deref(), Shown::Result(result), styles)?;
        let svg =
            drawn.with_context(|| format!("figure {:?} shows no single result", figure.plot.kind().name))?;
        sized(&svg, self.width, self.height)
    }

    /// The figure with these options.
    fn figure(&self, result: &ResultFile) -> Result<Figure> {
        let curves = || result.policies.iter().filter_map(|policy| policy.curves());
        let recommends = curves().any(|curves| !curves.accuracy.is_empty());
        let default = Figure::defaults(result.task, recommends);
        let default = default.first().map_or("", |figure| figure.plot.kind().name);
        let name = self.kind.as_deref().unwrap_or(default);
        let Some(row) = KINDS.into_iter().find(|row| row.kind.name == name) else {
            bail!("unknown figure {name:?}: expected {}", Self::kinds().join(", "));
        };
        for (given, can, axis) in
            [(self.x, !row.is_of_answers, "horizontal"), (self.y, row.has_y, "vertical")]
        {
            if given.is_some() && !can {
                bail!("the {axis} axis of figure {name:?} has a fixed scale");
            }
        }
        if row.is_of_answers == (result.task == Task::Regret) {
            let has = if row.is_of_answers { "curves over rounds" } else { "runs that end with an answer" };
            bail!("figure {name:?} cannot be drawn: the result has {has}, so give figure {default:?}");
        }
        if name == super::accuracy::KIND.name && !recommends {
            bail!("figure {name:?} cannot be drawn: no policy of the result recommends an item");
        }
        Ok(Figure { title: self.title.clone(), plot: (row.make)(self) })
    }

    /// The settings of a figure over rounds.
    fn rounds(&self) -> Rounds {
        let default = Rounds::default();
        Rounds { scale: self.x.unwrap_or(default.scale), ..default }
    }
}

/// A picture with another size. With one of width and height, the other follows from its shape; with both, it keeps its shape within them.
fn sized(svg: &str, width: Option<u32>, height: Option<u32>) -> Result<String> {
    let (head, body) = svg.split_once('>').context("the picture has no head")?;
    let value = |name: &str| -> Option<(std::ops::Range<usize>, f64)> {
        let begin = head.find(&format!(" {name}=\""))? + name.len() + 3;
        let end = begin + head[begin..].find('"')?;
        Some((begin..end, head[begin..end].parse().ok()?))
    };
    let both = value("width").zip(value("height"));
    let ((of_width, own_width), (of_height, own_height)) = both.context("the picture has no size")?;
    let (width, height) = match (width.map(f64::from), height.map(f64::from)) {
        (None, None) => return Ok(svg.to_owned()),
        (Some(width), Some(height)) => (width, height),
        (Some(width), None) => (width, libm::round(width * own_height / own_width)),
        (None, Some(height)) => (libm::round(height * own_width / own_height), height),
    };
    let mut head = head.to_owned();
    let mut parts = [(of_width, width), (of_height, height)];
    // From the end, so that places stay valid.
    parts.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    for (place, number) in parts {
        head.replace_range(place, &number.to_string());
    }
    Ok(format!("{head}>{body}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Measured;

    fn result() -> ResultFile {
        let runs = |factor: f64| {
            (1..4).map(move |run| [1.0, 10.0, 100.0].map(|t| factor * t + f64::from(run)).to_vec())
        };
        Measured::synthetic(&[1, 10, 100], &[("a", runs(1.0).collect()), ("b", runs(30.0).collect())]).result
    }

    fn draw(options: &PlotOptions) -> Result<String> {
        options.draw(&result(), &PolicyStyles::of(["a", "b"]))
    }

    #[test]
    fn axes_kind_and_title_are_as_asked() {
        let plain = draw(&PlotOptions::default()).unwrap();
        assert!(plain.contains("Cumulative regret") && plain.contains(">round t (log scale)<"));
        let asked = PlotOptions {
            x: Some(Scale::Linear),
            y: Some(Scale::Log),
            title: Some("Mine <1>".to_owned()),
            ..PlotOptions::default()
        };
        let asked = draw(&asked).unwrap();
        assert!(asked.contains("Mine &lt;1&gt;") && asked.contains("clicks, log scale)"), "{asked}");
        assert!(!asked.contains(">round t (log scale)<") && asked.contains(">round t<"));
        let rate = PlotOptions { kind: Some("click-through-rate".to_owned()), ..PlotOptions::default() };
        assert!(draw(&rate).unwrap().contains("Click-through rate"));
    }

    #[test]
    fn a_picture_has_the_size_that_is_asked_for() {
        let of = |width, height| draw(&PlotOptions { width, height, ..PlotOptions::default() }).unwrap();
        let head = |svg: &str| svg.split_once('>').unwrap().0.to_owned();
        let plain = head(&of(None, None));
        let is = |svg: &str, width: u32, height: u32| {
            let head = head(svg);
            let has = |name: &str, value: u32| head.contains(&format!(" {name}=\"{value}\""));
            assert!(has("width", width) && has("height", height), "{head}");
        };
        is(&of(None, None), 800, 458);
        let wide = of(Some(1200), None);
        is(&wide, 1200, 687);
        is(&of(Some(300), Some(300)), 300, 300);
        is(&of(None, Some(229)), 400, 229);
        let view = plain.split_once("viewBox=").unwrap().1.split(' ').take(4).collect::<Vec<_>>().join(" ");
        assert!(wide.contains(&view), "the drawing is the same");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let refused = |options: PlotOptions| draw(&options).unwrap_err().to_string();
        let kind = |kind: &str| PlotOptions { kind: Some(kind.to_owned()), ..PlotOptions::default() };
        let unknown = refused(kind("pie"));
        assert_eq!(unknown, "unknown figure \"pie\": expected regret, click-through-rate, accuracy, final");
        assert!(
            refused(kind("final")).contains("the result has curves over rounds, so give figure \"regret\"")
        );
        assert!(refused(kind("accuracy")).contains("no policy of the result recommends"));
        let fixed = PlotOptions { y: Some(Scale::Log), ..kind("click-through-rate") };
        assert!(
            refused(fixed).contains("the vertical axis of figure \"click-through-rate\" has a fixed scale")
        );
    }
}
