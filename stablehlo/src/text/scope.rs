//! The names of values, by the regions in which they are visible.
use crate::ir::{Type, ValueId};
use rustc_hash::FxHashMap;

/// The values of a name: the results of an op, which `%name#1` selects from.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedValues {
    pub(super) first: ValueId,
    pub(super) count: u32,
}

/// The names that are visible, and the types of all values.
#[derive(Debug, Default)]
pub(super) struct Scopes<'a> {
    names: FxHashMap<&'a str, NamedValues>,
    /// The names of the open regions, in order of definition.
    defined: Vec<&'a str>,
    types: Vec<Type>,
}

/// The state of an enclosing region, restored when a region ends.
#[derive(Debug)]
pub(super) struct OuterNames<'a> {
    defined: usize,
    hidden: Option<(FxHashMap<&'a str, NamedValues>, Vec<&'a str>)>,
}

impl<'a> Scopes<'a> {
    /// Enters a region; the values outside of an isolated one are not visible in it.
    pub(super) fn enter(&mut self, isolated: bool) -> OuterNames<'a> {
        let hidden =
            isolated.then(|| (std::mem::take(&mut self.names), std::mem::take(&mut self.defined)));
        OuterNames { defined: self.defined.len(), hidden }
    }
    /// Leaves a region.
    pub(super) fn leave(&mut self, outer: OuterNames<'a>) {
        for name in self.defined.drain(outer.defined..) {
            self.names.remove(name);
        }
        if let Some((names, defined)) = outer.hidden {
            (self.names, self.defined) = (names, defined);
        }
    }
    /// Returns whether no name is visible.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
    /// Leaves all regions.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.defined.clear();
    }
    /// Returns the values of a name.
    pub(super) fn get(&self, name: &str) -> Option<NamedValues> {
        self.names.get(name).copied()
    }
    /// Returns names that are visible, from the last one defined.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.defined.iter().rev().copied()
    }
    /// Makes values visible under a name; returns whether the name is new.
    pub(super) fn define(&mut self, name: &'a str, values: NamedValues) -> bool {
        self.defined.push(name);
        self.names.insert(name, values).is_none()
    }
    /// Adds a value of this type.
    pub(super) fn add(&mut self, ty: Type) -> ValueId {
        let id = ValueId(self.count());
        self.types.push(ty);
        id
    }
    /// Returns the number of values.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.types.len()).unwrap_or(u32::MAX)
    }
    /// Returns the type of a value.
    pub(super) fn ty(&self, value: ValueId) -> Option<&Type> {
        self.types.get(usize::try_from(value.0).ok()?)
    }
}
