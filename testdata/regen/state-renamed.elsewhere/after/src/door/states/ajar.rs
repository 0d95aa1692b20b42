//! Stays open until somebody closes it.
include!("open_impl.in");
