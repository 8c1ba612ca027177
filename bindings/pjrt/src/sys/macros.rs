//! The declaration of the structs of functions. Fields after a semicolon are younger: the struct of
//! an older caller ends before them.

macro_rules! functions {
    ($( $slot:literal $function:literal $name:ident { $($field:ident: $ty:ty),* $(,)? $(; $($late:ident: $late_ty:ty),*)? } )*) => {$(
        #[doc = concat!("The arguments and results of `", $function, "`.")]
        #[repr(C)]
        #[derive(Debug, Default)]
        #[allow(missing_docs, reason = "the C API documents its fields")]
        pub struct $name { pub header: Header, $(pub $field: $ty,)* $($(pub $late: $late_ty),*)? }
        // SAFETY: the fields are those of the header `pjrt_c_api.h`, which the tests list with their sizes; they are
        // integers, booleans and pointers.
        unsafe impl Arguments for $name {
            const FUNCTION: &'static str = $function;
            const SLOT: usize = $slot;
            const SIZE: usize = $crate::sys::last(&[
                size_of::<Header>(), $(std::mem::offset_of!($name, $field) + size_of::<$ty>()),*
            ]);
            fn header(&mut self) -> &mut Header { &mut self.header }
        }
    )*};
}
