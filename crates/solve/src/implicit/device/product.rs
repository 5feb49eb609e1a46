//! Products with the Jacobian on a device: the tangent equation, with a direction in the half of its state
//! that belongs to it.

use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, Graph};
use dgsuite_gpu::{CudaVector, GpuError};
use dgsuite_ops::cuda::CudaDiscretization;

use super::{Places, for_each, source};

/// Products before the kernels of one are recorded: until then some are set up.
const WARM_UP: u64 = 2;

/// `R′(u) v` for vectors in canonical order.
pub(super) struct Product {
    cuda: Cuda,
    tangent: CudaDiscretization<f64>,
    state: DeviceBuffer<f64>,
    /// The result of the last product, in the order of the device.
    pub(super) rate: DeviceBuffer<f64>,
    /// The places of the entries of a direction.
    pub(super) places: DeviceBuffer<u32>,
    /// Pairs of places and entries of state and direction.
    pairs: [DeviceBuffer<u32>; 2],
    spread: Function,
    pub(super) operate: Function,
    pub(super) products: u64,
    t: f64,
    /// The recorded kernels of the tangent equation at time `t`.
    graph: Option<Graph>,
}

impl Product {
    /// Products with the Jacobian of a tangent equation; `None` if it has no states in canonical order.
    pub(super) fn new(tangent: CudaDiscretization<f64>, offsets: &[usize]) -> Result<Option<Self>, GpuError> {
        let cuda = tangent.cuda().clone();
        let places = [0, 1].map(|half| Places::new(tangent.description(), offsets, (2, half)));
        let [Some(values), Some(directions)] = places else { return Ok(None) };
        let list = |what: &[u32]| DeviceBuffer::from_slice(&cuda, "places of a direction", what);
        let text = source("product.cu", include_str!("product.cu"), 1).define("STATE", "double");
        let module = cuda.compile(&text)?;
        let n = tangent.len();
        Ok(Some(Self {
            state: DeviceBuffer::zeros(&cuda, "the state of products", n)?,
            rate: DeviceBuffer::zeros(&cuda, "a product", n)?,
            places: list(&directions.places)?,
            pairs: [list(&values.pairs())?, list(&directions.pairs())?],
            spread: module.function("spread")?,
            operate: module.function("operate")?,
            products: 0,
            t: 0.0,
            graph: None,
            tangent,
            cuda,
        }))
    }

    /// Bytes of equation, state, rate and places.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.places.bytes() + self.pairs[0].bytes() + self.pairs[1].bytes();
        self.tangent.bytes() + self.state.bytes() + self.rate.bytes() + lists
    }

    fn spread(&self, half: usize, v: &CudaVector<f64>) -> Result<(), GpuError> {
        let n = self.pairs[half].len() / 2;
        let mut args = Args::new();
        args.buffer(&self.pairs[half]).buffer(v.buffer()).buffer(&self.state).value(n as u64);
        for_each(&self.cuda, &self.spread, n, &args)
    }

    /// Sets state and time at which products are taken.
    pub(super) fn linearise(&mut self, t: f64, u: &CudaVector<f64>) -> Result<(), GpuError> {
        if t != self.t {
            self.t = t;
            if self.tangent.is_moving() {
                self.graph = None;
            }
        }
        self.spread(0, u)
    }

    /// Computes the product with a direction into [`rate`](Self::rate).
    pub(super) fn run(&mut self, v: &CudaVector<f64>) -> Result<(), GpuError> {
        self.spread(1, v)?;
        self.products += 1;
        if let Some(graph) = &self.graph {
            return graph.launch();
        }
        let (tangent, state, rate, t) = (&mut self.tangent, &self.state, &mut self.rate, self.t);
        if self.products > WARM_UP && tangent.is_autonomous() && tangent.is_recordable() {
            let graph = self.cuda.capture(|_| tangent.eval(t, state, rate))?;
            graph.launch()?;
            self.graph = Some(graph);
            return Ok(());
        }
        tangent.eval(t, state, rate)
    }
}
