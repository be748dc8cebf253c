//! Macro that turns the rows of the table into [`Format`](super::Format) and its facts.

/// Generates everything that differs from format to format from the rows of the table.
macro_rules! formats {
    ($(
        $(#[doc = $sentence:literal])+
        $Variant:ident $(($settings:ident: $Settings:ty))? = $name:literal in $file:ident {
            $($field:ident: $value:expr,)*
        }
    )*) => {
        /// The format of a log.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[doc = $sentence])+ $Variant $(($Settings))?,)*
        }

        static ROWS: [FormatRow; [$($name),*].len()] =
            [$(FormatRow { name: $name, description: concat!($($sentence),+), variant: stringify!($Variant), $($field: $value,)* },)*];

        impl Format {
            /// The format's name on the command line and in experiments.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Variant { .. } => $name,)*
                }
            }

            /// The format's row in the table.
            pub fn row(&self) -> &'static FormatRow {
                // Every variant has a row.
                find(self.name()).unwrap_or(&ROWS[0])
            }

            /// The columns named by the user, for formats without fixed columns.
            pub(in crate::read) fn columns(&self) -> Option<&Columns> {
                match self {
                    $(Self::$Variant $(($settings))? => {
                        let columns: [Option<&Columns>; _] = [$(Some($settings.columns()),)? None];
                        columns[0]
                    })*
                }
            }

            pub(super) fn read(
                &self,
                reader: &Reader,
                inputs: Vec<Input<'_>>,
                collector: &Collector,
            ) -> Result<ReadReport, Error> {
                match self {
                    $(Self::$Variant $(($settings))? => $file::read($($settings,)? reader, inputs, collector),)*
                }
            }
        }
    };
}
pub(super) use formats;
