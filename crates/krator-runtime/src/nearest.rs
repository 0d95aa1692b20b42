//! Fields with times and durations, read as the nearest value that Rust has; see [`krator_machine::nearest`].

use serde::Deserializer;

/// Reads a field that has times or durations, for the attribute `deserialize_with` of serde.
///
/// # Errors
///
/// Fails if a text is no time or no duration, whatever its size.
pub fn nearest<'de, D: Deserializer<'de>, T: Nearest>(deserializer: D) -> Result<T, D::Error> {
    T::read(deserializer)
}

/// A type with times or durations that [`nearest`] reads.
pub trait Nearest: Sized {
    /// Reads a value.
    ///
    /// # Errors
    ///
    /// Fails if a text is no time or no duration, whatever its size.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

mod read {
    use super::{Deserializer, Nearest};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use serde::{Deserialize, de::Error as _};
    use std::{borrow::Cow, collections::BTreeMap};

    /// A value within another one.
    struct Read<T>(T);

    impl<'de, T: Nearest> Deserialize<'de> for Read<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            T::read(deserializer).map(Read)
        }
    }

    impl Nearest for Time {
        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = Cow::<str>::deserialize(deserializer)?;
            let time = krator_machine::nearest::time(&text);
            time.map(Time)
                .ok_or_else(|| D::Error::custom(format!("{text:?} is not a time")))
        }
    }

    impl Nearest for kube::core::Duration {
        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = Cow::<str>::deserialize(deserializer)?;
            let duration = krator_machine::nearest::duration(&text);
            duration
                .map(Self::from)
                .ok_or_else(|| D::Error::custom(format!("{text:?} is not a duration")))
        }
    }

    impl<T: Nearest> Nearest for Option<T> {
        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Ok(Option::<Read<T>>::deserialize(deserializer)?.map(|read| read.0))
        }
    }

    impl<T: Nearest> Nearest for Vec<T> {
        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let items = Vec::<Read<T>>::deserialize(deserializer)?;
            Ok(items.into_iter().map(|read| read.0).collect())
        }
    }

    impl<T: Nearest> Nearest for BTreeMap<String, T> {
        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let entries = BTreeMap::<String, Read<T>>::deserialize(deserializer)?;
            Ok(entries.into_iter().map(|(key, read)| (key, read.0)).collect())
        }
    }
}
