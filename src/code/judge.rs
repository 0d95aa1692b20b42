//! Applies the rules to the facts of the walk. Errors that the compiler reports at the same line are left to it.

use super::facts::{Client, Facts, Location, StateOf};
use super::resolve::Target;
use super::tree::{self, FileId, Module, Tree};
use super::walk::{KindCode, walk};
use super::{Code, InFile};
use crate::catalog::{
    EDGE_NEVER_TAKEN, HAND_WRITTEN_TRANSITION, MODULE_MISSING, NEEDLESS_CHECKPOINT, OPERATOR_NOT_RUN,
    RULE_INSTEAD_OF_WEBHOOK, Rule, UNNAMED_CLIENT,
};
use crate::finding::{Finding, Source, Span, sort};
use crate::graph::StateGraph;
use crate::model::{Kind, Operation, kubernetes};
use crate::plan::as_written;
use crate::rules::must_be_saved;
use crate::text::normalized;
use std::collections::{BTreeMap, BTreeSet};

/// Walks the code and applies all rules. Documented at [`super::findings`], the public entry point.
pub(super) fn judge(code: &Code<'_>) -> Vec<InFile> {
    let files = tree::parse(code);
    let tree = code.tree(&files);
    let kinds = code.kind_codes();
    let judge = CodeCheck {
        code,
        facts: walk(&tree, &kinds),
        tree: &tree,
        kinds: &kinds,
    };
    let found = [
        judge.edges(),
        judge.checkpoints(),
        judge.rule_like_webhooks(),
        judge.impls(),
        judge.clients(),
        judge.modules(),
        judge.operators(),
    ];
    judge.in_files(found.into_iter().flatten())
}

struct CodeCheck<'s, 'a> {
    code: &'s Code<'a>,
    facts: Facts<'a>,
    tree: &'s Tree<'a>,
    kinds: &'s [KindCode],
}

/// A finding and the file that it is in.
type Located = (FileId, Finding);

impl<'a> CodeCheck<'_, 'a> {
    fn in_files(&self, found: impl Iterator<Item = Located>) -> Vec<InFile> {
        let mut by_file: BTreeMap<&str, InFile> = BTreeMap::new();
        for (file, finding) in found {
            let file = &self.tree.files[file];
            let in_file = by_file.entry(file.path).or_insert_with(|| InFile {
                source: Source::new(file.path, file.text),
                findings: Vec::new(),
            });
            in_file.findings.push(finding);
        }
        let mut files: Vec<InFile> = by_file.into_values().collect();
        files.iter_mut().for_each(|file| sort(&mut file.findings));
        files
    }

    /// The written handlers, in states that do not silence a rule.
    fn written(&self, rule: &'static Rule) -> impl Iterator<Item = &(StateOf, Location)> {
        self.facts.handlers.iter().filter(|(of, at)| {
            let kind = self.code.description.kind(of.0);
            let is_written = !self.facts.not_written.contains(of) && !self.is_as_generated(at.file);
            is_written && !kind.allows(rule.name) && !kind.state(of.1).allows(rule.name)
        })
    }

    /// Finds edges that no handler takes.
    fn edges(&self) -> Vec<Located> {
        let mut found = Vec::new();
        // A handler that is not written takes no edge, and the handler of a generated example takes only the first
        // edge.
        for (from, at) in self.written(&EDGE_NEVER_TAKEN) {
            if self.facts.hides_all_exits || self.facts.hidden_exits.contains(from) {
                continue;
            }
            let kind = self.code.description.kind(from.0);
            let (state, name) = (kind.state(from.1), kind.state(from.1).name.as_str());
            for next in &state.next {
                let target: StateOf = (from.0, next.to.value);
                if self.facts.taken.contains(&(*from, target)) {
                    continue;
                }
                let to = kind.state(next.to.value).name.as_str();
                let when = next
                    .when
                    .as_ref()
                    .map_or(String::new(), |when| format!(" ({})", when.value));
                let message = format!(
                    "the handler of `{name}` never goes to `{to}`{}",
                    crate::text::shown(&when)
                );
                let finding = Finding::new(&EDGE_NEVER_TAKEN, at.span, message)
                    .label(format!("no `Transition::to({to})` in here"))
                    .help(format!(
                        "take the edge, or remove it: {}",
                        self.line(next.to.span)
                    ));
                found.push((at.file, finding));
            }
        }
        found
    }

    /// Finds states that are saved although their handlers only choose an edge.
    fn checkpoints(&self) -> Vec<Located> {
        let mut found = Vec::new();
        let graphs: Vec<StateGraph> = self.code.kinds().map(StateGraph::of).collect();
        for (of, at) in self.written(&NEEDLESS_CHECKPOINT) {
            let kind = self.code.description.kind(of.0);
            let state = kind.state(of.1);
            let is_needless = self.facts.only_decide.contains(of)
                && state.checkpoint.value
                && must_be_saved(kind, &graphs[of.0.0], of.1).is_none();
            if !is_needless {
                continue;
            }
            let name = state.name.as_str();
            let message =
                format!("the handler of `{name}` only decides, and the state is saved before it runs");
            let finding = Finding::new(&NEEDLESS_CHECKPOINT, at.span, message)
                .label("this handler waits for nothing")
                .help(format!(
                    "`checkpoint: false` saves one write of the status for each object: {}",
                    self.line(state.name.span)
                ));
            found.push((at.file, finding));
        }
        found
    }

    /// Whether a file equals its generated text, even if it counts as written.
    fn is_as_generated(&self, file: FileId) -> bool {
        let file = &self.tree.files[file];
        let planned = self.code.plan.get(file.path);
        planned.is_some_and(|planned| as_written(&planned.contents) == as_written(&normalized(file.text)))
    }

    /// A location in the description for messages, such as `krator.yaml:36`.
    fn line(&self, span: Span) -> String {
        let source = self.code.source;
        format!("{}:{}", source.name(), source.position(span.start).line)
    }

    /// Finds webhooks that a rule of the schema could replace.
    fn rule_like_webhooks(&self) -> Vec<Located> {
        let mut found = Vec::new();
        for (kind, at) in &self.facts.rule_like_webhooks {
            let kind = self.code.description.kind(*kind);
            let asked = kind.webhooks.validate.as_ref();
            // Validation rules are not evaluated when an object is deleted.
            let is_rule = asked.is_some_and(|webhook| {
                !webhook
                    .operations
                    .iter()
                    .any(|operation| operation.value == Operation::Delete)
            });
            if !is_rule || kind.allows(RULE_INSTEAD_OF_WEBHOOK.name) {
                continue;
            }
            let message = format!(
                "the verdict depends on the fields of the `{}` alone",
                kind.resource.rust_name.value
            );
            let finding = Finding::new(&RULE_INSTEAD_OF_WEBHOOK, at.span, message)
                .label("the API server could decide this without the webhook")
                .help(
                    "write it as `validations` in krator.yaml, or as `resource.name` if it is about the name",
                );
            found.push((at.file, finding));
        }
        found
    }

    /// Finds implementations of traits that only krator may implement.
    fn impls(&self) -> Vec<Located> {
        let mut found = Vec::new();
        for item in &self.facts.impls {
            // Only krator.yaml kinds are checked: a machine written by hand has to implement these traits itself.
            let is_ours = self.tree.canonical(&item.for_).is_some_and(|path| {
                self.kinds.iter().any(|kind| path.first() == Some(&kind.module))
                    && matches!(path.get(1).map(String::as_str), Some("states" | "generated"))
            });
            let name = match &item.of {
                Target::External(path) if path.len() == 2 && path[0] == "krator_runtime" => path[1].as_str(),
                Target::Item { module, name, .. } if self.tree.modules[*module].is_generated => name.as_str(),
                _ => continue,
            };
            let help = match name {
                _ if !is_ours => continue,
                "Owns" | "Watches" | "Grants" => {
                    "name the kind under `owns`, `watches` or `access` in krator.yaml"
                }
                "MayStay" => "give the state a `wait` in krator.yaml",
                "TransitionTo" => "add the state to `next` in krator.yaml",
                "Final" | "Node" | "Machine" => "change krator.yaml instead",
                name if name.starts_with("WaitOf") => "give the state a `wait` in krator.yaml",
                name if name.starts_with("NextOf") => "add the state to `next` in krator.yaml",
                _ => continue,
            };
            let message = format!("`{name}` is implemented by hand, beside krator.yaml");
            let finding = Finding::new(&HAND_WRITTEN_TRANSITION, item.at.span, message)
                .label("krator implements this, from the description")
                .help(format!("{help}, then run `krator gen`"));
            found.push((item.at.file, finding));
        }
        found
    }

    /// Finds clients for kinds of Kubernetes that the description gives no rights on.
    fn clients(&self) -> Vec<Located> {
        let kinds = self.code.description.kinds.iter();
        let named: BTreeSet<String> = kinds
            .flat_map(Kind::other_kinds)
            .map(|other| other.reference())
            .collect();
        let mut found = Vec::new();
        for Client { at, object } in &self.facts.clients {
            let reference = kubernetes::kind_of_rust(&object.join("::")).unwrap_or_default();
            // Every operator may write events.
            if named.contains(reference) || reference == "events.k8s.io/v1.Event" {
                continue;
            }
            let message = format!("krator.yaml grants no access to `{reference}`");
            let finding = Finding::new(&UNNAMED_CLIENT, at.span, message)
                .label("the generated RBAC does not allow it")
                .help("name the kind under `owns`, `watches` or `access`, and take `cx.api`");
            found.push((at.file, finding));
        }
        found
    }

    /// Finds generated files that no `mod` declares.
    fn modules(&self) -> Vec<Located> {
        let root = self.tree.library.map(|library| &self.tree.modules[library]);
        let Some(root) = root.filter(|root| !root.names.is_open) else {
            return Vec::new();
        };
        let reached: BTreeSet<FileId> = self.tree.modules.iter().map(|module| module.file).collect();
        let first = root.items.first().map(syn::spanned::Spanned::span);
        let span = first.map_or_else(Span::default, |first| self.tree.files[root.file].span(first));
        let mut found = Vec::new();
        for (id, file) in self.tree.files.iter().enumerate() {
            let module = file
                .path
                .strip_prefix("src/")
                .and_then(|path| path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs")))
                .filter(|module| !module.contains('/'));
            let Some(module) = module.filter(|_| file.is_generated && !reached.contains(&id)) else {
                continue;
            };
            // The module is declared or imported in a way that the module tree does not follow, such as `#[path]`.
            let is_imported = root.names.imports.iter().any(|import| import.name == module);
            if root.names.defs.contains_key(module) || is_imported {
                continue;
            }
            let message = format!("`{}` is not a module of the crate", file.path);
            let finding = Finding::new(&MODULE_MISSING, span, message)
                .label("no `mod` declares it")
                .help(format!(
                    "declare it here: `pub mod {};`",
                    crate::names::rust_ident(module)
                ));
            found.push((root.file, finding));
        }
        found
    }

    /// Finds operators that `main` does not start.
    fn operators(&self) -> Vec<Located> {
        let is_main = |module: &&Module<'a>| self.tree.files[module.file].path == "src/main.rs";
        let main = self.tree.modules.iter().find(is_main);
        let Some((main, at)) = main.and_then(|main| Some((main, self.start(main)?))) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for kind in self.kinds.iter().filter(|_| !main.names.is_open) {
            let operator = format!("{}Operator", kind.name);
            let Some(object) = self.tree.module(&[&kind.module, "object"]) else {
                continue;
            };
            let object = &self.tree.modules[object];
            let path = [kind.module.as_str(), "object", &operator];
            let is_used = self.facts.names.iter().any(|name| {
                name.item.as_ref().is_some_and(|item| *item == path) && object.file != name.at.file
            });
            if object.names.defs.contains_key(&operator) && !is_used {
                let message = format!("nothing starts the operator of `{}`", kind.name);
                let finding = Finding::new(&OPERATOR_NOT_RUN, at.span, message)
                    .label("its objects are not watched")
                    .help(format!(
                        "add `.operator({operator}::default())` to the runtime here"
                    ));
                found.push((at.file, finding));
            }
        }
        found
    }

    /// The name of the function `main` in its module.
    fn start(&self, main: &Module<'a>) -> Option<Location> {
        let name = main.items.iter().find_map(|item| match item {
            syn::Item::Fn(item) if item.sig.ident == "main" => Some(item.sig.ident.span()),
            _ => None,
        })?;
        Some(Location {
            file: main.file,
            span: self.tree.files[main.file].span(name),
        })
    }
}
