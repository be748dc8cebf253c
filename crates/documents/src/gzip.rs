//! Content that may be compressed with gzip.

use std::borrow::Cow;
use std::io;
#[cfg(feature = "gzip")]
use {
    crate::toml_reader::MAX_BYTES,
    flate2::bufread::GzDecoder,
    std::io::{BufRead, BufReader, Chain, Cursor, Read},
};

/// The first bytes of files that are compressed with gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The content of a file, unpacked if it is compressed.
///
/// # Errors
///
/// The content is damaged, or has more than 64 MiB of text; it is compressed, and this crate was
/// built without the feature `gzip`.
pub fn unpack(content: &[u8]) -> io::Result<Cow<'_, [u8]>> {
    if !content.starts_with(&GZIP) {
        return Ok(Cow::Borrowed(content));
    }
    #[cfg(feature = "gzip")]
    {
        let mut text = Vec::new();
        Decompressor::new(content)?.take(MAX_BYTES + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(io::Error::other("more than 64 MiB of text"));
        }
        Ok(Cow::Owned(text))
    }
    #[cfg(not(feature = "gzip"))]
    Err(io::Error::other(
        "this program was built without reading compressed files: expected text, or a program with the feature `logs`",
    ))
}

/// A stream, decompressed if its first bytes are those of gzip.
#[cfg(feature = "gzip")]
#[derive(Debug)]
pub struct Decompressor<R>(Kind<R>);

#[cfg(feature = "gzip")]
#[derive(Debug)]
enum Kind<R> {
    Plain(Rewound<R>),
    /// The member that is being read; `None` at the end of the last one.
    Gzip(Option<Box<GzDecoder<BufReader<Rewound<R>>>>>),
}

/// The first bytes, which determine the format, followed by the rest.
#[cfg(feature = "gzip")]
type Rewound<R> = Chain<Cursor<Vec<u8>>, R>;

#[cfg(feature = "gzip")]
impl<R: Read> Decompressor<R> {
    /// Reads the first bytes of a stream.
    ///
    /// # Errors
    ///
    /// Those of the stream.
    pub fn new(mut stream: R) -> io::Result<Self> {
        let mut start = Vec::new();
        stream.by_ref().take(GZIP.len() as u64).read_to_end(&mut start)?;
        let is_gzip = start == GZIP;
        let whole = Cursor::new(start).chain(stream);
        Ok(Self(if is_gzip {
            Kind::Gzip(Some(Box::new(GzDecoder::new(BufReader::with_capacity(1 << 16, whole)))))
        } else {
            Kind::Plain(whole)
        }))
    }

    /// Returns whether the stream is compressed.
    pub fn is_gzip(&self) -> bool {
        matches!(self.0, Kind::Gzip(_))
    }
}

#[cfg(feature = "gzip")]
impl<R: Read> Read for Decompressor<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let current = match &mut self.0 {
            Kind::Plain(whole) => return whole.read(buffer),
            Kind::Gzip(current) => current,
        };
        // One member after another.
        while let Some(member) = current {
            let len = member.read(buffer)?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            match after_padding(member.get_mut())? {
                None => *current = None,
                Some(byte) if byte == GZIP[0] => {
                    *current = current.take().map(|member| Box::new(GzDecoder::new(member.into_inner())));
                }
                Some(_) => {
                    let message = "something other than gzip follows their end";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                }
            }
        }
        Ok(0)
    }
}

/// Skips zero bytes, with which tapes and archives pad a member to the end of a block. Returns the
/// next byte, which is not consumed.
#[cfg(feature = "gzip")]
fn after_padding(file: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let bytes = file.fill_buf()?;
        let padding = bytes.iter().take_while(|&&byte| byte == 0).count();
        let (next, at_end) = (bytes.get(padding).copied(), bytes.is_empty());
        file.consume(padding);
        if next.is_some() || at_end {
            return Ok(next);
        }
    }
}

#[cfg(all(test, feature = "gzip"))]
mod tests;
