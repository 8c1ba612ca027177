//! Files of safetensors, which state the type of each array, also of those that numpy lacks.
use hlo::diag::quantity;
use hlo::literal::npz::NpyArray;
use hlo::{Dims, ElementType, Literal};
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, View, serialize};
use std::borrow::Cow;
use std::io::{Read, Seek, SeekFrom};

/// The most bytes of a header.
const HEADER: u64 = 100 << 20;

/// Reads the arrays for which `most` returns the most bytes that their elements may have.
pub(super) fn read(
    mut file: impl Read + Seek,
    most: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<NpyArray>, String> {
    let failed = |e: std::io::Error| e.to_string();
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(|_| "not a file of safetensors".to_owned())?;
    let length = u64::from_le_bytes(length);
    if length > HEADER {
        return Err("not a file of safetensors".to_owned());
    }
    let mut header = Vec::new();
    file.by_ref().take(length).read_to_end(&mut header).map_err(failed)?;
    let metadata: Metadata = serde_json::from_slice(&header)
        .map_err(|e| format!("not a file of safetensors: its header is damaged: {e}"))?;
    let mut tensors: Vec<(String, &TensorInfo)> = metadata.tensors().into_iter().collect();
    tensors.sort_by_key(|(_, info)| info.data_offsets);
    let mut found = Vec::new();
    for (name, info) in tensors {
        let Some(most) = most(&name) else {
            found.push(NpyArray::unread(name));
            continue;
        };
        let start = length.saturating_add(8).saturating_add(to_u64(info.data_offsets.0));
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        found.push(array(name, info, &mut file, most)?);
    }
    Ok(found)
}

/// Reads an array at its place in the file.
fn array(
    name: String,
    info: &TensorInfo,
    file: &mut impl Read,
    most: usize,
) -> Result<NpyArray, String> {
    let dtype = info.dtype;
    let known = TYPES.iter().find(|(known, _)| *known == dtype);
    let &(_, ty) =
        known.ok_or_else(|| format!("array `{name}`: the type {dtype:?} is not supported"))?;
    let sizes = &info.shape;
    let count = sizes.iter().try_fold(ty.storage_bytes(), |n, &size| n.checked_mul(size));
    let stated = info.data_offsets.1.checked_sub(info.data_offsets.0);
    let count = count
        .filter(|_| count == stated)
        .ok_or_else(|| format!("array `{name}`: its sizes do not fit its place in the file"))?;
    if count > most {
        return Err(format!(
            "array `{name}`: it has type {ty} and sizes {sizes:?}, that is {}; at most {most} bytes are expected",
            quantity(count, "byte")
        ));
    }
    let dims: Option<Dims> = sizes.iter().map(|&size| i64::try_from(size).ok()).collect();
    let dims = dims.ok_or_else(|| format!("array `{name}`: its sizes are too large"))?;
    NpyArray::read(name, ty, dims, file).map_err(|e| e.to_string())
}

fn to_u64(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// The element type of each type that both have. The 8-bit floats are named as `PyTorch` names them, without `fn`.
const TYPES: [(Dtype, ElementType); 19] = [
    (Dtype::BOOL, ElementType::Pred),
    (Dtype::U8, ElementType::U8),
    (Dtype::I8, ElementType::S8),
    (Dtype::F8_E5M2, ElementType::F8E5M2),
    (Dtype::F8_E4M3, ElementType::F8E4M3Fn),
    (Dtype::F8_E8M0, ElementType::F8E8M0Fnu),
    (Dtype::F8_E4M3FNUZ, ElementType::F8E4M3Fnuz),
    (Dtype::F8_E5M2FNUZ, ElementType::F8E5M2Fnuz),
    (Dtype::I16, ElementType::S16),
    (Dtype::U16, ElementType::U16),
    (Dtype::F16, ElementType::F16),
    (Dtype::BF16, ElementType::Bf16),
    (Dtype::I32, ElementType::S32),
    (Dtype::U32, ElementType::U32),
    (Dtype::F32, ElementType::F32),
    (Dtype::C64, ElementType::C64),
    (Dtype::F64, ElementType::F64),
    (Dtype::I64, ElementType::S64),
    (Dtype::U64, ElementType::U64),
];

/// An array to write.
struct Array<'a> {
    dtype: Dtype,
    sizes: Vec<usize>,
    bytes: &'a [u8],
}

impl View for &Array<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.sizes
    }
    fn data(&self) -> Cow<'_, [u8]> {
        self.bytes.into()
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Returns the bytes of a file with these arrays; fails with the name of an array whose type such files lack.
pub(crate) fn bytes(arrays: &[(String, &Literal)]) -> Result<Vec<u8>, String> {
    let view = |(name, literal): &(String, &'_ Literal)| {
        let shape = literal.array_shape().ok_or_else(|| format!("`{name}` is not an array"))?;
        let (dtype, _) = TYPES.iter().find(|(_, ty)| *ty == shape.ty).ok_or_else(|| {
            format!("`{name}` is {shape:#}, and safetensors has no type {}", shape.ty)
        })?;
        let sizes = shape.dims.iter().map(|&dim| usize::try_from(dim).unwrap_or(0)).collect();
        Ok((dtype, sizes))
    };
    let types: Vec<(&Dtype, Vec<usize>)> =
        arrays.iter().map(view).collect::<Result<_, String>>()?;
    let views: Vec<(&String, Array<'_>)> = (arrays.iter().zip(types))
        .map(|((name, literal), (&dtype, sizes))| {
            (name, Array { dtype, sizes, bytes: literal.bytes() })
        })
        .collect();
    serialize(views.iter().map(|(name, array)| (name, array)), None).map_err(|e| e.to_string())
}
