//! `dgsuite bench comm`: the messages between ranks.

use std::sync::Arc;

use dgsuite_gpu::GpuError;
use dgsuite_gpu::comm::{Communicator, on_each, threads};
use dgsuite_gpu::cuda::{Cuda, DevicePlane};
use dgsuite_gpu::probe::{self, MessageTimes};
use serde_json::{Value, json};

use crate::flow::Device;

/// Lengths of messages, in bytes.
const LENGTHS: [usize; 8] = [8, 512, 8 << 10, 64 << 10, 512 << 10, 4 << 20, 16 << 20, 64 << 20];

/// Times of messages by all planes that work.
#[derive(Clone, Debug)]
pub struct Messages {
    /// Number of ranks.
    pub ranks: usize,
    /// Name of the device of rank 0; `None` on CPUs.
    pub device: Option<String>,
    /// Between hosts, and between devices.
    pub planes: Vec<MessageTimes>,
    /// Planes that do not work here, with the reason.
    pub lacking: Vec<(&'static str, String)>,
    /// Seconds of an empty kernel, launched alone and as a part of a graph.
    pub launch: Option<[f64; 2]>,
}

/// Measures the messages between the ranks of `comm`; without, those between two threads. Collective.
///
/// # Errors
/// Those of the ranks and of the device.
pub fn measure(
    comm: Option<&Arc<dyn Communicator>>,
    device: Device,
    local_rank: usize,
    seconds: f64,
) -> Result<Messages, GpuError> {
    let cuda = match device {
        Device::Cpu => None,
        Device::Cuda(first) => {
            let devices = Device::count().saturating_sub(first).max(1);
            Some(Cuda::new(first + local_rank % devices)?)
        }
    };
    let on_host = match comm {
        Some(comm) => probe::measure_messages(comm.as_ref(), &LENGTHS, seconds)?,
        None => {
            let times = on_each(threads(2), |comm| probe::measure_messages(&comm, &LENGTHS, seconds));
            times.into_iter().next().ok_or(GpuError::NoDriver)??
        }
    };
    let mut result = Messages {
        ranks: comm.map_or(2, |comm| comm.size()),
        device: cuda.as_ref().map(|cuda| cuda.info().name.clone()),
        planes: vec![on_host],
        lacking: Vec::new(),
        launch: None,
    };
    let Some(cuda) = &cuda else { return Ok(result) };
    let limits = probe::measure_device(cuda, probe::DeviceEffort::default())?;
    result.launch = Some([limits.launch, limits.graph_node]);
    let Some(comm) = comm else { return Ok(result) };
    for plane in DevicePlane::ALL {
        match probe::measure_link(cuda, comm, plane, &LENGTHS, seconds) {
            Ok(times) => result.planes.push(times),
            Err(error) => result.lacking.push((plane.name(), error.to_string())),
        }
    }
    Ok(result)
}

/// A number of bytes, such as `64 KiB`.
fn length(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// The times for readers.
#[must_use]
pub fn table(messages: &Messages) -> String {
    let names: Vec<_> = messages.planes.iter().map(|p| format!("{:>12}", p.plane)).collect();
    let place = messages.device.as_deref().unwrap_or("CPU");
    let mut lines = vec![
        format!("{} ranks, {place}: microseconds of an exchange with both neighbours", messages.ranks),
        format!("{:<14}{}", "length", names.concat()),
    ];
    let row = |name: &str, of: &dyn Fn(&MessageTimes) -> String| {
        let cells: Vec<_> = messages.planes.iter().map(|p| format!("{:>12}", of(p))).collect();
        format!("{name:<14}{}", cells.concat())
    };
    for (i, bytes) in LENGTHS.into_iter().enumerate() {
        lines.push(row(&length(bytes), &|p| format!("{:.1}", 1e6 * p.exchanges[i].seconds)));
    }
    lines.push(row("agreement", &|p| format!("{:.1}", 1e6 * p.agreement)));
    let bandwidth = |p: &MessageTimes| p.bandwidth().map_or("".to_owned(), |b| format!("{:.1}", b / 1e9));
    lines.push(row("GB/s", &bandwidth));
    let in_graph = |p: &MessageTimes| if p.in_graph { "yes" } else { "no" }.to_owned();
    lines.push(row("in graphs", &in_graph));
    if let Some([alone, node]) = messages.launch {
        let (alone, node) = (1e6 * alone, 1e6 * node);
        lines.push(format!("an empty kernel takes {alone:.1} us alone, {node:.1} us in a graph"));
    }
    lines.extend(messages.lacking.iter().map(|(plane, reason)| format!("no {plane}: {reason}")));
    lines.join("\n")
}

/// The times for programs, in seconds and bytes.
#[must_use]
pub fn to_json(messages: &Messages) -> Value {
    let plane = |p: &MessageTimes| {
        json!({
            "plane": p.plane,
            "exchanges": p.exchanges.iter().map(|e| json!({ "bytes": e.bytes, "seconds": e.seconds })).collect::<Vec<_>>(),
            "agreement_s": p.agreement,
            "latency_s": p.latency(),
            "bytes_per_s": p.bandwidth(),
            "in_graph": p.in_graph,
        })
    };
    json!({
        "ranks": messages.ranks,
        "device": messages.device,
        "planes": messages.planes.iter().map(plane).collect::<Vec<_>>(),
        "lacking": messages.lacking.iter().map(|(plane, reason)| json!({ "plane": plane, "reason": reason })).collect::<Vec<_>>(),
        "launch_s": messages.launch.map(|l| l[0]),
        "graph_node_s": messages.launch.map(|l| l[1]),
    })
}
