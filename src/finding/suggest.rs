//! "Did you mean": the valid name that is most similar to what the user wrote.

/// The candidate that is most similar to what was written, if it is similar enough to be a typing error.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance takes quadratic time, and no name of the language is this long.
    if written.len() > 256 {
        return None;
    }
    let lower = written.to_lowercase();
    let allowed = (written.chars().count() / 3).max(1);
    let length = lower.chars().count();
    candidates
        .into_iter()
        // The distance is at least the difference of the lengths, and there may be thousands of candidates.
        .filter(|candidate| !candidate.is_ascii() || candidate.len().abs_diff(length) <= allowed)
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *candidate != written)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_similar_names_are_suggested() {
        assert_eq!(nearest("Raom", ["Roam", "Eat"]), Some("Roam"));
        assert_eq!(
            nearest("onspecchange", ["onSpecChange", "onDelete"]),
            Some("onSpecChange")
        );
        assert_eq!(nearest("Zebra", ["Roam", "Eat"]), None);
        assert_eq!(
            nearest("Eat", ["Eat"]),
            None,
            "a correct name needs no suggestion"
        );
    }
}
