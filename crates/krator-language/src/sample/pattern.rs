//! A string that matches a regular expression, generated from its syntax tree.

use krator_schema::Pattern;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A short string that matches the pattern. It has at least `least` characters if repetitions can make it that long.
///
/// Assertions inside the pattern, such as word boundaries, are ignored, so the string may fail them.
pub(super) fn string_matching(pattern: &str, least: usize) -> String {
    // A rule has checked that the API server accepts the pattern. A few accepted patterns exceed the limits of this
    // parser.
    let rewritten = Pattern::new(pattern).ok();
    let Some(tree) = rewritten.and_then(|pattern| regex_syntax::parse(pattern.rewritten()).ok()) else {
        return String::new();
    };
    let mut best = String::new();
    // Each round repeats every repetition once more.
    for extra in 0..=least.min(256) {
        best.clear();
        write(&tree, u32::try_from(extra).unwrap_or(u32::MAX), &mut best);
        if best.chars().count() >= least {
            break;
        }
    }
    best
}

fn write(tree: &Hir, extra: u32, out: &mut String) {
    // Nested repetitions would multiply the length.
    const LONGEST: usize = 4096;
    match tree.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => out.extend(member(class)),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            for _ in 0..repetition.min.saturating_add(extra).min(most) {
                if out.len() > LONGEST {
                    break;
                }
                write(&repetition.sub, extra, out);
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, extra, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(part, extra, out)),
        HirKind::Alternation(branches) => {
            let is_something =
                |branch: &&Hir| branch.properties().minimum_len().is_some_and(|length| length > 0);
            if let Some(branch) = branches.iter().find(is_something).or(branches.first()) {
                write(branch, extra, out);
            }
        }
    }
}

/// A character of the class, a readable one if possible.
fn member(class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class
            .ranges()
            .iter()
            .map(|range| (range.start(), range.end()))
            .collect(),
        Class::Bytes(class) => class
            .ranges()
            .iter()
            .map(|range| (char::from(range.start()), char::from(range.end())))
            .collect(),
    };
    let has = |c: &char| ranges.iter().any(|(first, last)| (first..=last).contains(&c));
    let readable = ('a'..='z')
        .chain('1'..='9')
        .chain(['0'])
        .chain('A'..='Z')
        .chain(' '..='~');
    readable
        .into_iter()
        .find(has)
        .or_else(|| ranges.first().map(|(first, _)| *first))
}

#[cfg(test)]
mod tests {
    use super::string_matching;

    #[test]
    fn patterns_of_real_resources_are_matched() {
        for (pattern, least, expected) in [
            (r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$", 0, "aa:aa:aa:aa:aa:aa"),
            (r"^[^/]+$", 0, "a"),
            (r"^[^/]+$", 3, "aaa"),
            (r"^(([0-9]+(s|m|h))+|Never)$", 0, "1h"),
            (r"^(\S+\s+){4}\S+$", 0, "a a a a a"),
            (r"^$|^x{2}$", 0, "xx"),
            (r"^v[0-9]+(alpha|beta)?$", 0, "v1"),
            (r"^arn:aws:[a-z]*$", 0, "arn:aws:"),
            (r"(?i)^true$", 0, "true"),
        ] {
            assert_eq!(string_matching(pattern, least), expected, "{pattern}");
        }
    }

    #[test]
    fn nested_repetitions_do_not_explode() {
        assert!(string_matching(r"^((a{0,200}){0,200}){0,200}$", 200).len() < 100_000);
    }
}
