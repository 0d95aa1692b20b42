//! Digests of fields of the spec: by them a machine knows which fields have changed since it judged the spec last.
use std::borrow::Cow;

/// The path of the digest of the whole spec, which a kind that is converted has.
pub const WHOLE: &str = ".spec";

/// The digest of a field of the spec, as the field is now. That of an object covers all fields below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecDigest {
    path: Cow<'static, str>,
    /// The digests of all values at and below the path, combined by exclusive or; 0 if the field is absent.
    value: u64,
    /// The part of `value` that each field at or below the path contributes which has its default, so that it would be the
    /// same if nobody had written it.
    defaults: Vec<u64>,
}

impl SpecDigest {
    /// The digest of the field at `path`, which has this value as text; `None` if it is absent.
    pub fn new(path: impl Into<Cow<'static, str>>, value: Option<&str>) -> Self {
        Self {
            path: path.into(),
            value: value.map_or(0, |value| of_text("", value)),
            defaults: Vec::new(),
        }
    }

    /// The path of the field.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The digest as it is stored.
    pub fn stored(&self) -> String {
        format!("{:016x}", self.value)
    }

    /// Whether the field differs from what it was when this digest was stored. A field without a digest counts as unchanged,
    /// and so does one whose description has got a default since: what is there now by default may have been absent.
    pub fn differs_from(&self, stored: Option<&str>) -> bool {
        let Some(Ok(stored)) = stored.map(|text| u64::from_str_radix(text, 16)) else {
            return false;
        };
        !is_combined_of(self.value ^ stored, &self.defaults)
    }
}

/// Whether some of the `parts`, combined by exclusive or, give `whole`: Gaussian elimination, bit by bit.
fn is_combined_of(whole: u64, parts: &[u64]) -> bool {
    let reduce = |basis: &[u64], number: u64| basis.iter().fold(number, |rest, part| rest.min(rest ^ part));
    let mut basis = Vec::new();
    for part in parts {
        match reduce(&basis, *part) {
            0 => {}
            rest => basis.push(rest),
        }
    }
    reduce(&basis, whole) == 0
}

/// The digest of a value at a place. It is stored, so it never changes: FNV-1a, mixed as SplitMix64 does it, because the
/// digests of neighbouring values must not have differences in common.
pub fn of_text(place: &str, value: &str) -> u64 {
    let bytes = place.bytes().chain([0xff]).chain(value.bytes());
    let hash = bytes.fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    mixed(hash)
}

/// The bits of a number, mixed as SplitMix64 does it.
pub const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// The step of SplitMix64.
pub const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

pub use of_spec::{spec_digest, spec_digests};

mod of_spec {
    use super::{SpecDigest, of_text};
    use serde::{Serialize, de::DeserializeOwned};
    use serde_json::Value;

    /// How many values are read, for each path, to find the fields that have their defaults: each field is tried without its
    /// value, for which the whole spec is read again. A spec may be large, and anybody may write it; in one that is, fewer
    /// fields are tried.
    const READS: usize = 20_000;

    /// The digest of a whole spec, by which one object is told from itself later. It is not stored.
    pub fn spec_digest<S: Serialize>(spec: &S) -> u64 {
        let text = serde_json::to_string(spec).unwrap_or_default();
        of_text("", &text)
    }

    /// The digests of the fields of a spec at these paths, each with the names of the fields that lead there. Generated code
    /// calls it.
    pub fn spec_digests<S: Serialize + DeserializeOwned>(
        spec: &S,
        paths: &[(&'static str, &[&str])],
    ) -> Vec<SpecDigest> {
        let whole = serde_json::to_value(spec).unwrap_or_default();
        let tries = READS / size(&whole);
        let mut reader = Reader {
            is_whole: |without: Value| {
                let read = serde_json::from_value::<S>(without).ok();
                read.and_then(|spec| serde_json::to_value(spec).ok()).as_ref() == Some(&whole)
            },
            whole: &whole,
            tries,
            defaults: Vec::new(),
        };
        let digest = |(path, names): &(&'static str, &[&str])| {
            let pointers = names.iter().scan(String::new(), |pointer, name| {
                *pointer = below(pointer, name);
                Some(pointer.clone())
            });
            let pointers: Vec<String> = pointers.collect();
            // Without names it is the whole spec.
            let (pointer, above) = match pointers.split_last() {
                Some((pointer, above)) => (pointer.as_str(), above),
                None => ("", &[][..]),
            };
            let mut all = 0;
            reader.tries = tries;
            if let Some(value) = whole.pointer(pointer) {
                all = reader.read(value, pointer, "");
                // Also absent by default is what is below an object that is there by default.
                if above.iter().any(|pointer| reader.is_default(pointer)) {
                    reader.defaults.push(all);
                }
            }
            SpecDigest {
                path: (*path).into(),
                value: all,
                defaults: std::mem::take(&mut reader.defaults),
            }
        };
        paths.iter().map(digest).collect()
    }

    /// How many values there are in a value, with itself.
    fn size(value: &Value) -> usize {
        match value {
            Value::Object(fields) => 1 + fields.values().map(size).sum::<usize>(),
            Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
            _ => 1,
        }
    }

    fn below(pointer: &str, name: &str) -> String {
        format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
    }

    struct Reader<'a, F> {
        whole: &'a Value,
        /// Whether this is the whole spec once it is read, because what it lacks is there by default.
        is_whole: F,
        tries: usize,
        defaults: Vec<u64>,
    }

    impl<F: Fn(Value) -> bool> Reader<'_, F> {
        /// The digest of the value at the pointer. It notes what fields with defaults contribute.
        fn read(&mut self, value: &Value, pointer: &str, place: &str) -> u64 {
            let is_default = self.is_default(pointer);
            let all = match value {
                Value::Object(fields) => fields.iter().fold(of_text(place, "{}"), |all, (name, field)| {
                    all ^ self.read(field, &below(pointer, name), &below(place, name))
                }),
                other => of_text(place, &other.to_string()),
            };
            if is_default {
                self.defaults.push(all);
            }
            all
        }

        fn is_default(&mut self, pointer: &str) -> bool {
            let Some(left) = self.tries.checked_sub(1) else {
                return false;
            };
            self.tries = left;
            let mut without = self.whole.clone();
            let Some((above, name)) = pointer.rsplit_once('/') else {
                return false;
            };
            let Some(Value::Object(fields)) = without.pointer_mut(above) else {
                return false;
            };
            fields.remove(&name.replace("~1", "/").replace("~0", "~"));
            (self.is_whole)(without)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    /// A spec as an early operator knows it.
    #[derive(Serialize, Deserialize)]
    struct Early {
        size: i64,
        #[serde(skip_serializing_if = "Option::is_none")]
        grade: Option<String>,
        storage: EarlyStorage,
        #[serde(default)]
        free: Value,
    }

    #[derive(Serialize, Deserialize)]
    struct EarlyStorage {
        class: String,
        #[serde(default = "seven")]
        kept: i64,
        #[serde(skip_serializing_if = "Option::is_none")]
        copies: Option<i64>,
    }

    /// The same spec with more defaults, and with other ones.
    #[derive(Serialize, Deserialize)]
    struct Later {
        #[serde(default = "seven")]
        size: i64,
        #[serde(default = "fine")]
        grade: String,
        storage: LaterStorage,
        #[serde(default)]
        free: Value,
    }

    #[derive(Serialize, Deserialize)]
    struct LaterStorage {
        class: String,
        #[serde(default = "nine")]
        kept: i64,
        #[serde(default = "seven")]
        copies: i64,
    }

    fn seven() -> i64 {
        7
    }
    fn nine() -> i64 {
        9
    }
    fn fine() -> String {
        "fine".to_owned()
    }

    const PATHS: [(&str, &[&str]); 5] = [
        (".spec.size", &["size"]),
        (".spec.grade", &["grade"]),
        (".spec.storage", &["storage"]),
        (".spec.storage.copies", &["storage", "copies"]),
        (".spec.free", &["free"]),
    ];

    fn digests<S: Serialize + DeserializeOwned>(spec: Value) -> Vec<SpecDigest> {
        spec_digests(&serde_json::from_value::<S>(spec).expect("a spec"), &PATHS)
    }
    use serde::de::DeserializeOwned;

    /// The paths of the fields that differ from those of a spec that an early operator has judged.
    fn differences(judged: Value, now: Vec<SpecDigest>) -> Vec<&'static str> {
        let judged = digests::<Early>(judged);
        let pairs = PATHS.iter().zip(judged.iter().zip(now));
        let differ = pairs.filter(|(_, (judged, now))| now.differs_from(Some(&judged.stored())));
        differ.map(|((path, _), _)| *path).collect()
    }

    fn stored() -> Value {
        json!({"size": 3, "storage": {"class": "fast", "kept": 7}, "free": {"a": {"b": [1, {"c": null}]}}})
    }

    /// A spec with a change at this pointer.
    fn with(pointer: &str, value: Value) -> Value {
        let mut spec = stored();
        let (above, name) = pointer.rsplit_once('/').expect("a pointer");
        spec.pointer_mut(above).expect("an object")[name] = value;
        spec
    }

    #[test]
    fn a_field_differs_if_it_or_what_is_below_it_was_changed() {
        let of = |spec: Value| differences(stored(), digests::<Early>(spec));
        assert_eq!(of(stored()), Vec::<&str>::new());
        assert_eq!(of(with("/size", json!(4))), [".spec.size"]);
        assert_eq!(of(with("/grade", json!("poor"))), [".spec.grade"]);
        assert_eq!(of(with("/storage/kept", json!(8))), [".spec.storage"]);
        let copies = [".spec.storage", ".spec.storage.copies"];
        assert_eq!(of(with("/storage/copies", json!(1))), copies);
        assert_eq!(of(with("/free/a/b", json!([1, {"c": 0}]))), [".spec.free"]);
        assert_eq!(of(with("/free/a", json!({}))), [".spec.free"]);
    }

    #[test]
    fn values_that_change_places_differ() {
        for (one, other) in [(1, 2), (3, 5), (10, 11), (0, 100)] {
            let pair = |left: i32, right: i32| json!({"size": 3, "storage": {"class": "fast"}, "free": {"l": left, "r": right}});
            let now = digests::<Early>(pair(other, one));
            assert_eq!(differences(pair(one, other), now), [".spec.free"]);
        }
    }

    #[test]
    fn a_default_that_appears_or_changes_is_no_change() {
        // Nobody wrote `grade` and `copies`, and `kept` is stored since it had its first default.
        assert_eq!(
            differences(stored(), digests::<Later>(stored())),
            Vec::<&str>::new()
        );
        // All but one of the fields with defaults are there by default.
        let some = json!({"size": 7, "storage": {"class": "fast", "kept": 9}, "free": 1});
        assert_eq!(
            differences(some.clone(), digests::<Later>(some)),
            Vec::<&str>::new()
        );
        // These are edits.
        let of = |spec: Value| differences(stored(), digests::<Later>(spec));
        assert_eq!(of(with("/size", json!(7))), [".spec.size"]);
        assert_eq!(of(with("/grade", json!("poor"))), [".spec.grade"]);
        assert_eq!(of(with("/storage/kept", json!(9))), [".spec.storage"]);
        let copies = [".spec.storage", ".spec.storage.copies"];
        assert_eq!(of(with("/storage/copies", json!(1))), copies);
    }

    #[test]
    fn digests_are_stored_so_they_stay_the_same() {
        let digests = digests::<Early>(stored());
        let stored: Vec<String> = digests.iter().map(SpecDigest::stored).collect();
        let (absent, size, storage, free) = (
            "0000000000000000",
            "cc75512a22411cbb",
            "a39812414e3b56e5",
            "b44a26cc6ddb3894",
        );
        assert_eq!(stored, [size, absent, storage, absent, free]);
    }

    #[test]
    fn a_large_free_field_is_read_in_time() {
        let many: Value = (0..20_000)
            .map(|n| (format!("field{n}"), json!({"a": n})))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let spec = with("/free", many);
        assert_eq!(differences(stored(), digests::<Early>(spec)), [".spec.free"]);
    }

    #[test]
    fn a_field_without_a_digest_counts_as_unchanged() {
        for stored in [None, Some(""), Some("edited by hand")] {
            assert!(
                !SpecDigest::new(".spec.size", Some("3")).differs_from(stored),
                "{stored:?}"
            );
        }
    }
}
