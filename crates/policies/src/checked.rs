//! Types whose fields are checked when they are read.

/// Writes a type by its derived functions, and reads it as its function `checked` returns it.
///
/// The type derives `Serialize` and `Deserialize` with `#[serde(remote = "Self")]`. So each field
/// is declared once. Fields that follow from others are skipped, and `checked` makes them.
macro_rules! checked {
    ($Type:ty) => {
        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::deserialize(deserializer)?.checked().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use checked;
