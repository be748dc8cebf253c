//! From the rows of the table: the formats by name, what the table says of each, and which file reads it.

/// Makes everything that is said of formats one by one from the table's rows.
macro_rules! formats {
    ($(
        $(#[doc = $sentence:literal])+
        $Variant:ident $(($settings:ident: $Settings:ty))? = $name:literal in $file:ident {
            $($field:ident: $value:expr,)*
        }
    )*) => {
        /// How a log is written.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[doc = $sentence])+ $Variant $(($Settings))?,)*
        }

        static ROWS: [FormatRow; [$($name),*].len()] =
            [$(FormatRow { name: $name, variant: stringify!($Variant), $($field: $value,)* },)*];

        impl Format {
            /// The name that it has on the command line and in experiments.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Variant { .. } => $name,)*
                }
            }

            /// What the table says of it.
            pub fn row(&self) -> &'static FormatRow {
                // Every variant is made from a row.
                find(self.name()).unwrap_or(&ROWS[0])
            }

            /// What the user calls the columns, where the user names them.
            fn columns(&self) -> Option<&Columns> {
                match self {
                    $(Self::$Variant $(($settings))? => {
                        let columns: [Option<&Columns>; _] = [$(Some($settings.columns()),)? None];
                        columns[0]
                    })*
                }
            }

            pub(super) fn read<K: Keep>(
                &self,
                reader: &Reader,
                inputs: Vec<Input<'_>>,
                keep: &K,
            ) -> Result<ReadReport, Error> {
                match self {
                    $(Self::$Variant $(($settings))? => $file::read($($settings,)? reader, inputs, keep),)*
                }
            }
        }
    };
}
pub(super) use formats;
