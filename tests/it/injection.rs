//! Free text of a description is written into Rust, YAML, Markdown, DOT, Mermaid, TOML and onto a terminal, where it
//! must have no other meaning than text. Names may be as unusual as the language allows.

mod names;
mod texts;
