//! Newton steps on a device: vectors, products, blocks and the problem of order one stay there. The host
//! computes the scalars of the iteration, and looks at densities and pressures of a step.

mod across;
mod blocks;
mod factors;
mod march;
mod product;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use dgsuite_gpu::cuda::{Args, Cuda, CudaSummation, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{CudaVector, GpuError, Host, Scalar, Vector};
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{OpsError, PackScalar};

use super::between::Between;
use super::colours::Coloured;
use super::factors as host_factors;
use super::host::bounds_of;
use super::matrix::BlockMatrix;
use super::ordering::least_discarded_fill;
use super::parts::{Evolving, Parts};
use super::places::{self, Places};
use super::whole::Whole;

use crate::SystemError;
use crate::setup::{Newton, Setup};
use across::{AcrossDevices, WholeVectors};
use blocks::DeviceBlocks;
use factors::DeviceFactors;
pub(crate) use march::SumsBefore;
use product::Product;

/// Threads of a block.
const THREADS: u32 = 256;

/// The largest number of unknowns of an element: the arrays of an inversion share the memory of a block.
const MOST: usize = 1024;

/// A kernel text of this folder, for matrices of at most `most` rows.
fn source(name: &str, text: &str, most: usize) -> Source {
    let source = Source::new(name, text).header("dense.cuh", include_str!("device/dense.cuh"));
    source.define("THREADS", THREADS).define("MOST", most)
}

/// Puts a kernel with a thread for each of `n` entries into the stream.
fn for_each(cuda: &Cuda, kernel: &Function, n: usize, args: &Args) -> Result<(), GpuError> {
    if n == 0 {
        return Ok(());
    }
    // SAFETY: the callers pass the arguments of their kernel, with arrays of its lengths.
    unsafe { cuda.launch(kernel, LaunchConfig::cover(n, THREADS), args) }
}

/// Puts a kernel with a block of threads for each of `n` items into the stream.
fn for_each_block(cuda: &Cuda, kernel: &Function, n: usize, args: &Args) -> Result<(), GpuError> {
    if n == 0 {
        return Ok(());
    }
    // SAFETY: as above.
    unsafe { cuda.launch(kernel, LaunchConfig::new(n as u32, THREADS), args) }
}

/// Lists of elements in the memory of the device, one after the other.
struct Lists {
    all: DeviceBuffer<u32>,
    /// First word and number of items of each list.
    ranges: Vec<(usize, usize)>,
}

impl Lists {
    /// Of items of `N` words.
    fn new<const N: usize>(cuda: &Cuda, lists: &[Vec<[u32; N]>]) -> Result<Self, GpuError> {
        let words: Vec<u32> = lists.iter().flatten().flatten().copied().collect();
        let mut first = 0;
        let ranges = lists.iter().map(|list| {
            let range = (first, list.len());
            first += N * list.len();
            range
        });
        let ranges = ranges.collect();
        Ok(Self { all: DeviceBuffer::from_slice(cuda, "lists of elements", &words)?, ranges })
    }

    /// Address and number of items of a list.
    fn of(&self, list: usize) -> (u64, usize) {
        let (first, n) = self.ranges[list];
        (self.all.ptr_at(first), n)
    }

    /// Address and number of items of each list.
    fn each(&self) -> impl Iterator<Item = (u64, usize)> {
        self.ranges.iter().map(|&(first, n)| (self.all.ptr_at(first), n))
    }
}

/// Shows columns of the Jacobian: for each colour and each of its `columns`, `seed(colour, column, v)` writes
/// the column's directions into the vector of zeros `v`, and `take` reads the product. The last seed of a
/// colour is beyond its columns and leaves zeros.
fn by_colours(
    columns: &[usize],
    product: &mut Product,
    v: &mut CudaVector<f64>,
    seed: impl Fn(usize, u32, &CudaVector<f64>) -> Result<(), GpuError>,
    take: impl Fn(usize, u32, &Product) -> Result<(), GpuError>,
) -> Result<(), GpuError> {
    for (colour, &columns) in columns.iter().enumerate() {
        for j in 0..=columns {
            seed(colour, j as u32, v)?;
            if j < columns {
                product.run(v)?;
                take(colour, j as u32, product)?;
            }
        }
    }
    Ok(())
}

/// The elements of this rank.
fn of_rank(lists: &[Vec<u32>], whole: &Whole) -> Vec<Vec<[u32; 1]>> {
    let own = |e: &u32| whole.local(*e as usize).is_some().then_some([*e]);
    lists.iter().map(|list| list.iter().filter_map(own).collect()).collect()
}

/// One word for each.
fn single(lists: &[Vec<u32>]) -> Vec<Vec<[u32; 1]>> {
    lists.iter().map(|list| list.iter().map(|&e| [e]).collect()).collect()
}

/// How states of the engine are read and written.
struct Moves {
    places: DeviceBuffer<u32>,
    pairs: DeviceBuffer<u32>,
    collect: Function,
    move_state: Function,
    add_fields: Function,
}

/// Factors of the space itself, or blocks where these do not fit.
enum Smoother {
    Factors(Box<RefCell<DeviceFactors>>),
    Blocks(Box<DeviceBlocks>),
}

/// Operator and preconditioner on a device.
pub(crate) struct DeviceParts {
    cuda: Cuda,
    host: Arc<Host>,
    whole: Whole,
    summation: Arc<CudaSummation>,
    /// Messages to the devices of other ranks, and vectors of the whole mesh.
    across: Option<(AcrossDevices, RefCell<WholeVectors>)>,
    product: RefCell<Product>,
    offsets: Vec<usize>,
    /// First entry of each element, then the number of all, and the number of fields.
    firsts: DeviceBuffer<u32>,
    fields: usize,
    moves: Arc<Moves>,
    /// The problem of order one below, if there is one.
    coarse: Option<RefCell<DeviceFactors>>,
    smoother: Smoother,
    /// The scale of each entry, and `1/Δτ` times it.
    scales: CudaVector<f64>,
    scaled_shifts: CudaVector<f64>,
    /// `1/Δτ` of each element.
    shifts: DeviceBuffer<f64>,
    /// Seconds of a product, as measured in making the parts.
    seconds: f64,
}

impl DeviceParts {
    pub(super) fn new<T: PackScalar>(
        setup: &Setup,
        newton: Newton,
        d: &CudaDiscretization<T>,
    ) -> Result<Self, SystemError> {
        let (cuda, description) = (d.cuda(), d.description());
        let fields = description.physics().n_fields();
        let unavailable = |what: String| SystemError::Unavailable { law: setup.law.name(), what };
        let offsets = places::offsets(description, fields);
        let n = offsets[offsets.len() - 1];
        let most = offsets.windows(2).map(|range| range[1] - range[0]).max().unwrap_or(1);
        if most > MOST {
            return Err(unavailable(format!(
                "by Newton steps on a device with {most} unknowns in an element; at most {MOST}, a lower \
                 `space.order`"
            )));
        }
        let own = Places::new(description, &offsets, (1, 0));
        let own = own.ok_or_else(|| unavailable("by Newton steps in this space".to_owned()))?;
        let moving = source("product.cu", include_str!("device/product.cu"), most);
        let moving = cuda.compile(&moving.define("STATE", if T::BYTES == 4 { "float" } else { "double" }))?;
        let moves = Arc::new(Moves {
            places: DeviceBuffer::from_slice(cuda, "places of a state", &own.places)?,
            pairs: DeviceBuffer::from_slice(cuda, "places of a state", &own.pairs())?,
            collect: moving.function("collect")?,
            move_state: moving.function("move_state")?,
            add_fields: moving.function("add_fields")?,
        });
        let tangent = super::tangent::on_device(setup, description, cuda)?;
        let product = Product::new(tangent, &offsets)?
            .ok_or_else(|| unavailable("by Newton steps in this space".to_owned()))?;
        let whole = Whole::new(&setup.mesh, description, fields)?;
        let coloured = Coloured::new(&whole.neighbours);
        let between = super::between(description, &whole)?.filter(|_| description.order() > 1);
        let across = AcrossDevices::new(cuda, &whole)?;
        let factors = |between: Option<&[Arc<Between>]>| {
            DeviceFactors::new(cuda, &whole, fields, between, &coloured, across.as_ref()).map(RefCell::new)
        };
        let bytes = host_factors::bytes_of(&whole.neighbours, |e| whole.size(e));
        let smoother = match between.is_none() || bytes <= newton.factor_bytes {
            true => Smoother::Factors(Box::new(factors(None)?)),
            false => Smoother::Blocks(Box::new(DeviceBlocks::new(cuda, &offsets, &whole, &coloured)?)),
        };
        let coarse = between.map(|between| factors(Some(&between))).transpose()?;
        let firsts: Vec<u32> = offsets.iter().map(|&first| first as u32).collect();
        let link = across.as_ref().map(|across| &across.link);
        let summation = across::summation(cuda, &whole, link)?;
        let across = match across {
            Some(across) => Some((across, RefCell::new(WholeVectors::new(cuda, &whole)?))),
            None => None,
        };
        Ok(Self {
            host: Arc::clone(description.host()),
            summation,
            across,
            whole,
            coarse,
            product: RefCell::new(product),
            moves,
            smoother,
            scales: CudaVector::zeros(cuda, n)?,
            scaled_shifts: CudaVector::zeros(cuda, n)?,
            shifts: DeviceBuffer::zeros(cuda, "pseudo-time", offsets.len() - 1)?,
            cuda: cuda.clone(),
            firsts: DeviceBuffer::from_slice(cuda, "elements", &firsts)?,
            fields,
            offsets,
            seconds: 0.0,
        })
    }

    /// What a state needs to be read and written.
    pub(crate) fn state<'a, T: PackScalar>(
        &self,
        d: &'a mut CudaDiscretization<T>,
        t: f64,
        u: &'a mut CudaVector<T>,
    ) -> Result<DeviceState<'a, T>, GpuError> {
        let rate = u.zeros_like()?;
        let start = self.zeros()?;
        Ok(DeviceState { d, t, u, rate, start, moves: Arc::clone(&self.moves) })
    }

    /// `z ← z + P A⁻¹ R S⁻¹ r` with factors of the whole mesh.
    fn correct(
        &self,
        factors: &mut DeviceFactors,
        r: &CudaVector<f64>,
        z: &mut CudaVector<f64>,
    ) -> Result<(), GpuError> {
        let Some((across, vectors)) = &self.across else {
            return factors.add_correction(&self.cuda, &self.scales, r, z);
        };
        let WholeVectors { r: whole_r, z: whole_z, scales, .. } = &mut *vectors.borrow_mut();
        across.gather(r, whole_r)?;
        across.put(z, whole_z)?;
        factors.add_correction(&self.cuda, scales, whole_r, whole_z)?;
        across.pick(whole_z, z)
    }

    fn operate(&self, x: &CudaVector<f64>, y: &mut CudaVector<f64>) -> Result<(), GpuError> {
        let mut product = self.product.borrow_mut();
        product.run(x)?;
        let mut args = Args::new();
        args.buffer(&product.places).buffer(&product.rate).buffer(self.scales.buffer());
        args.buffer(self.scaled_shifts.buffer()).buffer(x.buffer()).buffer(y.buffer());
        args.value(x.len() as u64);
        for_each(&self.cuda, &product.operate, x.len(), &args)
    }
}

impl Parts for DeviceParts {
    type Vector = CudaVector<f64>;

    fn len(&self) -> usize {
        self.scales.len()
    }

    fn zeros(&self) -> Result<CudaVector<f64>, GpuError> {
        Ok(CudaVector::zeros(&self.cuda, self.len())?.summed_by(Arc::clone(&self.summation)))
    }

    fn vector(&self, values: &[f64]) -> Result<CudaVector<f64>, GpuError> {
        let values = DeviceBuffer::from_slice(&self.cuda, "a vector", values)?;
        Ok(CudaVector::from_buffer(&self.cuda, values)?.summed_by(Arc::clone(&self.summation)))
    }

    fn values(&self, of: &CudaVector<f64>) -> Result<Vec<f64>, GpuError> {
        of.buffer().to_vec()
    }

    fn gathered(&self, own: &[f64]) -> Vec<f64> {
        self.whole.gathered(own)
    }

    fn picked(&self, whole: &[f64]) -> Option<Vec<f64>> {
        self.whole.picked(whole)
    }

    fn linearise(&mut self, t: f64, u: &CudaVector<f64>) -> Result<(), GpuError> {
        self.product.get_mut().linearise(t, u)
    }

    fn n_elements(&self) -> usize {
        self.offsets.len() - 1
    }

    fn add_fields(&self, a: &[f64], x: &CudaVector<f64>, y: &mut CudaVector<f64>) -> Result<(), GpuError> {
        // A gas has at most five unknowns.
        let factors: [f64; 5] = std::array::from_fn(|k| a.get(k).copied().unwrap_or(0.0));
        let mut args = Args::new();
        args.buffer(&self.firsts).value(self.fields as u32).value(factors).buffer(x.buffer());
        args.buffer(y.buffer());
        for_each_block(&self.cuda, &self.moves.add_fields, self.n_elements(), &args)
    }

    fn smallest(&self, own: f64) -> f64 {
        self.whole.smallest(own)
    }

    fn products(&self) -> u64 {
        self.product.borrow().products
    }

    fn seconds(&self) -> f64 {
        self.products() as f64 * self.seconds
    }

    fn bytes(&self) -> usize {
        let coarse = self.coarse.as_ref().map_or(0, |coarse| coarse.borrow().bytes());
        let smoother = match &self.smoother {
            Smoother::Factors(factors) => factors.borrow().bytes(),
            Smoother::Blocks(blocks) => blocks.bytes(),
        };
        self.product.borrow().bytes() + coarse + smoother
    }

    fn set_pseudo_time(&mut self, shifts: &[f64], scales: &[f64]) -> Result<(), GpuError> {
        let spread = |values: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let each = self.offsets.windows(2).enumerate();
            each.flat_map(|(e, range)| std::iter::repeat_n(values(e), range[1] - range[0])).collect()
        };
        let (own, both) = (spread(&|e| scales[e]), spread(&|e| scales[e] * shifts[e]));
        self.scales.buffer_mut().upload(&own)?;
        self.scaled_shifts.buffer_mut().upload(&both)?;
        self.shifts.upload(shifts)?;
        match &mut self.across {
            Some((_, vectors)) => vectors.get_mut().set_pseudo_time(&self.whole, shifts, scales),
            None => Ok(()),
        }
    }

    fn apply(&self, x: &CudaVector<f64>, y: &mut CudaVector<f64>) {
        self.cuda.note(self.operate(x, y));
    }

    fn subtract_pseudo_time(&self, share: f64, x: &CudaVector<f64>, y: &mut CudaVector<f64>) {
        y.add_product(-share, &self.scaled_shifts, x, 1.0);
    }

    fn make(&mut self) -> Result<(), GpuError> {
        let product = self.product.get_mut();
        self.cuda.synchronize()?;
        let (begun, before) = (Instant::now(), product.products);
        let mut v = CudaVector::zeros(&self.cuda, self.scales.len())?;
        let mut below = self.coarse.as_mut().map(RefCell::get_mut);
        if let Some(coarse) = &mut below {
            coarse.make(&self.cuda, product, &mut v)?;
        }
        match &mut self.smoother {
            Smoother::Factors(factors) => factors.get_mut().make(&self.cuda, product, &mut v)?,
            Smoother::Blocks(blocks) => blocks.make(&self.cuda, product, &mut v)?,
        }
        self.cuda.synchronize()?;
        self.seconds = begun.elapsed().as_secs_f64() / (product.products - before).max(1) as f64;
        // The order of elimination is that of the smaller matrix.
        let factors = match &mut self.smoother {
            Smoother::Factors(factors) => Some(factors.get_mut()),
            Smoother::Blocks(_) => None,
        };
        let Some(smaller) = below.as_deref().or(factors.as_deref()) else { return Ok(()) };
        let shifts = self.whole.of_elements(&self.shifts.to_vec()?);
        let order = least_discarded_fill(&smaller.matrix()?.couplings(&self.host, &shifts));
        for each in below.into_iter().chain(factors) {
            each.eliminate(&self.cuda, &order)?;
        }
        Ok(())
    }

    fn factorise(&mut self) -> Result<(), GpuError> {
        let whole = match &mut self.across {
            Some((_, vectors)) => &vectors.get_mut().shifts,
            None => &self.shifts,
        };
        if let Some(coarse) = &mut self.coarse {
            coarse.get_mut().factorise(&self.cuda, whole)?;
        }
        match &mut self.smoother {
            Smoother::Factors(factors) => factors.get_mut().factorise(&self.cuda, whole)?,
            Smoother::Blocks(blocks) => blocks.invert(&self.cuda, &self.shifts)?,
        }
        // The time is that of the set-up.
        self.cuda.synchronize()
    }

    fn has_coarse(&self) -> bool {
        self.coarse.is_some()
    }

    fn add_coarse(&self, r: &CudaVector<f64>, z: &mut CudaVector<f64>) {
        if let Some(coarse) = &self.coarse {
            self.cuda.note(self.correct(&mut coarse.borrow_mut(), r, z));
        }
    }

    fn smooth(&self, r: &CudaVector<f64>, z: &mut CudaVector<f64>) {
        self.cuda.note(match &self.smoother {
            Smoother::Factors(factors) => {
                z.fill(0.0);
                self.correct(&mut factors.borrow_mut(), r, z)
            }
            Smoother::Blocks(blocks) => blocks.apply(&self.cuda, &self.scales, r, z),
        });
    }

    fn failure(&self) -> Option<GpuError> {
        self.cuda.take_failure().err()
    }
}

/// A state on a device.
pub(crate) struct DeviceState<'a, T: PackScalar> {
    d: &'a mut CudaDiscretization<T>,
    t: f64,
    u: &'a mut CudaVector<T>,
    rate: CudaVector<T>,
    /// The state at the start of the step, in canonical order.
    start: CudaVector<f64>,
    moves: Arc<Moves>,
}

impl Moves {
    /// `v ← f u`, with the factors at an address, or none at 0.
    fn collect<T: Scalar>(
        &self,
        u: &CudaVector<T>,
        factors: u64,
        v: &mut CudaVector<f64>,
    ) -> Result<(), GpuError> {
        let mut args = Args::new();
        args.buffer(&self.places).buffer(u.buffer()).pointer(factors).buffer(v.buffer());
        args.value(v.len() as u64);
        for_each(v.cuda(), &self.collect, v.len(), &args)
    }

    /// `u ← v + share δ`.
    fn move_state<T: Scalar>(
        &self,
        v: &CudaVector<f64>,
        share: f64,
        delta: &CudaVector<f64>,
        u: &mut CudaVector<T>,
    ) -> Result<(), GpuError> {
        let n = self.pairs.len() / 2;
        let mut args = Args::new();
        args.buffer(&self.pairs).buffer(v.buffer()).buffer(delta.buffer()).value(share);
        args.buffer(u.buffer()).value(n as u64);
        for_each(v.cuda(), &self.move_state, n, &args)
    }
}

impl<T: PackScalar> Evolving<DeviceParts> for DeviceState<'_, T> {
    fn begin(&mut self, parts: &mut DeviceParts) -> Result<Vec<f64>, OpsError> {
        self.moves.collect(self.u, 0, &mut self.start)?;
        parts.linearise(self.t, &self.start)?;
        self.d.time_step(self.u.buffer(), true)?;
        Ok(self.d.local_steps()?)
    }

    fn residual(&mut self, parts: &DeviceParts, right: &mut CudaVector<f64>) -> Result<(), OpsError> {
        self.d.eval(self.t, self.u.buffer(), self.rate.buffer_mut())?;
        Ok(self.moves.collect(&self.rate, parts.scales.buffer().ptr(), right)?)
    }

    fn set_share(&mut self, share: f64, delta: &CudaVector<f64>) -> Result<(), OpsError> {
        Ok(self.moves.move_state(&self.start, share, delta, self.u)?)
    }

    fn bounds(&mut self) -> Result<Vec<f64>, OpsError> {
        Ok(bounds_of(self.d.description(), &self.u.buffer().to_vec()?))
    }

    fn mass(&mut self) -> Result<f64, OpsError> {
        Ok(self.d.description().totals(&self.u.buffer().to_vec()?)[0])
    }

    fn scale(&mut self, by: f64) -> Result<(), OpsError> {
        self.u.lincomb(by, &[]);
        Ok(())
    }

    fn is_admissible(&mut self) -> bool {
        self.d.time_step(self.u.buffer(), false).is_ok()
    }
}
