//! The kinds of other objects that an operator owns or watches: one watch of each, what is kept of their objects, and which
//! objects of the operator they concern.
pub(super) mod links;
pub(super) mod scope;
pub(super) mod watch_index;
pub(super) mod watches;
