//! Programs: the values of variables, results, failures and costs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krator_cel::admission::{Environment, Evaluated, Rejection, Request, Wanted};
use krator_cel::{
    AccessCheck, Activation, Ast, COST_LIMIT_EXCEEDED, Compilation, DeclField, DeclType, Failure, Input,
    Issue, ListType, ObjectType, Output, Path, Shape, Type, TypeEnvironment, compile, escape, on_large_stack,
};
use serde_json::{Value as Json, json};

/// The compiled expression, which must be valid.
fn compiled(text: &str, environment: &TypeEnvironment) -> Ast {
    match compile(text, environment, None) {
        Compilation::Compiled(ast) => ast,
        other => panic!("{text}: {other:?}"),
    }
}

/// The result of an expression with the variable `self`, which has no schema.
fn evaluate(text: &str, this: &Json) -> Result<Output, Failure> {
    let mut environment = TypeEnvironment::default();
    environment.declare("self", Type::Dyn);
    let mut variables = Activation::default();
    variables.bind("self", Input::dynamic(this));
    compiled(text, &environment).into_program().evaluate(&variables)
}

fn simple(of: Type, max_elements: i64, bounded: bool) -> DeclType {
    DeclType {
        shape: Shape::Simple(of),
        max_elements,
        min_size: 2,
        bounded,
    }
}

/// An object with a set of strings, `tags`, and a string whose name has to be escaped in CEL, `a-b`.
fn object() -> DeclType {
    let tags = DeclType {
        shape: Shape::List(Box::new(simple(Type::String, 10, true)), ListType::Set),
        max_elements: 5,
        min_size: 2,
        bounded: true,
    };
    let fields = [("tags", tags), ("a-b", simple(Type::String, 1_000, false))];
    let properties: BTreeSet<String> = fields.iter().map(|(name, _)| (*name).to_string()).collect();
    let fields: BTreeMap<String, DeclField> = fields
        .into_iter()
        .map(|(name, declared)| {
            let field = DeclField {
                name: name.to_string(),
                declared,
            };
            (escape(name).expect("CEL can write it"), field)
        })
        .collect();
    DeclType {
        shape: Shape::Object(ObjectType {
            fields,
            properties: Some(properties),
        }),
        max_elements: 0,
        min_size: 2,
        bounded: true,
    }
}

/// An environment in which `self` is such an object, and `oldSelf` an optional one.
fn environment(of: &DeclType) -> TypeEnvironment {
    let mut environment = TypeEnvironment::default();
    let this = of.cel_type("self", &mut environment);
    environment.declare("oldSelf", Type::optional(this.clone()));
    environment.declare("self", this);
    environment
}

#[test]
fn results_are_bools_strings_and_others() {
    let this = json!({"name": "moose", "count": 2});
    assert_eq!(
        evaluate("self.count == 2 && ip('10.0.0.1').family() == 4", &this),
        Ok(Output::Bool(true))
    );
    assert_eq!(
        evaluate("'a %s'.format([self.name])", &this),
        Ok(Output::String("a moose".to_string()))
    );
    assert_eq!(evaluate("self.count", &this), Ok(Output::Other));
}

#[test]
fn failures_are_those_of_the_api_server_or_say_that_its_answer_is_not_known() {
    let this = json!({"count": 0});
    assert_eq!(
        evaluate("self.nothing", &this),
        Err(Failure::Error("no such key: nothing".to_string()))
    );
    assert_eq!(
        evaluate("1 / self.count", &this),
        Err(Failure::Error("division by zero".to_string()))
    );
    assert_eq!(
        evaluate("quantity('1e1000000000').isGreaterThan(quantity('1'))", &this),
        Err(Failure::Unknown("the quantity has too many digits".to_string()))
    );
    // A decisive operand overrides the failure of the other one.
    assert_eq!(evaluate("self.nothing || true", &this), Ok(Output::Bool(true)));
}

#[test]
fn values_have_the_types_that_are_declared() {
    let of = object();
    let environment = environment(&of);
    let judge = |text: &str, this: &Json, old: Option<&Json>| {
        let mut variables = Activation::default();
        variables.bind("self", Input::typed(this, &of)?);
        let old = old.map(|old| Input::typed(old, &of)).transpose()?;
        variables.bind("oldSelf", Input::optional(old));
        compiled(text, &environment).into_program().evaluate(&variables)
    };
    let (this, old) = (
        json!({"tags": ["a", "b"], "a-b": "c"}),
        json!({"tags": ["b", "a"]}),
    );
    // The elements of a set have no order.
    let same = "self.tags == oldSelf.orValue(self).tags";
    assert_eq!(judge(same, &this, Some(&old)), Ok(Output::Bool(true)));
    assert_eq!(judge("oldSelf.hasValue()", &this, None), Ok(Output::Bool(false)));
    assert_eq!(
        judge("self.a__dash__b == 'c'", &this, None),
        Ok(Output::Bool(true))
    );
    let wrong = judge("true", &json!("a"), None).expect_err("it is no object");
    assert_eq!(wrong.to_string(), "invalid data, expected another type");
    assert!(compiled(same, &environment).refers_to("oldSelf"));
    assert!(!compiled("self.tags == []", &environment).refers_to("oldSelf"));
}

#[test]
fn an_issue_has_its_place_where_only_one_is_possible() {
    let of = object();
    let refused = |text: &str| match compile(text, &environment(&of), &Type::Bool) {
        Compilation::Refused(issues) => issues,
        other => panic!("{text}: {other:?}"),
    };
    let issue = |message: &str, offset| {
        vec![Issue {
            message: message.to_string(),
            offset,
        }]
    };
    assert_eq!(
        refused("self.tags == [] && self.nothing"),
        issue("there is no field `nothing`", Some(24))
    );
    assert_eq!(
        refused("self.a__dash__b"),
        issue("the expression must have the type bool, but it has string", None)
    );
}

#[test]
fn costs_tell_which_bounds_would_lower_them() {
    let of = object();
    let ast = compiled(
        "self.a__dash__b.contains('x') && self.tags.size() < 3",
        &environment(&of),
    );
    let root = Path::root().field("openAPIV3Schema");
    let cost = ast.estimate_cost(&of, &root, None);
    let unbounded: Vec<String> = cost.unbounded.iter().map(Path::to_string).collect();
    assert_eq!(unbounded, ["openAPIV3Schema.properties[a-b]"]);
    let part = cost.unbounded.first();
    assert!(ast.estimate_cost(&of, &root, part).max < cost.max, "{cost:?}");
}

#[test]
fn evaluation_ends_at_the_limit_of_the_api_server() {
    let this = json!({"list": vec![0; 2_000]});
    let text = "self.list.all(a, self.list.all(b, self.list.all(c, a + b == c)))";
    assert_eq!(
        evaluate(text, &this),
        Err(Failure::Error(COST_LIMIT_EXCEEDED.to_string()))
    );
}

#[test]
fn no_expression_overflows_a_large_stack() {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    let of = object();
    for times in [200, 1_000, 20_000] {
        for text in [
            nested("(", "true", ")", times),
            nested("self.tags.all(x, ", "true", ")", times),
            nested("!", "true", "", times),
            nested("1 + ", "1", " == 1", times),
            nested("[1]", "", ".map(x, x)", times),
        ] {
            let judge = || {
                if let Compilation::Compiled(ast) = compile(&text, &environment(&of), None) {
                    ast.estimate_cost(&of, &Path::root(), None);
                    let _ = ast.into_program().evaluate(&Activation::default());
                }
                true
            };
            assert!(on_large_stack(judge, false));
        }
    }
}

#[test]
fn policies_ask_the_authorizer_and_use_their_variables() {
    let mut environment = Environment::default();
    environment
        .declare("name", "object.metadata.name")
        .expect("it can be used");
    let expression = environment
        .compile(
            "variables.name == 'moose' && authorizer.group('').resource('pods').check('get').allowed()",
            Wanted::Bool,
        )
        .expect("it can be used");
    let judge = |allowed: bool| {
        let (object, request) = (json!({"metadata": {"name": "moose"}}), json!({}));
        let decide = move |asked: &AccessCheck| (allowed && asked.verb == "get", String::new());
        let scope = environment.scope(Request {
            object: &object,
            old_object: &Json::Null,
            request: &request,
            namespace: &Json::Null,
            decide: Arc::new(decide),
            asked: AccessCheck::default(),
        });
        expression.evaluate(&scope)
    };
    assert_eq!(judge(true), Evaluated::Bool(true));
    assert_eq!(judge(false), Evaluated::Bool(false));
    assert!(matches!(
        environment.compile("variables.other == ''", Wanted::Bool),
        Err(Rejection::Refused(_))
    ));
}
