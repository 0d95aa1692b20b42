//! The histories of lives, without the parts that differ between clusters: uids, times, versions and addresses.

use super::recorder::Write;
use super::run::Seen;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The histories of all objects and their events, by kind and name: a line for each write or event.
pub fn histories(seen: &Seen) -> BTreeMap<String, Vec<String>> {
    let mut histories: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut mask = Mask::default();
    for write in &seen.writes {
        mask.learn(&write.object);
    }
    let late = late(&seen.writes);
    for write in seen
        .writes
        .iter()
        .filter(|write| !late.contains(write.text("/metadata/uid")))
    {
        let (kind, name) = (write.text("/kind"), write.text("/metadata/name"));
        mask.object = format!("{kind} {name}");
        let verb = if write.deleted { "deleted" } else { "written" };
        let line = format!("{verb} {:#}", mask.masked(&write.object));
        let history = histories.entry(mask.object.clone()).or_default();
        // A write that changes only times does not count.
        if history.last() != Some(&line) {
            history.push(line);
        }
    }
    let mut events: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // Controllers of the cluster publish events about the objects, too.
    let is_of_operator = |event: &&Value| event["reportingController"] == super::RECIPE.text.operator;
    for event in seen.events.iter().filter(is_of_operator) {
        let about = &event["regarding"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let told = json!({"type": event["type"], "reason": event["reason"], "action": event["action"], "note": event["note"]});
        let of = format!("{} {}", text(&about["kind"]), text(&about["name"]));
        events
            .entry(of)
            .or_default()
            .insert(format!("event {}", mask.masked(&told)));
    }
    assert!(!events.is_empty(), "the operator has told nothing");
    for (of, events) in events {
        histories.entry(of).or_default().extend(events);
    }
    histories
}

/// The uids of children that were created after the deletion of their owner. A request in flight may create a child
/// again at that time, and the garbage collector deletes it once more; whether a request is in flight depends on
/// chance.
fn late(writes: &[Write]) -> BTreeSet<&str> {
    let version = |write: &Write| write.text("/metadata/resourceVersion").parse::<u64>().ok();
    let mut writes: Vec<&Write> = writes.iter().collect();
    // Sorted, because different watches see the writes to different kinds.
    writes.sort_by_key(|write| version(write));
    let (mut known, mut gone, mut late) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for write in writes {
        let uid = write.text("/metadata/uid");
        let owners = write.object["metadata"]["ownerReferences"].as_array();
        let mut owners = owners
            .into_iter()
            .flatten()
            .filter_map(|owner| owner["uid"].as_str());
        if known.insert(uid) && owners.any(|owner| gone.contains(owner) || late.contains(owner)) {
            late.insert(uid);
        }
        if write.deleted {
            gone.insert(uid);
        }
    }
    late
}

/// The replacements for the parts that differ.
#[derive(Default)]
struct Mask {
    /// The kinds and names of objects, by their uids.
    uids: BTreeMap<String, String>,
    /// The object whose writes are masked.
    object: String,
    /// The entries of states by objects, in the order in which they are seen.
    entries: BTreeMap<String, Vec<String>>,
}

impl Mask {
    fn learn(&mut self, object: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        let name = format!("{} {}", text(&object["kind"]), text(&metadata["name"]));
        self.uids
            .insert(text(&metadata["uid"]), format!("(uid of {name})"));
    }

    fn masked(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let entry = |(key, value): (&String, &Value)| {
                    let value = match key.as_str() {
                        "resourceVersion" => return None,
                        "clusterIP" | "clusterIPs" => "(address)".into(),
                        "entry" => self.entry(value),
                        "managedFields" => self.managers(value),
                        _ => self.masked(value),
                    };
                    Some((self.text(key), value))
                };
                // Sorted, because servers write the fields of some objects in different orders.
                let fields: BTreeMap<String, Value> = fields.iter().filter_map(entry).collect();
                Value::Object(fields.into_iter().collect::<Map<_, _>>())
            }
            Value::Array(items) => items.iter().map(|item| self.masked(item)).collect(),
            Value::String(text) if text.parse::<Timestamp>().is_ok() => "(time)".into(),
            Value::String(text) => self.text(text).into(),
            other => other.clone(),
        }
    }

    /// The field managers, sorted, because their order depends on their times, which may be equal.
    fn managers(&mut self, managers: &Value) -> Value {
        let mut managers: Vec<Value> = managers
            .as_array()
            .into_iter()
            .flatten()
            .map(|manager| self.masked(manager))
            .collect();
        managers.sort_by_key(ToString::to_string);
        managers.into()
    }

    fn entry(&mut self, entry: &Value) -> Value {
        let entries = self.entries.entry(self.object.clone()).or_default();
        let entry = entry.to_string();
        let at = entries.iter().position(|known| *known == entry);
        let at = at.unwrap_or_else(|| {
            entries.push(entry);
            entries.len() - 1
        });
        format!("(entry {at})").into()
    }

    fn text(&self, text: &str) -> String {
        // A quick check: a text with a uid has at least 36 characters.
        if text.len() < 36 {
            return text.to_owned();
        }
        let replaced = |text: String, (uid, name): (&String, &String)| match text.contains(uid.as_str()) {
            true if !uid.is_empty() => text.replace(uid, name),
            _ => text,
        };
        self.uids.iter().fold(text.to_owned(), replaced)
    }
}
