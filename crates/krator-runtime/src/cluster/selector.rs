//! Label selectors as text, checked before anything is asked of the API server: a watch with one that it refuses would be
//! retried for ever. kube has the type, but does not read it from text.

/// Returns the selector if the API server accepts it.
pub(super) fn parse(text: &str) -> Result<String, String> {
    let mut rest = text;
    loop {
        let end = end_of_first(rest);
        requirement(rest[..end].trim())
            .map_err(|problem| format!("{problem}, for example `park=glacier,!tame`"))?;
        match rest.get(end + 1..) {
            Some(after) => rest = after,
            None => return Ok(text.to_owned()),
        }
    }
}

/// Where the first requirement ends: at a comma outside of parentheses.
fn end_of_first(text: &str) -> usize {
    let mut depth = 0_u32;
    let comma = text.find(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    comma.unwrap_or(text.len())
}

fn requirement(text: &str) -> Result<(), String> {
    if let Some(absent) = text.strip_prefix('!') {
        return key(absent.trim());
    }
    if let Some(at) = text.find(['=', '!', '<', '>']) {
        let (name, condition) = text.split_at(at);
        key(name.trim())?;
        if let Some(number) = condition.strip_prefix(['<', '>']) {
            let number = number.trim();
            let parsed = number.parse::<i64>();
            return parsed
                .map(drop)
                .map_err(|_| format!("`{number}` is not an integer"));
        }
        let wanted = ["==", "!=", "="]
            .iter()
            .find_map(|sign| condition.strip_prefix(sign));
        return wanted.map_or_else(
            || Err(format!("`{text}` is not a requirement")),
            |wanted| value(wanted.trim()),
        );
    }
    let Some((name, list)) = text.split_once(char::is_whitespace) else {
        return key(text);
    };
    key(name)?;
    let list = list.trim();
    let values = ["in", "notin"].iter().find_map(|word| {
        let list = list.strip_prefix(word)?.trim();
        list.strip_prefix('(')?.strip_suffix(')')
    });
    match values {
        Some(values) => values.split(',').try_for_each(|wanted| value(wanted.trim())),
        None => Err(format!("`{text}` is not a requirement")),
    }
}

/// A label's key: a name, after a DNS subdomain and a slash or without.
fn key(key: &str) -> Result<(), String> {
    let (prefix, name) = key
        .rsplit_once('/')
        .map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let is_dns = |part: &str| {
        let is_plain = part
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        is_plain && !part.is_empty() && !part.starts_with('-') && !part.ends_with('-')
    };
    let is_prefix = |prefix: &str| prefix.len() <= 253 && prefix.split('.').all(is_dns);
    if !name.is_empty() && is_name(name) && prefix.is_none_or(is_prefix) {
        return Ok(());
    }
    Err(format!("`{key}` is not the key of a label"))
}

fn value(value: &str) -> Result<(), String> {
    if is_name(value) {
        return Ok(());
    }
    Err(format!("`{value}` is not the value of a label"))
}

/// Whether this is empty, or at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
fn is_name(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let has_ends = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric());
    text.is_empty() || (text.len() <= 63 && text.chars().all(is_inner) && has_ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_that_the_api_server_accepts_are_accepted() {
        for text in [
            "park=glacier",
            "park==glacier,tame!=yes",
            "tagged, !tame",
            "example.com/park in (glacier, denali),size>3",
            "park notin (glacier)",
            "park=",
        ] {
            assert_eq!(parse(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn others_are_refused_with_the_part_that_is_wrong() {
        for (text, part) in [
            ("", "``"),
            ("park=glacier,", "``"),
            ("park=a b", "`a b`"),
            ("-park", "`-park`"),
            ("Example.com/park", "`Example.com/park`"),
            ("park within (a)", "`park within (a)`"),
            ("park in a", "`park in a`"),
            ("size>large", "`large`"),
            ("park=*", "`*`"),
        ] {
            let refused = parse(text).err().unwrap_or_default();
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }
}
