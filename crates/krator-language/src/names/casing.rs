//! Conversions between the cases of names that Rust, files and Kubernetes use.

use std::collections::BTreeSet;

use super::{RustFieldName, is_rust_keyword};

/// The words of a name in any case, in lower case. `DeleteVM`, `HPAReplicas` and `finalizeURL` are split as a reader
/// would split them.
fn words(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &c) in chars.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            continue;
        }
        let before = at.checked_sub(1).map(|before| chars[before]);
        let after = chars.get(at + 1);
        let starts_word = c.is_ascii_uppercase()
            && (before.is_some_and(|before| before.is_ascii_lowercase() || before.is_ascii_digit())
                || before.is_some_and(|before| before.is_ascii_uppercase())
                    && after.is_some_and(|after| after.is_ascii_lowercase()));
        if starts_word && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.push(c.to_ascii_lowercase());
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The name in snake case, such as `delete_vm`. A leading `_` is kept. A name without letters and digits otherwise
/// becomes empty.
pub fn snake(text: &str) -> String {
    let lead = if text.starts_with('_') { "_" } else { "" };
    format!("{lead}{}", words(text).join("_"))
}

/// The name in kebab case, such as `delete-vm`.
pub fn kebab(text: &str) -> String {
    words(text).join("-")
}

/// The name in PascalCase, such as `DeleteVm`.
pub fn pascal(text: &str) -> String {
    words(text)
        .iter()
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        })
        .collect()
}

/// The text with a capital first letter, as in names of states, kinds and types.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// The name as a Rust identifier, which is raw if the name is a keyword that can be raw.
pub fn rust_ident(name: &str) -> String {
    if is_rust_keyword(name) && !matches!(name, "self" | "Self" | "super" | "crate" | "_") {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// A name in Rust for a field whose own name is invalid there, or taken by another field.
pub fn unique_rust_field(name: &str, is_taken: impl Fn(&str) -> bool) -> RustFieldName {
    let mut base = words(name).join("_");
    base.truncate(50);
    let base = match base.trim_end_matches('_') {
        "" => "field".to_owned(),
        base if base.starts_with(|c: char| c.is_ascii_digit()) => format!("field_{base}"),
        base if RustFieldName::parse(base).is_err() => format!("{base}_value"),
        base => base.to_owned(),
    };
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    let mut names = [base.clone()]
        .into_iter()
        .chain(numbered)
        .filter(|name| !is_taken(&rust_ident(name)))
        .filter_map(|name| RustFieldName::parse(&name).ok());
    // Each number gives another name, and the number of taken names is finite.
    names.next().expect("there are more numbers than names")
}

/// The English plural of a kind in lower case, by the same rules as kube and kubebuilder.
pub fn plural(kind: &str) -> String {
    let word = kind.to_ascii_lowercase();
    let ends = |ending: &str| word.ends_with(ending);
    let consonant_before_y = word
        .strip_suffix('y')
        .and_then(|stem| stem.chars().last())
        .is_some_and(|c| !"aeiou".contains(c));
    if word == "endpoints" {
        word
    } else if consonant_before_y {
        format!("{}ies", &word[..word.len() - 1])
    } else if ends("s") || ends("x") || ends("z") || ends("ch") || ends("sh") {
        format!("{word}es")
    } else {
        format!("{word}s")
    }
}

/// One Rust variant for each value of an enum, in the same order. A number is appended to duplicates.
pub fn unique_variants<'a>(values: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut variants = Vec::new();
    for value in values {
        let mut base = pascal(value);
        if base.is_empty() {
            base = if value.is_empty() {
                "Empty".to_owned()
            } else {
                "Other".to_owned()
            };
        } else if base.starts_with(|c: char| c.is_ascii_digit()) {
            base = format!("V{base}");
        }
        if base == "Self" {
            base = "SelfValue".to_owned();
        }
        let mut variant = base.clone();
        let mut number = 2;
        while !taken.insert(variant.clone()) {
            variant = format!("{base}{number}");
            number += 1;
        }
        variants.push(variant);
    }
    variants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casings() {
        for (text, as_snake, as_pascal) in [
            ("DeleteVM", "delete_vm", "DeleteVm"),
            ("HPAReplicas", "hpa_replicas", "HpaReplicas"),
            ("finalizeURL", "finalize_url", "FinalizeUrl"),
            ("live-iso", "live_iso", "LiveIso"),
            ("bootMACAddress", "boot_mac_address", "BootMacAddress"),
            ("v1Beta2", "v1_beta2", "V1Beta2"),
            ("_id", "_id", "Id"),
        ] {
            assert_eq!(snake(text), as_snake);
            assert_eq!(pascal(text), as_pascal);
        }
        assert_eq!(kebab("NodeClaim"), "node-claim");
    }

    #[test]
    fn plurals() {
        for (kind, expected) in [
            ("Backup", "backups"),
            ("Policy", "policies"),
            ("Gateway", "gateways"),
            ("Ingress", "ingresses"),
            ("AnalysisRun", "analysisruns"),
            ("Memcached", "memcacheds"),
            ("EC2NodeClass", "ec2nodeclasses"),
            ("Endpoints", "endpoints"),
            ("Y", "ys"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }

    #[test]
    fn variants_are_unique() {
        let values = ["raw", "RAW", "", "12:30", "!", "self", "live-iso", "liveIso"];
        assert_eq!(
            unique_variants(values),
            [
                "Raw",
                "Raw2",
                "Empty",
                "V1230",
                "Other",
                "SelfValue",
                "LiveIso",
                "LiveIso2"
            ]
        );
    }
}
