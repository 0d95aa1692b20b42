//! Sleeps, as a file says that krator does not read.
include!("sleep_impl.in");
