use super::super::Shut;

/// Whether a [`Closed`] door creaks.
pub fn creaks() -> bool {
    let _ = Shut;
    include_str!("oil.txt").is_empty()
}
