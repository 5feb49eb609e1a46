//! Processing of the finished rows of a block: added terms, scaling, then the residual or a Runge–Kutta
//! stage.

use crate::lanes::panel::Epilogue;
use crate::lanes::simd::{Pack, PackScalar};
use crate::lanes::span::Span;
use crate::rhs::residual::Output;

/// Destination of the finished rows of a block, and their scaling.
///
/// The code that creates a kernel with it guarantees that `output` covers the block and that `add` is
/// readable.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a, T> {
    /// The block's state.
    pub(crate) u: &'a [T],
    /// Rows that are added before the scaling, or empty; they may be in the destination.
    pub(crate) add: *const [T],
    /// `1/J` for each row and lane, or empty for 1.
    pub(crate) scale: &'a [T],
    /// The block, and the offset of its first scalar in the group's state.
    pub(crate) block: usize,
    pub(crate) begin: usize,
    pub(crate) output: Output<T>,
}

/// The contents of [`Finish`] as packs.
pub(crate) struct FinishRows<V: Pack> {
    u: *const V::T,
    add: *const V::T,
    scale: *const V::T,
    target: Target<V>,
    span: Span,
}

#[derive(Clone, Copy)]
enum Target<V: Pack> {
    Residual {
        du: *mut V::T,
    },
    Stage {
        a: V,
        b: V,
        rest: V,
        c: V,
        dt: V,
        read: bool,
        write: bool,
        restart: bool,
        start: *const V::T,
        register: *mut V::T,
        next: *mut V::T,
    },
}

impl<T: PackScalar> Finish<'_, T> {
    /// # Safety
    /// `output` covers the block, `add` is readable, and there are `rows` rows.
    #[inline(always)]
    pub(crate) unsafe fn rows<V: Pack<T = T>>(&self, rows: usize, span: Span) -> FinishRows<V> {
        let len = rows * span.of() * V::W;
        assert!(self.u.len() >= len);
        assert!(self.scale.is_empty() || self.scale.len() >= rows * V::W);
        let scale = if self.scale.is_empty() { std::ptr::null() } else { self.scale.as_ptr() };
        assert!(self.add.is_empty() || self.add.len() >= len);
        let add = if self.add.is_empty() { std::ptr::null() } else { self.add.cast::<T>() };
        let begin = self.begin;
        // SAFETY: the block lies inside the group's state, by the caller's contract.
        let target = unsafe {
            match self.output {
                Output::Residual { du } => Target::Residual { du: du.add(begin) },
                Output::Stage { weights, local, start, register, next } => Target::Stage {
                    a: V::lit(weights.a),
                    b: V::lit(weights.b),
                    rest: V::lit(1.0 - weights.b),
                    c: V::lit(weights.c),
                    dt: if local.is_null() {
                        V::lit(weights.dt)
                    } else {
                        V::lit(weights.dt) * V::load(local.add(self.block * V::W))
                    },
                    // A register of weight 0 is not read: it may be uninitialised.
                    read: weights.a != 0.0,
                    write: weights.keep,
                    restart: weights.b != 0.0,
                    start: if start.is_null() { start } else { start.add(begin) },
                    register: register.add(begin),
                    next: next.add(begin),
                },
            }
        };
        FinishRows { u: self.u.as_ptr(), add, scale, target, span }
    }
}

impl<V: Pack, const N: usize> Epilogue<V, N> for FinishRows<V> {
    #[inline(always)]
    unsafe fn row(&self, i: usize, mut c: [V; N]) {
        // SAFETY (whole body): row `i` of the block in each array, by the caller's contract.
        unsafe {
            if !self.add.is_null() {
                for k in 0..N {
                    c[k] = c[k] + V::load(self.add.add(self.span.at(i, k) * V::W));
                }
            }
            if !self.scale.is_null() {
                let s = V::load(self.scale.add(i * V::W));
                for k in 0..N {
                    c[k] = c[k] * s;
                }
            }
            match self.target {
                Target::Residual { du } => {
                    for k in 0..N {
                        c[k].store(du.add(self.span.at(i, k) * V::W));
                    }
                }
                Target::Stage { a, b, rest, c: weight, dt, read, write, restart, start, register, next } => {
                    for k in 0..N {
                        let at = self.span.at(i, k) * V::W;
                        let mut r = c[k] * dt;
                        if read {
                            r = a.mul_add(V::load(register.add(at)), r);
                        }
                        if write {
                            r.store(register.add(at));
                        }
                        let mut v = V::load(self.u.add(at));
                        if restart {
                            v = b.mul_add(V::load(start.add(at)), rest * v);
                        }
                        weight.mul_add(r, v).store(next.add(at));
                    }
                }
            }
        }
    }
}
