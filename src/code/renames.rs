//! The names that differ between two descriptions, and their places in code and paths.

use crate::model::{Description, KindLineage, Lineage};
use crate::names::{KIND_ENDINGS, StateName};
use std::collections::{BTreeMap, BTreeSet};

/// The names that differ between two descriptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames {
    kinds: Vec<KindRename>,
    /// The crate's name in code, before and after.
    operator: Option<(String, String)>,
}

/// The renames of one kind. Pairs contain the former and the current name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KindRename {
    module: (String, String),
    name: (String, String),
    states: Vec<(StateName, StateName)>,
    /// Names of removed states that other states have taken, each with the former name of the state that has taken it.
    reused: BTreeMap<StateName, StateName>,
    /// Modules of removed states whose paths the handlers of renamed states take.
    replaced: BTreeSet<String>,
    /// Types declared under `types`, which are not renamed along with the kind.
    types: BTreeSet<String>,
}

impl Renames {
    /// Determines the renames between two descriptions from their lineage.
    pub fn between(former: &Description, now: &Description) -> Self {
        let types = former.types.iter().map(|named| named.name.as_str().to_owned());
        let types: BTreeSet<String> = types.collect();
        let lineage = Lineage::between(former, now);
        let kinds = lineage
            .kinds()
            .iter()
            .map(|kind| KindRename::of(kind, former, now, types.clone()));
        let crates = (
            former.operator.value.crate_ident(),
            now.operator.value.crate_ident(),
        );
        Renames {
            kinds: kinds
                .filter(|kind| kind.name.0 != kind.name.1 || !kind.states.is_empty())
                .collect(),
            operator: (crates.0 != crates.1).then_some(crates),
        }
    }

    /// Whether no name has changed.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.operator.is_none()
    }

    /// The current path of a file of the former crate. It differs from the former path where the file is named after a
    /// kind or a state.
    pub fn path(&self, former: &str) -> String {
        for kind in &self.kinds {
            let (then, now) = &kind.module;
            if former == format!("tests/{then}.rs") {
                return format!("tests/{now}.rs");
            }
            let Some(rest) = former.strip_prefix(&format!("src/{then}/")) else {
                continue;
            };
            let handler = kind
                .states
                .iter()
                .find_map(|(then, now)| Some((within_state(rest, &then.module())?, now)));
            return match handler {
                Some((within, state)) => format!("src/{now}/states/{}{within}", state.module()),
                None => format!("src/{now}/{rest}"),
            };
        }
        former.to_owned()
    }

    /// Whether a file of the former crate belonged to the handler of a removed state, and the handler of a renamed state
    /// takes its path.
    pub fn is_replaced(&self, former: &str) -> bool {
        self.kinds.iter().any(|kind| {
            let file = former.strip_prefix(&format!("src/{}/", kind.module.0));
            let mut replaced = kind.replaced.iter();
            file.is_some_and(|file| replaced.any(|module| within_state(file, module).is_some()))
        })
    }

    /// Whether this is the former name of a renamed crate.
    pub(super) fn is_operator(&self, name: &str) -> bool {
        self.operator.as_ref().is_some_and(|(then, _)| then == name)
    }

    /// If a path names a removed state whose name another state has now, returns that name and the other state's former
    /// name.
    pub(super) fn reused(&self, path: &[String]) -> Option<(&StateName, &StateName)> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let (module, rest) = path.split_first()?;
        let kind = self.kinds.iter().find(|kind| kind.module.0 == *module)?;
        match rest {
            ["states", name] | ["generated", "machine", _, name] => {
                kind.reused.iter().find(|(state, _)| state.as_str() == *name)
            }
            _ => None,
        }
    }

    /// The new last segment of a path of the former crate; `None` if it has not changed.
    pub(super) fn name(&self, path: &[String]) -> Option<String> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let Some((module, rest)) = path.split_first() else {
            return self.operator.as_ref().map(|(_, now)| now.clone());
        };
        let kind = self.kinds.iter().find(|kind| kind.module.0 == *module)?;
        let (then, now) = (&kind.name.0, &kind.name.1);
        let state = |name: &str| {
            let state = kind.states.iter().find(|(then, _)| then.as_str() == name);
            state.map(|(_, now)| now)
        };
        let renamed = match rest {
            [] => Some(kind.module.1.clone()),
            ["states", name] => match state(name) {
                Some(now) => Some(now.as_str().to_owned()),
                None => kind
                    .states
                    .iter()
                    .find(|(then, _)| then.module() == *name)
                    .map(|(_, now)| now.module()),
            },
            ["generated", "machine", _, name] => state(name).map(|now| now.as_str().to_owned()),
            ["generated", "types", name] if !kind.types.contains(*name) => {
                let is_made_for = |ending: &str| name.starts_with(&format!("{then}{ending}"));
                (*name == then || is_made_for("Spec") || is_made_for("Status"))
                    .then(|| format!("{now}{}", &name[then.len()..]))
            }
            ["generated", "machine", name] | ["object", name] => {
                let of_kind = KIND_ENDINGS
                    .iter()
                    .any(|ending| *name == format!("{then}{ending}"));
                let of_state = ["NextOf", "WaitOf"]
                    .iter()
                    .find_map(|of| Some(format!("{of}{}", state(name.strip_prefix(of)?)?)));
                of_state.or_else(|| of_kind.then(|| format!("{now}{}", &name[then.len()..])))
            }
            _ => None,
        };
        renamed.filter(|now| Some(now.as_str()) != path.last().copied())
    }

    /// The names to look for in comments and string literals. Only names in CamelCase are included, because they are
    /// unlikely to be ordinary words.
    pub(super) fn words(&self) -> BTreeMap<String, String> {
        let mut words = BTreeMap::new();
        for kind in &self.kinds {
            let states = kind.states.iter();
            words.extend(states.map(|(then, now)| (then.as_str().to_owned(), now.as_str().to_owned())));
            let (then, now) = &kind.name;
            let names = KIND_ENDINGS.iter().filter(|_| then != now);
            words.extend(names.map(|ending| (format!("{then}{ending}"), format!("{now}{ending}"))));
        }
        words
    }
}

/// The rest of the path of a file in the folder of its kind, if the file belongs to the module of a state: `.rs` for
/// the module itself, and `/mod.rs` for a module with a folder. The files in that folder belong to the module, too.
fn within_state<'p>(file: &'p str, module: &str) -> Option<&'p str> {
    let within = file.strip_prefix("states/")?.strip_prefix(module)?;
    (within == ".rs" || within.starts_with('/')).then_some(within)
}

impl KindRename {
    fn of(lineage: &KindLineage, former: &Description, now: &Description, types: BTreeSet<String>) -> Self {
        let (then, now) = (former.kind(lineage.former), now.kind(lineage.now));
        let names = |of: &crate::model::Kind| of.resource.rust_name.value.clone();
        let states = lineage
            .states()
            .map(|(old, new)| (&then.state(old).name.value, &now.state(new).name.value));
        let states: Vec<(StateName, StateName)> = states
            .filter(|(old, new)| old != new)
            .map(|(old, new)| (old.clone(), new.clone()))
            .collect();
        let is_gone = |name: &StateName| {
            let id = then.state_named(name.as_str());
            id.is_some_and(|id| lineage.became(id).is_none())
        };
        let reused = states.iter().filter(|(_, new)| is_gone(new));
        let in_use: BTreeSet<String> = lineage
            .states()
            .map(|(old, _)| then.state(old).name.value.module())
            .collect();
        let targets = states.iter().map(|(_, new)| new.module());
        KindRename {
            replaced: targets.filter(|module| !in_use.contains(module)).collect(),
            module: (names(then).module(), names(now).module()),
            name: (names(then).as_str().to_owned(), names(now).as_str().to_owned()),
            reused: reused.map(|(old, new)| (new.clone(), old.clone())).collect(),
            states,
            types,
        }
    }
}
