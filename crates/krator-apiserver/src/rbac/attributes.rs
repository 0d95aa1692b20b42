//! The attributes of requests that roles refer to, after `RequestInfo` of `k8s.io/apiserver`.

use crate::{
    request::{Query, Target, decoded},
    selector::FieldSelector,
};
use http::Method;

/// The action that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Attributes {
    pub verb: String,
    pub group: String,
    /// Empty if the request is for a path.
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    /// The path of a request that is not for a resource.
    pub path: Option<String>,
}

impl Attributes {
    /// The attributes of a request.
    pub fn of(method: &Method, path: &str, query: &Query) -> Self {
        let Some(target) = Target::of(path) else {
            return Attributes {
                verb: method.as_str().to_lowercase(),
                path: Some(decoded(path)),
                ..Attributes::default()
            };
        };
        let verb = target.verb(method, query);
        let mut asked = Attributes {
            verb: verb.to_owned(),
            group: target.group,
            resource: target.resource,
            subresource: target.subresource,
            namespace: target.namespace,
            name: target.name,
            path: None,
        };
        // The namespace of a Namespace is its own name.
        if asked.group.is_empty() && asked.resource == "namespaces" {
            asked.namespace = asked.name.clone();
        }
        // A list with a field selector for one name is authorized for this name.
        if ["list", "watch"].contains(&verb) {
            let selector = FieldSelector::parse(query.text("fieldSelector")).unwrap_or_default();
            asked.name = selector.exactly("metadata.name").unwrap_or_default().to_owned();
        }
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_roles_name_them() {
        // Each case has the method and the URL, and then verb, group, resource, subresource, namespace and name.
        let cases = [
            ("GET /api/v1/pods", "list  pods   "),
            ("GET /api/v1/pods?watch=true", "watch  pods   "),
            ("HEAD /api/v1/namespaces/a/pods/p", "get  pods  a p"),
            (
                "GET /api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp",
                "list  pods  a p",
            ),
            (
                "GET /api/v1/namespaces/a/pods?fieldSelector=metadata.name!%3Dp",
                "list  pods  a ",
            ),
            (
                "DELETE /api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp",
                "deletecollection  pods  a ",
            ),
            (
                "POST /api/v1/namespaces/a/pods/p/eviction",
                "create  pods eviction a p",
            ),
            (
                "PUT /apis/apps/v1/namespaces/a/deployments/d/scale",
                "update apps deployments scale a d",
            ),
            ("GET /api/v1/namespaces", "list  namespaces   "),
            ("DELETE /api/v1/namespaces/a", "delete  namespaces  a a"),
            (
                "PUT /api/v1/namespaces/a/finalize",
                "update  namespaces finalize a a",
            ),
            (
                "PATCH /apis/example.com/v1/moose/m",
                "patch example.com moose   m",
            ),
        ];
        for (request, expected) in cases {
            let (method, uri) = request.split_once(' ').expect("two words");
            let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
            let method = method.parse().expect("a method of HTTP");
            let found = Attributes::of(&method, path, &Query::parse(query));
            let fields = [
                found.verb,
                found.group,
                found.resource,
                found.subresource,
                found.namespace,
                found.name,
            ];
            assert_eq!(fields.join(" "), expected, "{request}");
            assert_eq!(found.path, None, "{request}");
        }
        for path in [
            "/",
            "/api",
            "/apis/apps/v1",
            "/api/v1",
            "/version/",
            "/healthz/etcd",
        ] {
            let found = Attributes::of(&Method::POST, path, &Query::default());
            assert_eq!((found.verb.as_str(), found.path.as_deref()), ("post", Some(path)));
        }
    }
}
