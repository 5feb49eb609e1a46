//! The scalars of conjugate gradients, where the vectors live.
//!
//! On a CPU they are numbers; on a device they stay in its memory, so that no iteration waits for the host.

use dgsuite_gpu::{GpuError, HostVector, Scalar, Vector};

use super::{DIVERGENCE, Reference, SMALLEST, Stop};

/// A vector that conjugate gradients can solve for: one or several parts of equal length on one machine, such
/// as the components of a velocity.
pub trait KrylovVector: Vector {
    /// The parts.
    type Part: KrylovPart;

    /// The parts, in order.
    fn parts(&self) -> &[Self::Part];

    /// The parts, mutable.
    fn parts_mut(&mut self) -> &mut [Self::Part];
}

/// A part of a [`KrylovVector`]: a vector of a machine.
pub trait KrylovPart: Vector + Sized {
    /// The scalars of the method on this machine.
    type Scalars: CgScalars<Self>;
    /// Work that was recorded.
    type Recording: Send;

    /// Records the work that a function launches on the machine of this vector, without running it; `None`
    /// where nothing can be recorded.
    fn record(&self, work: &mut dyn FnMut()) -> Option<Self::Recording>;

    /// Runs recorded work.
    fn replay(&self, recording: &Self::Recording);
}

/// State of an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status {
    /// It goes on.
    Alive,
    /// The residual of the iteration meets the target.
    Converged,
    /// The first residual is not finite, or its squares overflow or underflow.
    FirstRefused,
    /// `pᵀ A p ≤ 0`.
    NotPositive,
    /// `pᵀ A p`, the residual or `rᵀ M⁻¹ r` is not finite.
    NotFinite(&'static str),
    /// The residual has grown beyond all reason.
    Diverged,
    /// `rᵀ M⁻¹ r ≤ 0`.
    ProductNotPositive,
}

/// What is known after a batch of iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The state.
    pub status: Status,
    /// The number that ended the iteration, or the last curvature.
    pub value: f64,
    /// The target norm.
    pub target: f64,
    /// Norm of the first residual.
    pub first: f64,
    /// Norms of the residuals of this batch.
    pub residuals: Vec<f64>,
    /// Norm of the last residual given to [`CgScalars::confirm`].
    pub true_residual: f64,
}

/// The name of `rᵀ M⁻¹ r` in messages.
pub(crate) const PRODUCT: &str = "rᵀM⁻¹r";
/// The name of `pᵀ A p` in messages.
pub(crate) const CURVATURE: &str = "pᵀAp";
/// The name of a residual in messages.
pub(crate) const RESIDUAL: &str = "the residual";

/// The scalars of a solve. Vectors are lists of parts; a sum over them adds the sums of the parts in order.
///
/// On an asynchronous machine every function but [`read`](Self::read) returns at once. After the end of the
/// iteration the functions change neither the iterate nor the residual.
pub trait CgScalars<V>: Sized + Send {
    /// Memory for vectors like `prototype`.
    ///
    /// # Errors
    /// No memory; on a device also the errors of its compiler.
    fn new(prototype: &[V]) -> Result<Self, GpuError>;

    /// The first residual `r`, and the right-hand side if the tolerance refers to it.
    fn begin(&mut self, r: &[V], b: Option<&[V]>, stop: &Stop);

    /// Begins a batch of iterations, with an empty history. `revive` continues a converged iteration.
    fn rewind(&mut self, revive: bool);

    /// `ρ = rᵀ z` before the first iteration.
    fn start(&mut self, r: &[V], z: &[V]);

    /// `α = ρ/pᵀq`.
    fn step(&mut self, p: &[V], q: &[V]);

    /// `r ← r − α q`, without the component along the unit vector `null`, and its norm.
    fn step_residual(&mut self, r: &mut [V], q: &[V], null: Option<&[V]>);

    /// `β`, then `x ← x + α p` and `p ← z + β p`; `flexible` makes directions conjugate explicitly.
    fn turn(&mut self, x: &mut [V], p: &mut [V], z: &[V], r: &[V], q: &[V], flexible: bool);

    /// `x ← x + α p` after the last iteration, where [`over`](Self::over) is known.
    fn finish(&mut self, x: &mut [V], p: &[V]);

    /// `v ← v − (nᵀ v) n`.
    fn remove(&mut self, n: &[V], v: &mut [V]);

    /// The norm of a residual that was computed from the iterate.
    fn confirm(&mut self, r: &[V]);

    /// Whether the iteration is over, if that is known without waiting.
    fn over(&self) -> Option<bool>;

    /// Whether several iterations may run between two reads: where [`over`](Self::over) is not known, and
    /// vectors have at most this number of entries on every rank.
    fn looks_ahead(&self, most: usize) -> bool;

    /// Waits, and returns what is known.
    fn read(&mut self) -> Progress;
}

impl<T: Scalar> KrylovVector for HostVector<T> {
    type Part = Self;

    fn parts(&self) -> &[Self] {
        std::slice::from_ref(self)
    }

    fn parts_mut(&mut self) -> &mut [Self] {
        std::slice::from_mut(self)
    }
}

impl<T: Scalar> KrylovPart for HostVector<T> {
    type Scalars = HostScalars;
    type Recording = std::convert::Infallible;

    fn record(&self, _: &mut dyn FnMut()) -> Option<Self::Recording> {
        None
    }

    fn replay(&self, recording: &Self::Recording) {
        match *recording {}
    }
}

/// Scalars on the CPU, known at once.
#[derive(Debug)]
pub struct HostScalars {
    rho: f64,
    alpha: f64,
    progress: Progress,
}

impl HostScalars {
    fn end(&mut self, status: Status, value: f64) {
        self.progress.status = status;
        self.progress.value = value;
    }

    /// Whether `product` ends the iteration.
    fn refuses(&mut self, product: f64) -> bool {
        if !product.is_finite() {
            self.end(Status::NotFinite(PRODUCT), product);
        } else if product <= 0.0 {
            self.end(Status::ProductNotPositive, product);
        }
        self.progress.status != Status::Alive
    }
}

fn sum_of<V: Vector>(x: &[V], y: &[V]) -> f64 {
    let mut products = x.iter().zip(y).map(|(x, y)| x.dot(y));
    let first = products.next().unwrap_or(0.0);
    products.fold(first, |sum, product| sum + product)
}

impl<V: Vector> CgScalars<V> for HostScalars {
    fn new(_: &[V]) -> Result<Self, GpuError> {
        let progress = Progress {
            status: Status::Alive,
            value: 0.0,
            target: 0.0,
            first: 0.0,
            residuals: Vec::new(),
            true_residual: 0.0,
        };
        Ok(Self { rho: 0.0, alpha: 0.0, progress })
    }

    fn begin(&mut self, r: &[V], b: Option<&[V]>, stop: &Stop) {
        let residual = sum_of(r, r).sqrt();
        let reference = match (stop.reference, b) {
            (Reference::RightHandSide, Some(b)) => sum_of(b, b).sqrt(),
            _ => residual,
        };
        self.progress.first = residual;
        self.progress.target = (stop.relative * reference).max(stop.absolute);
        self.progress.residuals.clear();
        let usual = residual.is_finite() && residual.max(self.progress.target) >= SMALLEST;
        let status = match () {
            () if !usual => Status::FirstRefused,
            () if residual <= self.progress.target => Status::Converged,
            () => Status::Alive,
        };
        self.end(status, residual);
    }

    fn rewind(&mut self, revive: bool) {
        self.progress.residuals.clear();
        if revive {
            self.end(Status::Alive, 0.0);
        }
    }

    fn start(&mut self, r: &[V], z: &[V]) {
        let rho = sum_of(r, z);
        if !self.refuses(rho) {
            self.rho = rho;
        }
    }

    fn step(&mut self, p: &[V], q: &[V]) {
        let curvature = sum_of(p, q);
        self.progress.value = curvature;
        if !curvature.is_finite() {
            self.progress.status = Status::NotFinite(CURVATURE);
        } else if curvature <= 0.0 {
            self.progress.status = Status::NotPositive;
        } else {
            // ρ = rᵀz is rᵀp, in the flexible method too: r is orthogonal to the last p.
            self.alpha = self.rho / curvature;
        }
    }

    fn step_residual(&mut self, r: &mut [V], q: &[V], null: Option<&[V]>) {
        let square = match null {
            None => {
                let mut squares = r.iter_mut().zip(q).map(|(r, q)| r.add_and_square(-self.alpha, q));
                let first = squares.next().unwrap_or(0.0);
                squares.fold(first, |sum, square| sum + square)
            }
            Some(n) => {
                r.iter_mut().zip(q).for_each(|(r, q)| r.axpby(-self.alpha, q, 1.0));
                self.remove(n, r);
                sum_of(r, r)
            }
        };
        let residual = square.sqrt();
        self.progress.residuals.push(residual);
        if !residual.is_finite() {
            self.end(Status::NotFinite(RESIDUAL), residual);
        } else if residual > DIVERGENCE * self.progress.first {
            self.end(Status::Diverged, residual);
        } else if residual <= self.progress.target {
            self.end(Status::Converged, residual);
        }
    }

    fn turn(&mut self, x: &mut [V], p: &mut [V], z: &[V], r: &[V], q: &[V], flexible: bool) {
        // −zᵀq / pᵀq makes the next direction conjugate to this one; with a fixed preconditioner it equals
        // next / rho.
        let (next, beta) = match (flexible, z, r, q) {
            (true, [z], [r], [q]) => {
                let [next, overlap] = z.dot_two(r, q);
                (next, -overlap / self.progress.value)
            }
            (true, ..) => (sum_of(z, r), -sum_of(z, q) / self.progress.value),
            (false, ..) => {
                let next = sum_of(r, z);
                (next, next / self.rho)
            }
        };
        if self.refuses(next) {
            CgScalars::<V>::finish(self, x, p);
            return;
        }
        // The step of x along p is done here, in the same pass over p.
        for ((p, x), z) in p.iter_mut().zip(x).zip(z) {
            p.step_and_turn(self.alpha, x, beta, z);
        }
        self.rho = next;
    }

    fn finish(&mut self, x: &mut [V], p: &[V]) {
        x.iter_mut().zip(p).for_each(|(x, p)| x.axpby(self.alpha, p, 1.0));
    }

    fn remove(&mut self, n: &[V], v: &mut [V]) {
        let along = sum_of(v, n);
        v.iter_mut().zip(n).for_each(|(v, n)| v.axpby(-along, n, 1.0));
    }

    fn confirm(&mut self, r: &[V]) {
        self.progress.true_residual = sum_of(r, r).sqrt();
    }

    fn over(&self) -> Option<bool> {
        Some(self.progress.status != Status::Alive)
    }

    fn looks_ahead(&self, _: usize) -> bool {
        false
    }

    fn read(&mut self) -> Progress {
        self.progress.clone()
    }
}
