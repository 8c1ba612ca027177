//! Spellings of groups, and the ids they contain.

/// The text of groups, and their ids.
#[derive(Debug)]
pub(crate) struct Spelling {
    pub(crate) text: &'static str,
    pub(crate) ids: &'static [&'static [usize]],
}

const fn means(text: &'static str, ids: &'static [&'static [usize]]) -> Spelling {
    Spelling { text, ids }
}

/// Of four ids.
pub(crate) const FOUR: [Spelling; 12] = [
    means("{}", &[&[0, 1, 2, 3]]),
    means("{{0,1,2,3}}", &[&[0, 1, 2, 3]]),
    means("{{3,1},{0,2}}", &[&[3, 1], &[0, 2]]),
    means("{{2},{0},{3},{1}}", &[&[2], &[0], &[3], &[1]]),
    means("[2,2]<=[4]", &[&[0, 1], &[2, 3]]),
    means("[2,2]<=[2,2]T(1,0)", &[&[0, 2], &[1, 3]]),
    means("[1,4]<=[2,2]T(1,0)", &[&[0, 2, 1, 3]]),
    means("mesh['x'=2,'y'=2] {'x'}", &[&[0, 2], &[1, 3]]),
    means("mesh['x'=2,'y'=2] {'y'}", &[&[0, 1], &[2, 3]]),
    // The first named axis varies slowest.
    means("mesh['x'=2,'y'=2] {'y','x'}", &[&[0, 2, 1, 3]]),
    // The slower half of an axis: stride 2.
    means("mesh['x'=4] {'x':(1)2}", &[&[0, 2], &[1, 3]]),
    // The mesh holds {{0,2},{1,3}}; along x are its columns.
    means("mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'x'}", &[&[0, 1], &[2, 3]]),
];

/// Of four ids, in groups that differ in size.
pub(crate) const UNEVEN: [Spelling; 2] =
    [means("{{2},{3,0,1}}", &[&[2], &[3, 0, 1]]), means("{{1,0},{3},{2}}", &[&[1, 0], &[3], &[2]])];

/// Of eight ids.
pub(crate) const EIGHT: [Spelling; 8] = [
    means("{{0,1,2,3,4,5,6,7}}", &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
    means("{{7,0},{3,4},{1,6},{5,2}}", &[&[7, 0], &[3, 4], &[1, 6], &[5, 2]]),
    means("[2,4]<=[8]", &[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
    means("[2,4]<=[4,2]T(1,0)", &[&[0, 2, 4, 6], &[1, 3, 5, 7]]),
    // [a,b,c] of 2 x 2 x 2 holds 4a + 2b + c; c becomes the slowest, then a, then b.
    means("[4,2]<=[2,2,2]T(2,0,1)", &[&[0, 2], &[4, 6], &[1, 3], &[5, 7]]),
    means("mesh['x'=2,'y'=4] {'y'}", &[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
    means("mesh['x'=2,'y'=4] {'x'}", &[&[0, 4], &[1, 5], &[2, 6], &[3, 7]]),
    means("mesh['x'=2,'y'=4] {'y':(2)2,'x'}", &[&[0, 4, 1, 5], &[2, 6, 3, 7]]),
];
