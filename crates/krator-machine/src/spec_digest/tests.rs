//! Tests which changes of a spec are detected when defaults are added or changed.
use super::*;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use std::cell::RefCell;

/// The spec of an early release of the operator.
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

/// The same spec in a later release, with more and with other defaults.
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

fn digests<S: Serialize + DeserializeOwned>(spec: Value, defaults: &[&[&[&str]]]) -> Vec<SpecDigest> {
    let spec = serde_json::from_value::<S>(spec).expect("a spec");
    spec_digests(&spec, &PATHS, defaults)
}

fn early(spec: Value) -> Vec<SpecDigest> {
    digests::<Early>(spec, &[&[&["storage", "kept"]]])
}

fn later(spec: Value) -> Vec<SpecDigest> {
    let defaults: [&[&str]; 4] = [
        &["size"],
        &["grade"],
        &["storage", "kept"],
        &["storage", "copies"],
    ];
    digests::<Later>(spec, &[&defaults])
}

/// The paths of the fields that differ from the spec that the early release has judged.
fn differences(judged: Value, now: Vec<SpecDigest>) -> Vec<&'static str> {
    let judged = early(judged);
    let pairs = PATHS.iter().zip(judged.iter().zip(now));
    let differ = pairs.filter(|(_, (judged, now))| now.differs_from(Some(&judged.stored())));
    differ.map(|((path, _), _)| *path).collect()
}

fn stored() -> Value {
    json!({"size": 3, "storage": {"class": "fast", "kept": 7}, "free": {"a": {"b": [1, {"c": null}]}}})
}

/// A copy of the spec with a change at this JSON pointer.
fn with(pointer: &str, value: Value) -> Value {
    let mut spec = stored();
    let (above, name) = pointer.rsplit_once('/').expect("a pointer");
    spec.pointer_mut(above).expect("an object")[name] = value;
    spec
}

#[test]
fn a_field_differs_if_it_or_what_is_below_it_was_changed() {
    let of = |spec: Value| differences(stored(), early(spec));
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
        let now = early(pair(other, one));
        assert_eq!(differences(pair(one, other), now), [".spec.free"]);
    }
}

#[test]
fn a_default_that_appears_or_changes_is_no_change() {
    // `grade`, `kept` and `copies` are absent.
    let bare = json!({"size": 3, "storage": {"class": "fast"}, "free": 1});
    assert_eq!(differences(bare.clone(), later(bare)), Vec::<&str>::new());
    // `kept` was stored with its first default.
    let kept = with("/storage/copies", json!(1));
    assert_eq!(differences(kept.clone(), later(kept)), Vec::<&str>::new());
    // The two fields are unchanged for different reasons, and share a path.
    assert_eq!(differences(stored(), later(stored())), [".spec.storage"]);
    // The spec has the later defaults as written values.
    let some =
        json!({"size": 7, "grade": "fine", "storage": {"class": "fast", "kept": 9, "copies": 7}, "free": 1});
    assert_eq!(differences(some.clone(), later(some)), Vec::<&str>::new());
    // These are edits.
    let size = |size: i64| json!({"size": size, "storage": {"class": "fast"}});
    assert_eq!(differences(size(3), later(size(7))), [".spec.size"]);
    let mut poor = size(3);
    poor["grade"] = json!("poor");
    assert_eq!(differences(size(3), later(poor)), [".spec.grade"]);
    let copies = [".spec.storage", ".spec.storage.copies"];
    assert_eq!(
        differences(stored(), later(with("/storage/copies", json!(1)))),
        copies
    );
}

/// The path and the value of a default.
type Default = (&'static [&'static str], Value);

thread_local! {
    static DEFAULTS: RefCell<Vec<Default>> = const { RefCell::new(Vec::new()) };
}

/// A spec whose type fills in [`DEFAULTS`].
#[derive(Serialize)]
struct Filled(Value);

impl<'de> Deserialize<'de> for Filled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut spec = Value::deserialize(deserializer)?;
        DEFAULTS.with_borrow(|defaults| {
            for (path, default) in defaults {
                fill(&mut spec, path, default);
            }
        });
        Ok(Self(spec))
    }
}

fn fill(value: &mut Value, path: &[&str], default: &Value) {
    match (value, path) {
        (Value::Object(fields), [name]) => {
            fields.entry(*name).or_insert_with(|| default.clone());
        }
        (Value::Object(fields), [name, rest @ ..]) => {
            let fields = fields.iter_mut();
            let below = fields.filter(|(key, _)| name.is_empty() || key == name);
            below.for_each(|(_, value)| fill(value, rest, default));
        }
        (Value::Array(items), _) => items.iter_mut().for_each(|item| fill(item, path, default)),
        _ => {}
    }
}

/// The name of a field, and a generator of its values.
type Field<'a> = (&'a str, &'a dyn Fn(&mut Dice) -> Value);

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0) % bound
    }

    /// An object with a random part of these fields.
    fn some(&mut self, fields: &[Field<'_>]) -> Value {
        let mut some = json!({});
        for (name, value) in fields {
            if self.below(3) > 0 {
                some[*name] = value(self);
            }
        }
        some
    }

    fn number(&mut self) -> Value {
        self.below(3).into()
    }

    fn inner(&mut self) -> Value {
        self.some(&[("d", &Self::number)])
    }

    fn object(&mut self) -> Value {
        self.some(&[("c", &Self::number), ("p", &Self::inner)])
    }

    fn list(&mut self) -> Value {
        (0..self.below(3)).map(|_| self.inner()).collect()
    }

    fn map(&mut self) -> Value {
        self.some(&[("k", &Self::inner), ("l", &Self::inner)])
    }

    fn spec(&mut self) -> Value {
        self.some(&[
            ("a", &Self::number),
            ("o", &Self::object),
            ("l", &Self::list),
            ("m", &Self::map),
        ])
    }

    /// A random default at one of these paths. Values within objects and lists are unique, because a new
    /// default that makes a field equal to its own default is a change.
    fn default(&mut self, at: usize) -> Default {
        match at {
            0 => (&["a"], self.number()),
            1 => (
                &["o"],
                self.some(&[("c", &|_| json!(3)), ("p", &|_| json!({"d": 3}))]),
            ),
            2 => (&["l"], (0..self.below(3)).map(|_| json!({"d": 5})).collect()),
            3 => (&["o", "c"], self.number()),
            4 => (&["o", "p"], self.some(&[("d", &|_| json!(4))])),
            5 => (&["o", "p", "d"], self.number()),
            6 => (&["l", "d"], self.number()),
            _ => (&["m", "", "d"], self.number()),
        }
    }
}

/// The spec with these defaults filled in, and its digests.
fn read(spec: &Value, defaults: &[Default]) -> (Value, Vec<SpecDigest>) {
    const PATHS: [(&str, &[&str]); 7] = [
        (".spec", &[]),
        (".spec.a", &["a"]),
        (".spec.o", &["o"]),
        (".spec.o.c", &["o", "c"]),
        (".spec.o.p", &["o", "p"]),
        (".spec.l", &["l"]),
        (".spec.m", &["m"]),
    ];
    DEFAULTS.set(defaults.to_vec());
    let spec: Filled = serde_json::from_value(spec.clone()).expect("any value is a spec");
    let all: Vec<_> = defaults.iter().map(|(path, _)| *path).collect();
    let mut levels = vec![Vec::new(); 3];
    for path in &all {
        let above = all
            .iter()
            .filter(|above| *above != path && path.starts_with(above));
        levels[above.count()].push(*path);
    }
    let levels: Vec<_> = levels.iter().map(Vec::as_slice).collect();
    let digests = spec_digests(&spec, &PATHS, &levels);
    (spec.0, digests)
}

/// Two builds of an operator read a spec in which the API server has stored the defaults that it knew.
#[test]
fn edits_are_changes_and_a_default_is_none() {
    const COUNT: u64 = 4_000;
    let (mut edits, mut grown) = (0, 0);
    for seed in 0..COUNT {
        let dice = &mut Dice(seed);
        let other = dice.below(8) as usize;
        let mut before = Vec::new();
        for at in (0..8).filter(|at| *at != other) {
            if dice.below(2) == 0 {
                before.push(dice.default(at));
            }
        }
        let new = dice.default(other);
        let place = new.0;
        let mut now: Vec<_> = before.iter().cloned().chain([new]).collect();
        if dice.below(2) == 0 {
            before.push(dice.default(other));
        }
        for defaults in [&mut before, &mut now] {
            defaults.sort_by_key(|(path, _)| path.len());
        }

        let mut stored = dice.spec();
        // If only some items have the field, both digests differ.
        if other >= 6 {
            strip(&mut stored, None, place);
        }
        let (filled, judged) = read(&stored, &before);
        if dice.below(2) == 0 {
            stored = filled;
        }
        let (same, read_now) = read(&stored, &now);
        let case = format!("seed {seed}: {stored} by {before:?} and {now:?}");
        for (judged, now) in judged.iter().zip(&read_now) {
            let path = now.path();
            assert!(!now.differs_from(Some(&judged.stored())), "{path}, {case}");
        }
        grown += u64::from(judged != read_now);

        let (edited, digests) = read(&dice.spec(), &now);
        for (judged, now) in read_now.iter().zip(&digests) {
            let pointer = now.path()[".spec".len()..].replace('.', "/");
            let (one, two) = (same.pointer(&pointer), edited.pointer(&pointer));
            let differs = now.differs_from(Some(&judged.stored()));
            let case = format!("seed {seed}: {pointer} of {same} and {edited}");
            assert!(!differs || one != two, "{case}");
            // Whether the difference is a default that appears or disappears, or is below one.
            let is_default = |one: Option<&Value>, two: Option<&Value>| {
                DEFAULTS.with_borrow(|all| {
                    let mut all = all.iter().map(|(path, _)| format!("/{}", path.join("/")));
                    all.any(|path| {
                        pointer == path && one.is_some() != two.is_some()
                            || pointer
                                .strip_prefix(&path)
                                .is_some_and(|below| below.starts_with('/'))
                    })
                })
            };
            assert!(differs || one == two || is_default(one, two), "{case}");
            edits += u64::from(differs);
        }
    }
    assert!(
        edits > COUNT && grown > COUNT / 10,
        "{edits} edits, {grown} defaults"
    );
}

#[test]
fn digests_are_stored_so_they_stay_the_same() {
    let digests = early(stored());
    let stored: Vec<String> = digests.iter().map(SpecDigest::stored).collect();
    let (absent, size, storage, free) = (
        "0000000000000000",
        "cc75512a22411cbb",
        "a39812414e3b56e5-09c64bcd829d8420",
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
    assert_eq!(differences(stored(), early(spec)), [".spec.free"]);
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
