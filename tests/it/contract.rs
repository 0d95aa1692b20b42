//! The promises of the runtime under faults, on a real API server: five descriptions in one operator, whose handlers do
//! what their objects say, and an oracle that judges all that was written.

mod court;
mod crash;
mod five;
mod kstatus;
mod oracle;
mod soak;
mod twins;
mod wait;

pub use oracle::Oracle;
