//! How the states of areas are declared.

/// Declares a state around its parts, which its clones share. That of an area says `and core: Core`: what every area needs is at
/// hand as if it were a part of its own. What is another area's is named by that area.
macro_rules! shared_state {
    ($(#[$about:meta])* $name:ident($parts:ident)) => {
        $(#[$about])*
        #[derive(Clone)]
        pub struct $name(::std::sync::Arc<$parts>);

        impl $name {
            #[must_use]
            pub fn new(parts: $parts) -> Self {
                Self(::std::sync::Arc::new(parts))
            }
        }

        impl ::std::ops::Deref for $name {
            type Target = $parts;
            fn deref(&self) -> &$parts {
                &self.0
            }
        }
    };
    ($(#[$about:meta])* $name:ident($parts:ident) and core: $core:ident) => {
        $crate::shared_state::shared_state! { $(#[$about])* $name($parts) }

        impl ::std::ops::Deref for $parts {
            type Target = $core;
            fn deref(&self) -> &$core {
                &self.core
            }
        }
    };
}
pub(crate) use shared_state;
