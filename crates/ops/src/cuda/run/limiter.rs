//! Limiters on a device: after each stage, in the device's stream, without the host.
//!
//! The algorithm is that of the host. A kernel for each part finds suspects: elements whose coefficients do
//! not show that they are not troubled. A second one evaluates these, or all elements of order 1, and appends
//! the troubled ones to a list; a third one limits the elements of the list, a block for each in turn. Bounds
//! come from the stage's input and from the outer states that the boundaries' kernel has written. Slopes are
//! limited before that, by two kernels for each part.

mod abroad;
mod suspects;
mod text;

use crate::cuda::choose::layout::layout;
use crate::cuda::choose::scheme::on_device;
use crate::cuda::parts::branches::Share;
use crate::cuda::run::discretization::CudaDiscretization;
use crate::cuda::run::halo::Messages;
use crate::cuda::run::limiter::abroad::Abroad;
use crate::cuda::run::limiter::suspects::SuspectsText;
use crate::cuda::run::limiter::text::{LimiterText, PassText, Preamble};
use crate::error::OpsError;
use crate::formulas::boundary::BoundaryBinding;
use crate::formulas::equation::Equation;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::rhs::limiter::{
    ABROAD_GROUP, BoundKernels, Bounds, EXTERIOR_GROUP, Limited, Limiter, Limiting, NOTHING, Neighbourhood,
    Tables, pack, unpack,
};
use crate::space::group::Group;
use crate::space::layout::Lanes;
use crate::space::layout::Terms;
use crate::space::scheme::{MetricRule, Scheme};
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{Element, GpuError, Host};
use dgsuite_mesh::Mesh;
use dgsuite_physics::Exact;
use std::sync::Arc;

/// Same as `Elements` in limiter_elements.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Elements {
    state: u64,
    at: u64,
    sensor: u64,
    mean: u64,
    factors: u64,
    list: u64,
    listed: u64,
    means: u64,
    all_means: u64,
    first_near: u64,
    near: u64,
    nu: u64,
    linear: u64,
    points: u64,
    back: u64,
    suspects: u64,
    suspected: u64,
    one: u64,
    reach: u64,
    top: u64,
    begin: u32,
    end: u32,
    name: u32,
    filter: u32,
    keep: u32,
    unused: u32,
}

/// Same as `Settings` in limiter_apply.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Settings {
    pieces: u64,
    second: u64,
    list: u64,
    listed: u64,
    abroad: u64,
    tolerance: f64,
    filter: u32,
    density: u32,
    keep: u32,
    unused: u32,
}

/// A kernel, its launch configuration for all elements of a part, and the elements of a block.
struct Kernel {
    function: Function,
    config: LaunchConfig,
    each: usize,
}

/// The passes over the elements of a part.
struct Passes {
    /// Finds the elements that `screen` evaluates; `None` if it evaluates all of them.
    suspects: Option<Kernel>,
    screen: Kernel,
    means: Kernel,
    slopes: Kernel,
    /// The arguments; `state` is the offset in bytes from the begin of the state.
    elements: Elements,
    /// As `n_cut` of the host's part.
    cut: u32,
}

impl Passes {
    /// The elements of a share: the first one, and the end.
    const fn range(&self, share: Share) -> (u32, u32) {
        match share {
            Share::All => (0, self.elements.end),
            Share::Cut => (0, self.cut),
            Share::Inner => (self.cut, self.elements.end),
        }
    }

    /// The pass that finds suspects or, where there is none, the troubled elements.
    fn search(&self) -> &Kernel {
        self.suspects.as_ref().unwrap_or(&self.screen)
    }
}

/// Arrays on the device, kept as long as kernels may use them.
struct Held<'a> {
    cuda: &'a Cuda,
    numbers: Vec<DeviceBuffer<f64>>,
    indices: Vec<DeviceBuffer<u32>>,
}

impl Held<'_> {
    /// Uploads numbers and returns their address.
    fn numbers(&mut self, values: &[f64]) -> Result<u64, GpuError> {
        self.numbers.push(uploaded(self.cuda, values)?);
        Ok(self.numbers.last().map_or(0, DeviceBuffer::ptr))
    }

    /// Uploads indices and returns their address.
    fn indices(&mut self, values: &[u32]) -> Result<u64, GpuError> {
        self.indices.push(uploaded(self.cuda, values)?);
        Ok(self.indices.last().map_or(0, DeviceBuffer::ptr))
    }
}

fn uploaded<E: Element>(cuda: &Cuda, values: &[E]) -> Result<DeviceBuffer<E>, GpuError> {
    DeviceBuffer::from_slice(cuda, "the limiter", values)
}

/// Words of `Piece` in limiter_apply.cu.
const PIECE_WORDS: usize = 14;

/// Addresses and numbers of a part that its tables do not contain.
struct Piece {
    nu: u64,
    across: u64,
    face_points: u64,
    factors: u64,
    first: usize,
    curved: bool,
}

impl Piece {
    /// Uploads the tables of the part and returns the words of `Piece` in limiter_apply.cu.
    fn words<T: PackScalar>(
        &self,
        group: &Group<T>,
        t: &Tables,
        held: &mut Held<'_>,
    ) -> Result<[u64; PIECE_WORDS], GpuError> {
        let pair = |a: usize, b: usize| a as u64 | (b as u64) << 32;
        let squares: Vec<u32> = t.degrees.iter().map(|&d| (d * d) as u32).collect();
        let values = held.numbers(t.values.transpose().as_slice())?;
        let (at, to, from) = match &t.modes {
            Some((to, from)) => (
                held.numbers(t.values.mul(to).transpose().as_slice())?,
                held.numbers(to.as_slice())?,
                held.numbers(from.as_slice())?,
            ),
            None => (values, 0, 0),
        };
        Ok([
            at,
            values,
            to,
            from,
            self.nu,
            held.indices(&squares)?,
            self.across,
            self.face_points,
            self.factors,
            group.offset as u64,
            pair(self.first, usize::from(self.curved)),
            pair(t.np, t.nc),
            pair(group.state.lanes, group.shape.n_faces()),
            pair(group.state.row_stride(), group.state.field_stride()),
        ])
    }
}

/// A limiter on a device.
pub(crate) struct DeviceLimiter {
    parts: Vec<Passes>,
    apply: Function,
    config: LaunchConfig,
    settings: Settings,
    slopes: bool,
    /// `None` on one rank, and if the limiter needs no neighbours.
    abroad: Option<Abroad>,
    /// Whether all elements stay in the list.
    all: bool,
    /// Length of the list, then the number of suspects of each part.
    counts: DeviceBuffer<u32>,
    /// Of the slots of all groups, one group after the other.
    factors: DeviceBuffer<f32>,
    parameters: Vec<f64>,
    args: Args,
    list: DeviceBuffer<u32>,
    means: DeviceBuffer<f64>,
    pieces: DeviceBuffer<u64>,
    numbers: Vec<DeviceBuffer<f64>>,
    indices: Vec<DeviceBuffer<u32>>,
}

impl DeviceLimiter {
    /// Builds the twin of the limiter of `d`.
    fn new<T: PackScalar>(
        cuda: &Cuda,
        d: &Discretization<T>,
        limiter: &Limiter<T>,
        messages: Option<&mut Messages>,
    ) -> Result<Self, OpsError> {
        let law: &dyn Bounds = limiter.law.as_ref();
        let preamble = Preamble::new(law)?;
        let (fields, filter) = (limiter.law.n_fields(), limiter.limiting.filter());
        let slopes = matches!(limiter.limiting, Limiting::Slopes(_));
        let all = filter.is_some_and(|f| !f.gate);
        let firsts = first_slots(d);
        let n_slots = firsts.last().copied().unwrap_or(0);
        let names = d.groups.iter().enumerate();
        let names = names.flat_map(|(g, group)| group.real_slots().map(move |slot| pack(g as u32, slot)));
        let names: Vec<u32> = names.collect();
        let list = uploaded(cuda, &names)?;
        let n_parts: usize = d.groups.iter().map(|g| g.parts.len()).sum();
        let mut lengths = vec![0; 1 + n_parts];
        lengths[0] = if all { names.len() as u32 } else { 0 };
        let counts = uploaded(cuda, &lengths)?;
        let factors = uploaded(cuda, &vec![1.0_f32; n_slots])?;
        let cut_faces: usize = d.connectivity.borders.iter().map(|border| border.sends.len()).sum();
        let n_means = if slopes { n_slots + cut_faces } else { 0 };
        let means = uploaded(cuda, &vec![0.0_f64; n_means * fields])?;

        let mut held = Held { cuda, numbers: Vec::new(), indices: Vec::new() };
        let (mut parts, mut pieces, mut second) = (Vec::new(), Vec::new(), Vec::new());
        for (g, group) in d.groups.iter().enumerate() {
            let lanes = group.state.lanes;
            let points: Vec<u32> = group.face_offsets.windows(2).map(|w| (w[1] - w[0]) as u32).collect();
            let (across, face_points) = (held.indices(&limiter.across[g])?, held.indices(&points)?);
            let (first_near, near) = near_slots(limiter, g, group, &firsts);
            let near = held.indices(&near)?;
            second.push(group.parts.get(1).map_or(u32::MAX, |p| (p.first_block * lanes) as u32));
            for (p, (part, t)) in group.parts.iter().zip(&limiter.tables[g]).enumerate() {
                let (first, nu) = (part.first_block * lanes, held.numbers(&t.means)?);
                let curved = part.spec.rule != MetricRule::Affine;
                let piece =
                    Piece { nu, across, face_points, factors: factors.ptr_at(firsts[g]), first, curved };
                pieces.extend(piece.words(group, t, &mut held)?);
                // Constants need no limiter.
                if t.np == 1 {
                    continue;
                }
                let pass = PassText::new(&preamble, d, (g, p), t)?;
                let module = ["screen", "means", "slopes"];
                let [screen, of_means, of_slopes] = compiled(cuda, &pass.text, module)?;
                let covering = |function: Function, text: &LimiterText| Kernel {
                    function,
                    config: config(text, part.n_elements.div_ceil(text.elements)),
                    each: text.elements,
                };
                let mut screen = covering(screen, &pass.text);
                let quick = SuspectsText::new(&preamble, d, (g, p), t)?;
                let (mut suspects, mut list_of_suspects, mut tables) = (None, 0, [0; 3]);
                if let Some(quick) = &quick {
                    let [find] = compiled(cuda, &quick.text, ["find_suspects"])?;
                    suspects = Some(covering(find, &quick.text));
                    list_of_suspects = held.indices(&vec![0; part.n_elements])?;
                    tables =
                        [held.numbers(&quick.one)?, held.numbers(&quick.reach)?, held.numbers(&quick.top)?];
                    // The number of suspects is known to the device alone.
                    let blocks = resident(cuda, &screen.function, &pass.text)?;
                    let most = part.n_elements.div_ceil(pass.text.elements);
                    screen.config = config(&pass.text, blocks.min(most));
                }
                let elements = Elements {
                    state: ((group.offset + part.first_block * group.state.block_len()) * T::BYTES) as u64,
                    at: held.numbers(&pass.at)?,
                    sensor: held.numbers(&pass.sensor)?,
                    mean: held.numbers(&pass.mean)?,
                    factors: factors.ptr_at(firsts[g] + first),
                    list: list.ptr(),
                    listed: counts.ptr(),
                    means: if slopes { means.ptr_at((firsts[g] + first) * fields) } else { 0 },
                    all_means: means.ptr(),
                    first_near: held.indices(first_near.get(first..).unwrap_or_default())?,
                    near,
                    nu,
                    linear: held.numbers(&pass.linear)?,
                    points: held.numbers(&pass.points)?,
                    back: held.numbers(&pass.back)?,
                    suspects: list_of_suspects,
                    suspected: counts.ptr_at(1 + parts.len()),
                    one: tables[0],
                    reach: tables[1],
                    top: tables[2],
                    begin: 0,
                    end: part.n_elements as u32,
                    name: pack(g as u32, first),
                    filter: u32::from(filter.is_some()),
                    keep: u32::from(slopes),
                    unused: 0,
                };
                parts.push(Passes {
                    suspects,
                    screen,
                    means: covering(of_means, &pass.text),
                    slopes: covering(of_slopes, &pass.text),
                    elements,
                    cut: part.n_cut as u32,
                });
            }
            // There is room for two parts of each group.
            pieces.resize((g + 1) * 2 * PIECE_WORDS, 0);
        }

        let text = apply_text::<T>(&preamble, d, limiter)?;
        let [apply] = compiled(cuda, &text, ["limit_troubled"])?;
        let blocks = resident(cuda, &apply, &text)?.min(names.len());
        let pieces = uploaded(cuda, &pieces)?;
        let abroad = match messages.filter(|_| slopes || filter.is_some()) {
            Some(m) => Some(Abroad::new(cuda, d, &mut m.link, &text, slopes.then_some((&means, fields)))?),
            None => None,
        };
        let settings = Settings {
            pieces: pieces.ptr(),
            second: held.indices(&second)?,
            list: list.ptr(),
            listed: counts.ptr(),
            abroad: abroad.as_ref().map_or(0, Abroad::ranges),
            tolerance: filter.map_or(0.0, |f| (1.0 - f.tolerance).ln()),
            filter: u32::from(filter.is_some()),
            density: u32::from(filter.is_some_and(|f| f.density)),
            keep: u32::from(slopes),
            unused: 0,
        };
        let Held { numbers, indices, .. } = held;
        Ok(Self {
            parts,
            apply,
            config: config(&text, blocks),
            settings,
            slopes,
            abroad,
            all,
            counts,
            factors,
            parameters: preamble.parameters,
            args: Args::new(),
            list,
            means,
            pieces,
            numbers,
            indices,
        })
    }

    /// Memory on the device in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.numbers.iter().chain([&self.means]).map(DeviceBuffer::bytes).sum::<usize>()
            + self.indices.iter().chain([&self.list, &self.counts]).map(DeviceBuffer::bytes).sum::<usize>()
            + self.factors.bytes()
            + self.pieces.bytes()
            + self.abroad.as_ref().map_or(0, Abroad::bytes)
    }

    /// Sends what other ranks need of the input `u` of a stage, if its work hides the messages.
    ///
    /// # Safety
    /// `u` is the address of a state that stays as it is until [`launch`](Self::launch).
    pub(crate) unsafe fn begin(
        &mut self,
        cuda: &Cuda,
        messages: &mut Messages,
        u: u64,
    ) -> Result<(), GpuError> {
        let Some(abroad) = self.abroad.as_mut().filter(|_| messages.overlaps()) else { return Ok(()) };
        if self.slopes || self.parts.is_empty() {
            return Ok(());
        }
        // SAFETY: the caller's contract.
        unsafe { abroad.begin_ranges(cuda, messages, u, self.settings, &self.parameters) }
    }

    /// Limits the result `next` of a stage with the input `u` and the outer states `exterior`. `messages` are
    /// those of [`new`](Self::new); [`begin`](Self::begin) has been called for this stage.
    ///
    /// # Safety
    /// `u` and `next` are addresses of different states, `exterior` that of the exterior buffer, valid until
    /// the stream has processed the call.
    pub(crate) unsafe fn launch(
        &mut self,
        cuda: &Cuda,
        mut messages: Option<&mut Messages>,
        u: u64,
        next: u64,
        exterior: u64,
    ) -> Result<(), GpuError> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let Self { parts, parameters, args, .. } = self;
        let mut pass = |part: &Passes, kernel: &Kernel, share: Share, parameters: &[f64]| {
            let (begin, end) = part.range(share);
            if begin == end {
                return Ok(());
            }
            args.clear();
            args.value(Elements { state: next + part.elements.state, begin, end, ..part.elements });
            if !parameters.is_empty() {
                args.slice(parameters);
            }
            let mut config = kernel.config;
            if share != Share::All {
                config.grid[0] = (end - begin).div_ceil(kernel.each as u32);
            }
            // SAFETY: the arguments are the kernel's, and its tables cover the part; `next` is a state by the
            // contract.
            unsafe { cuda.launch(&kernel.function, config, args) }
        };
        // On one rank, and where stages wait for messages at once, all elements are one share.
        let overlaps = self.slopes && messages.as_ref().is_some_and(|m| m.overlaps());
        let first = if overlaps { Share::Cut } else { Share::All };
        if !self.all {
            self.counts.clear(cuda.stream())?;
        }
        if self.slopes {
            parts.iter().try_for_each(|part| pass(part, &part.means, first, &[]))?;
            if let (Some(abroad), Some(messages)) = (&mut self.abroad, &mut messages) {
                abroad.begin_means(cuda, messages, &self.means)?;
            }
            if overlaps {
                let inner = Share::Inner;
                parts.iter().try_for_each(|part| pass(part, &part.means, inner, &[]))?;
                parts.iter().try_for_each(|part| pass(part, &part.slopes, inner, &[]))?;
                parts.iter().try_for_each(|part| pass(part, part.search(), inner, parameters))?;
            }
            if let (Some(abroad), Some(messages)) = (&mut self.abroad, &mut messages) {
                abroad.finish(cuda, messages)?;
            }
            parts.iter().try_for_each(|part| pass(part, &part.slopes, first, &[]))?;
        }
        if !self.all {
            parts.iter().try_for_each(|part| pass(part, part.search(), first, parameters))?;
            let mut listed = parts.iter().filter(|part| part.suspects.is_some());
            listed.try_for_each(|part| pass(part, &part.screen, Share::All, parameters))?;
        }
        if let (Some(abroad), Some(messages), false) = (&mut self.abroad, &mut messages, self.slopes) {
            if !messages.overlaps() {
                // SAFETY: `u` is the state of the caller's contract.
                unsafe { abroad.begin_ranges(cuda, messages, u, self.settings, parameters)? };
            }
            abroad.finish(cuda, messages)?;
        }
        args.clear();
        args.pointer(u).pointer(next).pointer(exterior).value(self.settings).slice(parameters);
        // SAFETY: the arguments are the kernel's; the addresses are the caller's contract.
        unsafe { cuda.launch(&self.apply, self.config, args) }
    }
}

/// The first slot of each group among those of all groups, and the number of all.
fn first_slots<T: PackScalar>(d: &Discretization<T>) -> Vec<usize> {
    let mut firsts = vec![0];
    for group in &d.groups {
        firsts.push(firsts[firsts.len() - 1] + group.state.blocks * group.state.lanes);
    }
    firsts
}

/// The elements whose means bound the slopes of each slot of a group: index of the first one, and all of them
/// as slots among those of all groups. Both are empty if slopes are not limited.
fn near_slots<T: PackScalar>(
    limiter: &Limiter<T>,
    g: usize,
    group: &Group<T>,
    firsts: &[usize],
) -> (Vec<u32>, Vec<u32>) {
    let Limiting::Slopes(near) = limiter.limiting else { return (Vec::new(), Vec::new()) };
    let n = group.shape.n_faces();
    let (mut first, mut all) = (vec![0], Vec::new());
    for slot in 0..group.state.blocks * group.state.lanes {
        let own = match near {
            Neighbourhood::Faces => &limiter.across[g][slot * n..(slot + 1) * n],
            Neighbourhood::Vertices => {
                let (first, all) = &limiter.vertices[g];
                &all[first[slot] as usize..first[slot + 1] as usize]
            }
        };
        let inside = own.iter().filter(|&&x| x != NOTHING).map(|&x| unpack(x));
        let inside = inside.filter(|&(group, _)| group != EXTERIOR_GROUP);
        // Means of other ranks' elements stand behind the own ones.
        let first_of = |group: u32| match group {
            ABROAD_GROUP => firsts.last().copied().unwrap_or(0),
            _ => firsts[group as usize],
        };
        all.extend(inside.map(|(group, slot)| (first_of(group) + slot) as u32));
        first.push(all.len() as u32);
    }
    (first, all)
}

/// Builds the text of the kernel for the elements of the list.
fn apply_text<T: PackScalar>(
    preamble: &Preamble,
    d: &Discretization<T>,
    limiter: &Limiter<T>,
) -> Result<LimiterText, OpsError> {
    let points = limiter.tables.iter().flatten().map(|t| t.nc).max().unwrap_or(1);
    let most = d.groups.iter().map(|g| g.state.rows * g.state.fields).max().unwrap_or(1);
    preamble.apply::<T>(points, most)
}

fn config(text: &LimiterText, blocks: usize) -> LaunchConfig {
    LaunchConfig::new(blocks as u32, text.threads as u32).shared(text.shared as u32)
}

/// The number of blocks of a kernel that the device runs at once.
fn resident(cuda: &Cuda, function: &Function, text: &LimiterText) -> Result<usize, GpuError> {
    let each = function.blocks_per_multiprocessor(text.threads as u32, text.shared)?.max(1);
    Ok(cuda.info().n_multiprocessors as usize * each as usize)
}

/// Compiles a text and returns its kernels.
fn compiled<const N: usize>(
    cuda: &Cuda,
    text: &LimiterText,
    names: [&str; N],
) -> Result<[Function; N], GpuError> {
    let module = cuda.compile(&text.source)?;
    let mut found = Vec::with_capacity(N);
    for name in names {
        let function = module.function(name)?;
        function.set_max_dynamic_shared(text.shared)?;
        found.push(function);
    }
    Ok(found.try_into().unwrap_or_else(|_| unreachable!("one function for each name")))
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// Limits the state after each stage, as [`Discretization::limit_by`]. Stages of one kernel
    /// ([`gather_stages`](Self::gather_stages)) are not used with a limiter.
    ///
    /// # Errors
    /// Those of [`Discretization::limit_by`], [`OpsError::NotOnDevices`] if an element is too large, errors
    /// of compilation and of the device.
    pub fn limit_by(&mut self, limiting: Limiting, law: Box<dyn BoundKernels<T>>) -> Result<(), OpsError> {
        self.description.limit_by(limiting, law)?;
        self.gathered = false;
        if let Some(limiter) = &self.description.limiter {
            let messages = self.halo.as_mut().map(|halo| &mut halo.messages);
            self.limiter = Some(DeviceLimiter::new(&self.cuda, &self.description, limiter, messages)?);
        }
        Ok(())
    }

    /// Limits a projected state in host memory, as [`Discretization::limit_initial`].
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// If `u` does not have the length of the state.
    pub fn limit_initial(&mut self, exact: &dyn Exact, t: f64, u: &mut [T]) -> Result<(), GpuError> {
        assert_eq!(u.len(), self.len(), "u has the state's length");
        self.description.limit_initial(exact, t, u);
        let (Some(host), Some(device)) = (&self.description.limiter, &mut self.limiter) else {
            return Ok(());
        };
        device.factors.upload(&host.factors.concat())
    }

    /// Result of the limiter in the last stage; `None` without a limiter. Waits for the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn limited(&self) -> Result<Option<Limited>, GpuError> {
        Ok(self.factors()?.map(|factors| self.description.summarised(&factors)))
    }

    /// The factors of the last stage, as [`Discretization::strengths`]. Waits for the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn strengths(&self) -> Result<Option<Vec<f32>>, GpuError> {
        Ok(self.factors()?.map(|factors| self.description.by_element(&factors)))
    }

    /// The number of elements whose states the limiter evaluated at all points after the last stage; `None`
    /// without a limiter. Waits for the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn evaluated(&self) -> Result<Option<usize>, GpuError> {
        let Some(limiter) = &self.limiter else { return Ok(None) };
        let counts = limiter.counts.to_vec()?;
        if limiter.all {
            return Ok(Some(counts[0] as usize));
        }
        let of_part = |(part, &n): (&Passes, &u32)| {
            if part.suspects.is_some() { n as usize } else { part.elements.end as usize }
        };
        Ok(Some(limiter.parts.iter().zip(&counts[1..]).map(of_part).sum()))
    }

    /// The factor of each slot, per group.
    fn factors(&self) -> Result<Option<Vec<Vec<f32>>>, GpuError> {
        let Some(limiter) = &self.limiter else { return Ok(None) };
        let (all, firsts) = (limiter.factors.to_vec()?, first_slots(&self.description));
        Ok(Some(firsts.windows(2).map(|w| all[w[0]..w[1]].to_vec()).collect()))
    }

    /// The texts of all kernels that [`limit_by`](Self::limit_by) would compile, for compilation without a
    /// device.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new) and [`limit_by`](Self::limit_by), except those of the device.
    pub fn limiter_texts(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        equation: impl Into<Equation<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
        law: Box<dyn BoundKernels<T>>,
    ) -> Result<Vec<Source>, OpsError> {
        let scheme = &on_device(scheme, &mesh, None);
        let mut d = Discretization::laid_out(
            mesh,
            scheme,
            equation.into(),
            boundaries,
            host,
            Lanes::Device(layout::<T>, Terms::default()),
            None,
        )?;
        d.limit_by(Limiting::default(), law)?;
        let Some(limiter) = &d.limiter else { return Ok(Vec::new()) };
        let law: &dyn Bounds = limiter.law.as_ref();
        let preamble = Preamble::new(law)?;
        let mut out = vec![apply_text::<T>(&preamble, &d, limiter)?.source];
        for (g, tables) in limiter.tables.iter().enumerate() {
            for (p, t) in tables.iter().enumerate().filter(|(_, t)| t.np > 1) {
                out.push(PassText::new(&preamble, &d, (g, p), t)?.text.source);
                out.extend(SuspectsText::new(&preamble, &d, (g, p), t)?.map(|quick| quick.text.source));
            }
        }
        Ok(out)
    }
}
