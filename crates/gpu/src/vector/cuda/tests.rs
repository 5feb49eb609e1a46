//! The kernels of vectors, run on the host, compared bit by bit with the host's own vectors.

use std::io::Write;

use super::*;
use crate::ExactSum;
use crate::cuda::nvrtc;
use crate::shim::{self, Arg, Program, bytes, values};
use crate::{Host, HostVector};

/// Numbers of many magnitudes and both signs.
fn numbers<T: Scalar>(seed: u64, n: usize) -> Vec<T> {
    let mut state = seed | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let mantissa = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            T::from_f64(mantissa * f64::powi(10.0, (state % 13) as i32 - 6))
        })
        .collect()
}

struct Twin<T: Scalar> {
    host: Host,
    x: Vec<T>,
    y: Vec<T>,
    update: Program,
    reduce: Program,
}

impl<T: Scalar> Twin<T> {
    fn host(&self, values: &[T]) -> HostVector<T> {
        HostVector::from_slice(&self.host, values).unwrap()
    }

    /// Runs an update of `y` (or of a third vector) and compares every byte.
    fn update(&self, kernel: &str, args: &[Arg], host: impl FnOnce(&mut HostVector<T>, &HostVector<T>)) {
        let n = self.x.len();
        let mut memory = [bytes(&self.y), bytes(&self.x)];
        let config = LaunchConfig::new(n.div_ceil(UPDATE.1) as u32, UPDATE.0);
        let args = [args, &[Arg::value(n as u64)]].concat();
        self.update.run(kernel, config, &mut memory, &args).unwrap();
        let mut y = self.host(&self.y);
        host(&mut y, &self.host(&self.x));
        assert_eq!(memory[0], bytes(&y[..]), "{kernel}, n = {n}");
    }

    /// Runs both kernels of a reduction and compares the bits.
    fn reduce(&self, kind: &str, vectors: &[&[T]], host: f64) {
        let args: Vec<Arg> = (0..vectors.len()).map(Arg::buffer).collect();
        self.reduce_to(&format!("{kind}_blocks"), &format!("{kind}_join"), vectors, &args, &[host]);
    }

    /// As [`reduce`](Self::reduce) for several sums and with other arguments before the last; returns the
    /// vectors.
    fn reduce_to(
        &self,
        kernel: &str,
        join: &str,
        vectors: &[&[T]],
        args: &[Arg],
        host: &[f64],
    ) -> Vec<Vec<u8>> {
        let n = vectors[0].len();
        let blocks = n.div_ceil(REDUCE.1).max(1);
        let mut memory: Vec<Vec<u8>> = vectors.iter().map(|v| bytes(v)).collect();
        let partial = memory.len();
        memory.push(vec![0xff; 16 * blocks]);
        memory.push(vec![0xff; 8 * host.len()]);
        let args = [args, &[Arg::buffer(partial), Arg::value(n as u64)]].concat();
        let config = LaunchConfig::new(blocks as u32, REDUCE.0);
        self.reduce.run(kernel, config, &mut memory, &args).unwrap();
        let args = [Arg::buffer(partial), Arg::value(blocks as u32), Arg::buffer(partial + 1)];
        let config = LaunchConfig::new(host.len() as u32, JOINED);
        self.reduce.run(join, config, &mut memory, &args).unwrap();
        let bits: Vec<u64> = host.iter().map(|v| v.to_bits()).collect();
        assert_eq!(values::<u64>(&memory[partial + 1]), bits, "{kernel}, n = {n}");
        memory
    }
}

fn every_kernel<T: Scalar>() {
    let [update, reduce, _] = sources::<T>();
    let names = [
        "dot_blocks",
        "dot_join",
        "dot_two_blocks",
        "add_and_square_blocks",
        "sum_blocks",
        "sum_join",
        "max_blocks",
        "max_join",
    ];
    let mut twin = Twin::<T> {
        host: Host::new(1).unwrap(),
        x: Vec::new(),
        y: Vec::new(),
        update: Program::new(&update, &["fill", "axpby", "add_product", "lincomb", "step_and_turn"], &[])
            .unwrap(),
        reduce: Program::new(&reduce, &names, &[]).unwrap(),
    };
    for n in [1, 1031] {
        (twin.x, twin.y) = (numbers(n as u64, n), numbers(!(n as u64), n));
        let (y, x) = (|| Arg::buffer(0), || Arg::buffer(1));
        twin.update("fill", &[y(), Arg::value(0.1)], |y, _| y.fill(0.1));
        for b in [0.0, 1.0, -1.7] {
            // The addresses of lists with one vector.
            let one = |buffer: usize| Arg::structure(vec![0; 8 * PARTS], &[(0, buffer)]);
            let args = [one(0), Arg::value(0.3), one(1), Arg::value(b)];
            twin.update("axpby", &args, |y, x| y.axpby(0.3, x, b));
            let args = [y(), Arg::value(0.3), x(), x(), Arg::value(b)];
            twin.update("add_product", &args, |y, x| y.add_product(0.3, x, x, b));
            // A second vector is changed as the first one is, by a row of blocks of its own.
            let mut y = twin.host(&twin.y);
            y.axpby(0.3, &twin.host(&twin.x), b);
            let mut memory = [bytes(&twin.x), bytes(&twin.y), bytes(&twin.x), bytes(&twin.y)];
            let two = |a, b| Arg::structure(vec![0; 8 * PARTS], &[(0, a), (8, b)]);
            let (to, from) = (two(1, 3), two(0, 2));
            let args = [to, Arg::value(0.3), from, Arg::value(b), Arg::value(n as u64)];
            let mut config = LaunchConfig::new(n.div_ceil(UPDATE.1) as u32, UPDATE.0);
            config.grid[1] = 2;
            twin.update.run("axpby", config, &mut memory, &args).unwrap();
            assert_eq!([&memory[1], &memory[3]], [&bytes(&y[..]); 2], "two vectors, n = {n}, b = {b}");
            let mut terms = [0_u8; size_of::<Terms>()];
            let factors = 8 * PARTS * TERMS;
            terms[factors..factors + 16].copy_from_slice(&bytes(&[1.1, -0.2]));
            terms[factors + 64..factors + 68].copy_from_slice(&bytes(&[2_u32]));
            let terms = Arg::structure(terms.to_vec(), &[(0, 1), (8 * PARTS, 1)]);
            let args = [one(0), Arg::value(b), terms];
            twin.update("lincomb", &args, |y, x| y.lincomb(b, &[(1.1, x), (-0.2, x)]));
            let (mut p, mut iterate) = (twin.host(&twin.x), twin.host(&twin.y));
            p.step_and_turn(0.3, &mut iterate, b, &twin.host(&twin.y));
            let mut memory = [bytes(&twin.x), bytes(&twin.y), bytes(&twin.y)];
            let [direction, x, y] = [0, 1, 2].map(Arg::buffer);
            let args = [direction, Arg::value(0.3), x, Arg::value(b), y, Arg::value(n as u64)];
            let config = LaunchConfig::new(n.div_ceil(UPDATE.1) as u32, UPDATE.0);
            twin.update.run("step_and_turn", config, &mut memory, &args).unwrap();
            assert_eq!(memory[..2], [bytes(&p[..]), bytes(&iterate[..])], "step_and_turn, n = {n}, b = {b}");
        }
    }
    // One leaf that is not full; full leaves with an odd one; more than a block.
    for n in [0, 1, 17, 3 * 4096 + 5, REDUCE.1 + 4096 + 33] {
        let (x, y) = (numbers::<T>(n as u64 + 7, n), numbers::<T>(!(n as u64), n));
        let (hx, hy) = (twin.host(&x), twin.host(&y));
        twin.reduce("dot", &[&x, &y], hx.dot(&hy));
        let [one, other] = [0, 1].map(Arg::buffer);
        let args = [one.clone(), other.clone(), one.clone()];
        twin.reduce_to("dot_two_blocks", "dot_join", &[&x, &y], &args, &hx.dot_two(&hy, &hx));
        let mut sum = twin.host(&x);
        let square = sum.add_and_square(-0.7, &hy);
        let args = [one, Arg::value(-0.7), other];
        let memory = twin.reduce_to("add_and_square_blocks", "dot_join", &[&x, &y], &args, &[square]);
        assert_eq!(memory[0], bytes(&sum[..]), "add_and_square, n = {n}");
        twin.reduce("sum", &[&x], hx.sum());
        twin.reduce("max", &[&x], hx.norm_max());
    }
    let mut x = numbers::<T>(5, 5000);
    x[4321] = T::from_f64(f64::NAN);
    twin.reduce("max", &[&x], f64::NAN);
    x[4321] = T::from_f64(f64::INFINITY);
    twin.reduce("sum", &[&x], f64::INFINITY);
}

#[test]
fn every_kernel_gives_the_bits_of_the_host() {
    if let Err(reason) = shim::compiler() {
        assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
        let _ = writeln!(std::io::stderr(), "SKIPPED every_kernel_gives_the_bits_of_the_host: {reason}");
        return;
    }
    every_kernel::<f64>();
    every_kernel::<f32>();
}

/// With the compiler: everything fits into registers, on the oldest supported architecture and the newest
/// measured one.
#[test]
fn kernels_compile_without_spills() {
    for source in [sources::<f64>(), sources::<f32>()].concat() {
        for architecture in ["sm_80", "sm_90"] {
            match nvrtc::compile_for(architecture, &source) {
                Ok(compiled) => {
                    let resources = compiled.resources();
                    assert!(
                        resources.len() >= 4 && resources.iter().all(|r| r.spill_stores == 0),
                        "{resources:?}"
                    );
                }
                Err(GpuError::NoCompiler { .. }) => return,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// The second kernel takes more partial results than it has threads.
#[test]
fn many_blocks_are_joined_as_the_host_joins_leaves() {
    if shim::compiler().is_err() {
        return;
    }
    let [_, reduce, _] = sources::<f64>();
    let program = Program::new(&reduce, &["sum_join"], &[]).unwrap();
    // Integers: exact in any order; then a cancellation that needs compensation.
    let count = 2 * JOINED as usize + 5;
    let mut partial: Vec<[f64; 2]> = (0..count).map(|i| [i as f64, 0.25]).collect();
    partial[3][0] += 1e17;
    partial[count - 2][0] -= 1e17;
    let mut memory = [bytes(&partial), vec![0; 8]];
    let args = [Arg::buffer(0), Arg::value(count as u32), Arg::buffer(1)];
    program.run("sum_join", LaunchConfig::new(1, JOINED), &mut memory, &args).unwrap();
    let exact = (count * (count - 1) / 2) as f64 + 0.25 * count as f64;
    assert!((values::<f64>(&memory[1])[0] - exact).abs() <= 32.0, "{}", values::<f64>(&memory[1])[0]);
}

/// The sum of an item as the lanes of `threads` threads form it.
fn of_item(terms: &[f64], threads: usize) -> f64 {
    let lane = |l: usize| terms.iter().skip(l).step_by(threads).fold(0.0, |sum, term| sum + term);
    let mut lanes: Vec<f64> = (0..threads).map(lane).collect();
    while lanes.len() > 1 {
        let half = lanes.len() / 2;
        lanes = (0..half).map(|l| lanes[l] + lanes[l + half]).collect();
    }
    lanes[0]
}

/// Sums by items on the host's fibres: the bits of the same sums of items, added exactly.
fn exact_sums_of<T: Scalar>() {
    // Rows, items, counted items and threads of an item.
    let lists = [(3, 41, 41, 1), (1, 9, 5, 1), (50, 7, 6, 16), (200, 3, 0, 32)];
    let mut items = Vec::new();
    let mut first = 0;
    for (rows, n, counted, _) in lists {
        items.push(CudaItems { first, rows, n, counted });
        first += rows * n;
    }
    let n = first + 5;
    let (mut x, y) = (numbers::<T>(3, n), numbers::<T>(11, n));
    // Cancellation that only an exact sum sees, and terms of both signs.
    (x[0], x[3]) = (T::from_f64(3e15), T::from_f64(-3e15));
    let sum = |term: &dyn Fn(usize) -> f64| -> f64 {
        let mut sum = ExactSum::new();
        for (list, items) in lists.iter().zip(&items) {
            for item in 0..items.counted {
                let entries = (0..items.rows).map(|k| term(items.first + item * items.rows + k));
                sum.add(of_item(&entries.collect::<Vec<_>>(), list.3));
            }
        }
        sum.value()
    };
    let names = ["exact_dots", "exact_sums", "exact_add_and_square", "exact_round"];
    let program = Program::new(&exact_source::<T>(), &names, &[]).unwrap();
    let argument = |all: bool| {
        let rest = CudaItems { first, rows: 1, n: n - first, counted: 0 };
        let lists = ItemLists::new(&[&items[..], &[rest]].concat(), !all);
        // SAFETY: a structure of numbers without padding but at its end, which is zero.
        let raw: [u8; size_of::<ItemLists>()] = unsafe { std::mem::transmute(lists) };
        Arg::structure(raw.to_vec(), &[])
    };
    let (config, words) = (LaunchConfig::new(3, 256), vec![0_i64; 2 * ExactSum::WORDS]);
    let rounded = |memory: &mut [Vec<u8>]| -> Vec<f64> {
        let args = [Arg::buffer(2), Arg::value(2_u32), Arg::buffer(3)];
        program.run("exact_round", LaunchConfig::new(1, 256), memory, &args).unwrap();
        assert!(values::<i64>(&memory[2]).iter().all(|word| *word == 0));
        values(&memory[3])
    };
    let mut memory = [bytes(&x), bytes(&y), bytes(&words), vec![0; 16]];
    let pairs = Arg::structure(vec![0; 256], &[(0, 0), (8, 0), (128, 1), (136, 0)]);
    let mut two = config;
    two.grid[1] = 2;
    program.run("exact_dots", two, &mut memory, &[pairs, argument(false), Arg::buffer(2)]).unwrap();
    let product = |a: &[T], b: &[T], i: usize| a[i].to_f64() * b[i].to_f64();
    let wanted = [sum(&|i| product(&x, &y, i)), sum(&|i| product(&x, &x, i))];
    assert_eq!(rounded(&mut memory), wanted);
    let args = [Arg::buffer(0), argument(false), Arg::buffer(2)];
    program.run("exact_sums", config, &mut memory, &args).unwrap();
    assert_eq!(rounded(&mut memory), [sum(&|i| x[i].to_f64()), 0.0]);
    let args = [Arg::buffer(1), Arg::value(-0.7), Arg::buffer(0), argument(true), Arg::buffer(2)];
    program.run("exact_add_and_square", config, &mut memory, &args).unwrap();
    let a = T::from_f64(-0.7);
    let moved: Vec<T> = x.iter().zip(&y).map(|(&x, &y)| y + a * x).collect();
    assert_eq!(memory[1], bytes(&moved), "entries that are not counted change too");
    assert_eq!(rounded(&mut memory), [sum(&|i| product(&moved, &moved, i)), 0.0]);
}

#[test]
fn sums_by_items_are_exact_over_the_items() {
    if shim::compiler().is_err() {
        return;
    }
    exact_sums_of::<f64>();
    exact_sums_of::<f32>();
}

/// Accumulators of both signs, of the smallest and largest numbers, and of those that are not finite.
#[test]
fn accumulators_are_rounded_as_on_the_host() {
    if shim::compiler().is_err() {
        return;
    }
    let program = Program::new(&exact_source::<f64>(), &["exact_round"], &[]).unwrap();
    let half_ulp = f64::EPSILON / 2.0;
    for terms in [
        vec![],
        vec![-0.0],
        vec![1.0, half_ulp],
        vec![-1.0, -half_ulp, -f64::from_bits(1)],
        vec![1e308, -3.0, -1e308],
        vec![f64::from_bits(1), -f64::from_bits(3)],
        vec![-f64::MIN_POSITIVE, f64::from_bits(1)],
        vec![-f64::MAX, -f64::MAX],
        vec![f64::INFINITY, 1.0],
        vec![f64::NEG_INFINITY, f64::MAX],
        vec![f64::INFINITY, f64::NEG_INFINITY],
        vec![f64::NAN, f64::INFINITY],
    ] {
        let sum: ExactSum = terms.iter().copied().collect();
        let mut memory = [bytes(&sum.limbs()), vec![0; 8]];
        let args = [Arg::buffer(0), Arg::value(1_u32), Arg::buffer(1)];
        program.run("exact_round", LaunchConfig::new(1, 32), &mut memory, &args).unwrap();
        assert_eq!(values::<u64>(&memory[1])[0], sum.value().to_bits(), "{terms:?}");
    }
}
