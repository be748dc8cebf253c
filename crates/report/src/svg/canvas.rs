//! Lines, areas, markers and text as SVG elements. Only this module uses the drawing library.
//!
//! Lengths are in the units of the picture, and are written with one decimal. Places that are not
//! finite are left out. The bytes depend on what is drawn only.

use super::palette::{self, Ink};
use crate::text::drawable;
use ::svg::Document;
use ::svg::node::element::Element;
use ::svg::node::{Node as _, Text};
use std::fmt::Write as _;

/// A place: to the right, and down.
pub(crate) type Place = (f64, f64);

/// The longest distance from the picture: some programs cannot read larger numbers.
const FAR: f64 = 20_000.0;

/// A length as it is written.
pub(crate) fn length(value: f64) -> String {
    let value = libm::round(10.0 * value.clamp(-FAR, FAR)) / 10.0;
    // Not "-0".
    format!("{}", value + 0.0)
}

/// A line to draw with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pen {
    pub(crate) width: f64,
    /// Lengths of dash and gap; `None` for a solid line.
    pub(crate) dash: Option<(f64, f64)>,
}

impl Pen {
    pub(crate) const fn solid(width: f64) -> Self {
        Self { width, dash: None }
    }
}

/// How text is set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Font {
    pub(crate) size: f64,
    /// The side that is at its place: `start`, `middle` or `end`.
    pub(crate) anchor: &'static str,
    pub(crate) is_bold: bool,
    pub(crate) is_upright: bool,
}

impl Font {
    pub(crate) const fn start(size: f64) -> Self {
        Self { size, anchor: "start", is_bold: false, is_upright: false }
    }

    pub(crate) const fn middle(size: f64) -> Self {
        Self { anchor: "middle", ..Self::start(size) }
    }

    pub(crate) const fn end(size: f64) -> Self {
        Self { anchor: "end", ..Self::start(size) }
    }

    /// The distance from the middle of small letters to their foot.
    pub(crate) fn half(self) -> f64 {
        0.35 * self.size
    }
}

/// A group of elements in the order of drawing, with its colour unless they have their own.
#[derive(Debug)]
pub(crate) struct Layer(Element);

impl Layer {
    /// An empty group with a class, which may be empty.
    pub(crate) fn new(class: &str) -> Self {
        let mut group = Element::new("g");
        if !class.is_empty() {
            group.assign("class", class);
        }
        Self(group)
    }

    pub(crate) fn inked(mut self, ink: Ink) -> Self {
        colour(&mut self.0, ink);
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.0.assign(name, in_lines(value));
    }

    pub(crate) fn add(&mut self, group: Self) {
        self.0.append(group.0);
    }

    /// Adds a title, which browsers show beside the pointer.
    pub(crate) fn title(&mut self, words: &str) {
        self.0.append(element_of("title", words));
    }

    pub(crate) fn line(&mut self, class: &str, pieces: &[Vec<Place>], pen: Pen, ink: Option<Ink>) {
        let d = path(pieces, false);
        if d.is_empty() {
            return;
        }
        let mut line = Element::new("path");
        line.assign("d", d);
        line.assign("fill", "none");
        line.assign("stroke", "currentColor");
        line.assign("stroke-width", length(pen.width));
        line.assign("stroke-linejoin", "round");
        if let Some((dash, gap)) = pen.dash {
            line.assign("stroke-dasharray", format!("{} {}", length(dash), length(gap)));
        }
        self.append(line, class, ink);
    }

    /// Adds a filled area with these corners.
    pub(crate) fn area(&mut self, class: &str, corners: &[Place], opacity: f64) {
        let d = path(&[corners.to_vec()], true);
        if d.is_empty() {
            return;
        }
        let mut area = Element::new("path");
        area.assign("d", d);
        area.assign("fill", "currentColor");
        area.assign("fill-opacity", format!("{opacity}"));
        self.append(area, class, None);
    }

    /// Adds a filled shape, given around the origin, at a place.
    pub(crate) fn shape(&mut self, class: &str, shape: &str, (x, y): Place) {
        if !(x.is_finite() && y.is_finite()) {
            return;
        }
        let mut marker = Element::new("path");
        marker.assign("d", shape);
        marker.assign("fill", "currentColor");
        marker.assign("transform", format!("translate({} {})", length(x), length(y)));
        self.append(marker, class, None);
    }

    /// Adds a filled rectangle: left and top, width and height.
    pub(crate) fn rectangle(&mut self, (left, top): Place, (width, height): (f64, f64), ink: Ink) {
        let mut rectangle = Element::new("rect");
        for (name, value) in [("x", left), ("y", top), ("width", width), ("height", height)] {
            rectangle.assign(name, length(value));
        }
        rectangle.assign("fill", "currentColor");
        self.append(rectangle, "", Some(ink));
    }

    /// Adds text. Its foot is at the place.
    pub(crate) fn text(&mut self, class: &str, words: &str, (x, y): Place, font: Font, ink: Option<Ink>) {
        if words.is_empty() || !(x.is_finite() && y.is_finite()) {
            return;
        }
        let mut text = element_of("text", words);
        let (x, y) = (length(x), length(y));
        if font.is_upright {
            text.assign("transform", format!("rotate(-90 {x} {y})"));
        }
        text.assign("x", x);
        text.assign("y", y);
        text.assign("font-size", length(font.size));
        text.assign("fill", "currentColor");
        if font.anchor != "start" {
            text.assign("text-anchor", font.anchor);
        }
        if font.is_bold {
            text.assign("font-weight", "bold");
        }
        self.append(text, class, ink);
    }

    fn append(&mut self, mut element: Element, class: &str, ink: Option<Ink>) {
        if !class.is_empty() {
            element.assign("class", class);
        }
        if let Some(ink) = ink {
            colour(&mut element, ink);
        }
        self.0.append(element);
    }
}

#[derive(Debug)]
pub(crate) struct Drawing<'a> {
    pub(crate) size: (f64, f64),
    /// Its name for readers who do not see it.
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    pub(crate) has_cells: bool,
    /// More attributes of the root: names and values.
    pub(crate) attributes: Vec<(&'static str, String)>,
}

impl Drawing<'_> {
    pub(crate) fn finish(self, drawings: Vec<Layer>) -> String {
        let (width, height) = (length(self.size.0), length(self.size.1));
        let title = drawable(self.title);
        let mut svg = Document::new()
            .set("class", "plot")
            .set("viewBox", format!("0 0 {width} {height}"))
            .set("width", width)
            .set("height", height)
            .set("font-family", "system-ui, \"Segoe UI\", Roboto, \"DejaVu Sans\", sans-serif")
            .set("role", "img")
            .set("aria-label", title.as_str())
            .add(element_of("title", &title))
            .add(element_of("desc", self.description))
            .add(element_of("style", &palette::style(self.has_cells)));
        for (name, value) in self.attributes {
            svg = svg.set(name, in_lines(&value));
        }
        for drawing in drawings {
            svg = svg.add(drawing.inked(Ink::Text).0);
        }
        format!("{svg}\n")
    }
}

fn element_of(name: &str, words: &str) -> Element {
    let mut element = Element::new(name);
    element.append(Text::new(in_lines(words)));
    element
}

/// Text with characters that XML allows, line by line.
fn in_lines(text: &str) -> String {
    text.split('\n').map(drawable).collect::<Vec<_>>().join("\n")
}

fn colour(element: &mut Element, ink: Ink) {
    let class = element.get_attributes().get("class").map(|class| format!("{class} ")).unwrap_or_default();
    element.assign("class", class + &ink.class());
    element.assign("color", ink.light());
}

/// The data of a path, piece by piece, without places that a line passes anyway.
fn path(pieces: &[Vec<Place>], is_closed: bool) -> String {
    let mut d = String::new();
    for piece in pieces {
        let finite: Vec<Place> =
            piece.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        let kept = simplified(&finite);
        if kept.len() < 2 {
            continue;
        }
        for (number, (x, y)) in kept.into_iter().enumerate() {
            let command = match number {
                0 => "M",
                1 => "L",
                _ => " ",
            };
            let _ = write!(d, "{command}{} {}", length(x), length(y));
        }
        if is_closed {
            d.push('Z');
        }
    }
    d
}

/// The largest distance of a place from the line that leaves it out: less than can be seen.
const UNSEEN: f64 = 0.1;

/// A line through some of these places, near to all of them (Ramer 1972, Douglas and Peucker 1973).
fn simplified(places: &[Place]) -> Vec<Place> {
    let mut is_kept = vec![false; places.len()];
    let mut open = vec![(0, places.len().saturating_sub(1))];
    for end in [0, places.len().saturating_sub(1)] {
        if let Some(kept) = is_kept.get_mut(end) {
            *kept = true;
        }
    }
    while let Some((first, last)) = open.pop() {
        let farthest = (first + 1..last)
            .map(|index| (index, distance(places[index], places[first], places[last])))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((index, distance)) = farthest
            && distance > UNSEEN
        {
            is_kept[index] = true;
            open.extend([(first, index), (index, last)]);
        }
    }
    places.iter().zip(is_kept).filter_map(|(place, kept)| kept.then_some(*place)).collect()
}

/// The distance of a place from the line between two others.
fn distance(place: Place, from: Place, to: Place) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let squared = dx * dx + dy * dy;
    let share = ((place.0 - from.0) * dx + (place.1 - from.1) * dy) / squared;
    let share = if squared > 0.0 { share.clamp(0.0, 1.0) } else { 0.0 };
    libm::hypot(place.0 - from.0 - share * dx, place.1 - from.1 - share * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_decimal_and_are_numbers_for_every_program() {
        let written = [1.0, 0.25, -0.04, 1e300, f64::INFINITY].map(length);
        assert_eq!(written, ["1", "0.3", "0", "20000", "20000"]);
    }

    #[test]
    fn a_path_keeps_its_corners_and_leaves_out_what_lies_on_a_line() {
        let line: Vec<Place> = (0..=100).map(|x| (f64::from(x), 0.0)).chain([(100.0, 50.0)]).collect();
        assert_eq!(path(&[line], false), "M0 0L100 0 100 50");
        assert_eq!(path(&[vec![(0.0, 0.0), (1.0, f64::NAN), (2.0, 3.0)]], true), "M0 0L2 3Z");
        // A closed outline ends where it begins.
        let outline = vec![(0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 0.0)];
        assert_eq!(path(&[outline], false), "M0 0L9 0 9 9 0 0");
        assert_eq!(path(&[vec![(1.0, 1.0)], Vec::new()], false), "");
        // A circle stays one within the distance that is not seen.
        let circle: Vec<Place> = (0..=360)
            .map(|degree| f64::from(degree).to_radians())
            .map(|angle| (100.0 * libm::cos(angle), 100.0 * libm::sin(angle)))
            .collect();
        let kept = simplified(&circle);
        assert!((20..120).contains(&kept.len()), "{}", kept.len());
        for place in circle {
            assert!(kept.windows(2).any(|pair| distance(place, pair[0], pair[1]) <= UNSEEN));
        }
    }

    #[test]
    fn text_is_escaped_in_elements_and_attributes() {
        let nasty = "\"><script>alert('1')</script>&\u{0}\u{ffff}";
        let mut layer = Layer::new("");
        layer.text("", nasty, (0.0, 0.0), Font::start(12.0), None);
        layer.set("data-label", nasty);
        layer.title(nasty);
        let picture = Drawing {
            size: (10.0, 10.0),
            title: nasty,
            description: nasty,
            has_cells: false,
            attributes: vec![("data-x", nasty.to_owned())],
        };
        let svg = picture.finish(vec![layer]);
        assert!(!svg.contains("<script"), "{svg}");
        for name in ["aria-label", "data-x", "data-label"] {
            assert!(svg.contains(&format!("{name}=\"&quot;&gt;&lt;script&gt;alert(&apos;1&apos;)")), "{svg}");
        }
        assert!(svg.chars().all(crate::text::is_in_xml));
        assert_eq!(svg.matches("&lt;script&gt;").count(), 7);
    }
}
