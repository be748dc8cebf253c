//! Types whose fields are checked when they are read.

/// Writes a type by its derived functions, and reads it as the given body returns it.
///
/// The type derives `Serialize` and `Deserialize` with `#[serde(remote = "Self")]`. So each field
/// is declared once. Fields that follow from others are skipped, and the body makes them.
macro_rules! checked {
    ($Type:ty, |$self:ident| $checked:expr) => {
        impl $Type {
            fn checked($self) -> Result<Self, crate::Error> {
                $checked
            }
        }

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

/// Declares a policy with the fields that are saved, and those that follow from them, each with how
/// it is made of the fields above it. `assemble` makes a policy of what is saved, its `State`, and
/// `then` calls methods of it. Behind `with` is an attribute of `State`.
///
/// With `live`, the last saved field is a [`LiveState`](crate::live::LiveState) of this name, in
/// `State` a [`SavedLive`](crate::live::SavedLive), and `over` makes a policy of its fields.
macro_rules! with_state {
    (
        $(#[$meta:meta])* $vis:vis struct $Policy:ident {
            $($(#[$of:meta])* $see:vis $field:ident: $Field:ty,)*
        } derived {
            $($(#[$of_derived:meta])* $see_derived:vis $derived:ident: $Derived:ty = $made:expr,)*
        } $(then $($finish:ident),+)? $(with #[$of_state:meta])?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "State")]
        $vis struct $Policy {
            $($(#[$of])* $see $field: $Field,)*
            $($(#[$of_derived])* #[serde(skip)] $see_derived $derived: $Derived,)*
        }

        #[derive(serde::Deserialize)]
        $(#[$of_state])?
        struct State {
            $($(#[$of])* $field: $Field,)*
        }

        impl $Policy {
            fn assemble(State { $($field,)* }: State) -> Self {
                $(let $derived: $Derived = $made;)*
                let policy = Self { $($field,)* $($derived,)* };
                $(
                    let mut policy = policy;
                    $(policy.$finish();)+
                )?
                policy
            }
        }
    };
    (
        $(#[$meta:meta])* $vis:vis struct $Policy:ident { $($(#[$of:meta])* $field:ident: $Field:ty,)* }
        $live:ident derived { $($(#[$of_derived:meta])* $derived:ident: $Derived:ty = $made:expr,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "State")]
        $vis struct $Policy {
            $($(#[$of])* $field: $Field,)*
            $live: crate::live::LiveState,
            $($(#[$of_derived])* #[serde(skip)] $derived: $Derived,)*
        }

        #[derive(serde::Deserialize)]
        struct State {
            $($(#[$of])* $field: $Field,)*
            #[serde(default, with = "crate::live::last")]
            $live: crate::live::SavedLive,
        }

        impl $Policy {
            fn over($($field: $Field,)* $live: crate::live::LiveState) -> Self {
                $(let $derived: $Derived = $made;)*
                Self { $($field,)* $live, $($derived,)* }
            }
        }
    };
}
pub(crate) use with_state;
