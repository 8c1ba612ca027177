//! Typed indices, the arenas they index, and secondary maps.
//!
//! References between instructions are `u32` positions, not pointers: a module is then a plain
//! value that can be cloned, compared and sent to another thread, operands point backwards, and
//! arena order is evaluation order.
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// Index of a `T` in its [`Arena`].
pub struct Id<T>(u32, PhantomData<fn() -> T>);

impl<T> Id<T> {
    /// Returns the id of position `index`.
    ///
    /// # Panics
    /// If `index` does not fit in `u32`.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 items"), PhantomData)
    }

    /// Returns the position in the arena.
    #[inline]
    pub fn index(self) -> usize {
        usize::try_from(self.0).expect("u32 fits usize")
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Append-only store of `T`; an item's [`Id`] never moves.
#[derive(Debug, Clone, PartialEq)]
pub struct Arena<T>(Vec<T>);

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}
impl<T> Arena<T> {
    /// Adds `value` and returns its id.
    pub fn push(&mut self, value: T) -> Id<T> {
        let id = Id::new(self.0.len());
        self.0.push(value);
        id
    }
    /// Iterates over the items in id order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Id<T>, &T)> + ExactSizeIterator {
        self.0.iter().enumerate().map(|(i, v)| (Id::new(i), v))
    }
    /// Iterates over the items in id order, mutably.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Id<T>, &mut T)> {
        self.0.iter_mut().enumerate().map(|(i, v)| (Id::new(i), v))
    }
    /// Iterates over all ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = Id<T>> + use<T> {
        (0..self.0.len()).map(Id::new)
    }
    /// Returns the item, if `id` belongs to this arena.
    pub fn get(&self, id: Id<T>) -> Option<&T> {
        self.0.get(id.index())
    }
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Frees spare capacity.
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }
}
impl<T> FromIterator<T> for Arena<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}
impl<T> Index<Id<T>> for Arena<T> {
    type Output = T;
    #[inline]
    fn index(&self, id: Id<T>) -> &T {
        &self.0[id.index()]
    }
}
impl<T> IndexMut<Id<T>> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, id: Id<T>) -> &mut T {
        &mut self.0[id.index()]
    }
}

/// One `V` for each `K` of an arena: names, spans, liveness.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondaryMap<K, V> {
    values: Vec<V>,
    key: PhantomData<fn() -> K>,
}

impl<K, V> Default for SecondaryMap<K, V> {
    fn default() -> Self {
        Self { values: Vec::new(), key: PhantomData }
    }
}
impl<K, V> SecondaryMap<K, V> {
    /// Returns a map of `len` copies of `value`.
    pub fn filled(len: usize, value: V) -> Self
    where
        V: Clone,
    {
        Self { values: vec![value; len], key: PhantomData }
    }
    /// Adds the value of the arena's next item.
    pub fn push(&mut self, value: V) {
        self.values.push(value);
    }
    /// Returns the value of `id`, if one was pushed.
    pub fn get(&self, id: Id<K>) -> Option<&V> {
        self.values.get(id.index())
    }
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    /// Frees spare capacity.
    pub fn shrink_to_fit(&mut self) {
        self.values.shrink_to_fit();
    }
}
impl<K, V> Index<Id<K>> for SecondaryMap<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, id: Id<K>) -> &V {
        &self.values[id.index()]
    }
}
impl<K, V> IndexMut<Id<K>> for SecondaryMap<K, V> {
    #[inline]
    fn index_mut(&mut self, id: Id<K>) -> &mut V {
        &mut self.values[id.index()]
    }
}
