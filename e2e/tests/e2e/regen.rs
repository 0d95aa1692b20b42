//! `krator gen` in crates that cargo judges, and in many crates: random edits, crates of earlier krators, line ends, and files
//! that cannot be read.

mod endings;
mod random;
mod unreadable;
mod upgrade;
