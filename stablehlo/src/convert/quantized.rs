//! Programs with quantized types as programs of integers and floats, by the definitions of the
//! specification ("Quantization computations").
//!
//! The values of a program are the integers of the storage types. An op that moves elements moves
//! integers. An op that computes gets the numbers that they stand for, between a
//! `uniform_dequantize` of each operand and a `uniform_quantize` of each result. These two ops have
//! the quantized type as an attribute.
use crate::attributes::{keyword, string};
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Dim, Op, Program, Region, Tensor, Type, Value, ValueId};
use crate::quantized::Quantized;
use hlo::ElementType;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;

/// The attribute with the quantized type of a `uniform_quantize` or `uniform_dequantize`.
pub(super) const TYPE: &str = "quantized_type";

/// What the specification says of an op with quantized tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The op passes integers on, whatever they stand for; regions compute.
    Integers,
    /// The op passes integers on, in tensors of the same quantization.
    Moved,
    /// The same, and those that devices do not get are 0 as a quantized number.
    Exchanged,
    /// As [`Moved`](Self::Moved), also per axis.
    MovedPerAxis,
    /// The op computes with the numbers, all of which are quantized.
    Computed,
    /// The same, also per axis.
    ComputedPerAxis,
    /// The op computes with the numbers, some of which need not be quantized.
    Mixed,
    /// `is_finite`: the numbers are finite.
    Finite,
    /// `uniform_quantize`, `uniform_dequantize`.
    Quantize,
    Dequantize,
    /// The specification has no quantized operands of the op.
    Open,
}

#[rustfmt::skip]
fn meaning(op: &str) -> Meaning {
    let Some(op) = op.strip_prefix("stablehlo.") else {
        let passes = ["func.", "sdy.", "check.", "interpreter.", "builtin."];
        return match passes.iter().any(|dialect| op.starts_with(dialect)) {
            true => Meaning::Integers,
            false => Meaning::Open,
        };
    };
    match op {
        "after_all" | "all_reduce" | "bitcast_convert" | "case" | "composite" | "constant"
        | "custom_call" | "get_dimension_size" | "get_tuple_element" | "if" | "infeed" | "map"
        | "optimization_barrier" | "outfeed" | "recv" | "reduce" | "reduce_scatter"
        | "reduce_window" | "return" | "scatter" | "select_and_scatter" | "send"
        | "set_dimension_size" | "sort" | "tuple" | "while" => Meaning::Integers,
        "all_gather" | "all_to_all" | "concatenate" | "dynamic_gather" | "dynamic_pad"
        | "dynamic_slice" | "dynamic_update_slice" | "gather" | "pad" | "real_dynamic_slice"
        | "reverse" | "slice" => Meaning::Moved,
        "broadcast_in_dim" | "dynamic_broadcast_in_dim" | "dynamic_reshape" | "reshape"
        | "transpose" => Meaning::MovedPerAxis,
        "collective_broadcast" | "collective_permute" => Meaning::Exchanged,
        "abs" | "atan2" | "batch_norm_grad" | "batch_norm_inference" | "batch_norm_training"
        | "cbrt" | "ceil" | "cholesky" | "clamp" | "compare" | "cosine" | "divide"
        | "exponential" | "exponential_minus_one" | "floor" | "log" | "log_plus_one" | "logistic"
        | "maximum" | "minimum" | "multiply" | "negate" | "power" | "reduce_precision"
        | "remainder" | "round_nearest_afz" | "round_nearest_even" | "rsqrt" | "sign" | "sine"
        | "sqrt" | "subtract" | "tan" | "tanh" | "triangular_solve" => Meaning::Computed,
        "add" => Meaning::ComputedPerAxis,
        "convolution" | "dot_general" | "dynamic_conv" | "dynamic_iota" | "iota" | "select" => {
            Meaning::Mixed
        }
        "is_finite" => Meaning::Finite,
        "uniform_quantize" => Meaning::Quantize,
        "uniform_dequantize" => Meaning::Dequantize,
        _ => Meaning::Open,
    }
}

/// Returns the program without quantized types; none if it has none.
pub(super) fn expand(program: &Program) -> Result<Option<Program>> {
    if !program.ops.iter().any(has_quantized) {
        return Ok(None);
    }
    let mut pass = Expansion { next: program.values, types: FxHashMap::default() };
    let mut ops = Vec::with_capacity(program.ops.len());
    for op in &program.ops {
        pass.op(op, &mut ops)?;
    }
    Ok(Some(Program { ops, values: pass.next, ..program.clone() }))
}

fn has_quantized(op: &Op) -> bool {
    let arguments = op.regions.iter().flat_map(|region| &region.arguments);
    let mut types = op.results.iter().chain(arguments).map(|value| &value.ty);
    let mut ops = op.regions.iter().flat_map(|region| &region.ops);
    types.any(is_quantized) || ops.any(has_quantized)
}
fn is_quantized(ty: &Type) -> bool {
    match ty {
        Type::Tensor(tensor) => text_of(tensor).is_some(),
        Type::Tuple(types) => types.iter().any(is_quantized),
        Type::Function(arguments, results) => arguments.iter().chain(results).any(is_quantized),
        Type::Element(_) | Type::Index | Type::Token | Type::Other(_) => false,
    }
}
fn text_of(tensor: &Tensor) -> Option<&str> {
    let text = tensor.element.as_ref().err()?;
    text.starts_with("!quant.").then_some(text.as_str())
}

/// Returns the quantization of a tensor; none if it has another element type.
fn quantization(op: &Op, tensor: &Tensor) -> Result<Option<Quantized>> {
    let Some(text) = text_of(tensor) else { return Ok(None) };
    let found = Quantized::parse(text).filter(|quantized| quantized.storage().is_some());
    let Some(found) = found else {
        return Err(error(
            op,
            Code::Type { message: format!("there is no conversion of `{text}`") },
        )
        .with_help(
            "storage types have 2, 4, 8, 16 or 32 bits, and scales are per tensor or per axis",
        ));
    };
    let size = found.axis.map(|axis| tensor.dims.get(usize::try_from(axis).unwrap_or(usize::MAX)));
    let fits = match size {
        None => found.scales.len() == 1,
        Some(Some(Dim::Static(size))) => u64::try_from(found.scales.len()) == Ok(*size),
        Some(Some(Dim::Dynamic(_))) => true,
        Some(None) => false,
    };
    let (least, greatest) = found.range;
    let is_valid = |&(scale, zero): &(f64, i64)| {
        scale > 0.0 && scale.is_finite() && (least..=greatest).contains(&zero)
    };
    if !fits || least >= greatest || !found.scales.iter().all(is_valid) {
        let message = format!("`{text}` is not a valid type of this tensor");
        return Err(error(op, Code::Malformed { message })
            .with_help("a scale for each index of the axis, which is positive and finite, and zero points in the range of the storage type"));
    }
    Ok(Some(found))
}
fn error(op: &Op, code: Code) -> Error {
    match op.span {
        Some(span) => Error::from(code).at(span),
        None => code.into(),
    }
}
fn unsupported(op: &Op, reason: &str) -> Error {
    let message = format!("`{}` of quantized tensors: {reason}", op.name);
    error(op, Code::Unsupported { message })
}

/// The replacement of quantized types.
struct Expansion {
    next: u32,
    /// The types of quantized values.
    types: FxHashMap<ValueId, Tensor>,
}

impl Expansion {
    fn value(&mut self, tensor: &Tensor, element: ElementType) -> Value {
        self.next += 1;
        let ty = Type::Tensor(Tensor { dims: tensor.dims.clone(), element: Ok(element) });
        Value { id: ValueId(self.next - 1), ty }
    }
    /// Returns a value with its storage type.
    fn stored(&mut self, op: &Op, value: &Value) -> Result<Value> {
        if let Type::Tensor(tensor) = &value.ty
            && text_of(tensor).is_some()
        {
            self.types.insert(value.id, tensor.clone());
        }
        Ok(Value { id: value.id, ty: storage(op, &value.ty)? })
    }
    fn region(&mut self, op: &Op, region: &Region) -> Result<Region> {
        let arguments = region.arguments.iter().map(|value| self.stored(op, value));
        let arguments = arguments.collect::<Result<_>>()?;
        let mut ops = Vec::with_capacity(region.ops.len());
        for op in &region.ops {
            self.op(op, &mut ops)?;
        }
        Ok(Region { arguments, ops })
    }
    /// Returns the quantization of each operand and of each result that has one.
    fn quantizations(&self, op: &Op) -> Result<[Vec<Option<Quantized>>; 2]> {
        let operands = op.operands.iter().map(|id| match self.types.get(id) {
            Some(tensor) => quantization(op, tensor),
            None => Ok(None),
        });
        let results = op.results.iter().map(|value| match &value.ty {
            Type::Tensor(tensor) => quantization(op, tensor),
            _ => Ok(None),
        });
        Ok([operands.collect::<Result<_>>()?, results.collect::<Result<_>>()?])
    }

    /// Adds the ops that an op becomes.
    fn op(&mut self, op: &Op, into: &mut Vec<Op>) -> Result<()> {
        let [operands, results] = self.quantizations(op)?;
        let mut all = operands.iter().chain(&results).flatten();
        let Some(first) = all.next() else {
            into.push(self.integers(op)?);
            return Ok(());
        };
        let meaning = meaning(&op.name);
        let is_per_axis = |quantized: &Quantized| quantized.axis.is_some();
        let allows_axis = match meaning {
            Meaning::Moved | Meaning::Exchanged | Meaning::Computed => false,
            Meaning::Integers => op.regions.is_empty() || is_control(op),
            _ => true,
        };
        if !allows_axis && (is_per_axis(first) || all.clone().any(is_per_axis)) {
            return Err(unsupported(op, "the specification defines it per tensor, not per axis"));
        }
        let differs = |other: &Quantized| !first.is_same(other);
        match meaning {
            Meaning::Moved | Meaning::Exchanged if all.any(differs) => {
                Err(unsupported(op, "operands and results must have the same quantization"))
            }
            Meaning::Exchanged if first.scales.iter().any(|(_, zero)| *zero != 0) => {
                Err(unsupported(
                    op,
                    "values that a device does not get are 0, which is not the integer 0 where the zero point is another one",
                ))
            }
            Meaning::Integers | Meaning::Moved | Meaning::Exchanged => {
                into.push(self.integers(op)?);
                Ok(())
            }
            Meaning::MovedPerAxis => {
                self.check_axis(op, &operands, &results)?;
                into.push(self.integers(op)?);
                Ok(())
            }
            Meaning::Computed | Meaning::ComputedPerAxis
                if operands.iter().any(Option::is_none) =>
            {
                Err(unsupported(op, "either all operands are quantized, or none"))
            }
            Meaning::Computed | Meaning::ComputedPerAxis | Meaning::Mixed => {
                self.computed(op, &operands, &results, into)
            }
            Meaning::Quantize | Meaning::Dequantize => {
                self.requantized(op, &operands, &results, into)
            }
            Meaning::Finite => {
                let [Some(_)] = operands.as_slice() else {
                    return Err(unsupported(op, "it has one quantized operand"));
                };
                let direction = keyword("stablehlo.comparison_direction", "EQ");
                let attributes = Attributes(vec![("comparison_direction".into(), direction)]);
                let operands = [op.operands[0], op.operands[0]].as_slice().into();
                let name = SmolStr::new_static("stablehlo.compare");
                into.push(Op { name, operands, attributes: Arc::new(attributes), ..op.clone() });
                Ok(())
            }
            Meaning::Open => Err(unsupported(op, "the specification does not define it")),
        }
    }
    /// Returns the op on integers.
    fn integers(&mut self, op: &Op) -> Result<Op> {
        let results = op.results.iter().map(|value| self.stored(op, value));
        let results = results.collect::<Result<_>>()?;
        let regions = op.regions.iter().map(|region| self.region(op, region));
        let regions = regions.collect::<Result<_>>()?;
        let mut attributes = Arc::clone(&op.attributes);
        if let Some(Attribute::Type(ty)) = op.attributes.get("function_type")
            && is_quantized(ty)
        {
            let ty = Attribute::Type(storage(op, ty)?);
            for (name, value) in &mut Arc::make_mut(&mut attributes).0 {
                if name == "function_type" {
                    *value = ty.clone();
                }
            }
        }
        Ok(Op { results, attributes, regions, ..op.clone() })
    }
    /// Checks that the axis of the result is that of the operand, with the same scales.
    fn check_axis(
        &self,
        op: &Op,
        operands: &[Option<Quantized>],
        results: &[Option<Quantized>],
    ) -> Result<()> {
        let (Some(Some(from)), Some(Some(to))) = (operands.first(), results.first()) else {
            return Err(unsupported(op, "operand and result must both be quantized"));
        };
        let list = |name: &str| match op.attributes.get(name) {
            Some(Attribute::Integers(values)) => Some(values.as_slice()),
            _ => None,
        };
        let axis =
            |quantized: &Quantized| quantized.axis.and_then(|axis| usize::try_from(axis).ok());
        let fits = match (axis(from), axis(to), op.name.as_str()) {
            (None, None, _) => true,
            (Some(from), Some(to), "stablehlo.transpose") => list("permutation")
                .and_then(|order| order.get(to))
                .is_some_and(|&dim| usize::try_from(dim) == Ok(from)),
            (
                Some(from),
                Some(to),
                "stablehlo.broadcast_in_dim" | "stablehlo.dynamic_broadcast_in_dim",
            ) => list("broadcast_dimensions")
                .and_then(|dims| dims.get(from))
                .is_some_and(|&dim| usize::try_from(dim) == Ok(to)),
            // What stands before the axis keeps its number of elements.
            (Some(from), Some(to), _) => {
                let dims = |ty: Option<&Tensor>| ty.map(|ty| ty.dims.to_vec()).unwrap_or_default();
                let operand = dims(op.operands.first().and_then(|id| self.types.get(id)));
                let result = dims(op.results.first().and_then(|value| match &value.ty {
                    Type::Tensor(tensor) => Some(tensor),
                    _ => None,
                }));
                let count = |dims: &[Dim], axis| dims.get(..axis).and_then(size);
                count(&operand, from) == count(&result, to)
            }
            _ => false,
        };
        let is_expanded = op.name.contains("broadcast")
            && from.scales.len() == 1
            && to.scales.iter().all(|scale| *scale == from.scales[0]);
        let same = from.is_same(to) || (is_expanded && from.is_same_storage(to));
        match fits && same {
            true => Ok(()),
            false => Err(unsupported(
                op,
                "operand and result must have the same quantization, along the same axis",
            )),
        }
    }

    /// Adds an op on the numbers.
    fn computed(
        &mut self,
        op: &Op,
        operands: &[Option<Quantized>],
        results: &[Option<Quantized>],
        into: &mut Vec<Op>,
    ) -> Result<()> {
        let mut made = op.clone();
        for (id, quantized) in made.operands.iter_mut().zip(operands) {
            if let Some(quantized) = quantized {
                *id = self.dequantize(op, *id, quantized, into);
            }
        }
        if op.name == "stablehlo.compare" {
            let attributes = &mut Arc::make_mut(&mut made.attributes).0;
            attributes.retain(|(name, _)| name != "compare_type");
            let floats = keyword("stablehlo.comparison_type", "FLOAT");
            attributes.insert(0, ("compare_type".into(), floats));
        }
        let mut after = Vec::new();
        for (result, quantized) in made.results.iter_mut().zip(results) {
            let (Some(quantized), Type::Tensor(tensor)) = (quantized, result.ty.clone()) else {
                continue;
            };
            let number = self.value(&tensor, quantized.number(op)?);
            let stored = self.stored(op, result)?;
            after.push(uniform(op, "stablehlo.uniform_quantize", number.id, stored, quantized));
            *result = number;
        }
        into.push(made);
        into.append(&mut after);
        Ok(())
    }
    /// Adds a `uniform_dequantize`; returns the number.
    fn dequantize(
        &mut self,
        op: &Op,
        id: ValueId,
        quantized: &Quantized,
        into: &mut Vec<Op>,
    ) -> ValueId {
        let tensor = self.types.get(&id).cloned();
        let tensor = tensor.expect("a quantized value has a type");
        let element = quantized.number(op).unwrap_or(ElementType::F32);
        let number = self.value(&tensor, element);
        let result = number.id;
        into.push(uniform(op, "stablehlo.uniform_dequantize", id, number, quantized));
        result
    }
    /// Adds a `uniform_quantize` or `uniform_dequantize` of the program.
    fn requantized(
        &mut self,
        op: &Op,
        operands: &[Option<Quantized>],
        results: &[Option<Quantized>],
        into: &mut Vec<Op>,
    ) -> Result<()> {
        let ([operand], [result], [id]) = (operands, results, op.operands.as_slice()) else {
            return Err(unsupported(op, "it has one operand and one result"));
        };
        match (operand, result) {
            (Some(from), None) if op.name == "stablehlo.uniform_dequantize" => {
                from.number(op)?;
                into.push(uniform(
                    op,
                    "stablehlo.uniform_dequantize",
                    *id,
                    op.results[0].clone(),
                    from,
                ));
                Ok(())
            }
            (from, Some(to)) if op.name == "stablehlo.uniform_quantize" => {
                let id = match from {
                    Some(from) => self.dequantize(op, *id, from, into),
                    None => *id,
                };
                to.number(op)?;
                let stored = self.stored(op, &op.results[0])?;
                into.push(uniform(op, "stablehlo.uniform_quantize", id, stored, to));
                Ok(())
            }
            _ => Err(unsupported(op, "a number is quantized, or an integer dequantized")),
        }
    }
}

/// Returns whether the regions of an op are branches or a loop, whose values are those of the op.
fn is_control(op: &Op) -> bool {
    let name = op.name.strip_prefix("stablehlo.");
    !matches!(
        name,
        Some(
            "map"
                | "reduce"
                | "reduce_scatter"
                | "reduce_window"
                | "scatter"
                | "select_and_scatter"
                | "sort"
                | "all_reduce"
        )
    )
}
/// Returns the number of elements, if it is known.
fn size(dims: &[Dim]) -> Option<u64> {
    dims.iter().try_fold(1u64, |count, dim| match dim {
        Dim::Static(size) => count.checked_mul(*size),
        Dim::Dynamic(_) => None,
    })
}
/// Returns a type with the storage types of quantized ones.
fn storage(op: &Op, ty: &Type) -> Result<Type> {
    let all = |types: &[Type]| types.iter().map(|ty| storage(op, ty)).collect::<Result<Vec<_>>>();
    Ok(match ty {
        Type::Tensor(tensor) => match quantization(op, tensor)?.and_then(|found| found.storage()) {
            Some(element) => {
                Type::Tensor(Tensor { dims: tensor.dims.clone(), element: Ok(element) })
            }
            None => ty.clone(),
        },
        Type::Tuple(types) => Type::Tuple(all(types)?),
        Type::Function(arguments, results) => Type::Function(all(arguments)?, all(results)?),
        Type::Element(_) | Type::Index | Type::Token | Type::Other(_) => ty.clone(),
    })
}
/// Returns a `uniform_quantize` or `uniform_dequantize`.
fn uniform(op: &Op, name: &'static str, operand: ValueId, result: Value, ty: &Quantized) -> Op {
    let attributes = Attributes(vec![(TYPE.into(), string(&ty.to_string()))]);
    Op {
        name: SmolStr::new_static(name),
        operands: [operand].as_slice().into(),
        results: [result].into(),
        attributes: Arc::new(attributes),
        regions: Vec::new(),
        location: op.location,
        span: op.span,
    }
}

impl Quantized {
    /// Returns the type of the integers, if HLO has it.
    pub(super) fn storage(&self) -> Option<ElementType> {
        Some(match (self.signed, self.width) {
            (true, 2) => ElementType::S2,
            (true, 4) => ElementType::S4,
            (true, 8) => ElementType::S8,
            (true, 16) => ElementType::S16,
            (true, 32) => ElementType::S32,
            (false, 2) => ElementType::U2,
            (false, 4) => ElementType::U4,
            (false, 8) => ElementType::U8,
            (false, 16) => ElementType::U16,
            (false, 32) => ElementType::U32,
            _ => return None,
        })
    }
    /// Returns the type of the numbers.
    pub(super) fn number(&self, op: &Op) -> Result<ElementType> {
        match self.expressed {
            Type::Element(element) if element.is_float() => Ok(element),
            _ => Err(unsupported(op, "the numbers that the integers stand for are floats")),
        }
    }
    fn is_same_storage(&self, other: &Self) -> bool {
        let of = |it: &Self| (it.signed, it.width, it.range, it.expressed.clone());
        of(self) == of(other)
    }
    /// Returns whether the quantization is the same, but for the axis.
    fn is_same(&self, other: &Self) -> bool {
        self.is_same_storage(other) && self.scales == other.scales
    }
}
