//! The objects of one kind: the loop that looks after them, and the reads and writes that their machines make.
#[cfg(all(feature = "admission", feature = "versions"))]
pub(super) mod conversion;
mod decoding;
pub(super) mod dispatch;
pub(super) mod remote;
mod skew;
mod undecodable;

pub(super) use skew::Skew;
