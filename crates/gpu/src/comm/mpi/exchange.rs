//! The exchange of messages with neighbours by persistent requests of MPI.

use std::ffi::c_int;
use std::sync::Arc;

use super::library::{BYTE, REQUEST_NULL, Request, Status};
use super::link::{Call, Link};
use super::{Buffers, CommError, Exchange};

/// An exchange between processes. Receives precede sends among the requests.
pub(super) struct Messages {
    link: Arc<Link>,
    call: Call,
    buffers: Buffers,
    requests: Vec<Request>,
    statuses: Vec<Status>,
    /// The other side of each request.
    ranks: Vec<usize>,
    /// Whether all messages of this round have arrived.
    complete: bool,
}

impl Messages {
    pub(super) fn new(link: Arc<Link>, mut buffers: Buffers, number: u64) -> Result<Self, CommError> {
        let tag = Link::tag(number);
        let mut requests = Vec::with_capacity(2 * buffers.partners.len());
        link.locked(|api| {
            let Buffers { partners, incoming, outgoing, .. } = &mut buffers;
            for (partner, buffer) in partners.iter().zip(incoming) {
                let (place, bytes) = (buffer.as_mut_ptr().cast(), partner.receive as i64);
                let mut request = REQUEST_NULL;
                // SAFETY: the buffer has `bytes` bytes; it lives, and is not accessed, while the request is
                // active.
                let code = unsafe {
                    (api.recv_init)(place, bytes, BYTE, partner.rank as c_int, tag, link.data, &mut request)
                };
                api.check("preparing a message", code)?;
                requests.push(request);
            }
            for (partner, buffer) in partners.iter().zip(outgoing) {
                let (place, bytes) = (buffer.as_mut_ptr().cast(), partner.send as i64);
                let mut request = REQUEST_NULL;
                // SAFETY: as above.
                let code = unsafe {
                    (api.send_init)(place, bytes, BYTE, partner.rank as c_int, tag, link.data, &mut request)
                };
                api.check("preparing a message", code)?;
                requests.push(request);
            }
            Ok(())
        })?;
        let ranks = buffers.partners.iter().chain(&buffers.partners).map(|partner| partner.rank).collect();
        let statuses = vec![Status::default(); requests.len()];
        let call = Call { name: "exchange", count: 0, number };
        Ok(Self { link, call, buffers, requests, statuses, ranks, complete: false })
    }

    /// Notes that all messages have arrived, and compares their lengths with those expected.
    fn arrived(&mut self) -> Result<(), CommError> {
        for (partner, status) in self.buffers.partners.iter().zip(&self.statuses) {
            let found = self.link.locked(|api| {
                let mut count = 0;
                // SAFETY: the status is that of a complete receive.
                let code = unsafe { (api.get_count)(status, BYTE, &mut count) };
                api.check("receiving a message", code)?;
                Ok(count as usize)
            })?;
            if found != partner.receive {
                let (from, to, expected) = (partner.rank, self.link.rank, partner.receive);
                return Err(self.link.fail(CommError::Length { from, to, expected, found }));
            }
        }
        self.complete = true;
        Ok(())
    }
}

impl Exchange for Messages {
    fn outgoing(&mut self, i: usize) -> &mut [u8] {
        self.buffers.outgoing(i)
    }

    fn start(&mut self) -> Result<(), CommError> {
        let Self { link, buffers, requests, .. } = self;
        link.locked(|api| {
            buffers.begin()?;
            // SAFETY: the requests are persistent and inactive, because no round is under way.
            let code = unsafe { (api.startall)(requests.len() as c_int, requests.as_mut_ptr()) };
            api.check("sending messages", code)
        })?;
        self.complete = false;
        Ok(())
    }

    fn poll(&mut self) -> Result<bool, CommError> {
        self.buffers.check_begun()?;
        if !self.complete && self.link.test(&mut self.requests, &mut self.statuses)? {
            self.arrived()?;
        }
        Ok(self.complete)
    }

    fn finish(&mut self) -> Result<(), CommError> {
        self.buffers.check_begun()?;
        if !self.complete {
            self.link.wait(&self.call, &mut self.requests, &mut self.statuses, &self.ranks)?;
            self.arrived()?;
        }
        self.buffers.end();
        Ok(())
    }

    fn incoming(&self, i: usize) -> &[u8] {
        self.buffers.incoming(i)
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        if self.buffers.under_way() && !self.complete {
            // The library may still use the buffers: they and their requests stay for ever.
            std::mem::forget(std::mem::take(&mut self.buffers.incoming));
            std::mem::forget(std::mem::take(&mut self.buffers.outgoing));
            return;
        }
        let api = self.link.lock();
        for request in &mut self.requests {
            // SAFETY: the request is persistent and inactive. A failure leaves it, which is harmless.
            unsafe { (api.0.request_free)(request) };
        }
    }
}
