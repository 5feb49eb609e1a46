//! Runs many test cases in parallel, for tests with long versions.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Applies `f` to all items on the given number of threads, last items first: put the long ones last.
pub(crate) fn every<T: Sync, U: Send>(items: &[T], threads: usize, f: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let next = AtomicUsize::new(items.len());
    let work = || {
        let mut out = Vec::new();
        while let Ok(i) = next.fetch_update(Relaxed, Relaxed, |i| i.checked_sub(1)) {
            out.push(f(&items[i - 1]));
        }
        out
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    })
}
