//! HTML pages that need no other files: no fonts, no network. A page with figures has one script,
//! and is whole without it.
//!
//! Text enters a page only through [`Html::text`] or [`escaped`]. [`Html::raw`] is for markup
//! written in this program and for figures that it drew.

use super::svg;
use super::text::{flat, is_in_xml};

/// A page, or a part of one, while it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Html {
    markup: String,
    has_figures: bool,
}

impl Html {
    /// An empty part.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends markup as it is.
    pub fn raw(&mut self, markup: &str) -> &mut Self {
        self.markup.push_str(markup);
        self
    }

    /// Appends text, escaped.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.markup.push_str(&escaped(text));
        self
    }

    /// Appends an element around text. Its only attribute is the class, which may be empty.
    pub fn element(&mut self, tag: &str, class: &str, text: &str) -> &mut Self {
        self.open(tag, class).text(text).close(tag)
    }

    /// Appends text with code between backticks.
    pub fn prose(&mut self, text: &str) -> &mut Self {
        let mut rest = text;
        while let Some((before, (code, after))) =
            rest.split_once('`').and_then(|(before, after)| Some((before, after.split_once('`')?)))
        {
            self.text(before).raw("<code>").text(code).raw("</code>");
            rest = after;
        }
        self.text(rest)
    }

    /// Appends a paragraph of [`Html::prose`].
    pub fn paragraph(&mut self, class: &str, text: &str) -> &mut Self {
        self.open("p", class).prose(text).close("p")
    }

    /// Appends a paragraph of [`Html::prose`] in small print.
    pub fn note(&mut self, text: &str) -> &mut Self {
        self.paragraph("small muted", text)
    }

    /// Appends the start of an element.
    pub fn open(&mut self, tag: &str, class: &str) -> &mut Self {
        self.raw("<").raw(tag).class(class).raw(">")
    }

    /// Appends the attribute `class`, unless it is empty.
    fn class(&mut self, class: &str) -> &mut Self {
        if class.is_empty() { self } else { self.raw(" class=\"").text(class).raw("\"") }
    }

    /// Appends the end of an element.
    pub fn close(&mut self, tag: &str) -> &mut Self {
        self.raw("</").raw(tag).raw(">\n")
    }

    /// Appends a link.
    pub fn link(&mut self, address: &str, text: &str) -> &mut Self {
        self.raw("<a href=\"").text(address).raw("\">").text(text).raw("</a>")
    }

    /// Appends links with commas between them, given by address and text.
    pub(crate) fn links<'a>(&mut self, links: impl IntoIterator<Item = (&'a str, &'a str)>) -> &mut Self {
        for (index, (address, text)) in links.into_iter().enumerate() {
            self.text(if index > 0 { ", " } else { "" }).link(address, text);
        }
        self
    }

    pub(crate) fn section(&mut self, heading: &str) -> &mut Self {
        self.open("section", "").element("h2", "", heading)
    }

    /// Appends a figure that this program drew, which escaped its texts.
    pub fn figure(&mut self, class: &str, drawing: &str) -> &mut Self {
        self.has_figures = true;
        self.raw("<figure").class(class);
        // A picture that keeps its size is scrolled on a narrow screen, by keyboard too.
        if drawing.split('>').next().is_some_and(|head| head.contains("plot whole")) {
            self.raw(" tabindex=\"0\"");
        }
        self.raw(">").raw(drawing).close("figure")
    }

    /// Appends a list with items of [`Html::prose`]; nothing if there are no items.
    pub fn list(&mut self, items: &[String]) -> &mut Self {
        if items.is_empty() {
            return self;
        }
        self.open("ul", "");
        for item in items {
            self.open("li", "").prose(item).close("li");
        }
        self.close("ul")
    }

    /// Appends a table: its heads, and rows of cells. A head that begins with `#` marks a column of
    /// numbers. On a narrow screen the cells of a row stand below each other, with their heads.
    pub fn table(&mut self, class: &str, heads: &[&str], rows: &[Vec<Self>]) -> &mut Self {
        let style = |head: &str| if head.starts_with('#') { "number" } else { "" };
        // A table that is wider than the screen is scrolled, by keyboard too.
        self.raw("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">")
            .open("table", class)
            .raw("<thead><tr>");
        for head in heads {
            self.raw("<th scope=\"col\"").class(style(head)).raw(">");
            self.text(head.trim_start_matches('#')).close("th");
        }
        self.raw("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.raw("<tr>");
            for (index, cell) in row.iter().enumerate() {
                let head = heads.get(index).copied().unwrap_or_default();
                self.raw("<td").class(style(head));
                if index > 0 {
                    self.raw(" data-head=\"").text(head.trim_start_matches('#')).raw("\"");
                }
                self.raw(">").raw(&cell.markup).close("td");
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody>").close("table").raw("</div>\n")
    }

    /// [`table`](Self::table) of class `narrow` whose cells are texts.
    pub fn texts<R: AsRef<[String]>>(
        &mut self,
        heads: &[&str],
        rows: impl IntoIterator<Item = R>,
    ) -> &mut Self {
        let cells = |row: R| row.as_ref().iter().map(|cell| Self::of(cell)).collect();
        self.table("narrow", heads, &rows.into_iter().map(cells).collect::<Vec<_>>())
    }

    /// The markup written so far.
    pub fn markup(&self) -> &str {
        &self.markup
    }

    /// A part that consists of text.
    pub fn of(text: &str) -> Self {
        Self { markup: escaped(text), ..Self::default() }
    }

    /// A complete page with this part as its content.
    pub fn page(&self, title: &str) -> String {
        let title = escaped(title);
        let (style, script) = if self.has_figures {
            (svg::style(), format!("<script>\n{}</script>\n", svg::SCRIPT))
        } else {
            Default::default()
        };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{}{style}</style>\n</head>\n<body>\n<main>\n{}</main>\n{script}</body>\n</html>\n",
            include_str!("page.css"),
            self.markup
        )
    }
}

/// Escapes the characters of a text that have a meaning in HTML and XML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in flat(text) {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(character),
            // XML does not allow the character, not even escaped, or it is invisible.
            other if other.is_control() || !is_in_xml(other) => out.push(char::REPLACEMENT_CHARACTER),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        assert_eq!(
            escaped("<b a='1' c=\"2\">&amp;\u{7}\u{ffff}"),
            "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;\u{fffd}\u{fffd}"
        );
        let nasty = "\"><script>alert(1)</script>";
        let mut html = Html::new();
        html.element("p", nasty, nasty).link(nasty, nasty).list(&[nasty.to_owned()]);
        html.table("", &[nasty], &[vec![Html::of(nasty)]]);
        let page = html.page(nasty);
        assert!(!page.contains("<script") && !page.contains("\">\"") && !page.contains("=\"\">"));
    }

    #[test]
    fn text_between_backticks_becomes_code() {
        let prose = |text: &str| Html::new().prose(text).markup().to_owned();
        assert_eq!(prose("`a < b` and `c`: d"), "<code>a &lt; b</code> and <code>c</code>: d");
        assert_eq!(prose("an odd ` one"), "an odd ` one");
        assert_eq!(prose("`x` and `y"), "<code>x</code> and `y");
        assert_eq!(prose("plain"), "plain");
    }

    #[test]
    fn a_page_refers_to_no_other_file() {
        let page = Html::of("hello").page("A page");
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<title>A page</title>"));
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
