//! Names of the language that have changed. Former names in a description are read as the present ones, with a warning,
//! and `krator gen` replaces them. An entry can be removed one release after its change.

/// Keys: the noun for a mapping of the section, the former name, and the present one.
const KEYS: [(&str, &str, &str); 1] = [("a version", "stored", "storage")];

/// Rules: the former name, and the present one.
const RULES: [(&str, &str); 4] = [
    ("choke-point", "unavoidable-state"),
    ("outlives-nothing", "deletion-without-path"),
    ("unelected-replicas", "replicas-without-leader"),
    ("webhook-like-rule", "rule-instead-of-webhook"),
];

/// The present name of a key, if `name` is a former one.
pub fn key(section: &str, name: &str) -> Option<&'static str> {
    let mut keys = KEYS.iter();
    let found = keys.find(|(called, former, _)| (*called, *former) == (section, name));
    found.map(|(_, _, now)| *now)
}

/// The present name of a rule, if `name` is a former one.
pub fn rule(name: &str) -> Option<&'static str> {
    let found = RULES.iter().find(|(former, _)| *former == name);
    found.map(|(_, now)| *now)
}
