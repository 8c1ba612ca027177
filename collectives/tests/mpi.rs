//! Ranks that are processes: this program starts itself again under `mpirun`.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test that is its own program")]
#[path = "all/common/program.rs"]
mod program;

use collectives::{Mpi, Ranks, Transport};
use hlo::{Literal, Module};
use program::Program;
use std::process::Command;

/// Three ranks, so that not all are adjacent.
const RANKS: usize = 3;

fn main() {
    // Open MPI; MPICH.
    let sizes = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];
    match sizes.iter().find_map(|name| std::env::var(name).ok()) {
        Some(count) => {
            assert_eq!(count, RANKS.to_string());
            rank();
        }
        None => started(),
    }
}

/// Starts the ranks and waits for them.
fn started() {
    let program = std::env::current_exe().unwrap();
    // Of the MPI library that this program was built with.
    let launcher = std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".to_owned());
    let ended = Command::new(launcher)
        .args(["-n", &RANKS.to_string()])
        .arg(program)
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output()
        .unwrap_or_else(|e| panic!("mpirun cannot be started: {e}"));
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(said.matches("rank is fine").count(), RANKS, "{said}");
}

/// Messages of random sizes between all ranks.
fn any_chunks_transmit_the_same_bytes(mpi: &mut Mpi, random: &mut fastrand::Rng) {
    let own = mpi.rank();
    let mut draw = |sizes: std::ops::Range<usize>| {
        let size = random.usize(sizes);
        (0..size).map(|_| random.u8(..)).collect::<Vec<u8>>()
    };
    let each: [Vec<u8>; RANKS] = std::array::from_fn(|_| draw(0..60));
    assert_eq!(mpi.all_gather(each[own].clone()).unwrap(), each);
    // Sender, receiver and bytes; not all ranks take part.
    let mut messages: Vec<(usize, usize, Vec<u8>)> = Vec::new();
    for (sender, receiver) in [(0, 2), (0, 2), (2, 0), (1, 2), (1, 0), (2, 0)] {
        messages.push((sender, receiver, draw(1..200)));
    }
    messages.truncate(draw(0..7).len());
    let sends: Vec<(usize, &[u8])> = (messages.iter())
        .filter(|(sender, ..)| *sender == own)
        .map(|(_, receiver, bytes)| (*receiver, bytes.as_slice()))
        .collect();
    let expected: Vec<_> = messages.iter().filter(|(_, receiver, _)| *receiver == own).collect();
    let mut found: Vec<Vec<u8>> = expected.iter().map(|(.., bytes)| vec![0; bytes.len()]).collect();
    let mut receives: Vec<(usize, &mut [u8])> = (expected.iter().zip(&mut found))
        .map(|((sender, ..), bytes)| (*sender, bytes.as_mut_slice()))
        .collect();
    if !sends.is_empty() || !receives.is_empty() {
        mpi.exchange(&sends, &mut receives).unwrap();
    }
    assert!(expected.iter().map(|(.., bytes)| bytes).eq(&found));
}

fn rank() {
    let mut mpi = Mpi::start().unwrap();
    assert_eq!(mpi.ranks(), RANKS);
    // All ranks draw the same numbers.
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..200 {
        mpi = mpi.with_chunks(random.usize(1..50));
        any_chunks_transmit_the_same_bytes(&mut mpi, &mut random);
    }
    let own = mpi.rank();
    assert!(Mpi::start().is_err(), "MPI starts once");

    let text = "HloModule m, replica_count=4
        add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
        ENTRY e { x = s32[] parameter(0) ROOT sum = s32[] all-reduce(x), replica_groups={{0,3},{1,2}}, to_apply=add }";
    let verified = Module::parse(text).unwrap().verify().unwrap();
    let scalar = |text: &str| -> Literal { text.parse().unwrap() };
    let inputs = ["s32[] 1", "s32[] 20", "s32[] 300", "s32[] 4000"].map(|x| vec![scalar(x)]);
    let expected = ["s32[] 4001", "s32[] 320", "s32[] 320", "s32[] 4001"].map(scalar);
    let ranks = Ranks::new(mpi);
    let block = ranks.block(4);
    let results = Program::new(&verified).with_ranks(ranks.clone()).run(&inputs).unwrap();
    assert_eq!(results, expected[block]);
    assert_eq!(ranks.gather_values(&results).unwrap(), expected);
    let gathered = ranks.gather_values_to(2, &results).unwrap();
    assert_eq!(gathered.len(), if own == 2 { 4 } else { 0 });
    println!("rank is fine");
}
