//! Lines and columns are those that are found byte by byte.

use super::*;

/// Lines by their start: the columns of a cut line, or the whole line.
type Cut = Vec<(usize, Result<Vec<Vec<u8>>, Vec<u8>>)>;

fn cut(bytes: &[u8], delimiter: u8) -> Cut {
    let mut lines = Lines::new(bytes, Cuts { delimiter, quotes: true });
    let mut all = Vec::new();
    while let Some((start, line)) = lines.next_line() {
        all.push((
            start,
            match line {
                Line::Quoted(line) => Err(line.to_vec()),
                Line::Cut(line) => {
                    assert!(line.get(line.n_columns()).is_none());
                    Ok((0..line.n_columns())
                        .filter_map(|column| line.get(column))
                        .map(<[u8]>::to_vec)
                        .collect())
                }
            },
        ));
    }
    all
}

/// Where a line ends whose quoted columns may have line ends, byte by byte.
fn plain_end(bytes: &[u8], delimiter: u8) -> usize {
    let first = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |end| end + 1);
    let (mut quoted, mut closed, mut begins) = (false, false, true);
    for (place, &byte) in bytes.iter().enumerate() {
        if quoted {
            quoted = byte != b'"';
            closed = !quoted;
        } else if byte == b'"' && (begins || closed) {
            (quoted, closed) = (true, false);
        } else if byte == b'\n' {
            return place + 1;
        } else if byte == delimiter {
            (closed, begins) = (false, true);
            continue;
        } else if closed && (byte != b'\r' || !matches!(bytes.get(place + 1), None | Some(b'\n'))) {
            return first;
        }
        begins = false;
    }
    if quoted { first } else { bytes.len() }
}

/// Byte by byte.
fn plain(bytes: &[u8], delimiter: u8) -> Cut {
    let (mut all, mut start) = (Vec::new(), 0);
    while start < bytes.len() {
        let end = start + plain_end(&bytes[start..], delimiter);
        let line = &bytes[start..end];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let columns = || line.split(|&byte| byte == delimiter).map(<[u8]>::to_vec).collect();
        all.push((start, if line.contains(&b'"') { Err(line.to_vec()) } else { Ok(columns()) }));
        start = end;
    }
    all
}

/// Delimiters with another meaning, and bytes that differ from marks by one bit.
#[test]
fn any_bytes_are_cut_as_byte_by_byte() {
    #[expect(clippy::needless_pass_by_value, reason = "quickcheck hands values over")]
    fn same(bytes: Vec<u8>) -> bool {
        let bytes: Vec<u8> = bytes
            .iter()
            .map(|byte| b"01,;\n\r\"\t\x0b\x0a\x8a\xa2\x23\x00\x2d\xac"[usize::from(byte % 16)])
            .collect();
        [b',', b';', b'\t', 0, 0xac, b'\r']
            .iter()
            .all(|&delimiter| cut(&bytes, delimiter) == plain(&bytes, delimiter))
    }
    // Several borders of 64 bytes.
    let blocks = quickcheck::QuickCheck::new().rng(quickcheck::Gen::new(300));
    blocks.tests(20_000).max_tests(20_000).quickcheck(same as fn(Vec<u8>) -> bool);
}
