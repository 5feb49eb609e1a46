//! Memory, kernels, graphs and vectors on a device. Without one every test prints SKIPPED and passes, unless
//! `DGSUITE_REQUIRE_GPU` is 1.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dgsuite_gpu::cuda::{Args, Cache, Cuda, DeviceBuffer, Event, LaunchConfig, PinnedBuffer, Source, Stream};
use dgsuite_gpu::probe::{DeviceEffort, measure_device};
use dgsuite_gpu::shim::{Emulator, ShimError};
use dgsuite_gpu::{Backend, CudaVector, GpuError, Host, Scalar, Vector};

/// A device for one test at a time, so that tests share neither memory nor time.
fn device(test: &str) -> Option<(Cuda, MutexGuard<'static, ()>)> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    match Cuda::new(0) {
        Ok(cuda) => Some((cuda, guard)),
        Err(reason) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_GPU").is_none_or(|v| v != "1"), "{reason}");
            // Not eprintln!: the test harness hides its output in tests that pass.
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
            None
        }
    }
}

const SMALL: &str = r#"#include "device.cuh"
__constant__ double factor[2];
struct Shift { double by[3]; int n; };
extern "C" __global__ void scale(double* x, double a, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * factor[1] * x[i];
}
extern "C" __global__ void shift(Shift s, double* x) { x[threadIdx.x] += s.by[threadIdx.x % 3] * s.n; }
extern "C" __global__ void much_shared(double* x, unsigned n) {
    DG_DYNAMIC_SHARED(double, s);
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) s[i] = i;
    dg_block_sync();
    double sum = 0.0;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) sum += s[n - 1 - i];
    x[threadIdx.x] = sum;
}
"#;

const ADD: &str = r#"extern "C" __global__ void add(int* x) { x[threadIdx.x] += BY; }"#;

#[test]
fn no_device_is_a_sentence() {
    let failures = [Cuda::devices().err(), Cuda::new(4096).err()];
    for error in failures.into_iter().flatten() {
        match &error {
            GpuError::NoDriver | GpuError::DriverTooOld { .. } | GpuError::NoDevice { .. } => {}
            GpuError::NoSuchDevice { ordinal: 4096, count } => assert!(*count > 0),
            other => panic!("{other:?}"),
        }
        assert!(error.to_string().len() > 20);
    }
    assert!(Cuda::new(4096).is_err());
}

#[test]
fn arrays_keep_what_is_written() {
    let Some((cuda, _guard)) = device("arrays_keep_what_is_written") else { return };
    let values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let mut a = DeviceBuffer::from_slice(&cuda, "a test", &values).unwrap();
    assert_eq!((a.len(), a.bytes(), a.ptr_at(3) - a.ptr()), (1000, 4000, 12));
    a.upload_at(10, &[-1.0, -2.0]).unwrap();
    let mut few = [0.0; 4];
    a.download_at(9, &mut few).unwrap();
    assert_eq!(few, [9.0, -1.0, -2.0, 12.0]);
    let mut b = DeviceBuffer::<f32>::zeros(&cuda, "a test", 1000).unwrap();
    assert!(b.to_vec().unwrap().iter().all(|&x| x == 0.0));
    b.copy_range(0, &a, 500, 500, cuda.stream()).unwrap();
    assert_eq!(b.to_vec().unwrap()[..500], values[500..]);
    for error in
        [a.upload(&[0.0]), a.download(&mut few), a.upload_at(999, &few), a.download_at(usize::MAX, &mut few)]
    {
        assert!(matches!(error, Err(GpuError::Length { found: 1000, .. })), "{error:?}");
    }
    let empty = DeviceBuffer::<u64>::zeros(&cuda, "a test", 0).unwrap();
    assert!(empty.is_empty() && empty.to_vec().unwrap().is_empty());

    // A second stream beside the main stream, which waits for an event.
    let (stream, event) = (Stream::new(&cuda).unwrap(), Event::new(&cuda).unwrap());
    let mut pinned = PinnedBuffer::<f32>::zeros(&cuda, 1000).unwrap();
    pinned.copy_from_slice(&values);
    // SAFETY: `pinned` is not used before the main stream, which waits for this copy, has completed.
    unsafe { b.upload_async(0, &pinned, &stream).unwrap() };
    stream.record(&event).unwrap();
    cuda.stream().wait(&event).unwrap();
    assert_eq!(b.to_vec().unwrap(), values);
    assert!(event.is_done().unwrap());

    let (free, total) = cuda.memory().unwrap();
    assert!(0 < free && free <= total);
    match DeviceBuffer::<f64>::zeros(&cuda, "states of a test", total) {
        Err(error @ GpuError::OutOfDeviceMemory { .. }) => {
            let words = error.to_string();
            assert!(
                words.contains("states of a test") && words.contains(&(8 * total).to_string()),
                "{words}"
            );
        }
        other => panic!("{:?}", other.err()),
    }
    assert!(matches!(
        DeviceBuffer::<f64>::zeros(&cuda, "", usize::MAX),
        Err(GpuError::OutOfDeviceMemory { .. })
    ));
}

#[test]
fn kernels_run_and_refuse_what_does_not_fit() {
    let Some((cuda, _guard)) = device("kernels_run_and_refuse_what_does_not_fit") else { return };
    let module = cuda.compile(&Source::new("small.cu", SMALL)).unwrap();
    assert!(Arc::ptr_eq(&module, &cuda.compile(&Source::new("small.cu", SMALL)).unwrap()));
    module.set_constant("factor", &[0.0, 2.0]).unwrap();
    assert!(matches!(
        module.set_constant("factor", &[0.0]),
        Err(GpuError::Length { wanted: 8, found: 16, .. })
    ));
    assert!(matches!(module.constant("fctor"), Err(GpuError::NoSymbol { .. })));
    assert!(matches!(module.function("sale"), Err(GpuError::NoSymbol { .. })));

    let scale = module.function("scale").unwrap();
    assert!(scale.registers() > 0 && scale.spill_stores() == 0 && scale.max_threads() >= 512);
    let x = DeviceBuffer::from_slice(&cuda, "a test", &[1.0, 2.0, 3.0]).unwrap();
    let mut args = Args::new();
    args.buffer(&x).value(0.5).value(2_u32);
    // SAFETY: the arguments match the kernels; if they do not, the launch is refused.
    unsafe {
        cuda.launch(&scale, LaunchConfig::cover(3, 128), &args).unwrap();
        args.set(1, 2.0);
        cuda.launch(&scale, LaunchConfig::cover(3, 128), &args).unwrap();
        cuda.launch(&scale, LaunchConfig::cover(0, 128), &args).unwrap();
        assert_eq!(x.to_vec().unwrap(), [4.0, 8.0, 3.0]);
        let refused = cuda.launch(&scale, LaunchConfig::new(1, 2048), &args);
        assert!(matches!(&refused, Err(GpuError::Launch { kernel, .. }) if kernel == "scale"), "{refused:?}");
        args.value(1_u8);
        let refused = cuda.launch(&scale, LaunchConfig::new(1, 32), &args);
        // Drivers before 12.4 do not report a kernel's arguments.
        assert!(matches!(refused, Err(GpuError::Launch { .. })), "{refused:?}");
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Shift {
        by: [f64; 3],
        n: i32,
    }
    args.clear();
    args.value(Shift { by: [1.0, 10.0, 100.0], n: 3 }).buffer(&x);
    // SAFETY: the arguments match the kernel.
    unsafe { cuda.launch(&module.function("shift").unwrap(), LaunchConfig::new(1, 3), &args).unwrap() };
    assert_eq!(x.to_vec().unwrap(), [7.0, 38.0, 303.0]);

    // 64 KiB: more than the default limit.
    let (n, threads) = (8192_u32, 256_u32);
    let much = module.function("much_shared").unwrap();
    let sums = DeviceBuffer::<f64>::zeros(&cuda, "a test", 256).unwrap();
    args.clear();
    args.buffer(&sums).value(n);
    let config = LaunchConfig::new(1, threads).shared(8 * n);
    // SAFETY: the arguments match the kernel.
    let launch = || unsafe { cuda.launch(&much, config, &args) };
    assert!(matches!(launch(), Err(GpuError::Launch { .. })));
    much.set_max_dynamic_shared(8 * n as usize).unwrap();
    assert!(much.blocks_per_multiprocessor(threads, 8 * n as usize).unwrap() >= 1);
    launch().unwrap();
    let sum: f64 = sums.to_vec().unwrap().iter().sum();
    assert_eq!(sum, f64::from(n) * f64::from(n - 1) / 2.0);
    assert!(much.set_max_dynamic_shared(1 << 30).is_err());
}

/// The device versions of the wrappers, with the numbers that shim.rs expects for the host.
#[test]
fn collectives_agree_with_the_host() {
    let Some((cuda, _guard)) = device("collectives_agree_with_the_host") else { return };
    let module = cuda.compile(&Source::new("collectives.cu", include_str!("collectives.cu"))).unwrap();
    let run = |kernel: &str, config: LaunchConfig, args: &Args| {
        // SAFETY: each caller below passes the arguments of its kernel, on buffers that live until they are
        // read.
        unsafe { cuda.launch(&module.function(kernel).unwrap(), config, args).unwrap() };
    };
    let upload = |values: &[f64]| DeviceBuffer::from_slice(&cuda, "a test", values).unwrap();
    let range = |n: i32| (0..n).map(f64::from).collect::<Vec<_>>();
    let mut args = Args::new();

    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Scale {
        x: u64,
        a: f64,
        n: i32,
    }
    let (x, out) = (upload(&range(150)), upload(&[f64::NAN; 3]));
    args.value(Scale { x: x.ptr(), a: 2.0, n: 150 }).buffer(&out);
    run("row_sums", LaunchConfig::new(3, 64), &args);
    let sum = |a: f64, b: f64| (a + b) * (b - a + 1.0);
    let expected = [sum(0.0, 63.0) + 96.0, sum(64.0, 127.0) + 96.0, sum(128.0, 149.0) + 22.0];
    assert_eq!(out.to_vec().unwrap(), expected);

    let a: Vec<f64> = (0..64).map(|i| f64::from(i * 7 % 13 - 5)).collect();
    let b: Vec<f64> = (0..64).map(|i| f64::from(i * 5 % 11 - 4)).collect();
    let (da, db, dc) = (upload(&a), upload(&b), upload(&[0.0; 64]));
    args.clear();
    args.buffer(&da).buffer(&db).buffer(&dc);
    run("product", LaunchConfig::new(1, 32), &args);
    let c: Vec<f64> = (0..64).map(|i| (0..8).map(|k| a[i / 8 * 8 + k] * b[k * 8 + i % 8]).sum()).collect();
    assert_eq!(dc.to_vec().unwrap(), c);

    // 1024.5 is rounded to 1025, and 3.0001 truncated to 3.
    let a: Vec<f32> = (0..64_u8).map(|i| 1024.0 + 0.5 * f32::from(i)).collect();
    let whole: Vec<f32> = (0..32_i8).map(|i| f32::from(i * 5 % 11 - 4)).collect();
    let b: Vec<f32> = whole.iter().map(|v| v + 1e-4 * v.signum() * v.abs().min(1.0)).collect();
    let upload_few = |values: &[f32]| DeviceBuffer::from_slice(&cuda, "a test", values).unwrap();
    let (da, db, dc) = (upload_few(&a), upload_few(&b), upload_few(&[0.0; 128]));
    args.clear();
    args.buffer(&da).buffer(&db).buffer(&dc);
    run("product_of_few_bits", LaunchConfig::new(1, 32), &args);
    let c: Vec<f32> =
        (0..128).map(|i| (0..4).map(|k| a[i / 8 * 4 + k].round() * whole[k * 8 + i % 8]).sum()).collect();
    assert_eq!(dc.to_vec().unwrap(), c);

    let (x, y) = (upload(&range(192)), upload(&[0.0; 192]));
    args.clear();
    args.buffer(&x).buffer(&y).value(3_i32);
    run("reversed", LaunchConfig::new(1, 32).shared(2 * 64 * 8), &args);
    let reversed: Vec<f64> = range(192).chunks(64).flat_map(|row| row.iter().rev().copied()).collect();
    assert_eq!(y.to_vec().unwrap(), reversed);

    let v: Vec<u32> = (0..32).map(|l| l % 5).collect();
    let x = DeviceBuffer::from_slice(&cuda, "a test", &v).unwrap();
    let out = DeviceBuffer::<u32>::zeros(&cuda, "a test", 32).unwrap();
    args.clear();
    args.buffer(&x).buffer(&out);
    run("votes", LaunchConfig::new(1, 32), &args);
    let bits: u32 = (0..32).filter(|&l| v[l] > 2).map(|l| 1_u32 << l).sum();
    let down = |l: usize| if l < 2 { v[l + 30] } else { v[l] };
    let expected: Vec<u32> = (0..32).map(|l| bits.wrapping_add(1000 * v[3] + 100_000 * down(l))).collect();
    assert_eq!(out.to_vec().unwrap(), expected);

    let v: Vec<f64> = (0..256).map(|i| f64::powi(10.0, i % 41 - 20) * (1.0 + f64::from(i) / 251.0)).collect();
    let (x, out) = (upload(&v), upload(&[0.0; 768]));
    args.clear();
    args.buffer(&x).buffer(&out);
    run("roots", LaunchConfig::new(4, 64), &args);
    for (x, got) in v.iter().zip(out.to_vec().unwrap().as_chunks::<3>().0) {
        for (got, exact) in got.iter().zip([1.0 / x, 1.0 / x.sqrt(), x.sqrt()]) {
            assert!((got - exact).abs() <= 2.0 * f64::EPSILON * exact, "{x}: {got} for {exact}");
        }
    }
}

#[test]
fn a_graph_repeats_what_was_recorded() {
    let Some((cuda, _guard)) = device("a_graph_repeats_what_was_recorded") else { return };
    let mut x = cuda.upload(&[1.0, -2.0]).unwrap();
    let y = cuda.upload(&[0.5, 0.25]).unwrap();
    let mut sum = DeviceBuffer::<f64>::zeros(&cuda, "a test", 2).unwrap();
    let graph = cuda
        .capture(|_| {
            x.axpby(1.0, &y, 1.0);
            x.lincomb(2.0, &[(1.0, &y)]);
            x.sum_into(&mut sum, 1)
        })
        .unwrap();
    // Two updates, and the two kernels of the sum; nothing has run yet.
    assert_eq!(graph.n_nodes(), 4);
    let mut values = [0.0; 2];
    cuda.download(&x, &mut values).unwrap();
    assert_eq!(values, [1.0, -2.0]);
    for _ in 0..3 {
        graph.launch().unwrap();
    }
    cuda.download(&x, &mut values).unwrap();
    let after = |mut x: f64, y: f64| {
        for _ in 0..3 {
            x = 2.0 * (x + y) + y;
        }
        x
    };
    assert_eq!(values, [after(1.0, 0.5), after(-2.0, 0.25)]);
    assert_eq!(sum.to_vec().unwrap(), [0.0, values[0] + values[1]]);

    // An operation that cannot be recorded is an error, and the stream remains usable.
    let failed = cuda.capture(|stream| stream.synchronize());
    assert!(matches!(failed, Err(GpuError::Driver { .. })));
    let nested = cuda.capture(|_| cuda.capture(|_| Ok(())).map(drop));
    assert!(matches!(nested, Err(GpuError::Driver { .. })));
    let waited = cuda.capture(|_| cuda.synchronize());
    assert!(matches!(waited, Err(GpuError::Driver { .. })));
    let copied = cuda.capture(|_| sum.upload(&[1.0, 2.0]));
    assert!(matches!(copied, Err(GpuError::Driver { .. })));
    let refused = cuda.capture(|_| Err(GpuError::NoDriver));
    assert!(matches!(refused, Err(GpuError::NoDriver)));
    graph.launch().unwrap();
    cuda.synchronize().unwrap();
}

/// Threads that share a device, or have opened it twice, continue to work while one of them records: their
/// launches are not recorded, waiting works, and no recording is lost.
#[test]
fn threads_share_a_device_while_some_record() {
    const RECORDINGS: usize = 20;
    let Some((cuda, _guard)) = device("threads_share_a_device_while_some_record") else { return };
    let cuda = &cuda;
    let recorders = Arc::new(());
    let record = |cuda: &Cuda| {
        let mut x = cuda.upload(&[1.0, -2.0]).unwrap();
        let y = cuda.upload(&[0.5, 0.25]).unwrap();
        for i in 1..=RECORDINGS {
            let graph = cuda.capture(|_| {
                x.axpby(1.0, &y, 1.0);
                // Long enough for the other threads to run in between.
                std::thread::sleep(Duration::from_millis(1));
                x.axpby(-2.0, &y, 1.0);
                Ok(())
            });
            let graph = graph.unwrap();
            assert_eq!(graph.n_nodes(), 2, "recording {i}");
            graph.launch().unwrap();
            let mut values = [0.0; 2];
            cuda.download(&x, &mut values).unwrap();
            assert_eq!(values, [1.0 - 0.5 * i as f64, -2.0 - 0.25 * i as f64]);
        }
    };
    let work = |i: usize| {
        let module = cuda.compile(&Source::new("add.cu", ADD).define("BY", i)).unwrap();
        let add = module.function("add").unwrap();
        let event = Event::new(cuda).unwrap();
        let mut rounds = 0;
        while Arc::strong_count(&recorders) > 1 || rounds == 0 {
            let mut x = DeviceBuffer::<i32>::zeros(cuda, "a test", 3).unwrap();
            x.upload(&[1, 2, 3]).unwrap();
            let mut args = Args::new();
            args.buffer(&x);
            // SAFETY: the argument matches the kernel, and `x` lives until it is read back.
            unsafe { cuda.launch(&add, LaunchConfig::new(1, 3), &args).unwrap() };
            cuda.stream().record(&event).unwrap();
            event.synchronize().unwrap();
            assert!(event.is_done().unwrap());
            let other = Stream::new(cuda).unwrap();
            other.wait(&event).unwrap();
            other.synchronize().unwrap();
            cuda.synchronize().unwrap();
            let by = i as i32;
            assert_eq!(x.to_vec().unwrap(), [1 + by, 2 + by, 3 + by]);
            rounds += 1;
        }
    };
    std::thread::scope(|scope| {
        for own in [false, true, false] {
            // Dropped at the end of the thread, in any case.
            let here = recorders.clone();
            scope.spawn(move || {
                let _here = here;
                let own = own.then(|| Cuda::new(0).unwrap());
                record(own.as_ref().unwrap_or(cuda));
            });
        }
        let work = &work;
        (1..=3).for_each(|i| drop(scope.spawn(move || work(i))));
    });
}

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

/// Every operation on a machine, as bits.
fn everything<B: Backend, T: Scalar>(machine: &B, x: &[T], y: &[T]) -> (Vec<u64>, [u64; 4]) {
    let (x, y) = (machine.upload(x).unwrap(), machine.upload(y).unwrap());
    let mut z = x.zeros_like().unwrap();
    z.copy_from(&y);
    z.axpby(0.3, &x, -1.7);
    z.axpby(0.1, &y, 1.0);
    z.lincomb(0.9, &[(1.1, &x), (-0.2, &y), (1e-3, &x)]);
    let many: Vec<(f64, &B::Vector<T>)> =
        (0..19).map(|k| (f64::from(k) - 9.5, if k % 2 == 0 { &x } else { &y })).collect();
    z.lincomb(0.5, &many);
    z.add_product(0.7, &x, &y, 0.4);
    let reductions = [z.dot(&x), z.norm2(), z.norm_max(), z.sum()].map(f64::to_bits);
    let mut values = vec![T::ZERO; x.len()];
    machine.download(&z, &mut values).unwrap();
    (values.into_iter().map(|a| a.to_f64().to_bits()).collect(), reductions)
}

#[test]
fn vectors_have_the_bits_of_the_host() {
    let Some((cuda, _guard)) = device("vectors_have_the_bits_of_the_host") else { return };
    let host = Host::new(0).unwrap();
    for n in [0, 1, 31, 32, 33, 4096, 4097, 65_536, 65_537, 1_000_003, 10_000_019] {
        let (x, y) = (numbers::<f64>(n as u64, n), numbers::<f64>(!(n as u64), n));
        assert!(everything(&host, &x, &y) == everything(&cuda, &x, &y), "double precision, n = {n}");
        let (x, y) = (numbers::<f32>(n as u64, n), numbers::<f32>(!(n as u64), n));
        assert!(everything(&host, &x, &y) == everything(&cuda, &x, &y), "single precision, n = {n}");
    }
    // A sum that plain summation loses.
    let mut x = vec![1.0; 3_000_000];
    (x[17], x[2_999_999]) = (1e17, -1e17);
    assert_eq!(cuda.upload(&x).unwrap().sum(), 2_999_998.0);
    let mut nan = CudaVector::<f64>::zeros(&cuda, 100_000).unwrap();
    nan.buffer_mut().upload_at(70_000, &[f64::NAN]).unwrap();
    assert!(nan.norm_max().is_nan());
    // A factor of zero does not read the old value.
    nan.fill(f64::NAN);
    let one = cuda.upload(&vec![1.0; 100_000]).unwrap();
    nan.lincomb(0.0, &[(2.0, &one)]);
    assert_eq!(nan.norm_max(), 2.0);
    cuda.take_failure().unwrap();
}

/// The child of the test below: after its failure the process cannot use the device any more.
#[test]
#[ignore = "run by a_kernel_that_fails_is_reported"]
fn a_kernel_that_fails() {
    let Some((cuda, _guard)) = device("a_kernel_that_fails") else { return };
    let text = r#"extern "C" __global__ void fault(double* x) { *x = 1.0; }"#;
    let fault = cuda.compile(&Source::new("fault.cu", text)).unwrap().function("fault").unwrap();
    let mut x = cuda.upload(&[1.0]).unwrap();
    let mut args = Args::new();
    args.pointer(8);
    // SAFETY: the address is invalid, which is the test; the device is not used for anything else in this
    // process.
    unsafe { cuda.launch(&fault, LaunchConfig::new(1, 1), &args).unwrap() };
    assert!(matches!(cuda.synchronize(), Err(GpuError::Kernel { .. })));
    // Updates do not return a result; the failure is stored for the next copy.
    x.fill(2.0);
    assert!(x.sum().is_nan());
    let kept = cuda.download(&x, &mut [0.0]);
    assert!(kept.is_err(), "{kept:?}");
    println!("the failure was reported");
}

#[test]
fn a_kernel_that_fails_is_reported() {
    let Some((cuda, _guard)) = device("a_kernel_that_fails_is_reported") else { return };
    if cuda.info().name.starts_with("emulated") {
        // On the emulator a wrong address ends the process, with its line in the kernel's text: see
        // emulator.rs.
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_kernel_that_fails", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && words.contains("the failure was reported"), "{words}");
}

#[test]
fn the_second_run_finds_its_kernels() {
    let Some((_cuda, _guard)) = device("the_second_run_finds_its_kernels") else { return };
    let folder = tempfile::tempdir().unwrap();
    let time = || {
        let cuda = Cuda::with_cache(0, Cache::at(folder.path())).unwrap();
        let start = std::time::Instant::now();
        let vector = CudaVector::<f64>::zeros(&cuda, 5).unwrap();
        assert_eq!(vector.sum(), 0.0);
        start.elapsed().as_secs_f64()
    };
    let (cold, warm) = (time(), time());
    println!("kernels of vectors: {:.1} ms compiled, {:.1} ms from the cache", 1e3 * cold, 1e3 * warm);
    assert!(std::fs::read_dir(folder.path()).unwrap().count() == 3 && warm < cold);
}

#[test]
fn kernels_are_compiled_ahead_and_once() {
    let Some((_cuda, _guard)) = device("kernels_are_compiled_ahead_and_once") else { return };
    let folder = tempfile::tempdir().unwrap();
    let cuda = Cuda::with_cache(0, Cache::at(folder.path())).unwrap();
    let text = |by: u32| Source::new("add.cu", ADD).define("BY", by);
    let wrong = Source::new("wrong.cu", "no text");
    let ahead = cuda.compile_ahead(vec![text(1), wrong.clone(), text(2)]);
    let start = std::time::Instant::now();
    while std::fs::read_dir(folder.path()).unwrap().count() < 2 {
        assert!(start.elapsed().as_secs() < 60, "nothing is compiled");
        std::thread::yield_now();
    }
    drop(ahead);
    let x = DeviceBuffer::from_slice(&cuda, "a test", &[1, 2, 3]).unwrap();
    for by in [1, 2, 3] {
        // Two threads that request a text that is not compiled yet get the same module.
        let [module, same] = std::thread::scope(|scope| {
            [0, 1].map(|_| scope.spawn(|| cuda.compile(&text(by)).unwrap())).map(|t| t.join().unwrap())
        });
        assert!(Arc::ptr_eq(&module, &same));
        let mut args = Args::new();
        args.buffer(&x);
        // SAFETY: the argument matches the kernel, and `x` lives until it is read back.
        unsafe { cuda.launch(&module.function("add").unwrap(), LaunchConfig::new(1, 3), &args).unwrap() };
    }
    assert_eq!(x.to_vec().unwrap(), [7, 8, 9]);
    assert!(matches!(cuda.compile(&wrong), Err(GpuError::Compile { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn limits_are_those_of_a_device() {
    let Some((cuda, _guard)) = device("limits_are_those_of_a_device") else { return };
    let info = cuda.info();
    println!("{info}");
    let limits =
        measure_device(&cuda, DeviceEffort { array_bytes: 256 << 20, ..DeviceEffort::default() }).unwrap();
    println!("{limits:?}");
    // Any supported device; a lower figure is an error of the measurement.
    assert!(limits.copy > 5e10 && limits.read > 5e10 && limits.driver_copy > 5e10);
    assert!(limits.flops_single > 5e11 && limits.flops_double > 1e10);
    assert!(limits.launch < 1e-4 && limits.graph_node < 1e-4);
}

/// Tests above that need no NVIDIA device, on the emulated one.
#[test]
fn arrays_graphs_and_compilation_on_an_emulated_device() {
    const NAME: &str = "arrays_graphs_and_compilation_on_an_emulated_device";
    const TESTS: [&str; 5] = [
        "arrays_keep_what_is_written",
        "a_graph_repeats_what_was_recorded",
        "threads_share_a_device_while_some_record",
        "the_second_run_finds_its_kernels",
        "kernels_are_compiled_ahead_and_once",
    ];
    if std::env::var_os("DGSUITE_EMULATOR").is_some() {
        return;
    }
    let emulator = match Emulator::new() {
        Ok(emulator) => emulator,
        Err(reason @ ShimError::NoCompiler { .. }) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
            let _ = writeln!(std::io::stderr(), "SKIPPED {NAME}: {reason}");
            return;
        }
        Err(reason) => panic!("{reason}"),
    };
    let mut command = emulator.command(std::env::current_exe().unwrap());
    let output = command.arg("--exact").args(TESTS).env("DGSUITE_REQUIRE_GPU", "1").output().unwrap();
    let log =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && log.contains("test result: ok. 5 passed"), "{log}");
}
