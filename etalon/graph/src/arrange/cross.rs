//! The order of each row, so that few edges cross: each row in turn is sorted by the middle of the neighbors of its cells.
use super::Grid;

/// The most sweeps in a row that are no better than the best order.
const SWEEPS: usize = 4;

/// Orders the rows.
pub(super) fn order(grid: &mut Grid) {
    first(grid);
    let mut best = grid.rows.clone();
    let mut fewest = crossings(grid);
    let mut since = 0;
    let mut sweeps = 0;
    while fewest > 0 && since < SWEEPS {
        sweep(grid, sweeps % 2 == 1, sweeps % 4 >= 2);
        exchange(grid);
        sweeps += 1;
        since += 1;
        let crossings = crossings(grid);
        if crossings < fewest {
            (fewest, since) = (crossings, 0);
            best.clone_from(&grid.rows);
        }
    }
    grid.rows = best;
}

/// Orders each row as ways from above reach its cells: what hangs together is together.
fn first(grid: &mut Grid) {
    let mut is_found = vec![false; grid.widths.len()];
    let starts: Vec<usize> = grid.rows.iter().flatten().copied().collect();
    let mut found: Vec<usize> = Vec::new();
    for start in starts {
        let mut next = vec![start];
        while let Some(cell) = next.pop() {
            if !std::mem::replace(&mut is_found[cell], true) {
                found.push(cell);
                next.extend(grid.below[cell].iter().rev());
            }
        }
    }
    let mut rank = vec![0; found.len()];
    for (at, cell) in found.into_iter().enumerate() {
        rank[cell] = at;
    }
    for row in &mut grid.rows {
        row.sort_by_key(|&cell| rank[cell]);
    }
}

/// Sorts each row by its neighbors in the row before, from the top or from the bottom. Of cells with the same middle
/// the order is reversed, or not.
fn sweep(grid: &mut Grid, from_top: bool, reversed: bool) {
    let mut places = grid.places();
    let (neighbors, rows) = match from_top {
        true => (&grid.above, (0..grid.rows.len()).collect::<Vec<_>>()),
        false => (&grid.below, (0..grid.rows.len()).rev().collect()),
    };
    for row in rows {
        let row = &mut grid.rows[row];
        // The middle as a sum and a number. What has no neighbors stays where it is.
        let middle = |&cell: &usize| {
            let all = &neighbors[cell];
            (all.iter().map(|&other| places[other]).sum::<usize>(), all.len())
        };
        let has_neighbors = |cell: &usize| !neighbors[*cell].is_empty();
        let mut sorted: Vec<usize> = row.iter().copied().filter(has_neighbors).collect();
        if reversed {
            sorted.reverse();
        }
        sorted.sort_by(|one, other| {
            let ((a, n), (b, m)) = (middle(one), middle(other));
            (a * m).cmp(&(b * n))
        });
        let mut sorted = sorted.into_iter();
        for cell in row.iter_mut().filter(|cell| has_neighbors(cell)) {
            *cell = sorted.next().unwrap_or(*cell);
        }
        for (place, &cell) in row.iter().enumerate() {
            places[cell] = place;
        }
    }
}

/// Exchanges two cells beside each other for as long as fewer of their edges cross.
fn exchange(grid: &mut Grid) {
    let mut places = grid.places();
    let mut is_better = true;
    while std::mem::take(&mut is_better) {
        for row in &mut grid.rows {
            for at in 1..row.len() {
                let [left, right] = [row[at - 1], row[at]];
                let crossings = |left: usize, right: usize| -> usize {
                    let sides = [&grid.above, &grid.below].into_iter();
                    let of = |side: &Vec<Vec<usize>>| -> usize {
                        let right_of = |&one: &usize| {
                            side[right].iter().filter(|&&other| places[other] < places[one]).count()
                        };
                        side[left].iter().map(right_of).sum()
                    };
                    sides.map(of).sum()
                };
                if crossings(right, left) < crossings(left, right) {
                    row.swap(at - 1, at);
                    places.swap(left, right);
                    is_better = true;
                }
            }
        }
    }
}

/// Returns the number of pairs of edges that cross.
fn crossings(grid: &Grid) -> usize {
    let places = grid.places();
    let mut count = 0;
    for row in &grid.rows {
        // The lower ends of the edges to the left, in their order.
        let mut ends: Vec<usize> = Vec::new();
        for &cell in row {
            let mut own: Vec<usize> = grid.below[cell].iter().map(|&other| places[other]).collect();
            own.sort_unstable();
            let before = ends.len();
            for &end in &own {
                count += before - ends[..before].partition_point(|&other| other <= end);
            }
            ends.extend(own);
            ends.sort_unstable();
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use crate::arrange::{Arc, arrange};

    /// Returns the boxes of each row from the left.
    fn rows(boxes: usize, arcs: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let arc = |&(from, to)| Arc { from, to, weight: 1, label: 20.0 };
        let arcs: Vec<Arc> = arcs.iter().map(arc).collect();
        let places = arrange(&vec![(40.0, 20.0); boxes], &arcs).boxes;
        let mut order: Vec<usize> = (0..boxes).collect();
        let down = |a: &usize, b: &usize| places[*a].1.total_cmp(&places[*b].1);
        order.sort_by(|a, b| down(a, b).then(places[*a].0.total_cmp(&places[*b].0)));
        order.chunk_by(|a, b| down(a, b).is_eq()).map(<[usize]>::to_vec).collect()
    }

    #[test]
    fn edges_do_not_cross_where_they_need_not() {
        let found = rows(6, &[(0, 5), (1, 4), (2, 3)]);
        assert_eq!(found[1], found[0].iter().map(|upper| 5 - upper).collect::<Vec<_>>());
        // Two trees whose leaves are mixed.
        let found = rows(6, &[(0, 2), (0, 4), (1, 3), (1, 5)]);
        let roots: Vec<usize> = found[1].iter().map(|leaf| leaf % 2).collect();
        assert_eq!(roots, [found[0][0], found[0][0], found[0][1], found[0][1]]);
    }
}
