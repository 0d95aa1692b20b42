//! "Did you mean": the nearest of the names that would have been right.

/// The candidate nearest to what was written, when it is near enough to be a slip of the hand.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = written.to_lowercase();
    // Hostile text may be long, and no name of the language is.
    if written.len() > 256 {
        return None;
    }
    let allowed = (written.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *candidate != written)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_none() {
        assert_eq!(nearest("Raom", ["Roam", "Eat"]), Some("Roam"));
        assert_eq!(
            nearest("onspecchange", ["onSpecChange", "onDelete"]),
            Some("onSpecChange")
        );
        assert_eq!(nearest("Zebra", ["Roam", "Eat"]), None);
        assert_eq!(nearest("Eat", ["Eat"]), None, "what is right needs no suggestion");
    }
}
