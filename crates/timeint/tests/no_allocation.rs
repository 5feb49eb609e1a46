//! A step does not allocate after the first one.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use dgsuite_gpu::{Host, HostVector, Vector};
use dgsuite_timeint::{Rhs, Scheme, Stepper};

/// The system allocator, with a counter.
struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Linear decay with a tally and local steps, on vectors large enough for parallel operations.
struct Decay {
    scale: HostVector<f64>,
    rates: [f64; 3],
}

impl Rhs for Decay {
    type Vector = HostVector<f64>;
    type Error = std::convert::Infallible;

    fn eval(&mut self, _: f64, u: &HostVector<f64>, du: &mut HostVector<f64>) -> Result<(), Self::Error> {
        du.axpby(-1.0, u, 0.0);
        self.rates = [u.sum(), u.norm2(), u.norm_max()];
        Ok(())
    }

    fn tally(&self) -> &[f64] {
        &self.rates
    }

    fn step_scale(&self) -> Option<&HostVector<f64>> {
        Some(&self.scale)
    }
}

#[test]
fn a_step_does_not_allocate() {
    for threads in [1, 2] {
        let host = Host::new(threads).unwrap();
        for scheme in Scheme::ALL {
            let mut u = HostVector::from_slice(&host, &vec![1.0; 200_000]).unwrap();
            let mut rhs = Decay { scale: u.clone(), rates: [0.0; 3] };
            let mut stepper = Stepper::new(scheme, &u).unwrap();
            let calls = host.install(|| {
                for i in 0..5 {
                    let Ok(()) = stepper.step(&mut rhs, f64::from(i), 0.1, &mut u);
                }
                let before = CALLS.load(Ordering::Relaxed);
                for i in 0..20 {
                    let Ok(()) = stepper.step(&mut rhs, f64::from(i), 0.1, &mut u);
                }
                CALLS.load(Ordering::Relaxed) - before
            });
            assert_eq!(calls, 0, "{scheme} on {threads} threads");
            assert_eq!(stepper.integrals().len(), 3);
        }
    }
}
