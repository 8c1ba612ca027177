//! Places boxes in rows so that edges lead down, few of them cross and most are short and straight: the layered drawing of Sugiyama.
//!
//! Rows come first ([`rows`]), then the order within each row ([`cross`]), then the distance from the left ([`align`]).
mod align;
mod cross;
mod rows;

/// The distance of two boxes of a row, of two edges, and of two rows.
const BOXES: f64 = 18.0;
const BENDS: f64 = 12.0;
const ROWS: f64 = 17.0;
/// The height of a label.
const LABEL: f64 = 12.0;
/// The distance of edges from the corners of a box.
const CORNER: f64 = 10.0;

/// An edge from a box to a box of a row below.
pub(super) struct Arc {
    pub(super) from: usize,
    pub(super) to: usize,
    /// How much it counts that the edge is short.
    pub(super) weight: usize,
    /// The width of its label.
    pub(super) label: f64,
}

/// The centers of boxes, and for each edge the points that it leads through, with the place of its label among them.
pub(super) struct Arrangement {
    pub(super) boxes: Vec<(f64, f64)>,
    pub(super) edges: Vec<(Vec<(f64, f64)>, usize)>,
}

/// What is in rows: the boxes, and a bend of each edge in each row between those of its boxes.
struct Grid {
    rows: Vec<Vec<usize>>,
    /// The neighbors in the row above and in the row below.
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    widths: Vec<f64>,
    /// The first bend: what is before is a box.
    bends: usize,
}

impl Grid {
    fn is_bend(&self, cell: usize) -> bool {
        cell >= self.bends
    }

    fn connect(&mut self, above: usize, below: usize) {
        self.below[above].push(below);
        self.above[below].push(above);
    }

    /// Adds a cell to a row.
    fn add(&mut self, row: usize, width: f64) -> usize {
        self.rows[row].push(self.widths.len());
        self.widths.push(width);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        self.widths.len() - 1
    }

    /// Returns the place of each cell in its row.
    fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.widths.len()];
        for row in &self.rows {
            for (place, &cell) in row.iter().enumerate() {
                places[cell] = place;
            }
        }
        places
    }
}

/// Returns the places of boxes of these sizes with these edges between them, which have no cycle.
pub(super) fn arrange(sizes: &[(f64, f64)], arcs: &[Arc]) -> Arrangement {
    // Every second row is for labels: between two boxes there is at least one.
    let rows: Vec<usize> = rows::of(sizes.len(), arcs).iter().map(|row| row * 2).collect();
    let count = rows.iter().max().map_or(0, |last| last + 1);
    let mut grid = Grid {
        rows: vec![Vec::new(); count],
        above: Vec::new(),
        below: Vec::new(),
        widths: Vec::new(),
        bends: sizes.len(),
    };
    let mut heights = vec![0.0; count];
    for (&row, &(width, height)) in rows.iter().zip(sizes) {
        grid.add(row, width);
        heights[row] = f64::max(heights[row], height);
    }
    let mut bends = Vec::new();
    for arc in arcs {
        let (top, bottom) = (rows[arc.from], rows[arc.to]);
        let middle = usize::midpoint(top, bottom);
        let mut last = arc.from;
        let mut cells = Vec::new();
        for row in top + 1..bottom {
            let cell = grid.add(row, if row == middle { arc.label } else { 0.0 });
            grid.connect(last, cell);
            cells.push(cell);
            last = cell;
        }
        grid.connect(last, arc.to);
        heights[middle] = f64::max(heights[middle], LABEL);
        bends.push((cells, middle - top));
    }
    cross::order(&mut grid);
    let x = align::of(&grid);
    let left = (0..x.len()).map(|cell| x[cell] - grid.widths[cell] / 2.0).fold(f64::MAX, f64::min);
    let mut at = vec![(0.0, 0.0); x.len()];
    let mut top = 0.0;
    for (row, height) in grid.rows.iter().zip(heights) {
        for &cell in row {
            at[cell] = (x[cell] - left, top + height / 2.0);
        }
        top += height + ROWS;
    }
    let edge = |(arc, (cells, label)): (&Arc, (Vec<usize>, usize))| {
        let bends: Vec<(f64, f64)> = cells.iter().map(|&cell| at[cell]).collect();
        // Between two boxes there is a bend.
        let (first, last) = (bends[0], bends[bends.len() - 1]);
        let first = border(at[arc.from], sizes[arc.from], first, 0.5);
        let last = border(at[arc.to], sizes[arc.to], last, -0.5);
        (std::iter::once(first).chain(bends).chain([last]).collect(), label)
    };
    let edges = arcs.iter().zip(bends).map(edge).collect();
    at.truncate(sizes.len());
    Arrangement { boxes: at, edges }
}

/// Returns the point of the lower (0.5) or upper (-0.5) side of a box that is the nearest to another point, but for its corners.
fn border(center: (f64, f64), size: (f64, f64), to: (f64, f64), side: f64) -> (f64, f64) {
    let reach = (size.0 / 2.0 - CORNER).max(0.0);
    (to.0.clamp(center.0 - reach, center.0 + reach), center.1 + size.1 * side)
}
