//! Files of lines, in blocks of whole lines.
//!
//! A thread reads and decompresses a block and then parses it; one thread reads at a time. So
//! memory does not grow with the file.

use super::line::{LineFault, LineFormat, is_blank};
use super::marks::{Line, Lines};
use super::open_lists::Spot;
use super::source::{BlockOf, Input, Source};
use super::thread_report::{ThreadReport, on_threads};
use super::{Reader, check_files};
use crate::collect::{Batches, Collector};
use crate::error::Error;
use crate::fault::Fault;
use crate::names::{lock, unlocked};
use crate::read_report::ReadReport;
use std::sync::{Arc, Mutex};

impl Reader {
    pub(super) fn read_lines<F: LineFormat>(
        &self,
        format: &F,
        inputs: Vec<Input<'_>>,
        collector: &Collector<'_>,
    ) -> Result<ReadReport, Error> {
        check_files(&inputs)?;
        let names: Vec<Arc<str>> = inputs.iter().map(Input::name).collect();
        let source = Mutex::new(Source::new(format, inputs, self.block_bytes, self.max_skipped.is_some()));
        let mut report = on_threads(self, usize::MAX, collector, &|| {
            let (mut memory, mut buffer) = (F::Memory::default(), Vec::new());
            let source = &source;
            Box::new(move |batches, report| {
                self.next_block(format, source, &mut memory, &mut buffer, batches, report)
            })
        });
        if !report.failed() {
            let (mut batches, mut closed) = (collector.batches(), ThreadReport::new(self.max_skipped));
            format.close(&mut batches, &mut |fault, at| {
                let name = names.get(at.0).map_or("", |name| name);
                closed.line(fault, &|column| format.column_name(&F::Layout::default(), column), name, at);
            })?;
            report.absorb(closed, &batches.finish());
        }
        self.finish(report, collector, &names, &unlocked(source).report)
    }

    /// Reads and parses a block. Returns whether there was one, or an error.
    fn next_block<F: LineFormat>(
        &self,
        format: &F,
        source: &Mutex<Source<'_, F>>,
        memory: &mut F::Memory,
        buffer: &mut Vec<u8>,
        batches: &mut Batches<'_>,
        report: &mut ThreadReport,
    ) -> bool {
        let block = lock(source).next_block(buffer);
        match block {
            Ok(None) => {
                report.open.push(F::open_lists(std::mem::take(memory)));
                return false;
            }
            Ok(Some(block)) => self.parse(format, &block, buffer, memory, batches, report),
            Err((file, error)) => report.fail((file, u64::MAX), error),
        }
        true
    }

    /// Parses a block; a strict reader stops at the first fault.
    fn parse<F: LineFormat>(
        &self,
        format: &F,
        (block, layout): &BlockOf<F>,
        buffer: &[u8],
        memory: &mut F::Memory,
        batches: &mut Batches<'_>,
        report: &mut ThreadReport,
    ) {
        let mut lines = Lines::new(&buffer[..block.len], format.cuts(layout));
        let (mut number, mut n_blank) = (block.first_line, 0);
        while let Some((start, line)) = lines.next_line() {
            let at = Spot { at: block.at(start), file: block.file, line: number, time: 0 };
            let n_lines = line.n_lines();
            let counted = match line {
                _ if is_blank(line.whole()) => {
                    n_blank += 1;
                    Ok(())
                }
                Line::Quoted(line) => format.quoted(layout, line, at, memory, batches),
                Line::Cut(columns) => format.line(layout, columns, at, memory, batches),
            };
            if let Err(mut fault) = counted {
                let line = lines.line_from(start);
                if number == 1 && !F::HEADER && looks_like_a_header(line) {
                    fault = LineFault::new(Fault::UnexpectedHeader, 0, line);
                }
                let at = (block.file, number);
                report.line(fault, &|column| format.column_name(layout, column), &block.name, at);
                if self.max_skipped.is_none() {
                    return;
                }
            }
            number += n_lines;
        }
        report.read.lines += number - block.first_line - n_blank;
        format.end(memory, batches);
    }
}

/// Returns whether every column begins like a word; a line of data has numbers.
fn looks_like_a_header(line: &[u8]) -> bool {
    // A column of row numbers often has no name.
    let mut names = line.split(|byte| b"\t,;|".contains(byte)).filter_map(<[u8]>::first).peekable();
    let begins_a_name =
        |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii() || matches!(byte, b'_' | b'#' | b'"');
    names.peek().is_some() && names.all(begins_a_name)
}
