use super::super::Closed;

/// Whether a [`Closed`] door creaks.
pub fn creaks() -> bool {
    let _ = Closed;
    include_str!("oil.txt").is_empty()
}
