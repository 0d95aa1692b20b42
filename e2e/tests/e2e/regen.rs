//! `krator gen` in crates that cargo compiles, and in many crates: random edits, crates of earlier krators, line
//! endings, and files that cannot be read.

mod endings;
mod random;
mod unreadable;
mod upgrade;
