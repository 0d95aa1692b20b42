//! Offsets in bytes and positions of the protocol, which count lines from 0 and columns in UTF-16.

use crate::finding::{Source, Span};
use lsp_types::{Position, Range};

pub(super) fn position(source: &Source, offset: usize) -> Position {
    let (line, character) = source.utf16_position(offset);
    Position::new(line, character)
}

pub(super) fn range(source: &Source, span: Span) -> Range {
    Range::new(position(source, span.start), position(source, span.end))
}

pub(super) fn offset(source: &Source, position: Position) -> usize {
    source.utf16_offset(position.line, position.character)
}
