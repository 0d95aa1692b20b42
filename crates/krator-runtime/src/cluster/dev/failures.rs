//! Failures that people plan: the next run of a handler fails instead.
use super::{Problem, Target};
use crate::error::{Error, Result};
use http::StatusCode;
use serde::Serialize;
use std::sync::{Mutex, PoisonError};

/// How many failures may be planned. That of an object which is gone waits forever.
const MOST: usize = 100;

/// The failures that have not happened yet, in the order in which they were planned.
#[derive(Default)]
pub(in super::super) struct Failures(Mutex<Vec<Planned>>);

/// A failure that has not happened yet.
#[derive(Clone, Serialize)]
pub(super) struct Planned {
    /// Whose handler fails; `None` for the first one that is run.
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
    pub(super) fn plan(&self, planned: Planned) -> Result<(), Problem> {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= MOST {
            let problem =
                format!("{MOST} failures are planned already; a restart of the operator forgets them");
            return Err((StatusCode::UNPROCESSABLE_ENTITY, problem));
        }
        failures.push(planned);
        Ok(())
    }

    pub(super) fn planned(&self) -> Vec<Planned> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the first failure that is planned for this object, or else for any.
    ///
    /// # Errors
    ///
    /// The failure, if there is one.
    pub fn strike(&self, object: &Target) -> Result<()> {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
