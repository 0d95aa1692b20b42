//! The types of fields that polls, timeouts, limits and gates are read from.
use krator_machine::FieldValue;
#[cfg(feature = "kube")]
use std::time::Duration;

/// The type of a field that a poll, a timeout or a limit can be read from.
pub trait ReadField {
    /// The value of the field. `None` if the field is absent, a negative number or a duration that is not positive, which
    /// means "never" for a poll or a timeout, and "no limit" for a limit.
    fn read_field(&self) -> Option<FieldValue>;
}

impl ReadField for i64 {
    fn read_field(&self) -> Option<FieldValue> {
        u32::try_from(*self).ok().map(FieldValue::Number)
    }
}

impl ReadField for str {
    fn read_field(&self) -> Option<FieldValue> {
        (!self.is_empty()).then(|| FieldValue::Text(self.into()))
    }
}

impl ReadField for String {
    fn read_field(&self) -> Option<FieldValue> {
        self.as_str().read_field()
    }
}

impl ReadField for i32 {
    fn read_field(&self) -> Option<FieldValue> {
        i64::from(*self).read_field()
    }
}

#[cfg(feature = "kube")]
impl ReadField for kube::core::Duration {
    fn read_field(&self) -> Option<FieldValue> {
        let duration = Duration::from(*self);
        (!self.is_negative() && !duration.is_zero()).then_some(FieldValue::For(duration))
    }
}

#[cfg(feature = "kube")]
impl ReadField for k8s_openapi::apimachinery::pkg::apis::meta::v1::Time {
    fn read_field(&self) -> Option<FieldValue> {
        Some(FieldValue::At(self.0))
    }
}

impl<T: ReadField> ReadField for Option<T> {
    fn read_field(&self) -> Option<FieldValue> {
        self.as_ref()?.read_field()
    }
}

impl<T: ReadField> ReadField for &T {
    fn read_field(&self) -> Option<FieldValue> {
        (**self).read_field()
    }
}
