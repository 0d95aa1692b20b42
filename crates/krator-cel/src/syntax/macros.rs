//! The macros that the parser does not expand: those for optional values, for loops with two variables, and `sortBy`.

use super::tree::{Builder, Literal, Loop, MisusedMacro, Node, NodeKind};

const RESULT: &str = "@result";
const UNUSED: &str = "#unused";
const SORTED: &str = "@__sortBy_input__";

/// A call, or its expansion if it is a macro.
pub(super) fn call(
    build: &mut Builder,
    function: &str,
    target: Option<Node>,
    arguments: Vec<Node>,
) -> Result<Node, MisusedMacro> {
    let Some(target) = target else {
        return Ok(global(build, function, arguments));
    };
    match (function, arguments.len()) {
        ("optMap" | "optFlatMap", 2) => optional(build, function, target, arguments),
        ("all" | "exists" | "existsOne" | "exists_one", 3) => quantifier(build, function, target, arguments),
        ("transformList" | "transformMap" | "transformMapEntry", 3 | 4) => {
            transform(build, function, target, arguments)
        }
        ("sortBy", 2) => sort_by(build, target, arguments),
        _ => Ok(receiver(build, function, target, arguments)),
    }
}

fn global(build: &mut Builder, function: &str, arguments: Vec<Node>) -> Node {
    build.node(NodeKind::Call {
        function: function.to_string(),
        target: None,
        arguments,
    })
}

fn receiver(build: &mut Builder, function: &str, target: Node, arguments: Vec<Node>) -> Node {
    build.node(NodeKind::Call {
        function: function.to_string(),
        target: Some(Box::new(target)),
        arguments,
    })
}

fn ident(build: &mut Builder, name: &str) -> Node {
    build.node(NodeKind::Ident(name.to_string()))
}

fn literal(build: &mut Builder, value: Literal) -> Node {
    build.node(NodeKind::Literal(value))
}

fn variable(node: &Node) -> Result<String, MisusedMacro> {
    match &node.kind {
        NodeKind::Ident(name) => Ok(name.clone()),
        _ => Err(MisusedMacro("argument must be a simple name".to_string())),
    }
}

fn two_variables(first: &Node, second: &Node) -> Result<(String, String), MisusedMacro> {
    let (first, second) = (variable(first)?, variable(second)?);
    if first == second {
        return Err(MisusedMacro(format!("duplicate variable name: {first}")));
    }
    if [&first, &second].iter().any(|name| *name == "__result__") {
        return Err(MisusedMacro(
            "iteration variable overwrites accumulator variable".to_string(),
        ));
    }
    Ok((first, second))
}

/// `let variable = value in body`, which CEL represents as a loop over an empty list.
fn bind(build: &mut Builder, name: &str, value: Node, body: Node) -> Node {
    let range = build.node(NodeKind::List(Vec::new()));
    let condition = literal(build, Literal::Bool(false));
    let step = ident(build, name);
    build.node(NodeKind::Loop(Box::new(Loop {
        range,
        variable: UNUSED.to_string(),
        second_variable: None,
        accumulator: name.to_string(),
        start: value,
        condition,
        step,
        result: body,
    })))
}

fn optional(
    build: &mut Builder,
    function: &str,
    target: Node,
    mut arguments: Vec<Node>,
) -> Result<Node, MisusedMacro> {
    let body = arguments.remove(1);
    let Ok(name) = variable(&arguments[0]) else {
        return Err(MisusedMacro(format!(
            "{function}() variable name must be a simple identifier"
        )));
    };
    let again = build.copy(&target);
    let value = receiver(build, "value", again, Vec::new());
    let mut bound = bind(build, &name, value, body);
    if function == "optMap" {
        bound = global(build, "optional.of", vec![bound]);
    }
    let has_value = receiver(build, "hasValue", target, Vec::new());
    let none = global(build, "optional.none", Vec::new());
    Ok(global(build, "_?_:_", vec![has_value, bound, none]))
}

fn quantifier(
    build: &mut Builder,
    function: &str,
    target: Node,
    mut arguments: Vec<Node>,
) -> Result<Node, MisusedMacro> {
    let predicate = arguments.remove(2);
    let (first, second) = two_variables(&arguments[0], &arguments[1])?;
    let so_far = ident(build, RESULT);
    let (start, condition, step, result) = match function {
        "all" => {
            let condition = global(build, "@not_strictly_false", vec![so_far]);
            let so_far = ident(build, RESULT);
            let step = global(build, "_&&_", vec![so_far, predicate]);
            (Literal::Bool(true), condition, step, ident(build, RESULT))
        }
        "exists" => {
            let not = global(build, "!_", vec![so_far]);
            let condition = global(build, "@not_strictly_false", vec![not]);
            let so_far = ident(build, RESULT);
            let step = global(build, "_||_", vec![so_far, predicate]);
            (Literal::Bool(false), condition, step, ident(build, RESULT))
        }
        _ => {
            let one = literal(build, Literal::Int(1));
            let more = global(build, "_+_", vec![so_far, one]);
            let same = ident(build, RESULT);
            let step = global(build, "_?_:_", vec![predicate, more, same]);
            let (count, one) = (ident(build, RESULT), literal(build, Literal::Int(1)));
            let result = global(build, "_==_", vec![count, one]);
            (Literal::Int(0), literal(build, Literal::Bool(true)), step, result)
        }
    };
    let start = literal(build, start);
    Ok(build.node(NodeKind::Loop(Box::new(Loop {
        range: target,
        variable: first,
        second_variable: Some(second),
        accumulator: RESULT.to_string(),
        start,
        condition,
        step,
        result,
    }))))
}

fn transform(
    build: &mut Builder,
    function: &str,
    target: Node,
    mut arguments: Vec<Node>,
) -> Result<Node, MisusedMacro> {
    let (first, second) = two_variables(&arguments[0], &arguments[1])?;
    let transformed = arguments.remove(arguments.len() - 1);
    let filter = arguments.drain(2..).next();
    let so_far = ident(build, RESULT);
    let (start, mut step) = match function {
        "transformList" => {
            let one = build.node(NodeKind::List(vec![(transformed, false)]));
            (
                NodeKind::List(Vec::new()),
                global(build, "_+_", vec![so_far, one]),
            )
        }
        "transformMap" => {
            let key = ident(build, &first);
            let step = global(build, "cel.@mapInsert", vec![so_far, key, transformed]);
            (NodeKind::Map(Vec::new()), step)
        }
        _ => {
            let step = global(build, "cel.@mapInsert", vec![so_far, transformed]);
            (NodeKind::Map(Vec::new()), step)
        }
    };
    if let Some(filter) = filter {
        let same = ident(build, RESULT);
        step = global(build, "_?_:_", vec![filter, step, same]);
    }
    let start = build.node(start);
    let condition = literal(build, Literal::Bool(true));
    let result = ident(build, RESULT);
    Ok(build.node(NodeKind::Loop(Box::new(Loop {
        range: target,
        variable: first,
        second_variable: Some(second),
        accumulator: RESULT.to_string(),
        start,
        condition,
        step,
        result,
    }))))
}

fn sort_by(build: &mut Builder, target: Node, mut arguments: Vec<Node>) -> Result<Node, MisusedMacro> {
    if matches!(
        target.kind,
        NodeKind::Literal(_) | NodeKind::Map(_) | NodeKind::Message(..)
    ) {
        return Err(MisusedMacro(
            "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
                .to_string(),
        ));
    }
    let key = arguments.remove(1);
    let name = variable(&arguments[0])?;
    let range = ident(build, SORTED);
    let so_far = ident(build, RESULT);
    let one = build.node(NodeKind::List(vec![(key, false)]));
    let step = global(build, "_+_", vec![so_far, one]);
    let start = build.node(NodeKind::List(Vec::new()));
    let condition = literal(build, Literal::Bool(true));
    let result = ident(build, RESULT);
    let keys = build.node(NodeKind::Loop(Box::new(Loop {
        range,
        variable: name,
        second_variable: None,
        accumulator: RESULT.to_string(),
        start,
        condition,
        step,
        result,
    })));
    let input = ident(build, SORTED);
    let sorted = receiver(build, "@sortByAssociatedKeys", input, vec![keys]);
    Ok(bind(build, SORTED, target, sorted))
}
