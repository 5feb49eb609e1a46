//! Newton steps on the CPU.

use std::cell::RefCell;
use std::sync::Arc;

use dgsuite_gpu::{GpuError, Host, HostVector, Summation, Vector as _};
use dgsuite_ops::{Discretization, OpsError, PackScalar};

use super::between;
use super::between::Between;
use super::blocks::Blocks;
use super::colours::Coloured;
use super::factors::{self, Factors};
use super::jacobian::Jacobian;
use super::ordering::least_discarded_fill;
use super::parts::{Evolving, Marching, Parts};
use super::whole::Whole;
use crate::SystemError;
use crate::setup::{Newton, Setup};

/// Operator and preconditioner on the CPU.
pub(crate) struct HostParts {
    jacobian: Jacobian,
    host: Arc<Host>,
    whole: Whole,
    summation: Arc<Summation>,
    coloured: Coloured,
    factor_bytes: usize,
    /// The prolongations from order one, if there is a problem of order one below.
    between: Option<Vec<Arc<Between>>>,
    coarse: RefCell<Option<Factors>>,
    /// The smoother: factors, or blocks where these do not fit.
    factors: RefCell<Option<Factors>>,
    blocks: Option<Blocks>,
    /// A residual without scale.
    r: RefCell<Vec<f64>>,
    /// Residual and solution of the whole mesh, on several ranks.
    gathered: RefCell<[Vec<f64>; 2]>,
    shifts: Vec<f64>,
    scales: Vec<f64>,
}

impl HostParts {
    /// Operator and preconditioner of a set-up. Collective.
    pub(super) fn of<T: PackScalar>(
        setup: &Setup,
        newton: Newton,
        host: &Arc<Host>,
        d: &Discretization<T>,
    ) -> Result<Self, SystemError> {
        let fields = d.physics().n_fields();
        let jacobian = Jacobian::new(setup, host, d.ranks(), fields)?;
        let whole = Whole::new(&setup.mesh, d, fields)?;
        // The factors of order one are those of the whole problem.
        let between = between(d, &whole)?.filter(|_| d.order() > 1);
        let n = if whole.on_ranks() { whole.offsets[whole.n_elements()] } else { 0 };
        Ok(Self {
            host: Arc::clone(host),
            coloured: Coloured::new(&whole.neighbours),
            summation: Arc::new(whole.summation()),
            gathered: RefCell::new([vec![0.0; n], vec![0.0; n]]),
            whole,
            factor_bytes: newton.factor_bytes,
            between,
            coarse: RefCell::default(),
            factors: RefCell::default(),
            blocks: None,
            r: RefCell::new(vec![0.0; jacobian.len()]),
            shifts: Vec::new(),
            scales: Vec::new(),
            jacobian,
        })
    }

    /// The entries, `1/Δτ` and scale of each element.
    fn elements(&self) -> impl Iterator<Item = (std::ops::Range<usize>, f64, f64)> {
        let each = self.jacobian.offsets.windows(2).zip(self.shifts.iter().zip(&self.scales));
        each.map(|(range, (&shift, &scale))| (range[0]..range[1], shift, scale))
    }

    fn without_scale(&self, r: &[f64]) -> std::cell::RefMut<'_, Vec<f64>> {
        let mut own = self.r.borrow_mut();
        for (range, _, scale) in self.elements() {
            let back = 1.0 / scale;
            own[range.clone()].iter_mut().zip(&r[range]).for_each(|(own, r)| *own = r * back);
        }
        own
    }

    /// `z ← z + P A⁻¹ R S⁻¹ r` with factors of the whole mesh.
    fn correct(&self, factors: &mut Factors, r: &[f64], z: &mut [f64]) {
        let (r, whole) = (self.without_scale(r), &self.whole);
        if !whole.on_ranks() {
            return factors.add_correction(&self.host, &whole.offsets, &r, z);
        }
        let [whole_r, whole_z] = &mut *self.gathered.borrow_mut();
        whole.gather(&r, whole_r);
        whole.put(z, whole_z);
        factors.add_correction(&self.host, &whole.offsets, whole_r, whole_z);
        whole.pick(whole_z, z);
    }
}

impl Parts for HostParts {
    type Vector = HostVector<f64>;

    fn len(&self) -> usize {
        self.jacobian.len()
    }

    fn zeros(&self) -> Result<HostVector<f64>, GpuError> {
        let zeros = HostVector::zeros(&self.host, self.jacobian.len())?;
        Ok(zeros.summed_by(Arc::clone(&self.summation)))
    }

    fn products(&self) -> u64 {
        self.jacobian.products()
    }

    fn seconds(&self) -> f64 {
        self.jacobian.seconds()
    }

    fn bytes(&self) -> usize {
        let factors = [&self.coarse, &self.factors]
            .map(|factors| factors.borrow().as_ref().map_or(0, Factors::bytes))
            .iter()
            .sum::<usize>();
        self.jacobian.bytes() + self.blocks.as_ref().map_or(0, Blocks::bytes) + factors
    }

    fn vector(&self, values: &[f64]) -> Result<HostVector<f64>, GpuError> {
        Ok(HostVector::from_slice(&self.host, values)?.summed_by(Arc::clone(&self.summation)))
    }

    fn values(&self, of: &HostVector<f64>) -> Result<Vec<f64>, GpuError> {
        Ok(of.to_vec())
    }

    fn gathered(&self, own: &[f64]) -> Vec<f64> {
        self.whole.gathered(own)
    }

    fn picked(&self, whole: &[f64]) -> Option<Vec<f64>> {
        self.whole.picked(whole)
    }

    fn linearise(&mut self, t: f64, u: &HostVector<f64>) -> Result<(), GpuError> {
        self.jacobian.linearise(t, u);
        Ok(())
    }

    fn n_elements(&self) -> usize {
        self.jacobian.offsets.len() - 1
    }

    fn add_fields(&self, a: &[f64], x: &HostVector<f64>, y: &mut HostVector<f64>) -> Result<(), GpuError> {
        for range in self.jacobian.offsets.windows(2) {
            let n = (range[1] - range[0]) / self.jacobian.fields();
            for (i, place) in (range[0]..range[1]).enumerate() {
                y[place] += a[i / n] * x[place];
            }
        }
        Ok(())
    }

    fn smallest(&self, own: f64) -> f64 {
        self.whole.smallest(own)
    }

    fn set_pseudo_time(&mut self, shifts: &[f64], scales: &[f64]) -> Result<(), GpuError> {
        (self.shifts, self.scales) = (shifts.to_vec(), scales.to_vec());
        Ok(())
    }

    fn apply(&self, x: &HostVector<f64>, y: &mut HostVector<f64>) {
        self.jacobian.multiply(x, y);
        for (range, shift, scale) in self.elements() {
            y[range.clone()].iter_mut().zip(&x[range]).for_each(|(y, x)| *y = scale * (shift * x - *y));
        }
    }

    fn subtract_pseudo_time(&self, share: f64, x: &HostVector<f64>, y: &mut HostVector<f64>) {
        for (range, shift, scale) in self.elements() {
            let factor = share * shift * scale;
            y[range.clone()].iter_mut().zip(&x[range]).for_each(|(y, x)| *y -= factor * x);
        }
    }

    fn make(&mut self) -> Result<(), GpuError> {
        self.blocks = None;
        (*self.coarse.get_mut(), *self.factors.get_mut()) = (None, None);
        let Self { jacobian, whole, coloured, .. } = &*self;
        let bytes = factors::bytes_of(&whole.neighbours, |e| whole.size(e));
        let fits = self.between.is_none() || bytes <= self.factor_bytes;
        let fine = fits.then(|| factors::blocks_of(jacobian, whole, coloured)).transpose()?;
        let below = self.between.as_ref().map(|between| match &fine {
            Some(fine) => Ok(factors::restricted(&self.host, fine, between, jacobian.fields())),
            None => factors::blocks_below(jacobian, whole, between, coloured),
        });
        let below = below.transpose()?;
        // The order is that of the smaller matrix.
        let shifts = whole.of_elements(&self.shifts);
        let couplings = below.as_ref().or(fine.as_ref()).map(|matrix| matrix.couplings(&self.host, &shifts));
        let order = least_discarded_fill(&couplings.unwrap_or_default());
        let blocks = fine.is_none().then(|| Blocks::new(jacobian, whole, &coloured.near));
        let between = self.between.clone();
        *self.coarse.borrow_mut() = below.map(|matrix| Factors::new(matrix, &order, between));
        *self.factors.borrow_mut() = fine.map(|matrix| Factors::new(matrix, &order, None));
        self.blocks = blocks;
        Ok(())
    }

    fn factorise(&mut self) -> Result<(), GpuError> {
        if let Some(blocks) = &mut self.blocks {
            blocks.invert(&self.host, &self.shifts);
        }
        let shifts = self.whole.of_elements(&self.shifts);
        for factors in [&mut self.coarse, &mut self.factors] {
            if let Some(factors) = factors.get_mut() {
                factors.factorise(&self.host, &shifts);
            }
        }
        Ok(())
    }

    fn has_coarse(&self) -> bool {
        self.between.is_some()
    }

    fn add_coarse(&self, r: &HostVector<f64>, z: &mut HostVector<f64>) {
        if let Some(coarse) = &mut *self.coarse.borrow_mut() {
            self.correct(coarse, r, z);
        }
    }

    fn smooth(&self, r: &HostVector<f64>, z: &mut HostVector<f64>) {
        if let Some(blocks) = &self.blocks {
            blocks.apply(&self.host, &self.jacobian.offsets, &self.without_scale(r), z);
        } else if let Some(factors) = &mut *self.factors.borrow_mut() {
            z.fill(0.0);
            self.correct(factors, r, z);
        }
    }
}

/// A state on the CPU.
pub(crate) struct HostState<'a, T: PackScalar> {
    pub(crate) d: &'a mut Discretization<T>,
    pub(crate) t: f64,
    pub(crate) u: &'a mut HostVector<T>,
    rate: HostVector<T>,
    /// The state at the start of the step, in canonical order.
    start: Vec<f64>,
}

impl<'a, T: PackScalar> HostState<'a, T> {
    pub(crate) fn new(
        d: &'a mut Discretization<T>,
        t: f64,
        u: &'a mut HostVector<T>,
    ) -> Result<Self, GpuError> {
        let rate = u.zeros_like()?;
        Ok(Self { d, t, u, rate, start: Vec::new() })
    }
}

/// Densities and pressures of a state at points of all elements.
pub(super) fn bounds_of<T: PackScalar>(d: &Discretization<T>, u: &[T]) -> Vec<f64> {
    let n = d.physics().n_fields();
    let (mut state, mut primitive) = (vec![0.0; n], vec![0.0; n]);
    let mut all = Vec::new();
    for sample in d.sample(u, d.order() + 1) {
        for i in 0..sample.points.len() {
            state.iter_mut().zip(&sample.values).for_each(|(u, field)| *u = field[i]);
            d.physics().to_primitive(&state, &mut primitive);
            all.extend([primitive[0], primitive[n - 1]]);
        }
    }
    all
}

impl<T: PackScalar> Evolving<HostParts> for HostState<'_, T> {
    fn begin(&mut self, parts: &mut HostParts) -> Result<Vec<f64>, OpsError> {
        self.start = self.d.to_canonical(self.u);
        parts.jacobian.linearise(self.t, &self.start);
        let mut steps = Vec::new();
        self.d.time_step(self.u, Some(&mut steps))?;
        Ok(self.d.of_elements(&steps))
    }

    fn residual(&mut self, parts: &HostParts, right: &mut HostVector<f64>) -> Result<(), OpsError> {
        self.d.eval(self.t, self.u, &mut self.rate);
        right.copy_from_slice(&self.d.to_canonical(&self.rate));
        for (range, _, scale) in parts.elements() {
            right[range].iter_mut().for_each(|x| *x *= scale);
        }
        Ok(())
    }

    fn set_share(&mut self, share: f64, delta: &HostVector<f64>) -> Result<(), OpsError> {
        let moved: Vec<f64> = self.start.iter().zip(delta.iter()).map(|(u, d)| u + share * d).collect();
        // The lengths agree by construction.
        let _ = self.d.from_canonical(&moved, self.u);
        Ok(())
    }

    fn bounds(&mut self) -> Result<Vec<f64>, OpsError> {
        Ok(bounds_of(self.d, self.u))
    }

    fn mass(&mut self) -> Result<f64, OpsError> {
        Ok(self.d.totals(self.u)[0])
    }

    fn scale(&mut self, by: f64) -> Result<(), OpsError> {
        self.u.lincomb(by, &[]);
        Ok(())
    }

    fn is_admissible(&mut self) -> bool {
        self.d.time_step(self.u, None).is_ok()
    }
}

/// A state on the CPU in implicit steps in time.
pub(crate) struct HostMarch<'a, T: PackScalar> {
    d: &'a mut Discretization<T>,
    u: &'a mut HostVector<T>,
    /// A state and its rate in the order of the discretisation.
    state: HostVector<T>,
    rate: HostVector<T>,
}

impl<'a, T: PackScalar> HostMarch<'a, T> {
    pub(crate) fn new(d: &'a mut Discretization<T>, u: &'a mut HostVector<T>) -> Result<Self, GpuError> {
        let (state, rate) = (u.zeros_like()?, u.zeros_like()?);
        Ok(Self { d, u, state, rate })
    }
}

impl<T: PackScalar> Marching<HostParts> for HostMarch<'_, T> {
    fn begin(&mut self, _dt: f64, u: &mut HostVector<f64>) -> Result<(), OpsError> {
        u.copy_from_slice(&self.d.to_canonical(self.u));
        Ok(())
    }

    fn set(&mut self, u: &HostVector<f64>) -> Result<(), OpsError> {
        // The lengths agree by construction.
        let _ = self.d.from_canonical(u, self.u);
        Ok(())
    }

    fn rate(
        &mut self,
        parts: &HostParts,
        t: f64,
        u: &HostVector<f64>,
        du: &mut HostVector<f64>,
    ) -> Result<bool, OpsError> {
        // The lengths agree by construction.
        let _ = self.d.from_canonical(u, &mut self.state);
        match self.d.time_step(&self.state, None) {
            Ok(_) => {}
            Err(OpsError::State { .. }) => return Ok(false),
            Err(other) => return Err(other),
        }
        self.d.eval(t, &self.state, &mut self.rate);
        du.copy_from_slice(&self.d.to_canonical(&self.rate));
        // Bad values between the points that bound the step show here.
        let finite = du.iter().all(|rate| rate.is_finite());
        Ok(parts.smallest(f64::from(u8::from(finite))) > 0.0)
    }

    fn tally(&self) -> &[f64] {
        self.d.tally_of_faces()
    }

    fn totals(&mut self, of: &HostVector<f64>) -> Result<Vec<f64>, OpsError> {
        // The lengths agree by construction.
        let _ = self.d.from_canonical(of, &mut self.state);
        Ok(self.d.totals(&self.state))
    }
}
