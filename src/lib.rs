//! `krator` turns one description of a custom resource and its state graph into a complete Kubernetes operator.
