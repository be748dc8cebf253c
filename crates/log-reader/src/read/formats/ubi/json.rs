//! JSON, read from left to right. Most of a document is skipped, and nothing of it is copied.

use crate::fields::{HIGH_BITS, ONES};
use crate::names::plain_number;
use serde_json::Value;
use std::borrow::Cow;

/// The most objects and arrays around a value, as for `serde_json`.
const MAX_DEPTH: u8 = 127;

/// The part of a text that is not read yet. A method returns `None` where that is not JSON.
#[derive(Debug)]
pub(super) struct Json<'a> {
    text: &'a str,
    at: usize,
    /// How many more objects and arrays may begin.
    depth: u8,
}

impl<'a> Json<'a> {
    /// Reads a whole text by `of`.
    pub(super) fn whole<T>(text: &'a str, of: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut json = Self { text, at: 0, depth: MAX_DEPTH };
        let found = of(&mut json)?;
        json.peek().is_none().then_some(found)
    }

    /// The next byte that is no blank.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// The members of an object: `of` reads the value of a key.
    #[inline]
    pub(super) fn members(&mut self, mut of: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        self.inside(*b"{}", |json| {
            let key = json.string()?;
            json.take(b':')?;
            of(json, &key)
        })
    }

    /// The elements of an array: `of` reads one.
    pub(super) fn elements<T>(&mut self, mut of: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut all = Vec::new();
        self.inside(*b"[]", |json| {
            all.push(of(json)?);
            Some(())
        })?;
        Some(all)
    }

    #[inline]
    fn inside(&mut self, [open, close]: [u8; 2], mut of: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(open)?;
        self.depth = self.depth.checked_sub(1)?;
        if self.take(close).is_none() {
            loop {
                of(self)?;
                if self.take(b',').is_none() {
                    break self.take(close)?;
                }
            }
        }
        self.depth += 1;
        Some(())
    }

    /// Reads a value into a field, which has one; `null` is none.
    #[inline]
    pub(super) fn set<T>(
        &mut self,
        field: &mut Option<T>,
        of: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<()> {
        if self.peek()? == b'n' {
            return self.scalar()?.is_null().then_some(());
        }
        let value = of(self)?;
        field.replace(value).is_none().then_some(())
    }

    /// A value as `of` reads it, and as it is written.
    pub(super) fn written<T>(&mut self, of: impl FnOnce(&mut Self) -> Option<T>) -> Option<(T, &'a str)> {
        let from = self.at;
        let found = of(self)?;
        Some((found, self.text.get(from..self.at)?))
    }

    #[inline]
    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.take(b'"')?;
        let from = self.at;
        self.at += plain_bytes(self.text.as_bytes().get(from..)?);
        if self.text.as_bytes().get(self.at) != Some(&b'"') {
            return self.with_escapes(from - 1).map(Cow::Owned);
        }
        self.at += 1;
        self.text.get(from..self.at - 1).map(Cow::Borrowed)
    }

    /// The string that begins there, from its first escape on.
    #[cold]
    fn with_escapes(&mut self, from: usize) -> Option<String> {
        while *self.text.as_bytes().get(self.at)? == b'\\' {
            self.at += 2;
            self.at += plain_bytes(self.text.as_bytes().get(self.at..)?);
        }
        self.at += 1;
        serde_json::from_str(self.text.get(from..self.at)?).ok()
    }

    /// A string, or the text of a number.
    #[inline]
    pub(super) fn text(&mut self) -> Option<Cow<'a, str>> {
        if self.peek()? == b'"' {
            return self.string();
        }
        let written = self.written_scalar();
        if plain_number(written.as_bytes()).is_some() {
            return Some(Cow::Borrowed(written));
        }
        match serde_json::from_str(written).ok()? {
            // An exponent is written out.
            Value::Number(number) if number.is_f64() => {
                number.as_f64().map(|number| number.to_string().into())
            }
            Value::Number(number) => Some(number.to_string().into()),
            _ => None,
        }
    }

    pub(super) fn number(&mut self) -> Option<f64> {
        self.scalar()?.as_f64()
    }

    /// A number, a truth value or `null`.
    fn scalar(&mut self) -> Option<Value> {
        serde_json::from_str(self.written_scalar()).ok()
    }

    #[inline]
    fn written_scalar(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        let len = rest.bytes().take_while(is_part).count();
        self.at += len;
        &rest[..len]
    }

    pub(super) fn skip(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'{' => self.members(|json, _| json.skip()),
            b'[' => self.elements(Self::skip).map(|_| ()),
            b'0'..=b'9' => self.text().map(|_| ()),
            _ => self.scalar().map(|_| ()),
        }
    }
}

/// The number of bytes above a quotation mark, a backslash or a control character.
#[inline]
fn plain_bytes(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The high bits of bytes below 1, 1 and 32, and above the first of these of others.
        let below = |word: u64, least: u64| word.wrapping_sub(least * ONES) & !word;
        let [quotes, escapes] = [b'"', b'\\'].map(|byte| below(word ^ (u64::from(byte) * ONES), 1));
        let ends = (quotes | escapes | below(word, 32)) & HIGH_BITS;
        if ends != 0 {
            return 8 * number + ends.trailing_zeros() as usize / 8;
        }
    }
    let is_end = |&byte: &u8| byte < b' ' || matches!(byte, b'"' | b'\\');
    8 * words.len() + rest.iter().position(is_end).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn value(json: &mut Json<'_>) -> Option<Value> {
        match json.peek()? {
            b'{' => {
                let mut all = Map::new();
                let read = json.members(|json, key| {
                    all.insert(key.to_owned(), value(json)?);
                    Some(())
                });
                read.map(|()| all.into())
            }
            b'[' => json.elements(value).map(Value::from),
            b'"' => json.text().map(Value::from),
            _ => json.scalar(),
        }
    }

    #[test]
    fn any_text_is_read_or_refused_as_by_another_reader() {
        #[expect(clippy::needless_pass_by_value, reason = "quickcheck hands values over")]
        fn same(bytes: Vec<u8>) -> bool {
            let parts = [
                "{",
                "}",
                "[",
                "]",
                ",",
                ":",
                "\"",
                "\"",
                "\\",
                "\"a\":",
                "\"é\"",
                "\"long enough text\"",
                "1",
                "0",
                "-",
                ".5",
                "e3",
                "null",
                "true",
                " ",
                "\n",
                "u00e9",
                "\"\\u0041\"",
                "\u{1}",
                "\t",
                "\"abc\",",
            ];
            let text: String = bytes.iter().map(|byte| parts[usize::from(*byte) % parts.len()]).collect();
            let [wrapped, listed] = [format!("{{\"a\":{text}}}"), format!("[{text}]")];
            [text, wrapped, listed].iter().all(|text| {
                let expected = serde_json::from_str::<Value>(text).ok();
                let skipped = Json::whole(text, Json::skip).is_some();
                Json::whole(text, value) == expected && skipped == expected.is_some()
            })
        }
        let short = quickcheck::QuickCheck::new().rng(quickcheck::Gen::new(8));
        short.tests(300_000).quickcheck(same as fn(Vec<u8>) -> bool);
    }

    #[test]
    fn depth_is_limited_and_numbers_are_texts() {
        for depth in [127, 128, 100_000] {
            let text = "[".repeat(depth) + &"]".repeat(depth);
            assert_eq!(
                Json::whole(&text, Json::skip).is_some(),
                serde_json::from_str::<Value>(&text).is_ok()
            );
        }
        for (number, text) in [("7", "7"), ("1.0", "1"), ("-3", "-3"), ("1e3", "1000"), ("\"x\"", "x")] {
            assert_eq!(Json::whole(number, Json::text).as_deref(), Some(text));
        }
        for wrong in ["007", "true", "null", "{}", "1.", "", "\"\n\""] {
            assert_eq!(Json::whole(wrong, Json::text), None, "{wrong}");
        }
    }
}
