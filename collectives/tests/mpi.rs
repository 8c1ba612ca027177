//! Ranks that are processes: this program starts itself again under `mpirun`.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test that is its own program")]
#[path = "common/program.rs"]
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

fn rank() {
    // Chunks of 7 bytes of all ranks together: of the 2 of each, the last ones are shorter on some ranks.
    let mut mpi = Mpi::start().unwrap().with_chunks(7);
    let own = mpi.rank();
    assert_eq!(mpi.ranks(), RANKS);
    let bytes = |rank: usize, n: usize| vec![u8::try_from(rank * 50 + n).unwrap(); n];
    for lengths in [[0, 0, 0], [5, 0, 13], [1, 2, 3], [40, 40, 40]] {
        let gathered = mpi.all_gather(bytes(own, lengths[own])).unwrap();
        let expected: Vec<Vec<u8>> = (0..RANKS).map(|rank| bytes(rank, lengths[rank])).collect();
        assert_eq!(gathered, expected);
    }
    // Messages of several pieces between ranks 0 and 2, in both directions; rank 1 does not take part.
    let message = |rank: usize, n: usize| bytes(rank, n);
    if own != 1 {
        let other = 2 - own;
        let (long, short) = (message(own, 40), message(own, 3));
        let (mut first, mut second) = (vec![0; 40], vec![0; 3]);
        mpi.exchange(
            &[(other, &long), (other, &short)],
            &mut [(other, &mut first), (other, &mut second)],
        )
        .unwrap();
        assert_eq!((first, second), (message(other, 40), message(other, 3)));
    }
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
