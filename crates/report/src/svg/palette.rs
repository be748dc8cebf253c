//! The colours of figures in both themes, and their style sheet. No other module names a colour.
//!
//! An element has its colour twice: as an attribute, the light theme's, for programs that know no
//! style sheets; and by a class, whose rule takes the theme's. The custom properties are those of
//! the root, so a page may use them for its own swatches and cards.

use num_traits::ToPrimitive as _;
use std::fmt::Write as _;

/// Red, green and blue, each from 0 to 255.
pub(crate) type Rgb = [u8; 3];

/// Everything that is coloured. All is opaque except the bands around curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Text,
    Muted,
    Frame,
    /// Lines across a chart at labelled ticks.
    Grid,
    /// The same at minor ticks.
    FaintGrid,
    Paper,
    /// References: bounds, the optimum.
    Reference,
    /// A cell without a value.
    Empty,
    Series(usize),
    /// A cell of a heat map: a step of the scale, 0 for little to [`N_STEPS`] - 1 for much.
    Step(usize),
    /// The letters in such a cell.
    Letter(usize),
}

pub(crate) const N_SERIES: usize = 8;

/// The number of steps of the heat map's scale.
pub(crate) const N_STEPS: usize = 24;

/// Light theme: six colours of Okabe, Ito and Tol, and a brown and a violet in place of the two
/// that are too pale on white. Dark theme: the colours near these that are easiest to tell apart. A
/// test measures both, as colour-blind readers see them too.
const SERIES: [(Rgb, Rgb); N_SERIES] = [
    ([0x00, 0x72, 0xb2], [0x72, 0x9c, 0xf4]),
    ([0xd5, 0x5e, 0x00], [0xc2, 0x79, 0x07]),
    ([0x00, 0x9e, 0x73], [0x20, 0xe0, 0x6a]),
    ([0xcc, 0x79, 0xa7], [0xc2, 0x9d, 0x90]),
    ([0x8d, 0x66, 0x35], [0xc2, 0xdc, 0x03]),
    ([0x7c, 0x69, 0xe6], [0xb7, 0xef, 0xf2]),
    ([0x88, 0x22, 0x55], [0xd4, 0x35, 0x98]),
    ([0x33, 0x22, 0x88], [0x86, 0x5e, 0xff]),
];

/// The heat map's scale from little to much, evenly in lightness, so that it can be read in grey
/// too: away from the colour of the paper. Light: the yellows, oranges and reds of Brewer's
/// sequential scale.
const SCALE: [(Rgb, Rgb); 6] = [
    ([255, 255, 217], [45, 36, 72]),
    ([254, 227, 145], [98, 32, 96]),
    ([254, 178, 76], [158, 48, 92]),
    ([240, 96, 40], [214, 84, 62]),
    ([189, 0, 38], [248, 152, 48]),
    ([90, 0, 30], [255, 236, 158]),
];

/// Everything else but the cells of heat maps: its class, and its colours in both themes.
const PLAIN: [(Ink, &str, (Rgb, Rgb)); 7] = [
    (Ink::Text, "ink", ([0x22, 0x22, 0x22], [0xe6, 0xe8, 0xea])),
    (Ink::Muted, "muted", ([0x5c, 0x5c, 0x5c], [0xa8, 0xb0, 0xb8])),
    (Ink::Frame, "frame", ([0x8a, 0x8a, 0x8a], [0x7d, 0x86, 0x8f])),
    (Ink::Grid, "grid", ([0xdd, 0xdd, 0xdd], [0x3a, 0x41, 0x48])),
    (Ink::FaintGrid, "faint", ([0xf0, 0xf0, 0xf0], [0x27, 0x2c, 0x31])),
    (Ink::Paper, "paper", ([0xff, 0xff, 0xff], [0x1c, 0x20, 0x24])),
    (Ink::Reference, "reference", ([0x33, 0x33, 0x33], [0xdd, 0xe0, 0xe3])),
];
/// A cell without a value.
const EMPTY: (Rgb, Rgb) = ([0xf3, 0xf3, 0xf3], [0x25, 0x2a, 0x2f]);

/// A theme of the reader's device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Dark on light. Prints are always light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    fn pick(self, (light, dark): (Rgb, Rgb)) -> Rgb {
        if self == Self::Light { light } else { dark }
    }
}

impl Ink {
    /// Everything that is coloured, in the order of the style sheet. Cells of heat maps are last.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let cells = (0..N_STEPS).flat_map(|step| [Self::Step(step), Self::Letter(step)]);
        let plain = PLAIN.into_iter().map(|(ink, ..)| ink);
        plain.chain((0..N_SERIES).map(Self::Series)).chain([Self::Empty]).chain(cells)
    }

    fn is_of_cells(self) -> bool {
        matches!(self, Self::Empty | Self::Step(_) | Self::Letter(_))
    }

    fn plain(self) -> Option<(&'static str, (Rgb, Rgb))> {
        let found = PLAIN.into_iter().find(|(ink, ..)| *ink == self);
        found.map(|(_, class, colours)| (class, colours))
    }

    /// Its class, which is also the end of the name of its custom property.
    pub(crate) fn class(self) -> String {
        match self {
            Self::Series(number) => format!("s{}", number % N_SERIES),
            Self::Step(step) => format!("h{step}"),
            Self::Letter(step) => format!("l{step}"),
            _ => self.plain().map_or("empty", |(class, _)| class).to_owned(),
        }
    }

    pub(crate) fn rgb(self, theme: Theme) -> Rgb {
        match self {
            Self::Series(number) => theme.pick(SERIES[number % N_SERIES]),
            Self::Step(step) => at_step(step, theme),
            // Black or white, whichever has more contrast: at least 4.5 to 1.
            Self::Letter(step) if luminance(at_step(step, theme)) > 0.179 => [0, 0, 0],
            Self::Letter(_) => [255, 255, 255],
            _ => theme.pick(self.plain().map_or(EMPTY, |(_, colours)| colours)),
        }
    }

    /// Its colour in the light theme as `#rrggbb`.
    pub(crate) fn light(self) -> String {
        hexadecimal(self.rgb(Theme::Light))
    }

    /// Its colour for a style sheet: the custom property, by default the light colour.
    pub(crate) fn css(self) -> String {
        format!("var(--plot-{}, {})", self.class(), self.light())
    }
}

/// The step of the heat map's scale at a place; places run from 0 to 1.
pub(crate) fn step_at(place: f64) -> usize {
    (place.clamp(0.0, 1.0) * N_STEPS as f64).to_usize().unwrap_or(0).min(N_STEPS - 1)
}

fn at_step(step: usize, theme: Theme) -> Rgb {
    let place = step.min(N_STEPS - 1) as f64 / (N_STEPS - 1) as f64 * (SCALE.len() - 1) as f64;
    let below = place.to_usize().unwrap_or(0).min(SCALE.len() - 2);
    let (from, to) = (theme.pick(SCALE[below]), theme.pick(SCALE[below + 1]));
    let share = place - below as f64;
    [0, 1, 2].map(|channel| {
        let (from, to) = (f64::from(from[channel]), f64::from(to[channel]));
        libm::round(from + share * (to - from)).to_u8().unwrap_or(0)
    })
}

/// Relative luminance of a colour, from 0 to 1 (WCAG 2.2,
/// <https://www.w3.org/TR/WCAG22/#dfn-relative-luminance>).
pub(crate) fn luminance(colour: Rgb) -> f64 {
    let [red, green, blue] = colour.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn linear(channel: u8) -> f64 {
    let share = f64::from(channel) / 255.0;
    if share <= 0.04045 { share / 12.92 } else { libm::pow((share + 0.055) / 1.055, 2.4) }
}

fn hexadecimal([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The style sheet of the colours: custom properties in both themes, and a rule for each class. The
/// rules are in `@supports`, because a program that does not know custom properties would take the
/// rule and draw everything black.
pub(crate) fn style(with_cells: bool) -> String {
    let all = || Ink::all().filter(|ink| with_cells || !ink.is_of_cells());
    let properties = |theme: Theme| {
        let property = |ink: Ink| format!("--plot-{}:{};", ink.class(), hexadecimal(ink.rgb(theme)));
        all().map(property).collect::<String>()
    };
    let mut css = format!(
        ":root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n@supports (color:var(--plot-ink)){{\n",
        properties(Theme::Light),
        properties(Theme::Dark)
    );
    for class in all().map(Ink::class) {
        let _ = write!(css, ".plot .{class}{{color:var(--plot-{class})}}");
    }
    css.push_str("\n}\n");
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEMES: [Theme; 2] = [Theme::Light, Theme::Dark];

    fn contrast(ink: Ink, on: Ink, theme: Theme) -> f64 {
        let [a, b] = [ink, on].map(|ink| luminance(ink.rgb(theme)) + 0.05);
        a.max(b) / a.min(b)
    }

    /// Text 4.5, lines and markers 3. The grid repeats the labels, so it may be faint.
    #[test]
    fn every_colour_has_contrast_with_its_background_in_both_themes() {
        for theme in THEMES {
            for ink in Ink::all() {
                let (on, least) = match ink {
                    Ink::Text | Ink::Muted => (Ink::Paper, 4.5),
                    Ink::Frame | Ink::Reference | Ink::Series(_) => (Ink::Paper, 3.0),
                    Ink::Letter(step) => (Ink::Step(step), 4.5),
                    Ink::Grid | Ink::FaintGrid | Ink::Paper | Ink::Empty | Ink::Step(_) => continue,
                };
                let contrast = contrast(ink, on, theme);
                assert!(contrast >= least, "{ink:?}, {theme:?}: {contrast}");
            }
            // The grid is behind everything.
            assert!(contrast(Ink::Grid, Ink::Paper, theme) < contrast(Ink::Frame, Ink::Paper, theme));
        }
    }

    #[test]
    fn the_scale_of_heat_maps_leads_away_from_the_paper_in_even_steps() {
        for theme in THEMES {
            let steps: Vec<f64> = (0..N_STEPS).map(|step| luminance(Ink::Step(step).rgb(theme))).collect();
            let darkens = theme == Theme::Light;
            assert!(steps.windows(2).all(|pair| (pair[0] > pair[1]) == darkens), "{theme:?}: {steps:?}");
        }
        assert_eq!(
            (Ink::Step(0).light(), Ink::Step(N_STEPS - 1).light()),
            ("#ffffd9".into(), "#5a001e".into())
        );
        assert_eq!([-1.0, 0.0, 0.5, 1.0, 9.0, f64::NAN].map(step_at), [0, 0, 12, 23, 23, 0]);
    }

    /// How protanopes, deuteranopes and tritanopes see linear red, green and blue (Machado,
    /// Oliveira and Fernandes 2009, severity 1), after everybody else.
    const SEEN: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    /// CIE L\*a\*b\* of a colour as it is seen.
    fn lab(colour: Rgb, seen: &[[f64; 3]; 3]) -> [f64; 3] {
        let mixed =
            |weights: &[f64; 3], of: [f64; 3]| weights.iter().zip(of).map(|(a, b)| a * b).sum::<f64>();
        let linear = colour.map(linear);
        let rgb = [0, 1, 2].map(|channel| mixed(&seen[channel], linear).clamp(0.0, 1.0));
        let f = |t: f64| if t > 0.008_856 { libm::cbrt(t) } else { 7.787 * t + 16.0 / 116.0 };
        let x = f(mixed(&[0.4124, 0.3576, 0.1805], rgb) / 0.950_47);
        let y = f(mixed(&[0.2126, 0.7152, 0.0722], rgb));
        let z = f(mixed(&[0.0193, 0.1192, 0.9505], rgb) / 1.088_83);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// A difference of 2 can just be seen. Okabe and Ito's own colours on white differ by 16 and
    /// more.
    #[test]
    fn any_two_curves_differ_in_colour_for_colour_blind_readers_too() {
        for theme in THEMES {
            for seen in &SEEN {
                let colours: Vec<[f64; 3]> =
                    (0..N_SERIES).map(|number| lab(Ink::Series(number).rgb(theme), seen)).collect();
                for (number, one) in colours.iter().enumerate() {
                    for other in &colours[..number] {
                        let squares = one.iter().zip(other).map(|(a, b)| (a - b) * (a - b));
                        let difference = libm::sqrt(squares.sum());
                        assert!(difference > 16.0, "{theme:?}, {number}: {difference}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_style_sheet_defines_every_colour_in_both_themes_and_prints_the_light_one() {
        let css = style(true);
        for ink in Ink::all() {
            let class = ink.class();
            assert_eq!(css.matches(&format!("--plot-{class}:#")).count(), 2, "{class}");
            assert_eq!(
                css.matches(&format!(".plot .{class}{{color:var(--plot-{class})}}")).count(),
                1,
                "{class}"
            );
        }
        assert!(css.contains("@media screen and (prefers-color-scheme:dark)"));
        assert!(!style(false).contains("--plot-h0") && style(false).contains("--plot-s7"));
    }
}
