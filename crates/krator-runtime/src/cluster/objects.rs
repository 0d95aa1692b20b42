//! The objects of one kind: the dispatcher that handles them, and the reads and writes of their machines.
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
