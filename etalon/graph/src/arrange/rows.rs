//! The rows of boxes, so that the edges are as short as they can be together: the network simplex of Gansner, Koutsofios, North and Vo.
use super::Arc;

/// The most exchanges of edges of the tree, for each box.
const EXCHANGES: usize = 4;

/// An edge that leads at least so many rows down.
#[derive(Clone, Copy)]
struct Edge {
    from: usize,
    to: usize,
    weight: isize,
}

impl Edge {
    /// Returns by how many rows it is longer than it must be.
    fn slack(self, rows: &[usize]) -> usize {
        rows[self.to] - rows[self.from] - 1
    }
}

/// Returns the row of each box. Each edge leads at least one row down.
pub(super) fn of(boxes: usize, arcs: &[Arc]) -> Vec<usize> {
    // A root above all connects what nothing else does.
    let edges = arcs.iter().map(|arc| Edge {
        from: arc.from,
        to: arc.to,
        weight: arc.weight.cast_signed(),
    });
    let roots = (0..boxes).map(|to| Edge { from: boxes, to, weight: 0 });
    let edges: Vec<Edge> = edges.chain(roots).collect();
    let mut rows = vec![0; boxes + 1];
    // As high as it can be: no way has more edges than there are boxes.
    for _ in 0..=boxes {
        for edge in &edges {
            rows[edge.to] = rows[edge.to].max(rows[edge.from] + 1);
        }
    }
    let mut tree = Tree::new(&edges, &mut rows);
    for _ in 0..EXCHANGES * boxes {
        if !tree.exchange(&edges, &mut rows) {
            break;
        }
    }
    rows.pop();
    let first = rows.iter().min().copied().unwrap_or_default();
    rows.iter().map(|row| row - first).collect()
}

/// A tree of edges that are as short as they must be.
struct Tree {
    /// The numbers of its edges.
    edges: Vec<usize>,
    /// The numbers of the edges of the tree at each box.
    at: Vec<Vec<usize>>,
}

impl Tree {
    /// Moves boxes down until a tree of shortest edges has all of them.
    fn new(edges: &[Edge], rows: &mut [usize]) -> Self {
        let mut is_in = vec![false; rows.len()];
        let mut tree = Self { edges: Vec::new(), at: vec![Vec::new(); rows.len()] };
        if let Some(root) = is_in.last_mut() {
            *root = true;
        }
        loop {
            let leads_out = |&at: &usize| is_in[edges[at].from] != is_in[edges[at].to];
            let nearest =
                (0..edges.len()).filter(leads_out).min_by_key(|&at| edges[at].slack(rows));
            let Some(nearest) = nearest else { return tree };
            let slack = edges[nearest].slack(rows);
            // The others move towards the tree, or the tree towards them.
            let is_moved = is_in[edges[nearest].from];
            shift(rows, &is_in, is_moved, slack);
            tree.add(nearest, edges);
            (is_in[edges[nearest].from], is_in[edges[nearest].to]) = (true, true);
        }
    }

    fn add(&mut self, edge: usize, edges: &[Edge]) {
        self.edges.push(edge);
        self.at[edges[edge].from].push(edge);
        self.at[edges[edge].to].push(edge);
    }

    /// Replaces an edge by one that makes the others shorter. Returns false if there is none.
    fn exchange(&mut self, edges: &[Edge], rows: &mut [usize]) -> bool {
        for place in 0..self.edges.len() {
            let leaving = self.edges[place];
            let is_above = self.side(leaving, edges);
            let across = edges.iter().filter(|edge| is_above[edge.from] != is_above[edge.to]);
            let sign = |edge: &Edge| if is_above[edge.from] { edge.weight } else { -edge.weight };
            if across.map(sign).sum::<isize>() >= 0 {
                continue;
            }
            let leads_up = |&at: &usize| !is_above[edges[at].from] && is_above[edges[at].to];
            let entering =
                (0..edges.len()).filter(leads_up).min_by_key(|&at| edges[at].slack(rows));
            let Some(entering) = entering else { continue };
            let slack = edges[entering].slack(rows);
            shift(rows, &is_above, false, slack);
            self.edges.swap_remove(place);
            for end in [edges[leaving].from, edges[leaving].to] {
                self.at[end].retain(|&edge| edge != leaving);
            }
            self.add(entering, edges);
            return true;
        }
        false
    }

    /// Returns which boxes hang together with the upper end of an edge of the tree without it.
    fn side(&self, without: usize, edges: &[Edge]) -> Vec<bool> {
        let mut is_above = vec![false; self.at.len()];
        let mut next = vec![edges[without].from];
        is_above[edges[without].from] = true;
        while let Some(end) = next.pop() {
            for &edge in self.at[end].iter().filter(|&&edge| edge != without) {
                let other = if edges[edge].from == end { edges[edge].to } else { edges[edge].from };
                if !is_above[other] {
                    is_above[other] = true;
                    next.push(other);
                }
            }
        }
        is_above
    }
}

/// Moves the boxes down for which this is true, or false.
fn shift(rows: &mut [usize], which: &[bool], is: bool, by: usize) {
    for (row, _) in rows.iter_mut().zip(which).filter(|&(_, &one)| one == is) {
        *row += by;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(boxes: usize, arcs: &[(usize, usize)]) -> Vec<usize> {
        let arc = |&(from, to)| Arc { from, to, weight: 1, label: 0.0 };
        of(boxes, &arcs.iter().map(arc).collect::<Vec<_>>())
    }

    #[test]
    fn boxes_are_near_what_uses_them() {
        // A chain of four, and a box that only the last one uses.
        assert_eq!(rows(5, &[(0, 1), (1, 2), (2, 3), (4, 3)]), [0, 1, 2, 3, 2]);
        // Two boxes that hang together move together: 4 has three edges down to 3, and 5 one to 4.
        assert_eq!(rows(6, &[(0, 1), (1, 2), (2, 3), (5, 4), (4, 3)]), [0, 1, 2, 3, 2, 1]);
        // What is between the same two boxes, in parts of different length.
        assert_eq!(rows(5, &[(0, 1), (1, 2), (2, 4), (0, 3), (3, 4), (3, 4)])[3], 2);
        assert_eq!(rows(3, &[]), [0, 0, 0]);
        assert_eq!(rows(0, &[]), [0; 0]);
    }
}
