//! The uses between rooms: the paths in modules, resolved to the rooms that define the named items.

use super::modules::{Module, ModulePath, Modules, Segments, Sources, and, read};
use petgraph::{algo::tarjan_scc, graph::DiGraph};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A top-level module, or `lib` and `main` for the items that the roots define themselves.
pub type Room = String;

/// The lines at which a room uses another one.
pub type Lines = BTreeSet<(String, usize)>;

pub struct Rooms {
    /// The rooms of the library in the order in which `lib.rs` lists them.
    pub listed: Vec<Room>,
    pub edges: Edges,
}

pub type Edges = BTreeMap<(Room, Room), Lines>;

/// A path in a module that leads through another module, or to it.
struct Use {
    from: ModulePath,
    to: ModulePath,
    place: (String, usize),
    is_bare: bool,
}

/// Reads a crate. `name` is the name of the library in the binary of the same package.
pub fn rooms_of(name: &str, sources: &Sources) -> Rooms {
    let modules = expanded(name, sources);
    let rooms = |from: &[String], to: &[String]| Some((room(from).clone(), room(to).clone()));
    let listed = modules
        .get(&["lib".to_owned()][..])
        .map(|lib| lib.children.clone());
    Rooms {
        listed: listed.unwrap_or_default(),
        edges: edges(&uses(name, &modules), rooms),
    }
}

/// The cycles within the rooms of a crate: children of the same module that use each other, each including all modules
/// below it. A module and its children may use each other.
pub fn inner_cycles(name: &str, sources: &Sources) -> Vec<Cycle> {
    let modules = expanded(name, sources);
    let uses = uses(name, &modules);
    let mut cycles = Vec::new();
    for parent in modules.keys().filter(|parent| parent.len() > 1) {
        let child = |of: &[String]| of.strip_prefix(&parent[..])?.first().cloned();
        let edges = edges(&uses, |from, to| child(from).zip(child(to)));
        let mut graph = DiGraph::<&str, ()>::new();
        let names: BTreeSet<&Room> = edges.keys().flat_map(|(from, to)| [from, to]).collect();
        let nodes: BTreeMap<&Room, _> = names.iter().map(|name| (*name, graph.add_node(name))).collect();
        for (from, to) in edges.keys() {
            graph.add_edge(nodes[from], nodes[to], ());
        }
        for component in tarjan_scc(&graph).iter().filter(|component| component.len() > 1) {
            let members: BTreeSet<String> = component.iter().map(|at| graph[*at].to_owned()).collect();
            let within = edges
                .iter()
                .filter(|((from, to), _)| members.contains(from) && members.contains(to));
            let report = within
                .map(|((from, to), lines)| line_of(from, to, lines))
                .collect();
            cycles.push(Cycle {
                parent: parent[1..].join("/"),
                report,
            });
        }
    }
    cycles
}

/// Modules that use each other.
pub struct Cycle {
    /// The parent module, as a path below `src`.
    pub parent: String,
    /// The lines of the uses, as text.
    pub report: String,
}

fn expanded(name: &str, sources: &Sources) -> Modules {
    let mut modules = read(sources);
    expand_globs(name, &mut modules);
    modules
}

fn uses(name: &str, modules: &Modules) -> Vec<Use> {
    let mut uses = Vec::new();
    for (from, module) in modules {
        for mention in &module.mentions {
            let mut used = BTreeSet::new();
            let mut resolver = Resolver {
                name,
                modules,
                seen: BTreeSet::new(),
            };
            resolver.add(from, &mention.segments, &mut used);
            uses.extend(used.into_iter().map(|to| Use {
                from: from.clone(),
                to,
                place: (mention.file.clone(), mention.line),
                is_bare: mention.is_bare(name),
            }));
        }
    }
    uses
}

/// The uses as edges between the units that `units` returns for two modules; uses within a unit are left out.
fn edges(uses: &[Use], units: impl Fn(&[String], &[String]) -> Option<(Room, Room)>) -> Edges {
    let mut edges = Edges::new();
    // An imported name counts only if it leads to another unit than its import.
    for is_bare in [false, true] {
        let mut found = Vec::new();
        for used in uses.iter().filter(|used| used.is_bare == is_bare) {
            let Some(edge) = units(&used.from, &used.to).filter(|(from, to)| from != to) else {
                continue;
            };
            let known: Option<&Lines> = edges.get(&edge);
            if !is_bare || known.is_none_or(|lines| lines.iter().all(|(file, _)| *file != used.place.0)) {
                found.push((edge, used.place.clone()));
            }
        }
        for (edge, line) in found {
            edges.entry(edge).or_default().insert(line);
        }
    }
    edges
}

fn room(module: &[String]) -> &Room {
    module.get(1).unwrap_or(&module[0])
}

/// Binds the names that `use a::*` imports, including those that `a` itself imports in this way.
fn expand_globs(name: &str, modules: &mut Modules) {
    loop {
        let mut found = Vec::new();
        for (path, module) in modules.iter() {
            for glob in &module.globs {
                let mut resolver = Resolver {
                    name,
                    modules,
                    seen: BTreeSet::new(),
                };
                let Some(target) = resolver.module_at(path, glob) else {
                    continue;
                };
                let names = modules[&target].names();
                let names = names.filter(|name| !module.names().any(|known| known == *name));
                found.extend(names.map(|name| (path.clone(), name.clone(), and(glob, name))));
            }
        }
        if found.is_empty() {
            return;
        }
        for (path, name, segments) in found {
            let module = modules.get_mut(&path).expect("found there");
            module.bindings.entry(name).or_default().push(segments);
        }
    }
}

impl Module {
    fn names(&self) -> impl Iterator<Item = &String> {
        self.children
            .iter()
            .chain(&self.items)
            .chain(self.bindings.keys())
    }
}

struct Resolver<'a> {
    name: &'a str,
    modules: &'a Modules,
    /// The imports that were already followed: otherwise `use a::a` would be followed forever.
    seen: BTreeSet<(ModulePath, String)>,
}

impl Resolver<'_> {
    /// Adds the modules on the path `segments`, which is written in `module`.
    fn add(&mut self, module: &[String], segments: &[String], found: &mut BTreeSet<ModulePath>) {
        if let Some((base, rest)) = self.absolute(module, segments) {
            self.walk(&base, rest, found);
        }
    }

    /// The module that a path starts in, and the rest of the path. None for paths into other crates.
    fn absolute<'s>(&self, module: &[String], segments: &'s [String]) -> Option<(ModulePath, &'s [String])> {
        let (first, mut rest) = segments.split_first()?;
        let mut base = match first.as_str() {
            "crate" => module[..1].to_vec(),
            "self" => module.to_vec(),
            "super" => module[..module.len() - 1].to_vec(),
            name if name == self.name => vec!["lib".to_owned()],
            name => {
                let here = &self.modules[module];
                let is_known = here.names().any(|known| known == name);
                return is_known.then(|| (module.to_vec(), segments));
            }
        };
        while let Some((first, more)) = rest.split_first()
            && first == "super"
        {
            base.pop();
            rest = more;
        }
        Some((base, rest))
    }

    fn walk(&mut self, module: &ModulePath, rest: &[String], found: &mut BTreeSet<ModulePath>) {
        if module.len() > 1 {
            found.insert(module.clone());
        }
        let Some((first, more)) = rest.split_first() else {
            found.insert(module.clone());
            return;
        };
        let known = &self.modules[module];
        let child = and(module, first);
        let is_child = self.modules.contains_key(&child);
        if is_child {
            self.walk(&child, more, found);
        }
        let targets = known.bindings.get(first);
        if targets.is_some() && self.seen.insert((module.clone(), first.clone())) {
            for target in targets.into_iter().flatten() {
                self.add(module, &[&target[..], more].concat(), found);
            }
        } else if !is_child && targets.is_none() {
            // An item of this module; the rest of the path is a variant or an associated item.
            found.insert(module.clone());
        }
    }

    fn module_at(&mut self, module: &[String], segments: &[String]) -> Option<ModulePath> {
        let (mut at, rest) = self.absolute(module, segments)?;
        for (index, name) in rest.iter().enumerate() {
            let child = and(&at, name);
            if self.modules.contains_key(&child) {
                at = child;
                continue;
            }
            let target: &Segments = self.modules[&at].bindings.get(name)?.first()?;
            if !self.seen.insert((at.clone(), name.clone())) {
                return None;
            }
            return self.module_at(&at, &[&target[..], &rest[index + 1..]].concat());
        }
        Some(at)
    }
}

impl Rooms {
    /// The shortest cycle, as a list of rooms; the last one uses the first one.
    pub fn shortest_cycle(&self) -> Option<Vec<Room>> {
        let starts: BTreeSet<&Room> = self.edges.keys().map(|(from, _)| from).collect();
        starts
            .into_iter()
            .filter_map(|start| self.way_back_to(start))
            .min_by_key(Vec::len)
    }

    fn way_back_to(&self, start: &Room) -> Option<Vec<Room>> {
        let mut queue = VecDeque::from([vec![start.clone()]]);
        let mut visited = BTreeSet::new();
        while let Some(way) = queue.pop_front() {
            let last = way.last().expect("a way has a start");
            for (_, to) in self.edges.keys().filter(|(from, _)| from == last) {
                if to == start {
                    return Some(way);
                }
                if visited.insert(to) {
                    queue.push_back(and(&way, to));
                }
            }
        }
        None
    }

    /// The shortest cycle with the lines of its uses, as text.
    pub fn cycle_report(&self) -> Option<String> {
        let cycle = self.shortest_cycle()?;
        let next = cycle.iter().cycle().skip(1);
        Some(
            cycle
                .iter()
                .zip(next)
                .map(|(from, to)| self.edge_report(from, to))
                .collect(),
        )
    }

    /// The uses of rooms that `lib.rs` lists after those that use them.
    pub fn order_report(&self) -> Option<String> {
        let place = |room: &Room| self.listed.iter().position(|listed| listed == room);
        let upward: String = self
            .edges
            .keys()
            .filter(|(from, to)| place(to).is_some() && place(from) < place(to))
            .filter(|(from, _)| place(from).is_some())
            .map(|(from, to)| self.edge_report(from, to))
            .collect();
        (!upward.is_empty()).then_some(upward)
    }

    fn edge_report(&self, from: &Room, to: &Room) -> String {
        line_of(from, to, &self.edges[&(from.clone(), to.clone())])
    }
}

fn line_of(from: &Room, to: &Room, lines: &Lines) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|(file, line)| format!("{file}:{line}"))
        .collect();
    format!("{from} -> {to}: {}\n", lines.join(", "))
}
