//! The rules, over what was read.

use super::access::{self, Rights};
use super::facts::{Answer, At, Facts, Meaning, Need, StateOf};
use super::resolve::Target;
use super::rules::{
    DONE_BEFORE_FINAL, EDGE_NEVER_TAKEN, EDGE_NOT_IN_GRAPH, FIELD_ADDED, FIELD_GONE, FIELD_RETYPED,
    HAND_WRITTEN_TRANSITION, HANDLER_MISSING, MODULE_MISSING, NAME_GONE, NO_RIGHTS, OPERATOR_NOT_RUN,
    STAY_WITHOUT_WAIT, UNNAMED_CLIENT, VARIANT_UNMATCHED,
};
use super::tree::{self, Def, Names, Tree, names_of};
use super::types::unraw;
use super::walk::{KindCode, walk};
use super::{Code, InFile};
use crate::finding::{Finding, Source, Span, nearest, sort};
use crate::model::{Kind, State, StateKind};
use quote::ToTokens as _;
use std::collections::{BTreeMap, BTreeSet};

/// Reads and judges; see [`super::findings`].
pub(super) fn judge(code: &Code<'_>, former: Option<&Code<'_>>) -> Vec<InFile> {
    let files = tree::parse(code);
    let gone = former.map(|former| gone(former, code)).unwrap_or_default();
    let tree = code.tree(&files, gone);
    let kinds = code.kind_codes(&tree);
    let former_files = former.map(generated_files).unwrap_or_default();
    let former_names = former_files.iter().filter_map(|file| {
        let items = &file.ast.as_ref()?.items;
        Some((tree::module_path(file.path)?, names_of(items.iter())))
    });
    let mut judge = Judge {
        code,
        facts: walk(&tree, &kinds),
        tree: &tree,
        kinds: &kinds,
        former: former_names.collect(),
        found: BTreeMap::new(),
        of_description: Vec::new(),
    };
    judge.exits();
    judge.handlers();
    judge.impls();
    judge.accesses();
    judge.names();
    judge.fields();
    judge.matches();
    judge.modules();
    judge.operators();
    judge.in_files()
}

/// Modules right below the root that were krator's and are no more.
fn gone(former: &Code<'_>, now: &Code<'_>) -> BTreeSet<String> {
    let modules = |code: &Code<'_>| -> BTreeSet<String> {
        let paths = code.generated().filter_map(|(path, _)| tree::module_path(path));
        paths.filter(|path| path.len() == 1).flatten().collect()
    };
    &modules(former) - &modules(now)
}

/// Only these of a former crate: what people wrote is the same in both.
fn generated_files<'a>(former: &Code<'a>) -> Vec<tree::File<'a>> {
    static NOTHING: BTreeMap<String, String> = BTreeMap::new();
    tree::parse(&Code {
        written: &NOTHING,
        ..*former
    })
}

struct Judge<'s, 'a> {
    code: &'s Code<'a>,
    facts: Facts<'a>,
    tree: &'s Tree<'a>,
    kinds: &'s [KindCode],
    /// What the generated modules of the former crate declare, by their paths.
    former: BTreeMap<Vec<String>, Names<'s>>,
    found: BTreeMap<usize, Vec<Finding>>,
    of_description: Vec<Finding>,
}

impl<'a> Judge<'_, 'a> {
    fn say(&mut self, at: At, finding: Finding) {
        self.found.entry(at.file).or_default().push(finding);
    }

    fn kind(&self, of: StateOf) -> &'a Kind {
        self.code.description.kind(of.0)
    }

    fn state(&self, of: StateOf) -> &'a State {
        self.kind(of).state(of.1)
    }

    fn name(&self, of: StateOf) -> &'a str {
        self.state(of).name.as_str()
    }

    /// `krator.yaml:36`.
    fn line(&self, span: Span) -> String {
        let source = self.code.source;
        format!("{}:{}", source.name(), source.position(span.start).line)
    }

    /// Answers that the graph does not have, and edges that nobody takes.
    fn exits(&mut self) {
        let mut taken: BTreeSet<(StateOf, StateOf)> = BTreeSet::new();
        let mut findings = Vec::new();
        for exit in &self.facts.exits {
            let Some(from) = exit.from else { continue };
            let (state, name) = (self.state(from), self.name(from));
            match exit.answer {
                Answer::Names(to) => {
                    taken.insert((from, to));
                }
                Answer::To(to) => {
                    taken.insert((from, to));
                    let is_edge = from.0 == to.0 && state.next.iter().any(|next| next.to.value == to.1);
                    if !is_edge {
                        findings.push((exit.at, self.no_edge(from, to, exit.at.span)));
                    }
                }
                Answer::Stay if !state.may_stay() => {
                    let message = format!("the state `{name}` may not stay");
                    let line = self.line(state.name.span);
                    let finding = Finding::new(&STAY_WITHOUT_WAIT, exit.at.span, message)
                        .label(format!("`{name}` has no `wait`, {line}"))
                        .help(format!(
                            "go on to another state, or give `{name}` a `wait`: {line}"
                        ));
                    findings.push((exit.at, finding));
                }
                Answer::Done if state.kind.value != StateKind::Final => {
                    let message = format!("the state `{name}` is not final");
                    let line = self.line(state.name.span);
                    let finding = Finding::new(&DONE_BEFORE_FINAL, exit.at.span, message)
                        .label(format!("`{name}` is `{}`, {line}", state.kind.value.as_str()))
                        .help("choose a next state with `Transition::to`");
                    findings.push((exit.at, finding));
                }
                Answer::Stay | Answer::Done => {}
            }
        }
        for (at, finding) in findings {
            self.say(at, finding);
        }
        self.never_taken(&taken);
    }

    fn no_edge(&self, from: StateOf, to: StateOf, span: Span) -> Finding {
        let (state, name, target) = (self.state(from), self.name(from), self.name(to));
        let message = format!("the state graph has no transition from `{name}` to `{target}`");
        let finding = Finding::new(&EDGE_NOT_IN_GRAPH, span, message);
        let line = self.line(state.next.first().map_or(state.name.span, |next| next.to.span));
        if from.0 != to.0 {
            return finding.label("a state of another kind");
        }
        if state.kind.value == StateKind::Final {
            return finding
                .label(format!("`{name}` is final, {line}"))
                .help("answer with `Transition::done()`");
        }
        let now: Vec<&str> = state
            .next
            .iter()
            .map(|next| self.name((from.0, next.to.value)))
            .collect();
        let now = if now.is_empty() {
            "nothing".to_owned()
        } else {
            now.join(", ")
        };
        finding
            .label(format!("not in `next` of `{name}`, {line}"))
            .help(format!(
                "add the state to `next` of `{name}` (now: {now}), or choose one of these"
            ))
    }

    fn never_taken(&mut self, taken: &BTreeSet<(StateOf, StateOf)>) {
        if self.facts.hides_all_exits {
            return;
        }
        let handlers = std::mem::take(&mut self.facts.handlers);
        for (from, at) in &handlers {
            if self.facts.hidden_exits.contains(from) {
                continue;
            }
            let (kind, state, name) = (self.kind(*from), self.state(*from), self.name(*from));
            let is_allowed = state
                .allow
                .iter()
                .chain(&kind.allow)
                .any(|allow| allow.rule.value == EDGE_NEVER_TAKEN.name);
            let never = state
                .next
                .iter()
                .filter(|next| !taken.contains(&(*from, (from.0, next.to.value))));
            for next in never.filter(|_| !is_allowed) {
                let to = self.name((from.0, next.to.value));
                let when = next
                    .when
                    .as_ref()
                    .map_or(String::new(), |when| format!(" ({})", when.value));
                let message = format!(
                    "the handler of `{name}` never goes to `{to}`{}",
                    crate::finding::shown(&when)
                );
                let finding = Finding::new(&EDGE_NEVER_TAKEN, at.span, message)
                    .label(format!("no `Transition::to({to})` in here"))
                    .help(format!(
                        "take the edge, or remove it: {}",
                        self.line(next.to.span)
                    ));
                self.found.entry(at.file).or_default().push(finding);
            }
        }
        self.facts.handlers = handlers;
    }

    /// States without a handler.
    fn handlers(&mut self) {
        let written: BTreeSet<StateOf> = self.facts.handlers.iter().map(|(state, _)| *state).collect();
        let all: Vec<StateOf> = self
            .kinds
            .iter()
            .flat_map(|kind| kind.states.values().copied())
            .collect();
        for state in all.into_iter().filter(|state| !written.contains(state)) {
            let (kind, of) = (self.kind(state), self.state(state));
            let module = kind.resource.kind.value.module();
            // Without its module nothing of the kind is compiled, which is said once.
            if self.tree.module(&[&module, "states"]).is_none() {
                continue;
            }
            let path = format!("src/{module}/states/{}.rs", of.name.value.module());
            let name = of.name.as_str();
            let file = self.tree.files.iter().position(|file| file.path == path);
            match file.map(|id| (id, &self.tree.files[id])) {
                None => {
                    let message = format!("the handler of `{name}` is missing");
                    let finding = Finding::new(&HANDLER_MISSING, of.name.span, message)
                        .label(format!("there is no `{path}`"))
                        .help("`krator gen` writes it anew");
                    self.of_description.push(finding);
                }
                // What rustc will say is not said here, and what a macro may have written is not seen.
                Some((_, file)) if file.ast.is_none() => {}
                Some((id, file)) => {
                    let modules = self.tree.modules.iter();
                    if modules
                        .clone()
                        .any(|module| !module.is_generated && module.names.is_open)
                        || self.tree.files.iter().any(|file| file.ast.is_none())
                    {
                        continue;
                    }
                    let first = file.text.lines().next().unwrap_or_default().len();
                    let finding = Finding::new(
                        &HANDLER_MISSING,
                        Span { start: 0, end: first },
                        format!("no code implements `State` for `{name}`"),
                    )
                    .label("this is where it belongs")
                    .help(format!("write `impl State for {name}`; for a file as it was at first, remove this one and run `krator gen`"));
                    self.found.entry(id).or_default().push(finding);
                }
            }
        }
    }

    /// Traits that are krator's to implement.
    fn impls(&mut self) {
        let mut findings = Vec::new();
        for item in &self.facts.impls {
            // Of a machine written by hand, all is.
            let is_ours = self.tree.canonical(&item.for_).is_some_and(|path| {
                self.kinds.iter().any(|kind| path.first() == Some(&kind.module))
                    && matches!(path.get(1).map(String::as_str), Some("states" | "generated"))
            });
            let name = match &item.of {
                Target::External(path) if path.len() == 2 && path[0] == "krator_runtime" => path[1].as_str(),
                Target::Item { module, name, .. } if self.tree.modules[*module].is_generated => name.as_str(),
                _ => continue,
            };
            let is_of_graph = matches!(name, "TransitionTo" | "MayStay" | "Final" | "Node" | "Machine")
                || name.starts_with("NextOf")
                || name.starts_with("WaitOf");
            let is_right = matches!(name, "Grants" | "Owns" | "Watches");
            if !is_ours || !(is_of_graph || is_right) {
                continue;
            }
            let message = format!("`{name}` is implemented by hand, beside krator.yaml");
            let help = match name {
                "Owns" | "Watches" | "Grants" => {
                    "name the kind under `owns`, `watches` or `access` in krator.yaml"
                }
                "MayStay" => "give the state a `wait` in krator.yaml",
                name if name.starts_with("WaitOf") => "give the state a `wait` in krator.yaml",
                "TransitionTo" => "add the state to `next` in krator.yaml",
                name if name.starts_with("NextOf") => "add the state to `next` in krator.yaml",
                _ => "change krator.yaml instead",
            };
            let finding = Finding::new(&HAND_WRITTEN_TRANSITION, item.at.span, message)
                .label("krator implements this, from the description")
                .help(format!("{help}, then run `krator gen`"));
            findings.push((item.at, finding));
        }
        for (at, finding) in findings {
            self.say(at, finding);
        }
    }

    /// Rights that the description does not give.
    fn accesses(&mut self) {
        let rights = access::rights(self.tree, &self.code.description.kinds);
        let mut findings = Vec::new();
        for used in &self.facts.accesses {
            let reference = access::reference(&used.object)
                .unwrap_or_else(|| used.object.last().cloned().unwrap_or_default());
            let allows = |rights: &Rights| rights.allow(used.need, &used.object);
            let Some(kind) = used.kind else {
                // A client of its own may be for our own kinds, too.
                let is_own = used.object.first().is_some_and(|first| first != "k8s_openapi");
                if !is_own && !rights.values().any(allows) {
                    let message = format!("nothing in krator.yaml gives a right to `{reference}`");
                    let finding = Finding::new(&UNNAMED_CLIENT, used.at.span, message)
                        .label("the generated RBAC would refuse it")
                        .help("name the kind under `owns`, `watches` or `access`, and take `cx.api`");
                    findings.push((used.at, finding));
                }
                continue;
            };
            // Where the generated module is not compiled, that is what is wrong.
            if rights.get(&kind.0).is_none_or(allows) {
                continue;
            }
            let (message, label, place) = match used.need {
                Need::Grants => (
                    "has no access to",
                    "no rights on it",
                    "`owns`, `watches` or `access`",
                ),
                Need::Owns => ("does not own", "not in `owns`", "`owns`"),
                Need::Watches => ("does not watch", "not in `watches`", "`watches`"),
            };
            let finding = Finding::new(
                &NO_RIGHTS,
                used.at.span,
                format!("the operator {message} `{reference}`"),
            )
            .label(label)
            .help(format!(
                "add the kind to {place} in krator.yaml, then run `krator gen`"
            ));
            findings.push((used.at, finding));
        }
        for (at, finding) in findings {
            self.say(at, finding);
        }
    }

    /// Names of what is gone.
    fn names(&mut self) {
        let former: BTreeSet<&str> = self.former.values().flat_map(declared).collect();
        let now = self.tree.modules.iter().filter(|module| module.is_generated);
        let now: BTreeSet<&str> = now.flat_map(|module| declared(&module.names)).collect();
        let mut findings = Vec::new();
        for name in &self.facts.names {
            let (message, near) = match &name.meaning {
                Meaning::Item(_) => continue,
                Meaning::Missing(within) => {
                    let what = self.describe(within);
                    let near = self.beside(within, &name.text);
                    (format!("{what} has no `{}`", name.text), near)
                }
                // Whether it ever was ours is known only of names that krator has made.
                Meaning::Unresolved
                    if former.contains(name.text.as_str()) && !now.contains(name.text.as_str()) =>
                {
                    (format!("the description has no `{}` any more", name.text), None)
                }
                Meaning::Unresolved | Meaning::Unknown => continue,
            };
            let finding = Finding::new(&NAME_GONE, name.at.span, message)
                .help(
                    "name another one; if it only has another name now, `renamedFrom` in krator.yaml says so",
                )
                .did_you_mean(near.as_deref());
            findings.push((name.at, finding));
        }
        for (at, finding) in findings {
            self.say(at, finding);
        }
    }

    /// What a generated module is to people.
    fn describe(&self, path: &[String]) -> String {
        match path {
            [module, rest @ ..] => match self.kinds.iter().find(|kind| kind.module == *module) {
                Some(kind) if rest.first().is_some_and(|rest| rest == "states") => {
                    format!("the state graph of `{}`", kind.name)
                }
                Some(_) if rest.len() > 2 => format!("`{}`", rest[rest.len() - 1]),
                Some(kind) => format!("the generated code of `{}`", kind.name),
                None => format!("`{}`", path.join("::")),
            },
            [] => "the crate".to_owned(),
        }
    }

    /// The nearest name in the same place.
    fn beside(&self, path: &[String], written: &str) -> Option<String> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let (name, module) = match self.tree.module(&path) {
            Some(module) => (None, module),
            None => (path.last().copied(), self.tree.module(path.split_last()?.1)?),
        };
        let defs = &self.tree.modules[module].names.defs;
        let variants = name
            .and_then(|name| defs.get(name))
            .into_iter()
            .flatten()
            .find_map(|def| match def {
                Def::Enum(item) => Some(
                    item.variants
                        .iter()
                        .map(|variant| unraw(&variant.ident))
                        .collect::<Vec<_>>(),
                ),
                _ => None,
            });
        let names = variants.unwrap_or_else(|| defs.keys().cloned().collect());
        nearest(written, names.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Fields of generated structs.
    fn fields(&mut self) {
        let mut findings = Vec::new();
        for used in &self.facts.fields {
            let owner = unraw(&used.of.ident);
            let field = |of: &syn::ItemStruct| -> Option<String> {
                let field = of
                    .fields
                    .iter()
                    .find(|field| field.ident.as_ref().is_some_and(|i| unraw(i) == used.name))?;
                Some(field.ty.to_token_stream().to_string())
            };
            let Some(now) = field(used.of) else {
                let names: Vec<String> = used
                    .of
                    .fields
                    .iter()
                    .filter_map(|field| field.ident.as_ref().map(unraw))
                    .collect();
                let finding = Finding::new(
                    &FIELD_GONE,
                    used.at.span,
                    format!("`{owner}` has no field `{}`", used.name),
                )
                .help("name a field that krator.yaml has, or add this one there and run `krator gen`")
                .did_you_mean(nearest(&used.name, names.iter().map(String::as_str)));
                findings.push((used.at, finding));
                continue;
            };
            let path = &self.tree.modules[used.module].path;
            let then = self
                .former
                .get(path)
                .and_then(|former| field(struct_of(former, &owner)?));
            if let Some(then) = then.filter(|then| *then != now) {
                let message = format!("the field `{}` of `{owner}` has another type now", used.name);
                let finding = Finding::new(&FIELD_RETYPED, used.at.span, message)
                    .label(format!("was `{}`, is `{}`", tidy(&then), tidy(&now)))
                    .help("see whether the code means the same with the new type");
                findings.push((used.at, finding));
            }
        }
        for used in self.facts.structs.iter().filter(|used| !used.has_rest) {
            let owner = unraw(&used.of.ident);
            let fields = used
                .of
                .fields
                .iter()
                .filter_map(|field| field.ident.as_ref().map(unraw));
            let lacking: Vec<String> = fields
                .filter(|field| !used.named.contains(field))
                .map(|field| format!("`{field}`"))
                .collect();
            if !lacking.is_empty() {
                let fields = if lacking.len() == 1 {
                    "the field"
                } else {
                    "the fields"
                };
                let message = format!("`{owner}` has {fields} {} too", lacking.join(", "));
                let finding = Finding::new(&FIELD_ADDED, used.at.span, message)
                    .help("name it, or leave the rest to `..`");
                findings.push((used.at, finding));
            }
        }
        for (at, finding) in findings {
            self.say(at, finding);
        }
    }

    /// Matches without all variants.
    fn matches(&mut self) {
        let mut findings = Vec::new();
        for used in &self.facts.matches {
            let Some((name, module)) = used.of.split_last() else {
                continue;
            };
            let module: Vec<&str> = module.iter().map(String::as_str).collect();
            let defs = self
                .tree
                .module(&module)
                .and_then(|module| self.tree.modules[module].names.defs.get(name));
            let Some(Def::Enum(item)) = defs.into_iter().flatten().find(|def| matches!(def, Def::Enum(_)))
            else {
                continue;
            };
            let variants = item.variants.iter().map(|variant| unraw(&variant.ident));
            let lacking: Vec<String> = variants
                .filter(|variant| !used.covered.contains(variant))
                .map(|variant| format!("`{variant}`"))
                .collect();
            if !lacking.is_empty() {
                let message = format!("no case for {} of `{name}`", lacking.join(", "));
                let finding = Finding::new(&VARIANT_UNMATCHED, used.at.span, message)
                    .help("add the case, or one for the rest: `_ =>`");
                findings.push((used.at, finding));
            }
        }
        for (at, finding) in findings {
            self.say(at, finding);
        }
    }

    /// Modules without a file, and files without a module.
    fn modules(&mut self) {
        let mut findings = Vec::new();
        for lost in &self.tree.lost {
            let finding = Finding::new(
                &NAME_GONE,
                lost.span,
                "the description has nothing for this module any more",
            )
            .help("remove the line");
            findings.push((*lost, finding));
        }
        let reached: BTreeSet<usize> = self.tree.modules.iter().map(|module| module.file).collect();
        let root = self.tree.library.map(|library| &self.tree.modules[library]);
        if let Some(root) = root.filter(|root| !root.names.is_open) {
            let at = At {
                file: root.file,
                span: root.items.first().map_or_else(Span::default, |item| {
                    self.tree.files[root.file].span(syn::spanned::Spanned::span(item))
                }),
            };
            for (id, file) in self.tree.files.iter().enumerate() {
                let module = file
                    .path
                    .strip_prefix("src/")
                    .and_then(|path| path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs")))
                    .filter(|module| !module.contains('/'));
                let Some(module) = module.filter(|_| file.is_generated && !reached.contains(&id)) else {
                    continue;
                };
                // Declared, but from where it is not read.
                if root.names.defs.contains_key(module) {
                    continue;
                }
                let message = format!("`{}` is not part of the crate", file.path);
                let finding = Finding::new(&MODULE_MISSING, at.span, message)
                    .label("no `mod` leads there")
                    .help(format!(
                        "declare it here: `pub mod {};`",
                        crate::names::rust_ident(module)
                    ));
                findings.push((at, finding));
            }
        }
        for (at, finding) in findings {
            self.say(at, finding);
        }
    }

    /// Operators that nobody starts.
    fn operators(&mut self) {
        let main = self
            .tree
            .modules
            .iter()
            .find(|module| self.tree.files[module.file].path == "src/main.rs");
        let Some(main) = main.filter(|main| !main.names.is_open) else {
            return;
        };
        let file = main.file;
        let start = main.items.iter().find_map(|item| match item {
            syn::Item::Fn(item) if item.sig.ident == "main" => {
                Some(self.tree.files[file].span(item.sig.ident.span()))
            }
            _ => None,
        });
        let mut findings = Vec::new();
        for kind in self.kinds {
            let operator = [
                kind.module.clone(),
                "object".to_owned(),
                format!("{}Operator", kind.name),
            ];
            let Some(object) = self.tree.module(&[&kind.module, "object"]) else {
                continue;
            };
            let is_there = self.tree.modules[object].names.defs.contains_key(&operator[2]);
            let is_used = self.facts.names.iter().any(|name| {
                matches!(&name.meaning, Meaning::Item(path) if *path == operator)
                    && self.tree.modules[object].file != name.at.file
            });
            if let Some(span) = start.filter(|_| is_there && !is_used) {
                let at = At { file, span };
                let message = format!("no code starts the operator of `{}`", kind.name);
                let finding = Finding::new(&OPERATOR_NOT_RUN, span, message)
                    .label("its objects are watched by nobody")
                    .help(format!(
                        "add `.operator({}::default())` to the runtime here",
                        operator[2]
                    ));
                findings.push((at, finding));
            }
        }
        for (at, finding) in findings {
            self.say(at, finding);
        }
    }

    fn in_files(mut self) -> Vec<InFile> {
        let mut all = Vec::new();
        if !self.of_description.is_empty() {
            sort(&mut self.of_description);
            all.push(InFile {
                source: self.code.source.clone(),
                findings: self.of_description,
            });
        }
        let mut files: Vec<_> = self.found.into_iter().collect();
        files.sort_by_key(|(file, _)| self.tree.files[*file].path);
        for (file, mut findings) in files {
            let file = &self.tree.files[file];
            sort(&mut findings);
            all.push(InFile {
                source: Source::new(file.path, file.text),
                findings,
            });
        }
        all
    }
}

fn declared<'n>(names: &'n Names<'_>) -> impl Iterator<Item = &'n str> {
    names.defs.keys().map(String::as_str)
}

/// A struct among names.
fn struct_of<'n>(names: &'n Names<'_>, name: &str) -> Option<&'n syn::ItemStruct> {
    names.defs.get(name)?.iter().find_map(|def| match def {
        Def::Struct(item) => Some(*item),
        _ => None,
    })
}

/// A type as people write it.
fn tidy(tokens: &str) -> String {
    let mut text = tokens.to_owned();
    for (loose, tight) in [(" :: ", "::"), (" < ", "<"), (" >", ">"), (" ,", ",")] {
        text = text.replace(loose, tight);
    }
    text
}
