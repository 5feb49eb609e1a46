//! Messages between devices by copies into each other's memory: processes with emulated devices send, repeat
//! graphs, agree on minima, and end when a message does not come.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic")]

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dgsuite_gpu::comm::{CommError, Communicator, Joint, child_rank, run_children};
use dgsuite_gpu::cuda::nccl::DeviceMessage;
use dgsuite_gpu::cuda::{
    Args, Cuda, DeviceBuffer, DevicePlane, FLAGS_VARIABLE, JointLink, LaunchConfig, Link, Source,
};
use dgsuite_gpu::shim::{EMULATOR_ORDER, Emulator, ShimError};
use dgsuite_gpu::{ExactSum, GpuError};

/// Messages of different lengths between all pairs of three ranks, in two sets, of which the second one is
/// repeated by a graph; then minima.
#[test]
#[ignore = "run by messages_arrive_in_order_and_in_graphs"]
fn child() {
    let Some(comm) = child_rank().unwrap() else { return };
    let (rank, size) = (comm.rank(), comm.size());
    let cuda = Cuda::new(0).unwrap();
    let words = 100;
    let mut from = DeviceBuffer::<u64>::zeros(&cuda, "a test", words * size).unwrap();
    let to = DeviceBuffer::<u64>::zeros(&cuda, "a test", words * size).unwrap();
    let message = |n: &dyn Fn(usize, usize) -> usize, other: usize| DeviceMessage {
        rank: other,
        send: from.ptr_at(words * other),
        send_bytes: 8 * n(rank, other),
        receive: to.ptr_at(words * other + 1),
        receive_bytes: 8 * n(other, rank),
    };
    let others = || (0..size).filter(|&other| other != rank);
    let (long, one_way) = (|a: usize, b: usize| 10 * a + b, |a: usize, b: usize| usize::from(a < b));
    let sets = vec![
        others().map(|other| message(&long, other)).collect(),
        others().map(|other| message(&one_way, other)).collect(),
    ];
    // SAFETY: the arrays live longer than the link.
    let mut link = unsafe { Link::on(&cuda, &comm, sets, DevicePlane::Peer) }.unwrap();
    assert!(link.is_recordable());
    for round in 0..3_u64 {
        let values: Vec<u64> =
            (0..words * size).map(|i| i as u64 + 1000 * rank as u64 + 100_000 * round).collect();
        from.upload(&values).unwrap();
        link.run(0).unwrap();
        link.wait().unwrap();
        let found = to.to_vec().unwrap();
        for other in others() {
            for i in 0..long(other, rank) {
                let expected = (words * rank + i + 1000 * other) as u64 + 100_000 * round;
                assert_eq!(found[words * other + 1 + i], expected, "round {round}, from {other}");
            }
            assert_eq!(found[words * other], 0);
        }
    }
    let graph = cuda.capture(|_| (0..3).try_for_each(|_| link.run(1))).unwrap();
    for round in 0..3 {
        from.upload(&vec![7 + round; words * size]).unwrap();
        graph.launch().unwrap();
        link.wait().unwrap();
        let found = to.to_vec().unwrap();
        assert!((0..rank).all(|other| found[words * other + 1] == 7 + round));
    }
    // A kernel writes messages where they are wanted.
    let source =
        "extern \"C\" __global__ void put(unsigned long long* to, unsigned long long value) { *to = value; }";
    let put = cuda.compile(&Source::new("put.cu", source)).unwrap().function("put").unwrap();
    let places = link.places(1).unwrap();
    assert_eq!(places.iter().filter(|&&place| place != 0).count(), size - 1 - rank);
    let mut args = Args::new();
    let graph = cuda
        .capture(|stream| {
            for round in 0..3 {
                link.open(stream, 1)?;
                for &place in places.iter().filter(|&&place| place != 0) {
                    args.clear();
                    args.pointer(place).value((10 * rank + round) as u64);
                    // SAFETY: the other rank has a number there.
                    unsafe { cuda.launch_on(stream, &put, LaunchConfig::new(1, 1), &args) }?;
                }
                link.close(stream, 1)?;
            }
            Ok(())
        })
        .unwrap();
    for _ in 0..3 {
        graph.launch().unwrap();
        link.wait().unwrap();
        let found = to.to_vec().unwrap();
        assert!((0..rank).all(|other| found[words * other + 1] == 10 * other as u64 + 2));
        comm.barrier().unwrap();
    }
    let mut numbers =
        DeviceBuffer::from_slice(&cuda, "a test", &[rank as u64, u64::MAX - rank as u64, 5]).unwrap();
    // SAFETY: the numbers live until the copy below has waited.
    assert!(unsafe { link.min(numbers.ptr(), 2) }.unwrap());
    link.wait().unwrap();
    assert_eq!(numbers.to_vec().unwrap(), [0, u64::MAX - (size as u64 - 1), 5]);
    numbers.upload(&[rank as u64; 3]).unwrap();
    let mut integers = DeviceBuffer::from_slice(&cuda, "a test", &[rank as i64 + 1, i64::MAX, -5]).unwrap();
    for _ in 0..2 {
        assert!(link.sum(&mut integers, 3).unwrap());
    }
    link.wait().unwrap();
    let n = size as i64;
    let all = [(1..=n).sum::<i64>(), i64::MAX.wrapping_mul(n), -5 * n];
    assert_eq!(integers.to_vec().unwrap(), all.map(|sum| sum.wrapping_mul(n)));
    joint_link(&cuda, &comm);
    comm.barrier().unwrap();
}

/// Messages, exact sums and maxima of a link that operators share.
fn joint_link(cuda: &Cuda, comm: &Arc<dyn Communicator>) {
    let (rank, size) = (comm.rank(), comm.size());
    let link = JointLink::new(cuda, &Arc::new(Joint::new(Arc::clone(comm)))).unwrap();
    assert_eq!((link.plane(), link.is_recordable()), ("peer", true));
    let from = DeviceBuffer::from_slice(cuda, "a test", &[rank as u64; 3]).unwrap();
    let to = DeviceBuffer::<u64>::zeros(cuda, "a test", size).unwrap();
    let message = |other: usize| DeviceMessage {
        rank: other,
        send: from.ptr(),
        send_bytes: 8,
        receive: to.ptr_at(other),
        receive_bytes: 8,
    };
    let set = (0..size).filter(|&other| other != rank).map(message).collect();
    // SAFETY: the arrays live longer than the link runs the set.
    let set = unsafe { link.add(set) }.unwrap();
    let places = link.places(set).unwrap();
    let source = "extern \"C\" __global__ void put(unsigned long long* to, const unsigned long long* from) \
                  { *to = *from + 1; }";
    let put = cuda.compile(&Source::new("put.cu", source)).unwrap().function("put").unwrap();
    let pack = || {
        places.iter().try_for_each(|&place| {
            let mut args = Args::new();
            args.pointer(place).buffer(&from);
            // SAFETY: the other rank has a number there.
            unsafe { cuda.launch(&put, LaunchConfig::new(1, 1), &args) }
        })
    };
    for _ in 0..3 {
        link.send(set, pack, || Ok(())).unwrap();
    }
    link.wait().unwrap();
    let expected: Vec<u64> = (0..size as u64).map(|r| if r == rank as u64 { 0 } else { r + 1 }).collect();
    assert_eq!(to.to_vec().unwrap(), expected);
    let sum = |x: f64| [x].into_iter().collect::<ExactSum>().limbs();
    let words = [sum(1e300), sum(rank as f64 + 0.25), [7; ExactSum::WORDS]].concat();
    let mut words = DeviceBuffer::from_slice(cuda, "a test", &words).unwrap();
    link.sum(&mut words, 2 * ExactSum::WORDS).unwrap();
    let mut largest = DeviceBuffer::from_slice(cuda, "a test", &[9.0, rank as f64, 5.0]).unwrap();
    link.largest(&mut largest, 1).unwrap();
    link.wait().unwrap();
    let words = words.to_vec().unwrap();
    let value = |k: usize| ExactSum::from_limbs(*words[k * ExactSum::WORDS..].first_chunk().unwrap()).value();
    assert_eq!([value(0), value(1)], [1e300 * size as f64, (size * (size - 1) / 2) as f64 + 0.75]);
    assert!(words[2 * ExactSum::WORDS..].iter().all(|word| *word == 7));
    assert_eq!(largest.to_vec().unwrap(), [9.0, size as f64 - 1.0, 5.0]);
    largest.upload(&[0.0, if rank == 1 { f64::NAN } else { 1.0 }, 0.0]).unwrap();
    link.largest(&mut largest, 1).unwrap();
    link.wait().unwrap();
    assert!(largest.to_vec().unwrap()[1].is_nan());
}

/// Rank 2 ends when the others send to it.
#[test]
#[ignore = "run by a_rank_that_has_ended_is_named_before_the_deadline"]
fn lost_child() {
    let Some(comm) = child_rank().unwrap() else { return };
    let cuda = Cuda::new(0).unwrap();
    let array = DeviceBuffer::<u64>::zeros(&cuda, "a test", 6).unwrap();
    let message = |other: usize| DeviceMessage {
        rank: other,
        send: array.ptr_at(other),
        send_bytes: 8,
        receive: array.ptr_at(3 + other),
        receive_bytes: 8,
    };
    let set = (0..3).filter(|&other| other != comm.rank()).map(message).collect();
    // SAFETY: the array lives longer than the link.
    let mut link = unsafe { Link::on(&cuda, &comm, vec![set], DevicePlane::Peer) }.unwrap();
    let of_operators = JointLink::new(&cuda, &Arc::new(Joint::new(Arc::clone(&comm)))).unwrap();
    let mut sums = DeviceBuffer::from_slice(&cuda, "a test", &[1_i64; ExactSum::WORDS]).unwrap();
    if comm.rank() == 2 {
        std::process::exit(7);
    }
    link.run(0).unwrap();
    let error = link.wait().expect_err("rank 2 has ended");
    assert!(matches!(error, GpuError::Ranks(CommError::Left { rank: 2 })), "{error}");
    of_operators.sum(&mut sums, ExactSum::WORDS).unwrap();
    of_operators.wait().expect_err("rank 2 has ended");
    assert!(matches!(of_operators.joint().take_failure(), Some(CommError::Left { rank: 2 })));
}

fn emulator() -> Option<Emulator> {
    match Emulator::new() {
        Ok(emulator) => Some(emulator),
        Err(reason @ ShimError::NoCompiler { .. }) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
            println!("SKIPPED: {reason}");
            None
        }
        Err(reason) => panic!("{reason}"),
    }
}

/// The exit codes of three ranks that run the test `child`.
fn codes(emulator: &Emulator, order: &str, flags: &str, child: &str) -> Vec<i32> {
    let command = |_| -> Command {
        let mut command = emulator.command(std::env::current_exe().unwrap());
        command.env(EMULATOR_ORDER, order).env(FLAGS_VARIABLE, flags);
        command.args([child, "--exact", "--ignored", "--nocapture"]);
        command.env("DGSUITE_COMM_TIMEOUT", "60").stdout(Stdio::null());
        command
    };
    run_children((0..3).map(command).collect(), || None).unwrap().codes
}

#[test]
fn messages_arrive_in_order_and_in_graphs() {
    let Some(emulator) = emulator() else { return };
    for (order, flags) in
        [("none", "streams"), ("old", "streams"), ("new", "streams"), ("none", "kernels"), ("old", "kernels")]
    {
        let codes = codes(&emulator, order, flags, "child");
        assert_eq!(codes, [0, 0, 0], "order {order}, flags of {flags}");
    }
}

#[test]
fn a_rank_that_has_ended_is_named_before_the_deadline() {
    let Some(emulator) = emulator() else { return };
    let begun = Instant::now();
    assert_eq!(codes(&emulator, "old", "streams", "lost_child"), [0, 0, 7]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}
