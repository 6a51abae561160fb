//! Files that come back.
