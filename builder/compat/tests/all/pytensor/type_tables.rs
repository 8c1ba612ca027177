//! PyTensor 3.0.7's types of outputs, as NumPy's letters.

/// Types of outputs, in the order of inputs above; a point where the operation is refused.
pub(crate) const UNARY: &[(&str, &str)] = &[
    ("abs imag real", "?bhilBHILefdfd"),
    (
        "arccos arccosh arcsin arcsinh arctan arctanh cos cosh erf exp exp2 expm1 log log10 log1p log2 reciprocal sigmoid sin sinh softplus sqrt tan tanh",
        "fffddffddefdFD",
    ),
    ("ceil floor trunc", "fffddffddefd.."),
    ("conj", "bbhilBHILefdFD"),
    ("identity sqr", "?bhilBHILefdFD"),
    ("invert", "?bhilBHIL....."),
    ("isinf isnan", "??????????????"),
    ("neg", ".bhilBHILefdFD"),
    ("round_half_away_from_zero round_half_to_even", ".........efd.."),
    ("sign", ".bhilBHILefd.."),
];

/// The same of two inputs: a word for each type of the first.
pub(crate) const BINARY: &[(&str, &str)] = &[
    (
        "add int_div maximum minimum mod mul",
        "?bhilBHILefdFD bbhilhildefdFD hhhilhildffdFD iiiiliilddddDD llllllllddddDD BhhilBHILefdFD HiiilHHILffdFD \
         IllllIIILdddDD LddddLLLLdddDD eefddefddefdFD fffddffddffdFD ddddddddddddDD FFFDDFFDDFFDFD DDDDDDDDDDDDDD",
    ),
    (
        "and_ or_ xor",
        "?............. .bhilhild..... .hhilhild..... .iiiliild..... .llllllld..... .hhilBHIL..... .iiilHHIL..... \
         .llllIIIL..... .ddddLLLL..... .............. .............. .............. .............. ..............",
    ),
    (
        "arctan2",
        "fffddffddffdFD fffddffddffdFD fffddffddffdFD ddddddddddddDD ddddddddddddDD fffddffddffdFD fffddffddffdFD \
         ddddddddddddDD ddddddddddddDD fffddffddefdFD fffddffddffdFD ddddddddddddDD FFFDDFFDDFFDFD DDDDDDDDDDDDDD",
    ),
    (
        "complex",
        "FFFDDFFDDFFD.. FFFDDFDDDFFD.. FFFDDFDDDFFD.. DDDDDDDDDDDD.. DDDDDDDDDDDD.. FFFDDFFDDFFD.. FDDDDFFDDFFD.. \
         DDDDDDDDDDDD.. DDDDDDDDDDDD.. FFFDDFFDDFFD.. FFFDDFFDDFFD.. DDDDDDDDDDDD.. .............. ..............",
    ),
    (
        "eq ge gt le lt neq",
        "?????????????? ?????????????? ?????????????? ?????????????? ?????????????? ?????????????? ?????????????? \
         ?????????????? ?????????????? ?????????????? ?????????????? ?????????????? ?????????????? ??????????????",
    ),
    (
        "pow",
        "bbhilBHILefdFD bbhilhildefdFD hhhilhildffdFD iiiiliilddddDD llllllllddddDD BhhilBHILefdFD HiiilHHILffdFD \
         IllllIIILdddDD LddddLLLLdddDD eefddefddefdFD fffddffddffdFD ddddddddddddDD FFFDDFFDDFFDFD DDDDDDDDDDDDDD",
    ),
    (
        "second",
        "?bhilBHILefdFD ?bhilBHILefdFD ?bhilBHILefdFD ?bhilBHILefdFD ?bhilBHILefdFD ?bhilBHILefdFD ?bhilBHILefdFD \
         ?bhilBHILefdFD ?bhilBHILefdFD ?bhilBHILefdFD ?bhilBHILefdFD ?bhilBHILefdFD ?bhilBHILefdFD ?bhilBHILefdFD",
    ),
    (
        "sub",
        ".bhilBHILefdFD bbhilhildefdFD hhhilhildffdFD iiiiliilddddDD llllllllddddDD BhhilBHILefdFD HiiilHHILffdFD \
         IllllIIILdddDD LddddLLLLdddDD eefddefddefdFD fffddffddffdFD ddddddddddddDD FFFDDFFDDFFDFD DDDDDDDDDDDDDD",
    ),
    (
        "true_div",
        "dddddddddefdFD dddddddddefdFD dddddddddffdFD ddddddddddddDD ddddddddddddDD dddddddddefdFD dddddddddffdFD \
         ddddddddddddDD ddddddddddddDD eefddefddefdFD fffddffddffdFD ddddddddddddDD FFFDDFFDDFFDFD DDDDDDDDDDDDDD",
    ),
];
