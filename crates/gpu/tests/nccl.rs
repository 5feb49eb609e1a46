//! Messages between devices by NCCL: what is missing is said, and the calls are those of its header. The
//! device is emulated, and so is the library, which knows messages of a rank to itself only.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::process::{Command, Output};

use dgsuite_gpu::comm::Alone;
use dgsuite_gpu::cuda::nccl::{DeviceMessage, NCCL_VARIABLE, Nccl, library};
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer, Event};
use dgsuite_gpu::shim::{Emulator, ShimError};

/// A library that copies between the send and the receive of a group, and refuses wrong arguments.
const FAKE: &str = r#"
#include <cstring>
#include <cstddef>
struct Id { char bytes[128]; };
static int live, open_group, sums; static const void* sent; static size_t length;
extern "C" {
int ncclGetVersion(int* v) { *v = 22703; return 0; }
int ncclGetUniqueId(Id* id) { for (int i = 0; i < 128; ++i) id->bytes[i] = char(i); return 0; }
int ncclCommInitRank(void** comm, int n, Id id, int rank) {
    for (int i = 0; i < 128; ++i) if (id.bytes[i] != char(i)) return 4;
    if (n != 1 || rank != 0) return 4;
    *comm = &live; live = 1; return 0;
}
int ncclCommDestroy(void* c) { return c == &live && live-- == 1 ? 0 : 4; }
int ncclCommAbort(void* c) { return ncclCommDestroy(c); }
int ncclCommGetAsyncError(void* c, int* e) { *e = 0; return c == &live ? 0 : 4; }
const char* ncclGetErrorString(int e) { return e == 5 ? "invalid usage" : "error"; }
const char* ncclGetLastError(void*) { return "planted\n"; }
int ncclGroupStart() { open_group++; sent = nullptr; return 0; }
int ncclGroupEnd() { return open_group-- == 1 ? 0 : 5; }
int ncclSend(const void* p, size_t n, int type, int peer, void* c, void*) {
    if (!open_group || type != 1 || peer || c != &live) return 4;
    sent = p; length = n; return 0;
}
int ncclRecv(void* p, size_t n, int type, int peer, void* c, void*) {
    if (!open_group || type != 1 || peer || c != &live || !sent || n != length) return 5;
    memcpy(p, sent, n); return 0;
}
int ncclAllReduce(const void* s, void* r, size_t n, int type, int op, void* c, void*) {
    return s == r && n == 3 && type == 5 && op == 0 && c == &live ? 0 : 4;
}
}
"#;

fn this_program(command: &mut Command, test: &str, file: &str) -> Output {
    command.args([test, "--exact", "--ignored", "--nocapture"]).env(NCCL_VARIABLE, file).output().unwrap()
}

#[test]
#[ignore = "run by a_library_that_cannot_be_used_is_a_sentence"]
fn sentence() {
    println!("{}", library().unwrap_err());
}

#[test]
fn a_library_that_cannot_be_used_is_a_sentence() {
    for (file, reason) in
        [("/no/such/libnccl.so.2", "(cannot open"), ("libc.so.6", "(it has no function nccl")]
    {
        let output = this_program(&mut Command::new(std::env::current_exe().unwrap()), "sentence", file);
        let text = String::from_utf8_lossy(&output.stdout);
        for part in ["no NCCL library was found", "DGSUITE_NCCL_LIBRARY", &format!("tried: {file} {reason}")]
        {
            assert!(text.contains(part), "'{part}' is not in '{text}'");
        }
    }
}

#[test]
#[ignore = "run by messages_are_work_of_a_stream"]
fn messages() {
    assert_eq!(library().unwrap().1, "2.27.3");
    let cuda = Cuda::new(0).unwrap();
    let nccl = Nccl::connect(&cuda, &Alone).unwrap();
    let from = DeviceBuffer::from_slice(&cuda, "a test", &[1.5, 2.5, 3.5, 4.5]).unwrap();
    let to = DeviceBuffer::<f64>::zeros(&cuda, "a test", 4).unwrap();
    let message = DeviceMessage {
        rank: 0,
        send: from.ptr_at(1),
        send_bytes: 16,
        receive: to.ptr_at(2),
        receive_bytes: 16,
    };
    let event = Event::new(&cuda).unwrap();
    // SAFETY: the addresses lie in arrays of this function, which waits for the event.
    unsafe { nccl.exchange(cuda.stream(), &[message]).unwrap() };
    cuda.stream().record(&event).unwrap();
    nccl.wait(&event).unwrap();
    assert_eq!(to.to_vec().unwrap(), [0.0, 0.0, 2.5, 3.5]);
    let mut sums = DeviceBuffer::from_slice(&cuda, "a test", &[1_i64, 2, 3]).unwrap();
    let n_sums = sums.len();
    nccl.sum(cuda.stream(), &mut sums, n_sums).unwrap();
    // SAFETY: as above.
    let error = unsafe { nccl.exchange(cuda.stream(), &[DeviceMessage { receive_bytes: 8, ..message }]) };
    let sentence = error.unwrap_err().to_string();
    assert_eq!(sentence, "NCCL failed while sending messages between devices: invalid usage (planted)");
    // SAFETY: as above.
    assert!(unsafe { nccl.exchange(cuda.stream(), &[DeviceMessage { rank: 1, ..message }]) }.is_err());
    nccl.close();
    assert!(nccl.check().is_err());
}

#[test]
fn messages_are_work_of_a_stream() {
    let emulator = match Emulator::new() {
        Ok(emulator) => emulator,
        Err(reason @ ShimError::NoCompiler { .. }) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
            println!("SKIPPED: {reason}");
            return;
        }
        Err(reason) => panic!("{reason}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let (text, fake) = (folder.path().join("nccl.cpp"), folder.path().join("libnccl.so.2"));
    std::fs::write(&text, FAKE).unwrap();
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
    let status = Command::new(compiler).args(["-shared", "-fPIC", "-o"]).arg(&fake).arg(&text).status();
    assert!(status.unwrap().success());
    let mut command = emulator.command(std::env::current_exe().unwrap());
    let output = this_program(&mut command, "messages", fake.to_str().unwrap());
    let log = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && log.contains("1 passed"), "{log}");
}
