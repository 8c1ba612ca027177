//! The distance of each cell from the left: edges are straight where they can be, after Brandes and Köpf.
//!
//! Each cell is put in line with the middle one of its neighbors above, where no line crosses another; lines are moved together as far as
//! their widths allow. That is done from the top and from the bottom, from the left and from the right. A cell is in the middle of
//! the four places.
use super::{BENDS, BOXES, Grid};
use std::collections::BTreeSet;

/// Returns the center of each cell.
pub(super) fn of(grid: &Grid) -> Vec<f64> {
    let crossed = crossed(grid);
    let mut all: Vec<Vec<f64>> = Vec::new();
    for from_bottom in [false, true] {
        for from_right in [false, true] {
            all.push(one(grid, &crossed, from_bottom, from_right));
        }
    }
    let ends = |places: &Vec<f64>| {
        let halves = || places.iter().zip(&grid.widths).map(|(x, width)| (x, width / 2.0));
        let left = halves().map(|(x, half)| x - half).fold(f64::MAX, f64::min);
        (left, halves().map(|(x, half)| x + half).fold(f64::MIN, f64::max))
    };
    let narrowest = all.iter().map(ends).min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
    let (left, right) = narrowest.unwrap_or_default();
    for (number, places) in all.iter_mut().enumerate() {
        let own = ends(places);
        let by = if number % 2 == 0 { left - own.0 } else { right - own.1 };
        for x in places {
            *x += by;
        }
    }
    let middle = |cell: usize| {
        let mut four: Vec<f64> = all.iter().map(|places| places[cell]).collect();
        four.sort_by(f64::total_cmp);
        f64::midpoint(four[1], four[2])
    };
    (0..grid.widths.len()).map(middle).collect()
}

/// Returns the pieces of edges, from above to below, that cross a piece between two bends: a long edge is straight first.
fn crossed(grid: &Grid) -> BTreeSet<(usize, usize)> {
    let places = grid.places();
    let mut crossed = BTreeSet::new();
    for row in &grid.rows {
        let pieces =
            || row.iter().flat_map(|&from| grid.below[from].iter().map(move |&to| (from, to)));
        let is_inner = |piece: &(usize, usize)| grid.is_bend(piece.0) && grid.is_bend(piece.1);
        for inner in pieces().filter(is_inner) {
            let crosses = |piece: &(usize, usize)| {
                let order = |a: usize, b: usize| places[a].cmp(&places[b]);
                !is_inner(piece)
                    && order(piece.0, inner.0) == order(inner.1, piece.1)
                    && piece.0 != inner.0
            };
            crossed.extend(pieces().filter(crosses));
        }
    }
    crossed
}

/// Returns the places of one of the four ways.
fn one(
    grid: &Grid,
    crossed: &BTreeSet<(usize, usize)>,
    from_bottom: bool,
    from_right: bool,
) -> Vec<f64> {
    let mut rows = grid.rows.clone();
    let neighbors = if from_bottom { &grid.below } else { &grid.above };
    if from_bottom {
        rows.reverse();
    }
    if from_right {
        for row in &mut rows {
            row.reverse();
        }
    }
    let lines = lines(&rows, neighbors, crossed, from_bottom);
    let places = together(grid, &rows, &lines);
    places.into_iter().map(|x| if from_right { -x } else { x }).collect()
}

/// Returns the line of each cell, as the first cell of it.
fn lines(
    rows: &[Vec<usize>],
    neighbors: &[Vec<usize>],
    crossed: &BTreeSet<(usize, usize)>,
    from_bottom: bool,
) -> Vec<usize> {
    let mut lines: Vec<usize> = (0..neighbors.len()).collect();
    let mut place = vec![0; neighbors.len()];
    for row in rows {
        // The neighbors to the right of the last line.
        let mut free = 0;
        for (at, &cell) in row.iter().enumerate() {
            place[cell] = at;
            let mut near = neighbors[cell].clone();
            near.sort_by_key(|&other| place[other]);
            let Some(last) = near.len().checked_sub(1) else { continue };
            for &other in &near[last / 2..=last.div_ceil(2)] {
                let piece = if from_bottom { (cell, other) } else { (other, cell) };
                if place[other] >= free && !crossed.contains(&piece) {
                    lines[cell] = lines[other];
                    free = place[other] + 1;
                    break;
                }
            }
        }
    }
    lines
}

/// Moves the lines together. Returns the place of each cell.
fn together(grid: &Grid, rows: &[Vec<usize>], lines: &[usize]) -> Vec<f64> {
    let count = lines.len();
    let half = |cell: usize| {
        let apart = if grid.is_bend(cell) { BENDS } else { BOXES };
        f64::midpoint(grid.widths[cell], apart)
    };
    // The lines to the right of each line, and how far they are at least.
    let mut right: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    let mut before = vec![0; count];
    for row in rows {
        for pair in row.windows(2) {
            let [one, other] = [pair[0], pair[1]];
            right[lines[one]].push((lines[other], half(one) + half(other)));
            before[lines[other]] += 1;
        }
    }
    // From the left: a line comes behind those that are left of it.
    let mut order: Vec<usize> =
        (0..count).filter(|&line| lines[line] == line && before[line] == 0).collect();
    let mut x = vec![0.0; count];
    let mut at = 0;
    while let Some(&line) = order.get(at) {
        at += 1;
        for &(next, apart) in &right[line] {
            x[next] = f64::max(x[next], x[line] + apart);
            before[next] -= 1;
            if before[next] == 0 {
                order.push(next);
            }
        }
    }
    // What can be nearer to what is right of it is.
    for &line in order.iter().rev() {
        let nearest =
            right[line].iter().map(|&(next, apart)| x[next] - apart).fold(f64::MAX, f64::min);
        if nearest < f64::MAX {
            x[line] = f64::max(x[line], nearest);
        }
    }
    (0..count).map(|cell| x[lines[cell]]).collect()
}

#[cfg(test)]
mod tests {
    use crate::arrange::{Arc, arrange};

    #[test]
    fn chains_and_long_edges_are_straight_and_boxes_are_apart() {
        // A chain of four with an edge beside it, and three more boxes under the first.
        let pairs = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (0, 5), (0, 6)];
        let arcs = pairs.map(|(from, to)| Arc { from, to, weight: 1, label: 30.0 });
        let sizes: Vec<(f64, f64)> =
            (0..7).map(|box_| (60.0 + 10.0 * f64::from(box_), 24.0)).collect();
        let found = arrange(&sizes, &arcs);
        let x = |at: usize| found.boxes[at].0;
        // Two edges lead to the last box: it is in the middle below them.
        let middle = f64::midpoint(x(2), found.edges[3].0[1].0);
        let is_same = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(is_same(x(1), x(2)) && is_same(x(3), middle), "{:?}", found.boxes);
        let (points, label) = &found.edges[3];
        // Each of its bends is below the other, between the two boxes; the label is at the middle one.
        let bends = &points[1..points.len() - 1];
        assert!(
            bends.len() == 5 && bends.iter().all(|bend| is_same(bend.0, bends[0].0)),
            "{points:?}"
        );
        assert_eq!(points[*label], bends[2]);
        assert!(points.windows(2).all(|pair| pair[0].1 < pair[1].1), "{points:?}");
        for (one, a) in found.boxes.iter().enumerate() {
            for (other, b) in found.boxes[..one].iter().enumerate() {
                let apart = f64::midpoint(sizes[one].0, sizes[other].0) + super::BOXES;
                assert!(
                    !is_same(a.1, b.1) || (a.0 - b.0).abs() >= apart - 1e-9,
                    "{:?}",
                    found.boxes
                );
            }
        }
        // The picture begins at the left and at the top.
        let left = found.boxes.iter().zip(&sizes).map(|(at, size)| at.0 - size.0 / 2.0);
        assert!(left.fold(f64::MAX, f64::min) >= 0.0 && is_same(found.boxes[0].1, 12.0));
    }
}
