//! The objects of one kind: the loop that looks after them, and the reads and writes that their machines make.
pub(super) mod conversion;
mod decoding;
pub(super) mod dispatch;
mod misfit;
pub(super) mod places;
pub(super) mod remote;
mod skew;
mod status_patch;
mod undecodable;

pub(super) use skew::Skew;
