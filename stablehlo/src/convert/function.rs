//! Functions and their calls.
use super::attrs::FromAttribute;
use super::converter::{Converter, Lowered, Signature};
use super::fold::Folded;
use super::names;
use super::scope::Scope;
use super::types;
use crate::error::{Code, Result};
use crate::ir::{Op, Region};
use hlo::Shape;
use hlo::diag::quantity;
use hlo::ir::InstructionId;
use hlo::op::Call;
use smol_str::SmolStr;

/// The deepest nesting of calls and regions; the stack of a thread of 2 MiB holds more.
pub(super) const DEEPEST: usize = 200;

impl<'p> Converter<'p> {
    /// Returns the function of this name.
    pub(super) fn function(&self, op: &Op, name: &str) -> Result<&'p Op> {
        self.functions.get(name).copied().ok_or_else(|| {
            let message = format!("`{}` names `@{name}`, which is not a function", op.name);
            self.error(op, Code::Symbol { message })
        })
    }

    /// Converts a function, unless that was done, for arguments of these shapes and known values.
    pub(super) fn instantiate(
        &mut self,
        caller: &Op,
        name: &str,
        shapes: Vec<Shape>,
        folded: Vec<Option<Folded>>,
    ) -> Result<Lowered> {
        let function = self.function(caller, name)?;
        let region = self.body(function)?;
        if region.arguments.len() != shapes.len() {
            let (expected, found) = (region.arguments.len(), shapes.len());
            let message =
                format!("`@{name}` takes {}, found {found}", quantity(expected, "argument"));
            return Err(self.error(caller, Code::Malformed { message }));
        }
        for (argument, found) in region.arguments.iter().zip(&shapes) {
            let stated = types::shape(&argument.ty).map_err(|e| self.placed(function, e))?;
            if !types::agrees(&stated, found) {
                let message = format!("`@{name}` takes {stated:#}, but the argument is {found:#}");
                return Err(self.error(caller, Code::Malformed { message }));
            }
        }
        let signature = match self.is_dynamic {
            true => Signature { name: name.into(), shapes: shapes.clone(), folded: folded.clone() },
            false => Signature { name: name.into(), shapes: Vec::new(), folded: Vec::new() },
        };
        if let Some(known) = self.lowered.get(&signature) {
            return Ok(known.clone());
        }
        self.enter(caller, name)?;
        let mut scope = Scope::new(self, names::clean(name));
        for (number, (argument, shape)) in region.arguments.iter().zip(shapes).enumerate() {
            let id = scope.parameter(number, shape, &format!("Arg_{number}"));
            scope.define(argument.id, id);
        }
        for (argument, folded) in region.arguments.iter().zip(folded) {
            scope.folded.extend(folded.map(|folded| (argument.id, folded)));
        }
        let (root, folded) = scope.body(function, region)?;
        let mut computation = scope.computation;
        computation.root = root;
        self.active.pop();
        let lowered = Lowered { computation: self.finish(computation), folded };
        self.lowered.insert(signature, lowered.clone());
        Ok(lowered)
    }

    /// Returns the body of a function.
    pub(super) fn body(&self, function: &'p Op) -> Result<&'p Region> {
        match function.regions.as_slice() {
            [region] if !region.ops.is_empty() => Ok(region),
            _ => {
                let name = function.attributes.get("sym_name").and_then(String::from_attribute);
                let mut unread = self.program.unread.iter();
                if let Some((_, error)) =
                    unread.find(|(unread, _)| name.as_deref() == Some(unread.as_str()))
                {
                    return Err(error.clone());
                }
                let message = "a function without a body cannot be called".to_owned();
                Err(self.error(function, Code::Symbol { message }))
            }
        }
    }
    /// Notes that a function or region is being converted; it must be removed from `active`
    /// afterwards.
    pub(super) fn enter(&mut self, op: &Op, name: &str) -> Result<()> {
        if self.active.iter().any(|active| active == name) {
            let message = format!("`@{name}` calls itself, which HLO does not allow");
            return Err(self.error(op, Code::Symbol { message }));
        }
        self.push_active(op, name.into())
    }
    /// Notes that a region is being converted, likewise.
    pub(super) fn enter_region(&mut self, op: &Op) -> Result<()> {
        self.push_active(op, SmolStr::default())
    }
    fn push_active(&mut self, op: &Op, name: SmolStr) -> Result<()> {
        if self.active.len() >= DEEPEST {
            let message = format!("calls and regions are nested deeper than {DEEPEST}");
            return Err(self.error(op, Code::Unsupported { message }));
        }
        self.active.push(name);
        Ok(())
    }
}

impl<'p> Scope<'_, 'p> {
    /// Converts the body of a function; returns the result, and the values of it that are known.
    pub(super) fn body(
        &mut self,
        function: &Op,
        region: &'p Region,
    ) -> Result<(InstructionId, Vec<Option<Folded>>)> {
        let Some(end) = self.ops(&region.ops)? else {
            return Err(self.malformed(function, "the body of a function has no `return`"));
        };
        let folded = end.operands.iter().map(|value| self.folded.get(value).cloned()).collect();
        let results = self.operands(end)?;
        self.set_common(hlo::ir::CommonAttrs::default());
        let root = match results.as_slice() {
            [one] => *one,
            _ => self.tuple(end, &results)?,
        };
        Ok((root, folded))
    }

    /// Calls a function with the operands of an op.
    pub(super) fn call(&mut self, op: &Op, name: &str, is_composite: bool) -> Result<()> {
        let operands = self.operands(op)?;
        let shapes = operands.iter().map(|&id| self.shape(id).clone()).collect();
        let folded = op.operands.iter().map(|value| self.folded.get(value).cloned()).collect();
        let Lowered { computation, folded } = self.cx.instantiate(op, name, shapes, folded)?;
        let call = Call { to_apply: computation, is_composite };
        let id = self.emit(op, call, &operands)?;
        match op.results.len() {
            1 => self.bind(op, id)?,
            _ => self.bind_tuple(op, id)?,
        }
        for (result, folded) in op.results.iter().zip(folded) {
            self.folded.extend(folded.map(|folded| (result.id, folded)));
        }
        Ok(())
    }
}

/// Converts `func.call`.
pub(crate) fn call(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let path = scope.required::<&[SmolStr]>(op, "callee")?;
    let name = path.last().ok_or_else(|| scope.missing(op, "callee"))?;
    scope.call(op, name, false)
}
