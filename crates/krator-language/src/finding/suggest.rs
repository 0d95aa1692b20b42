//! "Did you mean": the valid name that is most similar to what the user wrote.

/// A suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closest<'a> {
    /// The candidate.
    pub name: &'a str,
    /// Whether no other candidate is as similar.
    pub is_only: bool,
}

/// The candidate that is most similar to what was written, if it is similar enough to be a typing error.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    closest(written, candidates).map(|closest| closest.name)
}

/// Like `nearest`, with whether the suggestion is the only one.
pub(crate) fn closest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<Closest<'a>> {
    // The distance takes quadratic time, and no name of the language is this long.
    if written.len() > 256 {
        return None;
    }
    let lower = written.to_lowercase();
    let allowed = (written.chars().count() / 3).max(1);
    let length = lower.chars().count();
    let similar = candidates
        .into_iter()
        // The distance is at least the difference of the lengths, and there may be thousands of candidates.
        .filter(|candidate| !candidate.is_ascii() || candidate.len().abs_diff(length) <= allowed)
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *candidate != written);
    let mut best: Option<(usize, Closest<'a>)> = None;
    for (distance, name) in similar {
        match &mut best {
            Some((least, _)) if *least < distance => {}
            Some((least, closest)) if *least == distance => closest.is_only &= closest.name == name,
            _ => best = Some((distance, Closest { name, is_only: true })),
        }
    }
    best.map(|(_, closest)| closest)
}

#[cfg(test)]
mod tests {
    use super::{closest, nearest};

    #[test]
    fn a_suggestion_knows_its_rivals() {
        let is_only = |candidates: &[&'static str]| {
            closest("Lest", candidates.iter().copied()).map(|closest| (closest.name, closest.is_only))
        };
        assert_eq!(is_only(&["Roam", "Lost", "Last"]), Some(("Lost", false)));
        assert_eq!(is_only(&["Lost", "Lesta", "Les", "Rest"]), Some(("Lost", false)));
        assert_eq!(is_only(&["Lost", "Lost", "Cast"]), Some(("Lost", true)));
    }

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
