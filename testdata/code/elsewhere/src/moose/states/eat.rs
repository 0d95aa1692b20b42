//! Eats, as another file says.
#[path = "../../handlers/eat.rs"]
mod imp;
