//! The tree of an expression whose macros are expanded, as cel-go has it.

/// A part of an expression.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Counts the nodes of the tree; what the type checker finds out about a node has this index.
    pub(crate) id: usize,
    pub(crate) kind: NodeKind,
}

#[derive(Debug, Clone)]
pub(crate) enum NodeKind {
    Literal(Literal),
    Ident(String),
    /// A field of the operand, or with `test` whether there is one.
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
    /// Elements, each with whether it is written `?element`.
    List(Vec<(Node, bool)>),
    /// Keys and values, each with whether it is written `?key: value`.
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

/// A fold over a list or map: the expansion of macros such as `all`.
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

/// Makes nodes, and counts them.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    pub(crate) nodes: usize,
}

/// Why a macro cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MisusedMacro(pub(crate) String);

impl Builder {
    pub(crate) fn node(&mut self, kind: NodeKind) -> Node {
        let id = self.nodes;
        self.nodes += 1;
        Node { id, kind }
    }

    /// A copy of a node and all below it, with numbers of their own.
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
    /// The parts of this node, in no particular order.
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

    /// Calls a function with this node and all below it.
    pub(crate) fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        visit(self);
        for child in self.children() {
            child.visit(visit);
        }
    }

    /// The name that a chain of selections such as `a.b.c` may stand for.
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
