//! Samples for writers, computed on a device and copied to the host while the run continues.
//!
//! Requesting a sample does not wait; a thread of the writer waits for the numbers.

use crate::cuda::run::discretization::CudaDiscretization;
use crate::cuda::text::kernel_text::REDUCE_THREADS;
use crate::fields::Sample;
use crate::lanes::simd::PackScalar;
use dgsuite_basis::lattice::lattice;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, DeviceBuffer, Event, Function, LaunchConfig, PinnedBuffer, Source, Stream};
use dgsuite_physics::trace::{PRELUDE, Parameters, ROOTS};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Largest number of samples in progress.
const DEPTH: usize = 2;
/// Samples larger than this, in bytes, are computed by the host, to save device memory.
const LARGEST: usize = 1 << 30;

/// Buffers for one sample on both machines.
struct Room {
    values: DeviceBuffer<f64>,
    copy: PinnedBuffer<f64>,
    sampled: Event,
    copied: Event,
}

/// A group whose elements are sampled.
struct SampledGroup {
    slots: DeviceBuffer<u32>,
    basis: DeviceBuffer<f64>,
    count: usize,
    points: usize,
    n_basis: usize,
    lanes: usize,
    row_stride: usize,
    field_stride: usize,
    offset: usize,
    /// Offset in the buffers.
    first: usize,
}

/// Data for samples of one order, kept for later samples.
pub struct Sampler {
    order: usize,
    kernel: Function,
    parameters: Vec<f64>,
    groups: Vec<SampledGroup>,
    len: usize,
    /// Elements and positions of the points; no values.
    places: Arc<Vec<Sample>>,
    beside: Stream,
    /// Number of buffers allocated; buffers that are no longer used are returned.
    made: usize,
    back: Sender<Room>,
    free: Receiver<Room>,
    args: Args,
}

/// A sample that is being copied to the host.
pub struct SamplesUnderWay {
    room: Option<Room>,
    back: Sender<Room>,
    places: Arc<Vec<Sample>>,
}

impl SamplesUnderWay {
    /// Returns primitive states on the lattices, shape by shape. Waits until the device has finished the
    /// sample, but not for later work.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn wait(mut self) -> Result<Vec<Sample>, GpuError> {
        let mut samples = self.places.as_ref().clone();
        let Some(room) = &self.room else { return Ok(samples) };
        room.copied.synchronize()?;
        let mut rest = &room.copy[..];
        for sample in &mut samples {
            for values in &mut sample.values {
                let (own, more) = rest.split_at(sample.points.len());
                values.extend_from_slice(own);
                rest = more;
            }
        }
        self.give_back();
        Ok(samples)
    }

    fn give_back(&mut self) {
        if let Some(room) = self.room.take() {
            // The sampler may no longer exist.
            let _ = self.back.send(room);
        }
    }
}

impl Drop for SamplesUnderWay {
    /// Returns the buffers when nothing is copied to them any more.
    fn drop(&mut self) {
        if let Some(room) = &self.room {
            let _ = room.copied.synchronize();
        }
        self.give_back();
    }
}

/// Builds the text of the kernel; `None` if the law's primitive variables cannot be translated.
fn kernel_text<T: PackScalar>(on: &CudaDiscretization<T>) -> Option<(Source, Vec<f64>)> {
    let physics = &on.description.physics;
    let mut parameters = Parameters::new();
    let primitive = physics.primitive_source(&mut parameters).ok()?;
    let text = format!(
        "#include \"device.cuh\"\n{ROOTS}{PRELUDE}{}{primitive}#line 1 \"sample.cu\"\n{}",
        parameters.definition(),
        include_str!("sample.cu")
    );
    let source = Source::new("sample.cu", text)
        .define("STATE_REAL", if T::BYTES == 4 { "float" } else { "double" })
        .define("FIELDS", physics.n_fields())
        .define("BLOCK", REDUCE_THREADS);
    let mut values = parameters.values();
    values.resize(values.len().max(1), 0.0);
    Some((source, values))
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// Starts to sample the primitive variables of a state on the lattices of order `order`. It does not wait
    /// for the device, except for an earlier sample if two are in progress. The result is that of
    /// [`Discretization::sample`](crate::Discretization::sample) up to rounding, with primitive instead of
    /// conserved variables. Returns `None` if the host must compute it: with a limiter, whose
    /// [floors](crate::StateFloor) it computes, and if the sample is large.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn sample_later(
        &self,
        sampler: &mut Option<Sampler>,
        u: &DeviceBuffer<T>,
        order: usize,
    ) -> Result<Option<SamplesUnderWay>, GpuError> {
        if self.description.limiter.is_some() {
            return Ok(None);
        }
        if sampler.as_ref().is_none_or(|known| known.order != order) {
            *sampler = self.sampler(order)?;
        }
        let Some(sampler) = sampler else { return Ok(None) };
        let Some(mut room) = self.room(sampler)? else { return Ok(None) };
        let main = self.cuda.stream();
        for group in &sampler.groups {
            let pair = |a: usize, b: usize| a as u64 | (b as u64) << 32;
            let words = [
                group.slots.ptr(),
                group.basis.ptr(),
                room.values.ptr_at(group.first),
                group.offset as u64,
                pair(group.count, group.lanes),
                pair(group.n_basis, group.points),
                pair(group.row_stride, group.field_stride),
            ];
            sampler.args.clear();
            sampler.args.buffer(u).value(words).slice(&sampler.parameters);
            let config = LaunchConfig::cover(group.count * group.points, REDUCE_THREADS as u32);
            // SAFETY: the arguments are the kernel's; slots and offsets lie in the state, and the room has a
            // number for each unknown of each point.
            unsafe { self.cuda.launch(&sampler.kernel, config, &sampler.args)? };
        }
        main.record(&room.sampled)?;
        sampler.beside.wait(&room.sampled)?;
        // SAFETY: the room is kept until `copied` is passed, and the copy is read only after that.
        unsafe { room.values.download_async(0, &mut room.copy, &sampler.beside)? };
        sampler.beside.record(&room.copied)?;
        let (back, places) = (sampler.back.clone(), Arc::clone(&sampler.places));
        Ok(Some(SamplesUnderWay { room: Some(room), back, places }))
    }

    /// Returns unused buffers; waits for some if the largest number is in use. `None` if there is no memory.
    fn room(&self, sampler: &mut Sampler) -> Result<Option<Room>, GpuError> {
        if let Ok(room) = sampler.free.try_recv() {
            return Ok(Some(room));
        }
        if sampler.made < DEPTH {
            let room = || -> Result<Room, GpuError> {
                Ok(Room {
                    values: DeviceBuffer::zeros(&self.cuda, "samples", sampler.len)?,
                    copy: PinnedBuffer::zeros(&self.cuda, sampler.len)?,
                    sampled: Event::new(&self.cuda)?,
                    copied: Event::new(&self.cuda)?,
                })
            };
            match room() {
                Ok(room) => {
                    sampler.made += 1;
                    return Ok(Some(room));
                }
                Err(GpuError::OutOfDeviceMemory { .. } | GpuError::OutOfMemory { .. })
                    if sampler.made == 0 =>
                {
                    return Ok(None);
                }
                Err(GpuError::OutOfDeviceMemory { .. } | GpuError::OutOfMemory { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        // As the sampler itself holds a sender, this waits for a buffer; it would wait for ever if one were
        // lost, which the `drop` of its owner prevents.
        Ok(sampler.free.recv().ok())
    }

    /// Tables of samples; `None` if they are too large or the law cannot be translated.
    fn sampler(&self, order: usize) -> Result<Option<Sampler>, GpuError> {
        let d = &self.description;
        let fields = d.physics.n_fields();
        let Some((source, parameters)) = kernel_text(self) else { return Ok(None) };
        let (mut groups, mut len) = (Vec::new(), 0);
        for group in &d.groups {
            let points = lattice(group.shape, order);
            let basis = group.parts[0].reference.evaluate(&points);
            let slots: Vec<u32> = group.real_slots().map(|slot| slot as u32).collect();
            let rows: Vec<f64> = (0..basis.rows())
                .flat_map(|i| (0..basis.cols()).map(move |j| (i, j)))
                .map(|at| basis[at])
                .collect();
            groups.push(SampledGroup {
                slots: DeviceBuffer::from_slice(&self.cuda, "samples", &slots)?,
                basis: DeviceBuffer::from_slice(&self.cuda, "samples", &rows)?,
                count: slots.len(),
                points: points.len(),
                n_basis: basis.cols(),
                lanes: group.state.lanes,
                row_stride: group.state.row_stride(),
                field_stride: group.state.field_stride(),
                offset: group.offset,
                first: len,
            });
            len += slots.len() * points.len() * fields;
        }
        if len * size_of::<f64>() > LARGEST {
            return Ok(None);
        }
        let kernel = self.cuda.compile(&source)?.function("sample")?;
        // The host computes the positions of the points; its values are not used.
        let mut places = d.sample(&vec![T::from_f64(0.0); d.len()], order);
        places.iter_mut().flat_map(|sample| &mut sample.values).for_each(Vec::clear);
        let (back, free) = channel();
        Ok(Some(Sampler {
            order,
            kernel,
            parameters,
            groups,
            len,
            places: Arc::new(places),
            beside: Stream::new(&self.cuda)?,
            made: 0,
            back,
            free,
            args: Args::new(),
        }))
    }
}
