//! Rules of ops that have no method.
