//! Gates are ours.
