//! Tests of editing a module.
use super::*;
use crate::ir::InstructionId;
use crate::op::{Call, Parameter};

const TEXT: &str = "HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }, entry_computation_layout={(f32[2]{0}, f32[2]{0})->(f32[2]{0}, f32[])}
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
twice { x.1 = f32[2] parameter(0) ROOT t = f32[2] add(x.1, x.1) }
ENTRY e {
  x = f32[2] parameter(0), metadata={op_name=\"x\"}
  y = f32[2] parameter(1)
  sine = f32[2] sine(x), metadata={op_name=\"sine\"}
  called = f32[2] call(sine), to_apply=twice
  zero = f32[] constant(0)
  sum = f32[] reduce(y, zero), dimensions={0}, to_apply=add
  out = f32[2] negate(called), control-predecessors={%sum}
  ROOT r = (f32[2], f32[]) tuple(out, sum)
}";

fn module() -> Module {
    Module::parse(TEXT).unwrap()
}
/// Returns the names of the entry's instructions, in their order.
fn names(module: &Module) -> Vec<&str> {
    let entry = module.entry();
    entry.instructions.ids().map(|id| entry.name(id).as_str()).collect()
}
/// Returns the module after an edit of the entry; the closure's second argument maps names to ids.
fn edited(edit: impl FnOnce(&mut ComputationRewriter, &dyn Fn(&str) -> InstructionId)) -> Module {
    let module = module();
    let mut rewriter = ModuleRewriter::new(&module);
    let original = ComputationRewriter::from(module.entry());
    let id = |name: &str| original.find(name).unwrap();
    edit(rewriter.computation_mut(module.entry), &id);
    rewriter.remove_unused_computations();
    let module = rewriter.finish().unwrap();
    let verified = module.clone().verify().unwrap_or_else(|errors| panic!("{errors}\n{module}"));
    let printed = verified.module().to_string();
    assert_eq!(Module::parse(&printed).unwrap().to_string(), printed);
    module
}

#[test]
fn a_module_without_edits_is_unchanged() {
    let module = module();
    assert_eq!(ModuleRewriter::new(&module).finish().unwrap(), module);
}

#[test]
fn dead_code_and_unused_computations_are_removed() {
    let module = edited(|entry, id| {
        entry.set_root(id("out"));
        assert_eq!(entry.remove_dead_code(|_| false), 3);
    });
    assert_eq!(module.computations.len(), 2);
    assert_eq!(module.config.entry_layout, None);
    assert!(module.config.input_output_alias.is_empty());
    assert_eq!(names(&module), ["x", "y", "sine", "called", "out"]);
    // The control predecessor was removed with the rest.
    assert!(!module.to_string().contains("control"), "{module}");
    let module = edited(|entry, id| {
        entry.set_root(id("out"));
        entry.remove_dead_code(|instruction| instruction.opcode() == crate::Opcode::Reduce);
    });
    assert_eq!(module.computations.len(), 3);
    assert!(module.to_string().contains("control-predecessors={%sum}"), "{module}");
}

#[test]
fn the_header_is_kept_if_the_entry_has_the_same_signature() {
    let module = edited(|entry, id| entry.replace_uses(id("called"), id("sine")));
    assert!(module.config.entry_layout.is_some());
    assert_eq!(module.config.input_output_alias.len(), 1);
}

#[test]
fn added_instructions_precede_their_users_and_have_unique_names() {
    let module = edited(|entry, id| {
        let (sine, called) = (id("sine"), id("called"));
        let shape = entry.instruction(sine).shape.clone();
        let negate = Op::Unary(crate::op::Unary::Negate);
        let first = entry.add(sine, Instruction::new(negate.clone(), shape.clone(), [sine]));
        let second = entry.push("t", Instruction::new(negate, shape, [first]));
        entry.instruction_mut(called).operands[0] = second;
        entry.set_control_predecessors(called, vec![id("sum")]);
    });
    assert_eq!(
        names(&module),
        ["x", "y", "sine", "sine.1", "t.1", "zero", "sum", "called", "out", "r"],
        "{module}"
    );
    let entry = module.entry();
    let metadata = |name: &str| {
        let mut ids = entry.instructions.ids();
        let id = ids.find(|&id| entry.name(id) == name).unwrap();
        let common = entry.instructions[id].common.as_deref();
        common.and_then(|common| common.metadata.as_ref()).map(|m| format!("{m:?}"))
    };
    assert_eq!(metadata("sine.1"), metadata("sine"));
    assert_eq!(metadata("t.1"), None);
}

#[test]
fn parameters_replace_values_and_are_removed() {
    let module = edited(|entry, id| {
        let shape = entry.instruction(id("called")).shape.clone();
        entry.replace(id("called"), Instruction::new(Parameter { number: 2 }, shape, []));
        entry.remove(id("sine"));
        entry.remove_parameter(id("x"));
    });
    let entry = module.entry();
    let parameters: Vec<&str> =
        entry.parameters().into_iter().map(|id| entry.name(id).as_str()).collect();
    assert_eq!(parameters, ["y", "called"]);
}

#[test]
fn computations_come_before_their_callers() {
    let module = module();
    let mut rewriter = ModuleRewriter::new(&module);
    let twice = ComputationId::new(1);
    let mut copy = rewriter.computation(twice).clone();
    let root = copy.root().unwrap();
    copy.replace_uses(copy.parameters()[0], copy.parameters()[0]);
    copy.set_root(root);
    let copy = rewriter.add_computation(copy);
    let call = Instruction::new(
        Call { to_apply: copy, ..call_of(&module) },
        module.computations[twice].result_shape().clone(),
        rewriter.computation(twice).parameters(),
    );
    let computation = rewriter.computation_mut(twice);
    let root = computation.root().unwrap();
    computation.replace(root, call);
    let module = rewriter.finish().unwrap();
    let names: Vec<&str> = module.computations.iter().map(|(_, c)| c.name.as_str()).collect();
    assert_eq!(names, ["add", "twice", "twice.1", "e"]);
    module.verify().unwrap();
}
fn call_of(module: &Module) -> Call {
    let mut calls = module.entry().instructions.iter().filter_map(|(_, i)| {
        let Op::Call(call) = &i.op else { return None };
        Some(call.clone())
    });
    calls.next().unwrap()
}

#[test]
fn invalid_modules_are_errors() {
    let module = module();
    let failed = |edit: &dyn Fn(&mut ModuleRewriter)| {
        let mut rewriter = ModuleRewriter::new(&module);
        edit(&mut rewriter);
        rewriter.finish().unwrap_err().to_string()
    };
    let (entry, twice) = (module.entry, ComputationId::new(1));
    let removed = failed(&|r| {
        let entry = r.computation_mut(entry);
        entry.remove(entry.find("sine").unwrap());
    });
    assert_eq!(removed, "`called` uses `sine`, which was removed");
    let rootless = failed(&|r| {
        let entry = r.computation_mut(entry);
        entry.remove(entry.root().unwrap());
    });
    assert_eq!(rootless, "`e` uses `r`, which was removed");
    let cycle = failed(&|r| {
        let entry = r.computation_mut(entry);
        let (sine, called) = (entry.find("sine").unwrap(), entry.find("called").unwrap());
        entry.instruction_mut(sine).operands[0] = called;
    });
    assert_eq!(cycle, "`sine` depends on itself");
    assert_eq!(
        failed(&|r| r.remove_computation(twice)),
        "`e` calls a computation that was removed"
    );
    assert_eq!(
        failed(&|r| r.remove_computation(entry)),
        "`m` calls a computation that was removed"
    );
}

#[test]
fn clones_are_independent() {
    let module = module();
    let rewriter = ModuleRewriter::new(&module);
    let mut other = rewriter.clone();
    other.computation_mut(module.entry).remove_dead_code(|_| false);
    other.set_entry(ComputationId::new(1));
    other.remove_unused_computations();
    assert_eq!(other.finish().unwrap().computations.len(), 1);
    assert_eq!(rewriter.finish().unwrap(), module);
}
