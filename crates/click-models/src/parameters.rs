//! The parameters of types that are checked when they are read.

/// Declares the parameters by which a type is saved: the value of each, given one of the type, and
/// the constructor that they are read by. The type has
/// `#[serde(try_from = "Parameters", into = "Parameters")]`.
macro_rules! parameters {
    (
        $(#[$meta:meta])* $Type:ident as $of:ident {
            $($(#[$of_one:meta])* $name:ident: $Kind:ty = $value:expr,)+
        } by $new:expr
    ) => {
        #[derive(serde::Serialize, serde::Deserialize)]
        $(#[$meta])*
        struct Parameters {
            $($(#[$of_one])* $name: $Kind,)+
        }

        impl TryFrom<Parameters> for $Type {
            type Error = crate::Error;

            fn try_from(Parameters { $($name),+ }: Parameters) -> Result<Self, crate::Error> {
                $new
            }
        }

        impl From<$Type> for Parameters {
            fn from($of: $Type) -> Self {
                Self { $($name: $value,)+ }
            }
        }
    };
}
pub(crate) use parameters;
