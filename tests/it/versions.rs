//! The laws of conversions, over random descriptions with random chains of changes and random objects.

use crate::dice::{Dice, number};
use crate::random_description::{Documents, Size};
use crate::random_value;
use crate::random_versions::{Versioned, with_versions};
use krator::model::{Description, Kind};
use krator_runtime::versions::{Direction, Functions, Versions};
use krator_schema::cel::{self, Outcome};
use krator_schema::{Path, Schema, admit, prune, validate};
use serde_json::{Map, Value, json};

/// How many descriptions are tried.
const DESCRIPTIONS: u64 = 60;
/// How many objects are tried in each version.
const OBJECTS: usize = 12;

/// A version of a kind for the API server.
struct Served {
    name: String,
    schema: Value,
    read: Schema,
}

struct Converted<'d> {
    versions: Versions,
    served: Vec<Served>,
    /// Whether a valid object of a version is valid in all others, according to krator.
    keeps_valid: bool,
    functions: &'static Functions<'static>,
    kind: &'d Kind,
}

/// A `custom` change of these tests: the older version has the newer value as text.
fn custom(_: &str, direction: Direction, value: Option<Value>) -> Result<Option<Value>, String> {
    Ok(match (direction, value) {
        (_, None) => None,
        (Direction::Down, Some(mut value)) => {
            // The order of fields is irrelevant in JSON, and functions must depend only on the value.
            value.sort_all_objects();
            Some(value.to_string().into())
        }
        (Direction::Up, Some(Value::String(text))) => serde_json::from_str(&text).ok(),
        (Direction::Up, _) => None,
    })
}

/// A function that converts nothing.
fn broken(_: &str, direction: Direction, _: Option<Value>) -> Result<Option<Value>, String> {
    Err(format!("{direction:?}"))
}

impl Converted<'_> {
    fn of(description: &Description, is_broken: bool) -> Option<Converted<'_>> {
        let kind = &description.kinds[0];
        let versions = krator::versions::of(description, kind)?;
        let definition = krator::render::crd::crd(description).remove(0);
        let served = definition["spec"]["versions"]
            .as_array()
            .expect("versions")
            .iter()
            .map(|version| {
                let schema = version["schema"]["openAPIV3Schema"].clone();
                let read = serde_json::from_value(schema.clone()).expect("a schema");
                Served {
                    name: version["name"].as_str().expect("a name").to_owned(),
                    schema,
                    read,
                }
            });
        let has_custom = versions.have_functions();
        let has_lost = kind.versions.iter().any(|version| !version.lost.is_empty());
        Some(Converted {
            served: served.collect(),
            versions,
            // If a function fails, the value is replaced by a valid one.
            keeps_valid: (!has_custom || is_broken) && !has_lost,
            functions: if is_broken { &broken } else { &custom },
            kind,
        })
    }

    fn convert(&self, object: &Value, version: &str) -> Value {
        let to = format!("{}/{version}", self.versions.group);
        let mut converted = self
            .versions
            .convert(object.clone(), &to, self.functions)
            .expect("it is served");
        let served = self
            .served
            .iter()
            .find(|served| served.name == version)
            .expect("it is served");
        // The list of failed functions is about this conversion only; the conversion back may add others.
        self.versions.forget_failed(&mut converted);
        let before = converted.clone();
        prune(&served.read, &mut converted);
        assert_eq!(converted, before, "the API server prunes this in {version}");
        converted
    }

    /// An object as the API server reads it from the storage: with the defaults of its storage version.
    fn stored(&self, object: &Value, version: &str) -> Value {
        let mut stored = self.convert(object, version);
        let served = self
            .served
            .iter()
            .find(|served| served.name == version)
            .expect("it is served");
        krator_schema::default(&served.read, &mut stored);
        stored
    }

    /// A valid object, as the API server stores it.
    fn object(&self, served: &Served, dice: &mut Dice) -> Option<Value> {
        let spec = valid(&served.schema["properties"]["spec"], dice, 0)?;
        let mut object = json!({
            "apiVersion": format!("{}/{}", self.versions.group, served.name), "kind": self.versions.kind,
            "metadata": {"name": "one", "namespace": "here", "uid": "1", "labels": {"a": "b"}}, "spec": spec,
        });
        if dice.one_in(2) {
            let status = &served.schema["properties"]["status"];
            let own = self.kind.status.iter().map(|field| field.name.to_string());
            let older = self.kind.versions.iter().flat_map(|version| &version.status);
            let own: Vec<String> = own.chain(older.map(|field| field.name.to_string())).collect();
            let mut schema = status.clone();
            schema["properties"]
                .as_object_mut()?
                .retain(|name, _| own.contains(name));
            object["status"] = valid(&schema, dice, 0)?;
        }
        admit(&served.read, &mut object)
            .is_empty()
            .then_some(object)
            .filter(|object| self.refusals(served, object).is_empty())
    }

    fn refusals(&self, served: &Served, object: &Value) -> Vec<String> {
        let problems = validate(&served.read, object)
            .into_iter()
            .map(|problem| format!("{} {}", problem.path, problem.detail));
        let outcomes = cel::evaluate(&served.read, &Path::root(), object, None);
        let broken = outcomes.into_iter().filter_map(|outcome| match outcome.outcome {
            Outcome::Violated(why) | Outcome::Failed(why) => Some(format!("{}: {why}", outcome.value)),
            _ => None,
        });
        problems.chain(broken).collect()
    }
}

/// A value that a schema accepts, or `None` if none is found.
fn valid(schema: &Value, dice: &mut Dice, depth: usize) -> Option<Value> {
    let read: Schema = serde_json::from_value(schema.clone()).expect("a schema");
    let fits = |value: &Value| validate(&read, value).is_empty();
    for _ in 0..12 {
        let value = match (schema["properties"].as_object(), schema["items"].is_object()) {
            (Some(properties), _) => {
                let required = random_value::required(schema);
                let mut object = Map::new();
                for (name, field) in properties {
                    if required.contains(&name.as_str()) || !dice.one_in(3) {
                        match valid(field, dice, depth + 1) {
                            Some(value) => drop(object.insert(name.clone(), value)),
                            None if required.contains(&name.as_str()) => return None,
                            None => {}
                        }
                    }
                }
                object.into()
            }
            (None, true) => {
                let least = schema["minItems"].as_u64().unwrap_or(0).min(6) as usize;
                (0..least + dice.below(4))
                    .filter_map(|_| valid(&schema["items"], dice, depth + 1))
                    .collect()
            }
            _ => random_value::value(schema, depth, dice),
        };
        if fits(&value) {
            return Some(value);
        }
    }
    None
}

/// The object without the annotation.
fn bare(converted: &Converted, object: &Value) -> Value {
    let mut object = object.clone();
    converted.versions.take_annotation(&mut object);
    object
}

/// Edits the spec of an object of a version in one field.
fn edit(converted: &Converted, served: &Served, object: &Value, dice: &mut Dice) -> Option<(String, Value)> {
    let other = converted.object(served, dice)?;
    let properties = served.schema["properties"]["spec"]["properties"].as_object()?;
    let names: Vec<&String> = properties.keys().collect();
    let name = (*dice.pick(&names)?).clone();
    let mut edited = object.clone();
    match other["spec"].get(&name) {
        Some(value) => edited["spec"][&name] = value.clone(),
        None => drop(edited["spec"].as_object_mut()?.remove(&name)),
    }
    let is_valid =
        admit(&served.read, &mut edited).is_empty() && converted.refusals(served, &edited).is_empty();
    (is_valid && edited != *object).then_some((name, edited))
}

/// Asserts that the defaults of a schema are valid, unless the default is null.
fn check_defaults(schema: &Value, here: &dyn Fn(&str) -> String) {
    let is_null = schema.get("default").is_some_and(Value::is_null);
    assert!(
        !is_null || schema["nullable"] == true,
        "{}",
        here(&format!("the default of {schema} is null"))
    );
    match schema {
        Value::Object(map) => map.values().for_each(|inner| check_defaults(inner, here)),
        Value::Array(list) => list.iter().for_each(|inner| check_defaults(inner, here)),
        _ => {}
    }
}

/// Checks the laws for a description.
fn judge(text: &str, dice: &mut Dice, counts: &mut Counts) {
    let checked = krator::check("krator.yaml", text.as_bytes());
    let description = checked.sound().expect("it was sound");
    let Some(converted) = Converted::of(description, dice.one_in(3)) else {
        return;
    };
    counts.descriptions += 1;
    // The same test as in the crate, which uses recorded objects instead of random ones.
    let json = serde_json::to_string(&converted.versions).expect("JSON");
    let specs = krator::versions::specs(description, converted.kind);
    krator_runtime::testing::conversions(&json, converted.functions, &specs);
    counts.judged_valid += u64::from(converted.keeps_valid);
    let here = |what: &str, objects: &[&Value]| {
        let objects: String = objects.iter().map(|object| format!("\n{object}")).collect();
        format!(
            "{what}\n{text}{objects}\n{}",
            serde_json::to_string(&converted.versions).expect("JSON")
        )
    };
    for served in &converted.served {
        check_defaults(&served.schema, &|what| here(what, &[]));
        for _ in 0..OBJECTS {
            let Some(object) = converted.object(served, dice) else {
                continue;
            };
            counts.objects += 1;
            for other in &converted.served {
                let there = converted.convert(&object, &other.name);
                let back = converted.convert(&there, &served.name);
                assert_eq!(
                    back,
                    object,
                    "{}",
                    here("it has not returned as it was", &[&object, &there])
                );
                let stored = converted.served[dice.below(converted.served.len())].name.clone();
                let by = converted.convert(&converted.stored(&there, &stored), &other.name);
                assert_eq!(
                    by,
                    there,
                    "{}",
                    here(&format!("it is another one when {stored} is stored"), &[&object])
                );
                let mut metadata = bare(&converted, &there)["metadata"].clone();
                assert_eq!(
                    metadata,
                    object["metadata"],
                    "{}",
                    here("its metadata is changed", &[&object])
                );
                metadata = there["metadata"].clone();
                let size = metadata["annotations"].to_string().len();
                assert!(size < 100_000, "{}", here("too much rides", &[&object]));
                if converted.keeps_valid {
                    let refusals = converted.refusals(other, &there);
                    assert!(
                        refusals.is_empty(),
                        "{}",
                        here(
                            &format!("{} is not valid: {refusals:#?}", other.name),
                            &[&object, &there]
                        )
                    );
                }
                let Some((name, edited)) = edit(&converted, other, &there, dice) else {
                    continue;
                };
                counts.edits += 1;
                let home = converted.convert(&edited, &served.name);
                let again = converted.convert(&home, &other.name);
                assert_eq!(
                    bare(&converted, &again),
                    bare(&converted, &edited),
                    "{}",
                    here(
                        &format!("the edit of {name} in {} is lost", other.name),
                        &[&object, &edited, &home]
                    )
                );
            }
        }
    }
}

#[derive(Default, Debug)]
struct Counts {
    descriptions: u64,
    refused: usize,
    judged_valid: u64,
    objects: u64,
    edits: u64,
}

#[test]
fn random_conversions_lose_nothing_and_edits_win() {
    let (count, first) = (number("KRATOR_VERSIONS", DESCRIPTIONS), number("KRATOR_SEED", 1));
    let mut counts = Counts::default();
    let mut seed = first;
    while counts.descriptions < count {
        let mut dice = Dice::new(seed);
        seed += 1;
        let random = Documents::random(
            &mut dice,
            Size {
                kinds: 1,
                ..Size::SMALL
            },
        );
        if krator::check("krator.yaml", random.text().as_bytes())
            .sound()
            .is_none()
        {
            continue;
        }
        let Versioned { documents, refused } = with_versions(random, 3, &mut dice);
        let text = documents.text();
        counts.refused += refused;
        judge(&text, &mut dice, &mut counts);
    }
    println!("{counts:?}");
    assert!(
        counts.edits > counts.descriptions,
        "hardly an edit was tried: {counts:?}"
    );
}
