//! Failures that people plan at the page of a development build, and the kinds that its controls change.
use super::Problem;
use crate::{
    cluster::api::raw::Endpoint,
    error::{Error, Result},
    lock::Lock as _,
    machine::Object,
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// The state that the controls of the process change, beside the objects.
#[derive(Default)]
pub(in crate::cluster) struct Development {
    pub failures: Arc<Failures>,
    kinds: Mutex<Vec<Arc<Served>>>,
}

/// A kind whose objects the controls change.
pub(in crate::cluster) struct Served {
    pub endpoint: Endpoint,
    pub sample: &'static str,
    /// Where samples are created unless people say another one; empty for that of the kubeconfig.
    pub namespace: String,
}

impl Development {
    /// Lets the controls change objects of a kind, which the operator looks after in these namespaces. Returns the failures
    /// that people plan.
    pub fn serve(&self, endpoint: Endpoint, sample: &'static str, namespaces: &[String]) -> Arc<Failures> {
        let served = Served {
            endpoint,
            sample,
            namespace: namespaces.first().cloned().unwrap_or_default(),
        };
        self.kinds.locked().push(Arc::new(served));
        Arc::clone(&self.failures)
    }

    pub fn served(&self, group: &str, kind: &str) -> Result<Arc<Served>, Problem> {
        let kinds = self.kinds.locked();
        let mut kinds = kinds.iter();
        let found = kinds.find(|served| served.endpoint.group() == group && served.endpoint.kind() == kind);
        found.cloned().ok_or_else(|| {
            let problem = format!("this operator does not manage the kind `{kind}` of `{group}`");
            (StatusCode::NOT_FOUND, problem)
        })
    }
}

pub(in crate::cluster) fn full(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}/{name}")
    }
}

/// An object that a control is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cluster) struct Target {
    pub group: String,
    pub kind: String,
    /// Empty for an object of the cluster.
    #[serde(default)]
    pub namespace: String,
    pub name: String,
}

impl Target {
    /// An object of this kind.
    pub fn of(endpoint: &Endpoint, object: &impl Object) -> Self {
        Self {
            group: endpoint.group().to_owned(),
            kind: endpoint.kind().to_owned(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
        }
    }
    /// Its name for people.
    pub fn full(&self) -> String {
        full(&self.namespace, &self.name)
    }
}

/// How many failures may be planned. That of an object which is gone waits forever.
const MOST: usize = 100;

/// The failures that have not happened yet, in the order in which they were planned.
#[derive(Default)]
pub(in crate::cluster) struct Failures(Mutex<Vec<Planned>>);

/// A failure that has not happened yet.
#[derive(Clone, Serialize)]
pub(in crate::cluster) struct Planned {
    /// The object whose handler fails; `None` for the first one that is run.
    pub object: Option<Target>,
    pub permanent: bool,
    pub message: String,
}

impl Failures {
    /// Plans a failure.
    ///
    /// # Errors
    ///
    /// If too many are planned.
    pub(in crate::cluster) fn plan(&self, planned: Planned) -> Result<(), Problem> {
        let mut failures = self.0.locked();
        if failures.len() >= MOST {
            let problem =
                format!("there are {MOST} planned failures already; restart the operator to clear them");
            return Err((StatusCode::UNPROCESSABLE_ENTITY, problem));
        }
        failures.push(planned);
        Ok(())
    }

    pub(in crate::cluster) fn planned(&self) -> Vec<Planned> {
        self.0.locked().clone()
    }

    /// Takes the first failure that is planned for this object, or else for any.
    ///
    /// # Errors
    ///
    /// The failure, if there is one.
    pub fn strike(&self, object: &Target) -> Result<()> {
        let mut failures = self.0.locked();
        let of = |whose: Option<&Target>| {
            failures
                .iter()
                .position(|planned| planned.object.as_ref() == whose)
        };
        let Some(at) = of(Some(object)).or_else(|| of(None)) else {
            return Ok(());
        };
        let Planned {
            permanent, message, ..
        } = failures.remove(at);
        Err(if permanent {
            Error::permanent(message)
        } else {
            Error::transient(message)
        })
    }
}
