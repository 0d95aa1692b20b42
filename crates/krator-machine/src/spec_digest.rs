//! Digests of fields of the spec, by which a machine finds what has changed since it last judged it.
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::borrow::Cow;

/// The path of the digest of the whole spec, which kinds with conversions have.
pub const WHOLE: &str = ".spec";

/// The digest of a field of the spec, as the field is now. That of an object covers all fields below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecDigest {
    path: Cow<'static, str>,
    /// The digests of all values at and below the path, and of those that differ from their defaults, each combined by exclusive
    /// or; 0 if there is none. A new default does not change the second digest if the field was never written. If the field was
    /// written, neither a new default nor, with the former default stored, another default changes the first digest.
    values: [u64; 2],
}

impl SpecDigest {
    /// The digest of the field at `path` with this value as text, and no default; `None` if it is absent.
    pub fn new(path: impl Into<Cow<'static, str>>, value: Option<&str>) -> Self {
        Self {
            path: path.into(),
            values: [value.map_or(0, |value| of_text("", value)); 2],
        }
    }

    /// The path of the field.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The digest as it is stored.
    pub fn stored(&self) -> String {
        match self.values {
            [all, written] if all == written => format!("{all:016x}"),
            [all, written] => format!("{all:016x}-{written:016x}"),
        }
    }

    /// Whether the field has changed since this digest was stored. A field without a stored digest counts as
    /// unchanged, and so does one for which only the default has changed.
    pub fn differs_from(&self, stored: Option<&str>) -> bool {
        let Some(stored) = stored else { return false };
        let (all, written) = stored.split_once('-').unwrap_or((stored, stored));
        let differs = |(stored, now)| u64::from_str_radix(stored, 16).is_ok_and(|stored: u64| stored != now);
        [all, written].into_iter().zip(self.values).all(differs)
    }
}

/// The digest of a value at a path. It is stored, so the algorithm never changes: FNV-1a, followed by the
/// mixing step of SplitMix64, without which similar values would have similar digests.
pub fn of_text(place: &str, value: &str) -> u64 {
    let bytes = place.bytes().chain([0xff]).chain(value.bytes());
    let hash = bytes.fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    mixed(hash)
}

/// Mixes the bits of a number with the finalizer of SplitMix64.
pub const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// The increment of SplitMix64.
pub const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The digest of a whole spec, to detect changes in memory. It is not stored.
pub fn spec_digest<S: Serialize>(spec: &S) -> u64 {
    let text = serde_json::to_string(spec).unwrap_or_default();
    of_text("", &text)
}

/// The digests of the fields of a spec at these paths, each given as a path and the names of its fields.
/// Generated code calls it.
///
/// `defaults` has the paths of fields with defaults, grouped by the number of fields above them that have
/// one. An empty name stands for every key of a map; fields of a list are those of each item.
pub fn spec_digests<S: Serialize + DeserializeOwned>(
    spec: &S,
    paths: &[(&'static str, &[&str])],
    defaults: &[&[&[&str]]],
) -> Vec<SpecDigest> {
    // Only the type's deserializer knows the defaults, and how they are serialized.
    let fill = |without| {
        serde_json::from_value::<S>(without)
            .and_then(serde_json::to_value)
            .ok()
    };
    let all = serde_json::to_value(spec).unwrap_or_default();
    digests_of(&all, paths, defaults, fill)
}

/// Like [`spec_digests`], for JSON. `fill` fills in all defaults; `None` if the spec is invalid.
pub fn digests_of<'n, P, N, L>(
    all: &Value,
    paths: &[(P, N)],
    defaults: &[L],
    fill: impl Fn(Value) -> Option<Value>,
) -> Vec<SpecDigest>
where
    P: Clone + Into<Cow<'static, str>>,
    N: AsRef<[&'n str]>,
    L: AsRef<[N]>,
{
    let mut written = all.clone();
    for level in defaults {
        // A whole level at once, because filling defaults in takes longer than removing them.
        let level = level.as_ref().iter().map(AsRef::as_ref);
        let mut without = written.clone();
        level.clone().for_each(|path| strip(&mut without, None, path));
        if let Some(filled) = fill(without) {
            level.for_each(|path| strip(&mut written, Some(&filled), path));
        }
    }
    let digest = |(path, names): &(P, N)| {
        let of = |whole: &Value| {
            let value = names
                .as_ref()
                .iter()
                .try_fold(whole, |value, name| value.get(name));
            value.map_or(0, |value| of_value(value, ""))
        };
        SpecDigest {
            path: path.clone().into(),
            values: [of(all), of(&written)],
        }
    };
    paths.iter().map(digest).collect()
}

/// Removes the field at a path; with `filled`, only where the value is the same there. An empty name stands
/// for every key of a map; fields of a list are those of each item.
pub fn strip(value: &mut Value, filled: Option<&Value>, path: &[&str]) {
    match (value, path) {
        (Value::Object(fields), [name])
            if filled.is_none_or(|filled| filled.get(name) == fields.get(*name)) =>
        {
            fields.remove(*name);
        }
        (Value::Object(fields), [name, rest @ ..]) => {
            let fields = fields.iter_mut();
            for (key, value) in fields.filter(|(key, _)| name.is_empty() || key == name) {
                strip(value, filled.map(|filled| &filled[key]), rest);
            }
        }
        (Value::Array(items), _) => {
            for (at, item) in items.iter_mut().enumerate() {
                strip(item, filled.map(|filled| &filled[at]), path);
            }
        }
        _ => {}
    }
}

fn of_value(value: &Value, place: &str) -> u64 {
    match value {
        Value::Object(fields) => fields.iter().fold(of_text(place, "{}"), |all, (name, field)| {
            let name = name.replace('~', "~0").replace('/', "~1");
            all ^ of_value(field, &format!("{place}/{name}"))
        }),
        other => of_text(place, &other.to_string()),
    }
}

#[cfg(test)]
mod tests;
