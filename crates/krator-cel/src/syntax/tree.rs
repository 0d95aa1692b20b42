//! The tree of an expression with expanded macros, as in cel-go.

/// A node of an expression.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The number of the node, which is the index of the results of the type checker.
    pub(crate) id: usize,
    pub(crate) kind: NodeKind,
}

#[derive(Debug, Clone)]
pub(crate) enum NodeKind {
    Literal(Literal),
    Ident(String),
    /// A field of the operand or, with `test`, whether the field exists.
    Select {
        operand: Box<Node>,
        field: String,
        test: bool,
    },
    Call {
        function: String,
        target: Option<Box<Node>>,
        arguments: Vec<Node>,
    },
    /// Elements, each with whether it is optional, as in `?element`.
    List(Vec<(Node, bool)>),
    /// Keys and values, each with whether the entry is optional, as in `?key: value`.
    Map(Vec<(Node, Node, bool)>),
    /// A message of the named type.
    Message(String, Vec<Node>),
    Loop(Box<Loop>),
}

#[derive(Debug, Clone)]
pub(crate) enum Literal {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    Null,
}

/// A fold over a list or map, to which macros such as `all` are expanded.
#[derive(Debug, Clone)]
pub(crate) struct Loop {
    pub(crate) range: Node,
    pub(crate) variable: String,
    pub(crate) second_variable: Option<String>,
    pub(crate) accumulator: String,
    pub(crate) start: Node,
    pub(crate) condition: Node,
    pub(crate) step: Node,
    pub(crate) result: Node,
}

/// Creates and numbers nodes.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    pub(crate) nodes: usize,
}

/// The reason why a macro cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MisusedMacro(pub(crate) String);

impl Builder {
    pub(crate) fn node(&mut self, kind: NodeKind) -> Node {
        let id = self.nodes;
        self.nodes += 1;
        Node { id, kind }
    }

    /// A copy of a node and its descendants, with new numbers.
    pub(crate) fn copy(&mut self, node: &Node) -> Node {
        let mut copy = node.clone();
        self.renumber(&mut copy);
        copy
    }

    fn renumber(&mut self, node: &mut Node) {
        node.id = self.nodes;
        self.nodes += 1;
        node.kind.for_each_child_mut(&mut |child| self.renumber(child));
    }
}

impl NodeKind {
    fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Node)) {
        match self {
            NodeKind::Literal(_) | NodeKind::Ident(_) => {}
            NodeKind::Select { operand, .. } => visit(operand),
            NodeKind::Call {
                target, arguments, ..
            } => {
                target.iter_mut().for_each(|target| visit(target));
                arguments.iter_mut().for_each(visit);
            }
            NodeKind::List(elements) => elements.iter_mut().for_each(|(element, _)| visit(element)),
            NodeKind::Map(entries) => {
                for (key, value, _) in entries {
                    visit(key);
                    visit(value);
                }
            }
            NodeKind::Message(_, fields) => fields.iter_mut().for_each(visit),
            NodeKind::Loop(fold) => {
                visit(&mut fold.range);
                visit(&mut fold.start);
                visit(&mut fold.condition);
                visit(&mut fold.step);
                visit(&mut fold.result);
            }
        }
    }
}

impl Node {
    /// The children of this node, in no particular order.
    pub(crate) fn children(&self) -> Vec<&Node> {
        match &self.kind {
            NodeKind::Literal(_) | NodeKind::Ident(_) => Vec::new(),
            NodeKind::Select { operand, .. } => vec![operand],
            NodeKind::Call {
                target, arguments, ..
            } => target.iter().map(|target| &**target).chain(arguments).collect(),
            NodeKind::List(elements) => elements.iter().map(|(element, _)| element).collect(),
            NodeKind::Map(entries) => entries.iter().flat_map(|(key, value, _)| [key, value]).collect(),
            NodeKind::Message(_, fields) => fields.iter().collect(),
            NodeKind::Loop(fold) => vec![
                &fold.range,
                &fold.start,
                &fold.condition,
                &fold.step,
                &fold.result,
            ],
        }
    }

    /// Calls a function with this node and its descendants.
    pub(crate) fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        visit(self);
        for child in self.children() {
            child.visit(visit);
        }
    }

    /// The qualified name that a chain of selections such as `a.b.c` may denote.
    pub(crate) fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            NodeKind::Ident(name) => Some(name.clone()),
            NodeKind::Select {
                operand,
                field,
                test: false,
            } => Some(format!("{}.{field}", operand.qualified_name()?)),
            _ => None,
        }
    }
}
