//! Time and step size on the device: step bounds, and steps whose sizes follow from them without the host.

use crate::cuda::discretization::CudaDiscretization;
use crate::cuda::kernel_text::{LawText, REDUCE_THREADS, pointwise};
use crate::error::OpsError;
use crate::simd::PackScalar;
use crate::step_bound::StepMeasure;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, PinnedBuffer, Source};

/// A step bound as kernels write it: `StepBound` in common.cuh, as two words.
pub(super) const BOUND_WORDS: usize = 2;
/// Words of `Clock` in common.cuh.
const CLOCK_WORDS: usize = 4;
/// Step bounds that the device keeps: those of the last steps.
pub const RING: usize = 256;

/// No slot.
const NONE: u32 = u32::MAX;

/// The device's clock, with the kernels that read and set it.
pub(super) struct DeviceClock {
    least: Function,
    set: Function,
    tick: Function,
    advance: Function,
    pub(super) begin: Function,
    pub(super) judge: Function,
    pub(super) restore: Function,
    pub(super) clock: DeviceBuffer<f64>,
    /// Bounds of blocks of elements.
    pub(super) bounds: DeviceBuffer<u64>,
    pub(super) n_bounds: usize,
    /// The least bound, then the ring of those of the last steps.
    found: DeviceBuffer<u64>,
    pub(super) args: Args,
}

/// The text of the clock's kernels. Nothing is fused: the sums are the host's.
pub(super) fn clock_source<T: PackScalar>(law: &LawText, dim: usize, fields: usize) -> Source {
    let source = pointwise::<T>("clock.cu", include_str!("clock.cu"), law, dim, fields);
    source.define("BLOCK", REDUCE_THREADS).exact()
}

impl DeviceClock {
    pub(super) fn new(cuda: &Cuda, source: &Source, n_bounds: usize) -> Result<Self, GpuError> {
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
    pub(super) fn ptr(&self) -> u64 {
        self.clock.ptr()
    }

    /// The least of the bounds `begin..end`, to `found`.
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

/// The step bound of a state as the device found it.
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

/// How large the device's next step is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepChoice {
    /// This size.
    Fixed(f64),
    /// This multiple of the last step bound.
    Cfl(f64),
}

/// A copy of the device's step bounds that arrives later.
pub struct BoundsCopy(PinnedBuffer<u64>);

impl BoundsCopy {
    /// Room for one.
    ///
    /// # Errors
    /// Too little memory.
    pub fn new(cuda: &Cuda) -> Result<Self, GpuError> {
        Ok(Self(PinnedBuffer::zeros(cuda, (1 + RING) * BOUND_WORDS)?))
    }

    /// The last bound.
    #[must_use]
    pub fn last(&self) -> StepBound {
        StepBound::from_words(&self.0[..BOUND_WORDS])
    }

    /// The bound at the end of step `i` of those that [`CudaDiscretization::end_step`] ended; the last
    /// [`RING`] are there.
    #[must_use]
    pub fn at(&self, i: u64) -> StepBound {
        let at = (1 + (i % RING as u64) as usize) * BOUND_WORDS;
        StepBound::from_words(&self.0[at..at + BOUND_WORDS])
    }
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// Sets what stated steps are one of, as
    /// [`Discretization::measure_steps_by`](crate::Discretization::measure_steps_by).
    ///
    /// # Errors
    /// Those of the device.
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
    /// Those of the device.
    pub fn set_step(&mut self, dt: f64) -> Result<(), GpuError> {
        self.set_clock(0.0, 0.0, StepChoice::Fixed(dt))
    }

    /// Sets the device's time, `t + low`, and the size of its next step.
    ///
    /// # Errors
    /// Those of the device.
    pub fn set_clock(&mut self, t: f64, low: f64, size: StepChoice) -> Result<(), GpuError> {
        self.clock.set(&self.cuda, t, low, size)
    }

    /// The end of a step in the device's stream. With a CFL number the state's step bound is kept, and the
    /// next step is that multiple
    /// of it; without, time goes on where something depends on it.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Safety
    /// `u` is the address of a state on this device that lives until the stream has passed.
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
        // SAFETY: the caller's promise.
        unsafe { self.end_with_bound(u, false, cfl) }
    }

    /// The end of a step with local steps: the state's step bound is kept, and every slot has its own step
    /// for the next one. The clock's step, by which they are multiplied, stays.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Safety
    /// As for [`end_step`](Self::end_step).
    pub unsafe fn end_local_step(&mut self, u: u64) -> Result<(), GpuError> {
        // SAFETY: the caller's promise.
        unsafe { self.end_with_bound(u, true, 0.0) }
    }

    /// The state's step bound to the ring; with `cfl > 0` the next step is that multiple of it.
    ///
    /// # Safety
    /// As for [`end_step`](Self::end_step).
    unsafe fn end_with_bound(&mut self, u: u64, local: bool, cfl: f64) -> Result<(), GpuError> {
        self.launch_speeds(u, local)?;
        let clock = &mut self.clock;
        clock.args.clear();
        clock.args.buffer(&clock.bounds).value(clock.n_bounds as u32).buffer(&clock.found);
        clock
            .args
            .pointer(clock.found.ptr_at(BOUND_WORDS))
            .value(RING as u32)
            .buffer(&clock.clock)
            .value(cfl);
        // SAFETY: the arguments are the kernel's.
        unsafe { self.cuda.launch(&clock.advance, LaunchConfig::new(1, REDUCE_THREADS as u32), &clock.args) }
    }

    /// Looks for the step bound of a state, which a copy of the bounds then has as its last.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Safety
    /// As for [`end_step`](Self::end_step).
    pub unsafe fn look(&mut self, u: u64) -> Result<(), GpuError> {
        self.launch_speeds(u, false)?;
        let n = self.clock.n_bounds;
        self.clock.least(&self.cuda, 0, n)
    }

    /// Starts to copy the step bounds, and does not wait.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Safety
    /// Until the stream has passed the copy, `to` must live and be neither read nor written.
    pub unsafe fn copy_bounds(&self, to: &mut BoundsCopy) -> Result<(), GpuError> {
        // SAFETY: the caller's promise.
        unsafe { self.clock.found.download_async(0, &mut to.0, self.cuda.stream()) }
    }

    /// Step bounds of all blocks of elements; the end of each group's.
    pub(super) fn launch_speeds(&mut self, u: u64, local: bool) -> Result<(), GpuError> {
        let (mut first, mut bound) = (0, 0);
        for (group, host) in self.groups.iter_mut().zip(&self.description.groups) {
            let steps = if local { self.local.ptr_at(first) } else { 0 };
            let partial = self.clock.bounds.ptr_at(bound * BOUND_WORDS);
            group.launch_speed(&self.cuda, u, self.work.ptr(), steps, partial)?;
            first += host.state.blocks * host.state.lanes;
            bound += group.bounds();
        }
        Ok(())
    }

    /// The least step that is one of the measure, as
    /// [`Discretization::time_step`](crate::Discretization::time_step); with `local`, every slot's own step
    /// is
    /// kept for [`use_local_steps`](Self::use_local_steps). Waits for the device.
    ///
    /// # Errors
    /// [`OpsError::State`] at the first element whose state is not finite or not admissible; those of the
    /// device.
    pub fn time_step(&mut self, u: &DeviceBuffer<T>, local: bool) -> Result<f64, OpsError> {
        if local {
            self.make_local()?;
        }
        self.launch_speeds(u.ptr(), local)?;
        let n = self.clock.n_bounds;
        self.clock.least(&self.cuda, 0, n)?;
        let found = self.clock.read()?;
        if found.good {
            return Ok(found.limit);
        }
        // Slots are numbers within a group: find the first group that has a bad one.
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
                return Err(self.description.bad_state(group, own, slot as usize));
            }
            begin = end;
        }
        Ok(found.limit)
    }

    /// Finds every slot's own step for [`use_local_steps`](Self::use_local_steps), and does not wait.
    ///
    /// # Errors
    /// Those of the device.
    pub fn find_local_steps(&mut self, u: &DeviceBuffer<T>) -> Result<(), GpuError> {
        self.make_local()?;
        self.launch_speeds(u.ptr(), true)
    }

    /// Room for local steps.
    fn make_local(&mut self) -> Result<(), GpuError> {
        let slots: usize = self.description.groups.iter().map(|g| g.state.blocks * g.state.lanes).sum();
        if self.local.len() != slots {
            self.local = DeviceBuffer::zeros(&self.cuda, "local steps", slots)?;
        }
        Ok(())
    }

    /// Multiply the step of every stage by the slots' own steps as they were found last, or not.
    pub fn use_local_steps(&mut self, yes: bool) {
        self.use_local = yes && !self.local.is_empty();
    }
}
