//! The modules of a crate, parsed by syn: the definitions, imports and mentions of each.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// The files of a crate by their path below `src`.
pub type Sources = BTreeMap<String, String>;

/// A module. The first name is that of the crate's root file: `lib` or `main`.
pub type ModulePath = Vec<String>;

/// A path in the source, without generic arguments.
pub type Segments = Vec<String>;

/// A path in the text of a module.
pub struct Mention {
    pub file: String,
    pub line: usize,
    pub segments: Segments,
}

impl Mention {
    /// Whether it starts with a name in scope, rather than at a fixed place of the package.
    pub fn is_bare(&self, library: &str) -> bool {
        let first = self.segments.first().map(String::as_str);
        !first.is_some_and(|first| ["crate", "self", "super", library].contains(&first))
    }
}

#[derive(Default)]
pub struct Module {
    /// Its child modules, in the order of the text.
    pub children: Vec<String>,
    /// The other items that it defines.
    pub items: BTreeSet<String>,
    /// The names that its `use` declarations bind, including those in functions.
    pub bindings: BTreeMap<String, Vec<Segments>>,
    /// Modules that are imported with a glob.
    pub globs: Vec<Segments>,
    pub mentions: Vec<Mention>,
}

pub type Modules = BTreeMap<ModulePath, Module>;

/// `path` with one more name at its end.
pub fn and(path: &[String], name: &str) -> Vec<String> {
    [path, &[name.to_owned()]].concat()
}

/// Macros whose tokens are generated code: `crate::` in them refers to the generated crate.
const CODE_MACROS: [&str; 4] = ["quote", "quote_spanned", "parse_quote", "parse_quote_spanned"];

/// Reads the modules that `lib.rs` and `main.rs` declare, except those of tests.
pub fn read(sources: &Sources) -> Modules {
    let mut modules = Modules::new();
    for root in ["lib", "main"] {
        if sources.contains_key(&format!("{root}.rs")) {
            read_file(
                sources,
                &mut modules,
                vec![root.to_owned()],
                &format!("{root}.rs"),
            );
        }
    }
    modules
}

fn read_file(sources: &Sources, modules: &mut Modules, module: ModulePath, file: &str) {
    let text = &sources[file];
    let syntax = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
    modules.insert(module.clone(), Module::default());
    let mut reader = Reader {
        sources,
        modules,
        module,
        file,
    };
    reader.visit_file(&syntax);
}

struct Reader<'a> {
    sources: &'a Sources,
    modules: &'a mut Modules,
    module: ModulePath,
    file: &'a str,
}

impl Reader<'_> {
    fn here(&mut self) -> &mut Module {
        self.modules
            .get_mut(&self.module)
            .expect("inserted before it is read")
    }

    fn mention(&mut self, line: usize, segments: Segments) {
        let file = self.file.to_owned();
        self.here().mentions.push(Mention { file, line, segments });
    }

    fn import(&mut self, tree: &UseTree, prefix: &[String]) {
        let with = |name: &syn::Ident| match name_of(name).as_str() {
            "self" if !prefix.is_empty() => prefix.to_vec(),
            name => and(prefix, name),
        };
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &and(prefix, &name_of(&path.ident))),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, prefix)),
            UseTree::Glob(glob) => {
                self.here().globs.push(prefix.to_vec());
                self.mention(glob.star_token.spans[0].start().line, prefix.to_vec());
            }
            UseTree::Name(leaf) => self.bind(leaf.ident.span().start().line, with(&leaf.ident), None),
            UseTree::Rename(leaf) => {
                let name = name_of(&leaf.rename);
                self.bind(leaf.ident.span().start().line, with(&leaf.ident), Some(name));
            }
        }
    }

    fn bind(&mut self, line: usize, segments: Segments, name: Option<String>) {
        let name = name
            .or_else(|| segments.last().cloned())
            .expect("an import names something");
        self.here()
            .bindings
            .entry(name)
            .or_default()
            .push(segments.clone());
        self.mention(line, segments);
    }

    /// Finds the paths in the tokens of a macro or an attribute. `prefix` is the path before the group of a `use`.
    fn scan(&mut self, tokens: TokenStream, prefix: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if let TokenTree::Group(group) = token {
                self.scan(group.stream(), prefix);
            }
            let TokenTree::Ident(first) = token else {
                at += 1;
                continue;
            };
            let is_path = starts_path(&tokens, at);
            let mut segments = and(prefix, &name_of(first));
            at += 1;
            while joins(&tokens, at)
                && let Some(TokenTree::Ident(next)) = tokens.get(at + 2)
            {
                segments.push(name_of(next));
                at += 3;
            }
            let is_code = segments
                .last()
                .is_some_and(|name| CODE_MACROS.contains(&name.as_str()));
            if is_code && is(&tokens, at, '!') {
                at += 2;
            } else if is_path
                && joins(&tokens, at)
                && let Some(TokenTree::Group(group)) = tokens.get(at + 2)
            {
                self.scan(group.stream(), &segments);
                at += 3;
            } else if is_path && (segments.len() > 1 || first != "super" && first != "crate") {
                // A keyword alone is a visibility: `pub(super)`.
                self.mention(first.span().start().line, segments);
            }
        }
    }
}

fn is(tokens: &[TokenTree], at: usize, wanted: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn joins(tokens: &[TokenTree], at: usize) -> bool {
    is(tokens, at, ':') && is(tokens, at + 1, ':')
}

/// Whether a path may start here, rather than a field, a new name, the rest of an absolute path or a fragment specifier
/// of `macro_rules!`.
fn starts_path(tokens: &[TokenTree], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else {
        return true;
    };
    let is_crate = matches!(&tokens[at], TokenTree::Ident(name) if name == "crate");
    let is_renamed = matches!(&tokens[before], TokenTree::Ident(name) if name == "as");
    let is_joined = before > 0 && joins(tokens, before - 1);
    !is(tokens, before, '.') && !is_renamed && !is_joined && (is_crate || !is(tokens, before, '$'))
}

fn name_of(ident: &syn::Ident) -> String {
    ident.unraw().to_string()
}

fn segments_of(path: &syn::Path) -> Segments {
    path.segments
        .iter()
        .map(|segment| name_of(&segment.ident))
        .collect()
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = parts(item);
        if attributes.iter().any(is_for_tests) {
            return;
        }
        if let Some(name) = name {
            let name = name_of(name);
            if attributes
                .iter()
                .any(|attribute| attribute.path().is_ident("macro_export"))
            {
                // Such a macro is exported at the root of its crate, wherever it is defined.
                let target = and(&[&["crate".to_owned()], &self.module[1..]].concat(), &name);
                let root = self.modules.get_mut(&self.module[..1]).expect("read first");
                root.bindings.entry(name.clone()).or_default().push(target);
            }
            self.here().items.insert(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes = match item {
            syn::ImplItem::Fn(item) => &item.attrs[..],
            syn::ImplItem::Const(item) => &item.attrs,
            syn::ImplItem::Type(item) => &item.attrs,
            _ => &[],
        };
        if !attributes.iter().any(is_for_tests) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        for attribute in &item.attrs {
            let is_followed = !attribute.path().is_ident("path") && !attribute.path().is_ident("macro_use");
            assert!(
                is_followed,
                "{}: this test does not follow #[path] and #[macro_use]",
                self.file
            );
        }
        let name = name_of(&item.ident);
        let child = and(&self.module, &name);
        self.here().children.push(name);
        if let Some((_, items)) = &item.content {
            self.modules.insert(child.clone(), Module::default());
            let parent = std::mem::replace(&mut self.module, child);
            items.iter().for_each(|item| self.visit_item(item));
            self.module = parent;
        } else {
            let stem = child[1..].join("/");
            let files = [format!("{stem}.rs"), format!("{stem}/mod.rs")];
            let file = files.iter().find(|file| self.sources.contains_key(*file));
            let file = file.unwrap_or_else(|| panic!("{}: no file for `mod {}`", self.file, item.ident));
            read_file(self.sources, self.modules, child, file);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // `use ::name` is always another crate.
        if item.leading_colon.is_none() {
            self.import(&item.tree, &[]);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first()
        {
            self.mention(first.ident.span().start().line, segments_of(path));
        }
        visit::visit_path(self, path);
    }

    // `pub(super)` names a module without depending on it.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        let name = segments_of(&call.path).pop();
        if !name.is_some_and(|name| CODE_MACROS.contains(&name.as_str())) {
            self.scan(call.tokens.clone(), &[]);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        self.visit_path(attribute.path());
        if let syn::Meta::List(list) = &attribute.meta {
            self.scan(list.tokens.clone(), &[]);
            // serde accepts paths as strings: `#[serde(with = "crate::times")]`.
            for token in list.tokens.clone() {
                if let TokenTree::Literal(literal) = token
                    && let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string())
                    && text.value().contains("::")
                    && let Ok(path) = text.parse::<syn::Path>()
                {
                    self.mention(literal.span().start().line, segments_of(&path));
                }
            }
        }
    }
}

fn parts(item: &Item) -> (&[Attribute], Option<&syn::Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Mod(item) => (&item.attrs, None),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::TraitAlias(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

/// `#[cfg(test)]`, alone or as one of the conditions of `all`.
fn is_for_tests(attribute: &Attribute) -> bool {
    use syn::parse::Parser;
    fn requires_test(meta: &syn::Meta) -> bool {
        let terms = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
        match meta {
            syn::Meta::List(list) if list.path.is_ident("cfg") || list.path.is_ident("all") => terms
                .parse2(list.tokens.clone())
                .is_ok_and(|terms| terms.iter().any(requires_test)),
            meta => meta.path().is_ident("test"),
        }
    }
    attribute.path().is_ident("cfg") && requires_test(&attribute.meta)
}
