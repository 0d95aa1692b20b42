//! The kinds that Kubernetes has itself, without custom ones: what they are, what the server makes of their objects, and
//! how `kubectl get` prints them. All functions are pure. Which kinds these are is said by `tools/openapi/kinds.json`.

mod documents;
mod shim;

pub use shim::{Builtin, Column, cells, columns, human_duration, of};
pub use documents::{BuiltinKind, BuiltinSubresource, DiscoveredResource, discovery, kinds, openapi};
