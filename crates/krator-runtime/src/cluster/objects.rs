//! The objects of one kind: the loop that looks after them, and the reads and writes that their machines make.
pub(super) mod conversion;
mod crd_mismatch;
mod decoding;
pub(super) mod dispatch;
mod invalid_status;
pub(super) mod places;
pub(super) mod remote;
mod status_patch;
mod undecodable;

pub(super) use crd_mismatch::CrdMismatch;
