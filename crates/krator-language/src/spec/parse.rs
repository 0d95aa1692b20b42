//! Builds the syntax tree from the events of the YAML parser.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use saphyr_parser::{Event, Parser, ScalarStyle, Span as YamlSpan};

use super::{Entry, Mapping, Node, NodeKind, Scalar};
use crate::catalog::SYNTAX;
use crate::finding::{Finding, Source, Span, conflict_markers};
use crate::text::{is_direction_mark, shown};

/// The maximum size of a file, in bytes.
pub const LARGEST_FILE: usize = 16 * 1024 * 1024;
/// The maximum depth of nested values. Real schemas need about 30 levels, and code that recurses over the tree must not
/// overflow the stack.
const DEEPEST: usize = 128;
/// The maximum number of nodes that all aliases together may expand to.
const ALIASED_NODES: usize = 200_000;

/// The text of a file, with a finding if its bytes are not valid input for krator.
pub fn source_of(name: &str, bytes: &[u8]) -> (Source, Vec<Finding>) {
    let refused = |text: String, span: Span, message: String| {
        let finding = Finding::new(&SYNTAX, span, message);
        (Source::new(name, text), vec![finding])
    };
    if bytes.len() > LARGEST_FILE {
        let count = bytes.len();
        let message =
            format!("the file has {count} bytes, but a description may have at most {LARGEST_FILE}");
        return refused(String::new(), Span::default(), message);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => (Source::new(name, text), Vec::new()),
        Err(error) => {
            let at = error.valid_up_to();
            let message = format!("the file is not UTF-8: byte {at} is not part of a character");
            let text = String::from_utf8_lossy(bytes).into_owned();
            refused(text, Span::new(at, at), message)
        }
    }
}

/// The documents of a text, and the findings about its YAML. If the text cannot be read to its end, there are no
/// documents.
pub fn parse(source: &Source) -> (Vec<Node>, Vec<Finding>) {
    if let Some(finding) = conflict_markers(source.text()) {
        return (Vec::new(), vec![finding]);
    }
    let mut builder = Builder {
        source,
        offsets: Offsets::of(source.text()),
        findings: Vec::new(),
        documents: Vec::new(),
        open: Vec::new(),
        anchors: HashMap::new(),
        aliased: 0,
    };
    let complete = builder.read();
    let mut documents = builder.documents;
    if !complete {
        documents.clear();
    }
    (documents, builder.findings)
}

/// Converts offsets in characters, which saphyr reports, to offsets in bytes, which spans use.
enum Offsets {
    Ascii,
    Table(Vec<u32>),
}

impl Offsets {
    fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Offsets::Ascii;
        }
        // A file has at most 16 MiB, so that 32 bits hold every offset.
        Offsets::Table(
            text.char_indices()
                .map(|(at, _)| at as u32)
                .chain([text.len() as u32])
                .collect(),
        )
    }

    fn byte(&self, character: usize, length: usize) -> usize {
        match self {
            Offsets::Ascii => character.min(length),
            Offsets::Table(table) => table.get(character).map_or(length, |at| *at as usize),
        }
    }
}

/// A collection whose end has not been reached.
struct Open {
    start: Span,
    anchor: usize,
    content: Content,
}

enum Content {
    Sequence(Vec<Node>),
    Mapping {
        mapping: Mapping,
        seen: BTreeMap<String, Span>,
        key: Option<Node>,
    },
}

struct Builder<'a> {
    source: &'a Source,
    offsets: Offsets,
    findings: Vec<Finding>,
    documents: Vec<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, usize)>,
    aliased: usize,
}

impl Builder<'_> {
    /// Reads all events. The result is false if the rest of the text cannot be read.
    fn read(&mut self) -> bool {
        let text = self.source.text();
        for event in Parser::new_from_str(text) {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => {
                    let at = self.offsets.byte(error.marker().index(), text.len());
                    self.report(Span::new(at, at), shown(error.info()));
                    return false;
                }
            };
            if !self.event(event, span) {
                return false;
            }
        }
        true
    }

    fn report(&mut self, span: Span, message: impl Into<String>) {
        self.findings.push(Finding::new(&SYNTAX, span, message));
    }

    fn span(&self, span: YamlSpan) -> Span {
        let length = self.source.text().len();
        let start = self.offsets.byte(span.start.index(), length);
        Span::new(start, self.offsets.byte(span.end.index(), length).max(start))
    }

    fn event(&mut self, event: Event<'_>, yaml_span: YamlSpan) -> bool {
        let span = self.span(yaml_span);
        match event {
            Event::DocumentStart(_) => self.anchors.clear(),
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(span, tag.is_some());
                let plain = style == ScalarStyle::Plain;
                let text = Cow::into_owned(text);
                if let Some(c) = text.chars().find(|c| is_forbidden(*c)) {
                    let c = c.escape_unicode();
                    let message = format!("the string contains a character that is not allowed: {c}");
                    self.report(span, message);
                }
                // saphyr gives an empty plain scalar the span of the token after it.
                let is_empty = text.is_empty() && plain;
                let end = if is_empty { span.start } else { span.end };
                let kind = NodeKind::Scalar(Scalar { text, plain });
                let span = Span::new(span.start, end);
                self.finish(Node { kind, span }, anchor);
            }
            Event::Alias(anchor) => return self.alias(anchor, span),
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(span, tag.is_some());
                return self.start(span, anchor, Content::Sequence(Vec::new()));
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(span, tag.is_some());
                // Only the end shows whether the mapping is in braces: the first key of a block mapping may be in braces, too.
                let mapping = Mapping {
                    entries: Vec::new(),
                    flow: false,
                };
                return self.start(
                    span,
                    anchor,
                    Content::Mapping {
                        mapping,
                        seen: BTreeMap::new(),
                        key: None,
                    },
                );
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        true
    }

    fn refuse_tag(&mut self, span: Span, tagged: bool) {
        if tagged {
            self.report(span, "tags (`!…`) are not supported");
        }
    }

    fn start(&mut self, start: Span, anchor: usize, content: Content) -> bool {
        if self.open.len() == DEEPEST {
            self.report(start, format!("values are nested deeper than {DEEPEST} levels"));
            return false;
        }
        self.open.push(Open {
            start,
            anchor,
            content,
        });
        true
    }

    fn end(&mut self, end: Span) {
        let Some(Open {
            start,
            anchor,
            content,
        }) = self.open.pop()
        else {
            return;
        };
        let (kind, last, flow) = match content {
            Content::Sequence(items) => {
                let flow = self.source.text()[end.start..].starts_with(']');
                let last = items.last().map(|item| item.span.end);
                (NodeKind::Sequence(items), last, flow)
            }
            Content::Mapping { mut mapping, .. } => {
                mapping.flow = self.source.text()[end.start..].starts_with('}');
                let last = mapping
                    .entries
                    .last()
                    .map(|entry| entry.value.span.end.max(entry.key_span.end));
                let flow = mapping.flow;
                (NodeKind::Mapping(mapping), last, flow)
            }
        };
        // The parser reports the end of a block at the next token, so the end of its last value is used. The end event of
        // a flow collection starts at its bracket, but extends beyond it. The last value may be an alias, whose nodes
        // have earlier places, hence the maximum.
        let end = if flow {
            end.start + 1
        } else {
            last.unwrap_or(start.end)
        };
        let span = Span::new(start.start, end.max(start.start));
        self.finish(Node { kind, span }, anchor);
    }

    fn alias(&mut self, anchor: usize, span: Span) -> bool {
        let Some((node, size)) = self.anchors.get(&anchor) else {
            let message = "this alias refers to an anchor that is not defined before it in this document";
            self.report(span, message);
            return false;
        };
        self.aliased += size;
        if self.aliased > ALIASED_NODES {
            let message = format!("the aliases expand to more than {ALIASED_NODES} values");
            self.report(span, message);
            return false;
        }
        let mut node = node.clone();
        node.span = span;
        self.add(node);
        true
    }

    fn finish(&mut self, node: Node, anchor: usize) {
        if anchor != 0 {
            let size = size_of(&node);
            self.anchors.insert(anchor, (node.clone(), size));
        }
        self.add(node);
    }

    fn add(&mut self, node: Node) {
        let Some(open) = self.open.last_mut() else {
            self.documents.push(node);
            return;
        };
        let (mapping, seen, key) = match &mut open.content {
            Content::Sequence(items) => return items.push(node),
            Content::Mapping { mapping, seen, key } => (mapping, seen, key),
        };
        let Some(found) = key.take() else {
            *key = Some(node);
            return;
        };
        let span = found.span;
        let finding = match found.kind {
            NodeKind::Scalar(Scalar { text, plain }) if !(plain && text == "<<") => match seen.get(&text) {
                Some(first) => {
                    let message = format!("the key `{}` is in this mapping twice", shown(&text));
                    Finding::new(&SYNTAX, span, message).related(*first, "first here")
                }
                None => {
                    seen.insert(text.clone(), span);
                    mapping.entries.push(Entry {
                        key: text,
                        key_span: span,
                        value: node,
                    });
                    return;
                }
            },
            NodeKind::Scalar(_) => Finding::new(&SYNTAX, span, "merge keys (`<<`) are not supported")
                .help("repeat the keys, or define the common part under `types`"),
            _ => Finding::new(&SYNTAX, span, "a key has to be a string, not a list or a mapping"),
        };
        self.findings.push(finding);
    }
}

/// Whether no string of a description may hold the character: generated Rust would not compile with direction marks,
/// and no description needs control characters other than tabs and line breaks.
fn is_forbidden(c: char) -> bool {
    is_direction_mark(c) || c.is_control() && !matches!(c, '\n' | '\t')
}

fn size_of(node: &Node) -> usize {
    match &node.kind {
        NodeKind::Scalar(_) => 1,
        NodeKind::Sequence(items) => 1 + items.iter().map(size_of).sum::<usize>(),
        NodeKind::Mapping(mapping) => {
            1 + mapping
                .entries
                .iter()
                .map(|entry| 1 + size_of(&entry.value))
                .sum::<usize>()
        }
    }
}
