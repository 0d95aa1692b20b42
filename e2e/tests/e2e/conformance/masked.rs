//! Answers without the parts that differ from run to run: times, uids, versions.

use regex::{Captures, Regex};
use serde_json::{Map, Value as Json};
use std::{collections::BTreeMap, sync::LazyLock};

pub(super) static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").expect("a pattern")
});
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").expect("a pattern"));
/// The version in a message about preconditions.
static RECORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"in record \(\d+\)").expect("a pattern"));
/// Go's error message for a text that is not JSON.
static PARSING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(?s)json parse error: .*").expect("a pattern"));
static AGE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\d+m?\d*s$").expect("a pattern"));

/// The masked values so far: a value has the same mask in the whole case.
pub struct Mask {
    namespace: String,
    seen: BTreeMap<String, String>,
    /// Whether the case contains an object of one of [`REWRITTEN`].
    rewrites: bool,
}

/// Kinds that the real server stores once more after an update without changes, because it completes what it stored at
/// their creation; their versions are not compared.
const REWRITTEN: [&str; 2] = ["Job", "PersistentVolumeClaim"];

impl Mask {
    pub fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            seen: BTreeMap::new(),
            rewrites: false,
        }
    }

    fn named(&mut self, what: &str, value: &str) -> String {
        let next = self.seen.values().filter(|name| name.starts_with(what)).count() + 1;
        self.seen
            .entry(value.to_owned())
            .or_insert_with(|| format!("{what}{next}"))
            .clone()
    }

    /// A text without uids, times and the namespace.
    pub fn text(&mut self, text: &str) -> String {
        let text = UID
            .replace_all(text, |found: &Captures<'_>| self.named("UID", &found[0]))
            .into_owned();
        let text = TIME.replace_all(&text, "TIME");
        let text = RECORD.replace_all(&text, "VERSION");
        let text = PARSING.replace_all(&text, "json parse error: ERROR");
        AGE.replace_all(&text, "AGE").replace(&self.namespace, "NS")
    }

    /// A value with sorted fields of objects.
    ///
    /// Of a refusal, only the reason and the fields are compared. The messages may differ, unless users act on them.
    pub fn masked(&mut self, value: &Json) -> Json {
        let masked = self.exactly(value);
        let code = masked.get("code").and_then(Json::as_u64).unwrap_or_default();
        if masked.get("kind") != Some(&Json::from("Status")) || code < 400 {
            return masked;
        }
        let mut refusal = masked;
        let is_strict = refusal["message"]
            .as_str()
            .is_some_and(|text| text.contains("strict decoding error"));
        let by_word = refusal["message"].as_str().is_some_and(is_of_admission)
            || [403, 404, 409, 410, 501].contains(&code)
            || code == 400 && is_strict;
        if !by_word {
            refusal["message"] = "MESSAGE".into();
        }
        if let Some(causes) = refusal
            .pointer_mut("/details/causes")
            .and_then(Json::as_array_mut)
        {
            for cause in causes.iter_mut().filter(|_| !by_word) {
                cause["message"] = "MESSAGE".into();
            }
            causes.sort_by_key(ToString::to_string);
            causes.dedup();
        }
        if let Some(fields) = refusal.as_object_mut() {
            fields
                .retain(|key, value| key != "details" || value.as_object().is_some_and(|it| !it.is_empty()));
        }
        refusal
    }

    /// A value with sorted fields of objects and with all messages.
    pub fn exactly(&mut self, value: &Json) -> Json {
        match value {
            Json::Object(fields) => {
                let generated = fields
                    .get("generateName")
                    .and_then(Json::as_str)
                    .map(str::to_owned);
                self.rewrites |= fields
                    .get("kind")
                    .and_then(Json::as_str)
                    .is_some_and(|kind| REWRITTEN.contains(&kind));
                let is_list = !fields.contains_key("name");
                let mut masked: BTreeMap<String, Json> = BTreeMap::new();
                for (key, value) in fields {
                    let value = match (key.as_str(), value.as_str(), &generated) {
                        // The version of a list changes with each write in the cluster.
                        ("resourceVersion", Some(_), _) if is_list => "NOW".into(),
                        ("resourceVersion", Some(_), _) if self.rewrites => "VERSION".into(),
                        ("resourceVersion", Some(version), _) => {
                            self.named("VERSION", &format!("v{version}")).into()
                        }
                        ("continue", Some(token), _) if !token.is_empty() => "CONTINUE".into(),
                        // Sorted, because their order depends on their times.
                        ("managedFields", None, _) => {
                            let mut managers = self.exactly(value);
                            if let Some(managers) = managers.as_array_mut() {
                                managers.sort_by_key(ToString::to_string);
                            }
                            managers
                        }
                        ("name", Some(_), Some(generated)) => format!("{generated}SUFFIX").into(),
                        _ => self.exactly(value),
                    };
                    masked.insert(self.text(key), value);
                }
                Json::Object(masked.into_iter().collect::<Map<_, _>>())
            }
            Json::Array(items) => items.iter().map(|item| self.exactly(item)).collect(),
            Json::String(text) => self.text(text).into(),
            other => other.clone(),
        }
    }
}

/// Whether a message is about webhooks or policies.
fn is_of_admission(message: &str) -> bool {
    [
        "admission webhook",
        "conversion webhook",
        "failed calling webhook",
        "ValidatingAdmissionPolicy '",
    ]
    .iter()
    .any(|words| message.contains(words))
}

/// The lines in which two transcripts differ, each with its context.
pub fn difference(real: &str, embedded: &str) -> String {
    let patch = diffy::DiffOptions::new()
        .set_context_len(4)
        .create_patch(real, embedded)
        .to_string();
    patch.lines().skip(2).map(|line| format!("{line}\n")).collect()
}
