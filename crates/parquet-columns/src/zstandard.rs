//! Pages that are compressed with Zstandard, decoded in Rust. The library's own way to do it is a
//! library in C, which takes as long to compile as a tenth of the program.

use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::io::Read as _;

/// Most bytes of a page: the format counts them in 31 bits.
const MOST: u64 = i32::MAX as u64;

/// Pages of a reader that takes them for uncompressed ones.
pub(super) struct ZstandardPages {
    compressed: Box<dyn PageReader>,
    decoder: FrameDecoder,
}

impl ZstandardPages {
    pub(super) fn new(compressed: Box<dyn PageReader>) -> Self {
        Self { compressed, decoder: FrameDecoder::new() }
    }

    /// Decodes what follows the levels, which are uncompressed.
    fn decoded(&mut self, page: &Bytes, levels: usize) -> Result<Bytes, ParquetError> {
        let damaged = |what: &str| ParquetError::General(format!("Zstandard: {what}"));
        let (levels, mut rest) = page.split_at_checked(levels).ok_or_else(|| damaged("a short page"))?;
        let mut decoded = levels.to_vec();
        while !rest.is_empty() {
            let frame = StreamingDecoder::new_with_decoder(&mut rest, &mut self.decoder);
            let frame = frame.map_err(|error| damaged(&error.to_string()))?;
            if frame.take(MOST).read_to_end(&mut decoded)? as u64 == MOST {
                return Err(damaged("a page of 2 GiB"));
            }
            let written = self.decoder.get_checksum_from_data();
            if written.is_some() && written != self.decoder.get_calculated_checksum() {
                return Err(damaged("wrong checksum"));
            }
        }
        Ok(decoded.into())
    }
}

impl Iterator for ZstandardPages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for ZstandardPages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let Some(mut page) = self.compressed.get_next_page()? else { return Ok(None) };
        let (content, levels) = match &mut page {
            Page::DataPageV2 { is_compressed: false, .. } => return Ok(Some(page)),
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                (buf, *def_levels_byte_len as usize + *rep_levels_byte_len as usize)
            }
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => (buf, 0),
        };
        *content = self.decoded(content, levels)?;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.compressed.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.compressed.skip_next_page()
    }
}
