//! Time and step size on a device: step bounds, and steps whose sizes follow from them without the host.
//!
//! The clock (time and step size) is in device memory; stages read the step from there. At the end of a step,
//! kernels compute the step bound of each element and the smallest of all, and set the next step, so that
//! many steps can be launched without waiting. The host reads the bounds later from a ring of the last
//! [`RING`] steps.

use crate::cuda::run::discretization::CudaDiscretization;
use crate::cuda::text::kernel_text::{LawText, REDUCE_THREADS, pointwise};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::step_measure::StepMeasure;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, PinnedBuffer, Source};

/// Words of a step bound, `StepBound` in common.cuh.
pub(crate) const BOUND_WORDS: usize = 2;
/// Words of `Clock` in common.cuh.
const CLOCK_WORDS: usize = 4;
/// Number of step bounds that the device stores: those of the last steps.
pub const RING: usize = 256;

/// No slot.
const NONE: u32 = u32::MAX;

/// The device's clock, with the kernels that read and set it.
pub(crate) struct DeviceClock {
    least: Function,
    set: Function,
    tick: Function,
    advance: Function,
    pub(crate) begin: Function,
    pub(crate) judge: Function,
    pub(crate) restore: Function,
    pub(crate) clock: DeviceBuffer<f64>,
    /// Bounds of all blocks of elements.
    pub(crate) bounds: DeviceBuffer<u64>,
    pub(crate) n_bounds: usize,
    /// The smallest bound, then the ring of bounds of the last steps.
    pub(crate) found: DeviceBuffer<u64>,
    pub(crate) args: Args,
}

/// Builds the text of the clock's kernels. Without fused multiply–adds, so that sums equal the host's.
pub(crate) fn clock_text<T: PackScalar>(law: &LawText, dim: usize, fields: usize) -> Source {
    let source = pointwise::<T>("clock.cu", include_str!("clock.cu"), law, dim, fields);
    source.define("BLOCK", REDUCE_THREADS).exact()
}

impl DeviceClock {
    pub(crate) fn new(cuda: &Cuda, source: &Source, n_bounds: usize) -> Result<Self, GpuError> {
        let module = cuda.compile(source)?;
        Ok(Self {
            least: module.function("least")?,
            set: module.function("set_clock")?,
            tick: module.function("tick")?,
            advance: module.function("end_step")?,
            begin: module.function("begin_attempts")?,
            judge: module.function("judge")?,
            restore: module.function("restore")?,
            clock: DeviceBuffer::zeros(cuda, "the step", CLOCK_WORDS)?,
            bounds: DeviceBuffer::zeros(cuda, "step bounds", n_bounds * BOUND_WORDS)?,
            n_bounds,
            found: DeviceBuffer::zeros(cuda, "step bounds", (1 + RING) * BOUND_WORDS)?,
            args: Args::new(),
        })
    }

    /// Address of the clock, whose first number is the step's size.
    pub(crate) fn ptr(&self) -> u64 {
        self.clock.ptr()
    }

    /// Computes the smallest of the bounds `begin..end` into `found`.
    fn least(&mut self, cuda: &Cuda, begin: usize, end: usize) -> Result<(), GpuError> {
        self.args.clear();
        self.args.pointer(self.bounds.ptr_at(begin * BOUND_WORDS)).value((end - begin) as u32);
        self.args.buffer(&self.found);
        // SAFETY: the arguments are the kernel's.
        unsafe { cuda.launch(&self.least, LaunchConfig::new(1, REDUCE_THREADS as u32), &self.args) }
    }

    fn read(&self) -> Result<StepBound, GpuError> {
        let mut words = [0; BOUND_WORDS];
        self.found.download_at(0, &mut words)?;
        Ok(StepBound::from_words(&words))
    }

    fn set(&mut self, cuda: &Cuda, t: f64, low: f64, size: StepChoice) -> Result<(), GpuError> {
        let (dt, cfl) = match size {
            StepChoice::Fixed(dt) => (dt, 0.0),
            StepChoice::Cfl(cfl) => (0.0, cfl),
        };
        self.args.clear();
        self.args.buffer(&self.clock).value(t).value(low).value(dt).value(cfl).buffer(&self.found);
        // SAFETY: the arguments are the kernel's.
        unsafe { cuda.launch(&self.set, LaunchConfig::new(1, 1), &self.args) }
    }
}

/// The step bound of a state, computed by the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepBound {
    /// The largest stable step for `cfl = 1`.
    pub limit: f64,
    /// Whether every element's state is finite and admissible.
    pub good: bool,
}

impl StepBound {
    fn from_words(words: &[u64]) -> Self {
        Self { limit: f64::from_bits(words[0]), good: words[1] as u32 == NONE }
    }
}

/// How the size of the device's next step is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepChoice {
    /// This size.
    Fixed(f64),
    /// This multiple of the last step bound.
    Cfl(f64),
}

/// A copy of the device's step bounds, made asynchronously.
pub struct BoundsCopy(PinnedBuffer<u64>);

impl BoundsCopy {
    /// Allocates a copy.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub fn new(cuda: &Cuda) -> Result<Self, GpuError> {
        Ok(Self(PinnedBuffer::zeros(cuda, (1 + RING) * BOUND_WORDS)?))
    }

    /// The last bound.
    #[must_use]
    pub fn last(&self) -> StepBound {
        StepBound::from_words(&self.0[..BOUND_WORDS])
    }

    /// The bound at the end of step `i` of the steps ended by [`CudaDiscretization::end_step`]; only the last
    /// [`RING`] are stored.
    #[must_use]
    pub fn at(&self, i: u64) -> StepBound {
        let at = (1 + (i % RING as u64) as usize) * BOUND_WORDS;
        StepBound::from_words(&self.0[at..at + BOUND_WORDS])
    }
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// Sets the measure of steps, as
    /// [`Discretization::measure_steps_by`](crate::Discretization::measure_steps_by).
    ///
    /// # Errors
    /// Errors of the device.
    pub fn measure_steps_by(&mut self, measure: StepMeasure) -> Result<(), GpuError> {
        self.description.measure_steps_by(measure);
        let order = self.description.order();
        for (group, host) in self.groups.iter_mut().zip(&self.description.groups) {
            group.measure_steps_by(host, measure, order)?;
        }
        Ok(())
    }

    /// Sets the size of the step on the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn set_step(&mut self, dt: f64) -> Result<(), GpuError> {
        self.set_clock(0.0, 0.0, StepChoice::Fixed(dt))
    }

    /// Sets the device's time, `t + low`, and the size of its next step.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn set_clock(&mut self, t: f64, low: f64, size: StepChoice) -> Result<(), GpuError> {
        self.clock.set(&self.cuda, t, low, size)
    }

    /// Ends a step in the device's stream. With a CFL number, the step bound of the state is stored, and the
    /// next step is the CFL number times the bound. Without, only the time advances, if anything depends on
    /// it.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Safety
    /// `u` is the address of a state on this device that is valid until the stream has processed this call.
    pub unsafe fn end_step(&mut self, u: u64, cfl: Option<f64>) -> Result<(), GpuError> {
        let Some(cfl) = cfl else {
            if !self.is_moving() {
                return Ok(());
            }
            let clock = &mut self.clock;
            clock.args.clear();
            clock.args.buffer(&clock.clock);
            // SAFETY: the argument is the kernel's.
            return unsafe { self.cuda.launch(&clock.tick, LaunchConfig::new(1, 1), &clock.args) };
        };
        // SAFETY: the caller's contract.
        unsafe { self.end_with_bound(u, false, cfl) }
    }

    /// Ends a step with local steps: stores the step bound of the state and computes each slot's own step for
    /// the next one. The clock's step, by which they are multiplied, does not change.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Safety
    /// As for [`end_step`](Self::end_step).
    pub unsafe fn end_local_step(&mut self, u: u64) -> Result<(), GpuError> {
        // SAFETY: the caller's contract.
        unsafe { self.end_with_bound(u, true, 0.0) }
    }

    /// Adds the state's step bound to the ring; with `cfl > 0` the next step is `cfl` times the bound.
    ///
    /// # Safety
    /// As for [`end_step`](Self::end_step).
    unsafe fn end_with_bound(&mut self, u: u64, local: bool, cfl: f64) -> Result<(), GpuError> {
        self.launch_speeds(u, local)?;
        let alone = self.halo.is_none();
        if !alone {
            self.least_of_all()?;
        }
        let clock = &mut self.clock;
        clock.args.clear();
        if alone {
            clock.args.buffer(&clock.bounds).value(clock.n_bounds as u32).buffer(&clock.found);
        } else {
            // The bound of all ranks takes the place of the bounds of blocks.
            clock.args.buffer(&clock.found).value(1_u32).buffer(&clock.found);
        }
        clock
            .args
            .pointer(clock.found.ptr_at(BOUND_WORDS))
            .value(RING as u32)
            .buffer(&clock.clock)
            .value(cfl);
        // SAFETY: the arguments are the kernel's.
        unsafe { self.cuda.launch(&clock.advance, LaunchConfig::new(1, REDUCE_THREADS as u32), &clock.args) }
    }

    /// Computes the step bound of a state; it becomes the last one in copies of the bounds.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Safety
    /// As for [`end_step`](Self::end_step).
    pub unsafe fn look(&mut self, u: u64) -> Result<(), GpuError> {
        self.launch_speeds(u, false)?;
        self.least_of_all().map(|_| ())
    }

    /// Computes the smallest bound into `found`: of all ranks if their devices can agree without the host, in
    /// which case it returns `true`, otherwise of this rank.
    pub(crate) fn least_of_all(&mut self) -> Result<bool, GpuError> {
        let n = self.clock.n_bounds;
        self.clock.least(&self.cuda, 0, n)?;
        match &self.halo {
            // SAFETY: the bound lives as long as the discretisation. Steps are positive, so that their bits
            // have the order of the numbers; the second word is smaller if a state is bad.
            Some(halo) => unsafe { halo.messages.link.min(self.clock.found.ptr(), BOUND_WORDS) },
            None => Ok(false),
        }
    }

    /// Starts to copy the step bounds and returns at once.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Safety
    /// Until the stream has processed the copy, `to` must stay valid and must be neither read nor written.
    pub unsafe fn copy_bounds(&self, to: &mut BoundsCopy) -> Result<(), GpuError> {
        // SAFETY: the caller's contract.
        unsafe { self.clock.found.download_async(0, &mut to.0, self.cuda.stream()) }
    }

    /// Launches the step bounds of all blocks of elements; returns the end of each group's.
    pub(crate) fn launch_speeds(&mut self, u: u64, local: bool) -> Result<(), GpuError> {
        let (mut first, mut bound) = (0, 0);
        for (group, host) in self.groups.iter_mut().zip(&self.description.groups) {
            let steps = if local { self.local.ptr_at(first) } else { 0 };
            let partial = self.clock.bounds.ptr_at(bound * BOUND_WORDS);
            group.launch_speed(&self.cuda, u, self.work.ptr(), steps, partial)?;
            first += host.state.blocks * host.state.lanes;
            bound += group.bounds();
        }
        if let Some(reactions) = &mut self.reactions {
            let (steps, slots) = if local { (self.local.ptr_at(0), first) } else { (0, 0) };
            let bounds = self.clock.bounds.ptr();
            reactions.limit_steps(&self.cuda, bounds, self.clock.n_bounds, steps, slots)?;
        }
        Ok(())
    }

    /// Computes the smallest step for a value of 1 of the measure, as
    /// [`Discretization::time_step`](crate::Discretization::time_step). With `local`, the step of each slot
    /// is stored for [`use_local_steps`](Self::use_local_steps). Waits for the device.
    ///
    /// # Errors
    /// [`OpsError::State`] for the first element whose state is not finite or not admissible; errors of the
    /// device.
    pub fn time_step(&mut self, u: &DeviceBuffer<T>, local: bool) -> Result<f64, OpsError> {
        if local {
            self.make_local()?;
        }
        self.launch_speeds(u.ptr(), local)?;
        let agreed = self.least_of_all()?;
        if self.halo.is_some() {
            self.wait()?;
        }
        let found = self.clock.read()?;
        if found.good && (agreed || self.halo.is_none()) {
            return Ok(found.limit);
        }
        let bad = if found.good { None } else { self.bad_slot(u)? };
        match (self.description.ranks(), bad) {
            (Some(ranks), bad) => {
                ranks.agree_on_step(found.limit, bad.as_ref().map(|(element, error)| (*element, error)))
            }
            (None, Some((_, bad))) => Err(bad),
            (None, None) => Ok(found.limit),
        }
    }

    /// The first bad state of this rank, with its element, if there is one.
    fn bad_slot(&mut self, u: &DeviceBuffer<T>) -> Result<Option<(usize, OpsError)>, OpsError> {
        // Slots are numbered within groups: find the first group that has a bad one.
        let mut begin = 0;
        for g in 0..self.groups.len() {
            let end = begin + self.groups[g].bounds();
            self.clock.least(&self.cuda, begin, end)?;
            let mut words = [0; BOUND_WORDS];
            self.clock.found.download_at(0, &mut words)?;
            let slot = words[1] as u32;
            if slot != NONE {
                let state = u.to_vec()?;
                let group = &self.description.groups[g];
                let own = &state[group.offset..group.offset + group.state.len()];
                let error = self.description.bad_state(group, own, slot as usize);
                return Ok(Some((group.elements[slot as usize] as usize, error)));
            }
            begin = end;
        }
        Ok(None)
    }

    /// Computes each slot's own step for [`use_local_steps`](Self::use_local_steps) and returns at once.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn find_local_steps(&mut self, u: &DeviceBuffer<T>) -> Result<(), GpuError> {
        self.make_local()?;
        self.launch_speeds(u.ptr(), true)
    }

    /// The local steps of the elements, in the order of the mesh, that were computed last.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn local_steps(&self) -> Result<Vec<f64>, GpuError> {
        let slots: Vec<f64> = self.local.to_vec()?.into_iter().map(|dt| dt.to_f64()).collect();
        Ok(self.description.of_elements(&slots))
    }

    /// Allocates memory for local steps.
    fn make_local(&mut self) -> Result<(), GpuError> {
        let slots: usize = self.description.groups.iter().map(|g| g.state.blocks * g.state.lanes).sum();
        if self.local.len() != slots {
            self.local = DeviceBuffer::zeros(&self.cuda, "local steps", slots)?;
        }
        Ok(())
    }

    /// Sets whether the step of every stage is multiplied by the last computed steps of the slots.
    pub fn use_local_steps(&mut self, yes: bool) {
        self.use_local = yes && !self.local.is_empty();
    }
}
