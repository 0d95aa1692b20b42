//! Free text of a description gets into Rust, YAML, Markdown, DOT, Mermaid, TOML and onto a terminal, where it must not be
//! read as anything but text. And names may be as unusual as the language allows.

mod names;
mod texts;
