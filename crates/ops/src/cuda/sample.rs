//! Samples for writers, made on the device and copied out beside the steps that follow: whoever asks does not
//! wait, and whoever needs the numbers does, on a thread of its own.

use crate::cuda::discretization::CudaDiscretization;
use crate::cuda::kernel_text::REDUCE_THREADS;
use crate::fields::Sample;
use crate::simd::PackScalar;
use dgsuite_basis::lattice::lattice;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, DeviceBuffer, Event, Function, LaunchConfig, PinnedBuffer, Source, Stream};
use dgsuite_physics::trace::{PRELUDE, Parameters, ROOTS};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Samples that can be under way.
const DEPTH: usize = 2;
/// Larger samples, in bytes, are made by the host: memory may be short.
const LARGEST: usize = 1 << 30;

/// Room for the samples of one moment on both machines.
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
    /// First scalar in the room.
    first: usize,
}

/// What samples of one order need, kept from one to the next.
pub struct Sampler {
    order: usize,
    kernel: Function,
    parameters: Vec<f64>,
    groups: Vec<SampledGroup>,
    len: usize,
    /// Elements and places of the points; no values.
    places: Arc<Vec<Sample>>,
    beside: Stream,
    /// Rooms made so far; those that nobody needs come back.
    made: usize,
    back: Sender<Room>,
    free: Receiver<Room>,
    args: Args,
}

/// Samples on their way to the host.
pub struct SamplesUnderWay {
    room: Option<Room>,
    back: Sender<Room>,
    places: Arc<Vec<Sample>>,
}

impl SamplesUnderWay {
    /// Primitive states on the lattices, shape by shape, once they are there. Waits for the device to have
    /// passed the moment of the samples, no further.
    ///
    /// # Errors
    /// A failure of the device.
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
            // Nobody is left to want it after the sampler's end.
            let _ = self.back.send(room);
        }
    }
}

impl Drop for SamplesUnderWay {
    /// The room goes back once nothing is copied to it any more.
    fn drop(&mut self) {
        if let Some(room) = &self.room {
            let _ = room.copied.synchronize();
        }
        self.give_back();
    }
}

/// The text of the kernel; `None` if the law's primitive variables cannot be traced.
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
    /// Starts to sample the primitive variables of a state on the lattices of order `order`, and does not
    /// wait for the device; but for those that asked before, if two samples are under way. What comes is
    /// [`Discretization::sample`](crate::Discretization::sample) to rounding, with primitive variables for
    /// conserved ones. `None` if the host must do it.
    ///
    /// # Errors
    /// Those of the device.
    pub fn sample_later(
        &self,
        sampler: &mut Option<Sampler>,
        u: &DeviceBuffer<T>,
        order: usize,
    ) -> Result<Option<SamplesUnderWay>, GpuError> {
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

    /// Room that nobody uses; waits for one if there are as many as may be. `None` if there is no memory.
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
        // The sampler itself holds a sender: what is waited for is a room, or for ever if one was lost, which
        // its owner's `drop` excludes.
        Ok(sampler.free.recv().ok())
    }

    /// Tables of samples; `None` if they are too large or the law cannot be traced.
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
        // The host knows the places of the points; its values are not wanted.
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
