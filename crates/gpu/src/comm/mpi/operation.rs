//! One collective operation: its requests, and the memory that the library uses until they are complete.

use std::ffi::c_void;

use super::library::{Api, BYTE, Datatype, Op, REQUEST_NULL, Request, SUCCESS, Status};
use super::link::{Call, Link};
use crate::Element;
use crate::comm::CommError;

/// As the sending side of a reduction: the values are where the result will be (`MPI_IN_PLACE`).
const IN_PLACE: *const c_void = std::ptr::without_provenance(1);

/// A collective operation with messages of type `T`. If it fails, the library may still use the memory, which
/// is therefore never freed.
pub(super) struct Operation<'a, T> {
    link: &'a Link,
    call: Call,
    requests: Vec<Request>,
    /// The other side of each request, if it has one.
    ranks: Vec<usize>,
    memory: Vec<Vec<T>>,
}

impl<'a, T> Operation<'a, T> {
    pub(super) fn new(link: &'a Link, call: Call) -> Self {
        Self { link, call, requests: Vec::new(), ranks: Vec::new(), memory: Vec::new() }
    }

    /// Starts a request for this memory.
    fn add(
        &mut self,
        doing: &'static str,
        mut memory: Vec<T>,
        start: impl FnOnce(&Api, *mut c_void, i64, *mut Request) -> i32,
    ) -> Result<(), CommError> {
        let mut request = REQUEST_NULL;
        let (place, bytes) = (memory.as_mut_ptr().cast(), memory.len() * size_of::<T>());
        self.memory.push(memory);
        self.link.locked(|api| api.check(doing, start(api, place, bytes as i64, &mut request)))?;
        self.requests.push(request);
        Ok(())
    }

    /// Waits, and returns the memory of all requests, in their order.
    pub(super) fn finish(mut self) -> Result<Vec<Vec<T>>, CommError> {
        let mut statuses = vec![Status::default(); self.requests.len()];
        self.link.wait(&self.call, &mut self.requests, &mut statuses, &self.ranks)?;
        Ok(std::mem::take(&mut self.memory))
    }
}

impl<T> Drop for Operation<'_, T> {
    fn drop(&mut self) {
        std::mem::forget(std::mem::take(&mut self.memory));
    }
}

impl<T: Element> Operation<'_, T> {
    /// The tag of the messages: several gathers may be under way, because ranks do not wait for each other.
    fn tag(&self) -> i32 {
        Link::tag(self.call.number)
    }

    pub(super) fn send(&mut self, to: usize, memory: Vec<T>) -> Result<(), CommError> {
        let (tag, comm) = (self.tag(), self.link.collective);
        self.ranks.push(to);
        self.add("sending a message", memory, |api, place, bytes, request| {
            // SAFETY: the memory has `bytes` bytes and lives until the request is complete.
            unsafe { (api.isend)(place, bytes, BYTE, to as i32, tag, comm, request) }
        })
    }

    pub(super) fn receive(&mut self, from: usize, memory: Vec<T>) -> Result<(), CommError> {
        let (tag, comm) = (self.tag(), self.link.collective);
        self.ranks.push(from);
        self.add("receiving a message", memory, |api, place, bytes, request| {
            // SAFETY: as in `send`; all bit patterns of the elements of messages here (integers) are valid.
            unsafe { (api.irecv)(place, bytes, BYTE, from as i32, tag, comm, request) }
        })
    }

    pub(super) fn broadcast(&mut self, root: usize, memory: Vec<T>) -> Result<(), CommError> {
        let comm = self.link.collective;
        self.add("starting a broadcast", memory, |api, place, bytes, request| {
            // SAFETY: as in `receive`.
            unsafe { (api.ibcast)(place, bytes, BYTE, root as i32, comm, request) }
        })
    }

    /// Combines numbers of 8 bytes, in place.
    pub(super) fn reduce(&mut self, memory: Vec<T>, datatype: Datatype, op: Op) -> Result<(), CommError> {
        const { assert!(size_of::<T>() == 8) };
        let comm = self.link.collective;
        if memory.is_empty() {
            return self.barrier();
        }
        self.add("starting a reduction", memory, |api, place, bytes, request| {
            // SAFETY: the memory has bytes/8 numbers of this type and lives until the request is complete.
            unsafe { (api.iallreduce)(IN_PLACE, place, bytes / 8, datatype, op, comm, request) }
        })
    }

    pub(super) fn barrier(&mut self) -> Result<(), CommError> {
        let comm = self.link.collective;
        self.add("starting a barrier", Vec::new(), |api, _, _, request| {
            // SAFETY: the communicator is valid.
            unsafe { (api.ibarrier)(comm, request) }
        })
    }
}

impl Api {
    /// The error of a code, if it is one.
    pub(super) fn check(&self, doing: &'static str, code: i32) -> Result<(), CommError> {
        if code == SUCCESS { Ok(()) } else { Err(CommError::Mpi { doing, reason: self.reason(code) }) }
    }
}
