//! What a PATCH says of a field: keep it, clear it, or set it.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patch<T> {
    Keep,
    Clear,
    Set(T),
}

impl<T> Patch<T> {
    #[must_use]
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// The new value, where clearing means the empty one.
    #[must_use]
    pub fn or_empty(self) -> Option<T>
    where
        T: Default,
    {
        match self {
            Self::Keep => None,
            Self::Clear => Some(T::default()),
            Self::Set(value) => Some(value),
        }
    }
}
