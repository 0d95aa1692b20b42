//! What fields of an object say of times: a state's poll, its timeout, its limit.
use jiff::Timestamp;
use std::time::Duration;

/// What a field says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A while, never zero.
    For(Duration),
    /// An instant.
    At(Timestamp),
    /// A number: of seconds where a time is asked for.
    Number(u32),
}

/// A field's type that says something. `None`: the field is absent, zero or negative, which is never.
pub trait Tell {
    /// What it says.
    fn tell(&self) -> Option<Told>;
}

impl Tell for i64 {
    fn tell(&self) -> Option<Told> {
        u32::try_from(*self).ok().filter(|n| *n > 0).map(Told::Number)
    }
}

impl Tell for i32 {
    fn tell(&self) -> Option<Told> {
        i64::from(*self).tell()
    }
}

#[cfg(feature = "kube")]
impl Tell for kube::core::Duration {
    fn tell(&self) -> Option<Told> {
        let while_ = Duration::from(*self);
        (!self.is_negative() && !while_.is_zero()).then_some(Told::For(while_))
    }
}

#[cfg(feature = "kube")]
impl Tell for k8s_openapi::apimachinery::pkg::apis::meta::v1::Time {
    fn tell(&self) -> Option<Told> {
        Some(Told::At(self.0))
    }
}

impl<T: Tell> Tell for Option<T> {
    fn tell(&self) -> Option<Told> {
        self.as_ref()?.tell()
    }
}

impl<T: Tell> Tell for &T {
    fn tell(&self) -> Option<Told> {
        (**self).tell()
    }
}
