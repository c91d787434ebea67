//! From one segment to the next: what it follows, how it is begun, and how one that broke is left.

use std::io;
use std::sync::Arc;

use wal::chain::Root;
use wal::ids::Id;
use wal::record::{Kind, encode};
use wal::segment::Header;

use crate::clock::Anchor;
use crate::contents;
use crate::disk::Refusal;
use crate::folder::{LOCK, SYNCED};
use crate::options::{Lost, Persist};
use crate::writer::active::{Active, BeginError};
use crate::writer::batch;
use crate::writer::loss;
use crate::writer::{Writer, record};

/// How many numbers that something else has are stepped over at once.
const MAX_TAKEN: usize = 64;

/// The segment that the buffer is encoded for: the active one, or the one that comes next.
pub(crate) struct Next {
    number: u64,
    /// Its id; the buffer's checksums hold it.
    pub(crate) id: Id,
    after: Predecessor,
}

enum Predecessor {
    /// A segment whose root is known.
    Closed(Root),
    /// One that was left in trouble: what is intact in it must be read back.
    Broken { number: u64, root: Root, last_sequence: u64 },
}

/// How a segment is left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With its last checkpoint, and synced.
    Whole,
    /// In trouble.
    Broken,
}

impl Next {
    /// The segment `number`, after one with this root.
    pub(crate) fn after(number: u64, id: Id, root: Root) -> Self {
        Self { number, id, after: Predecessor::Closed(root) }
    }

    /// All segments below are closed, and not needed any more.
    pub(crate) fn closed_below(&self) -> u64 {
        match self.after {
            Predecessor::Closed(_) => self.number,
            Predecessor::Broken { number, .. } => number,
        }
    }
}

impl Writer {
    /// Have an active segment, or lose the buffer.
    pub(crate) fn begin_segment(&mut self) -> Result<(), Lost> {
        if self.active.is_some() {
            return Ok(());
        }
        if self.clock.monotonic() < self.retry_at {
            let error = self.loss.as_ref().map_or_else(String::new, |loss| loss.error.clone());
            return self.lose_waiting(&error);
        }
        match self.try_to_begin() {
            Ok(()) => Ok(()),
            Err(error) => self.lose(0, &error.to_string()),
        }
    }

    /// The disk was asked a moment ago: give up the buffer without asking again, and without waiting any longer.
    fn lose_waiting(&mut self, error: &str) -> Result<(), Lost> {
        let retry_at = self.retry_at;
        let outcome = self.lose(0, error);
        self.retry_at = retry_at;
        outcome
    }

    fn try_to_begin(&mut self) -> io::Result<()> {
        if !self.lock.stands() {
            self.take_folder_again()?;
        }
        let previous_root = self.settle_predecessor();
        let anchor = Anchor::now(&*self.clock);
        let first_in_buffer = batch::records(&self.buffer).next().and_then(batch::sequence);
        let gap_sequence = self.loss.as_ref().map(|loss| loss.gap_sequence);
        let mut header = Header {
            number: self.next.number,
            id: self.next.id,
            trace: self.trace,
            instance: self.instance(),
            previous_root,
            first_sequence: gap_sequence.or(first_in_buffer).unwrap_or(self.last_sequence() + 1),
            wall: anchor.wall,
            monotonic: anchor.monotonic,
            boot: self.clock.boot(),
            policy: self.options.policy.clone(),
        };
        let mut first_records = Vec::new();
        if let Some(loss) = &self.loss {
            let payload = loss.payload();
            let gap = record(Kind::Gap, 0, loss.gap_sequence, anchor.monotonic, Id::default(), &payload);
            encode(&mut first_records, self.next.id, &gap);
        }
        let active = self.make_file(&mut header, &first_records)?;
        self.stats.segments += 1;
        self.stats.bytes_written += active.end;
        self.written = self.written.max(active.last_sequence);
        self.active = Some(active);
        self.loss = None;
        Ok(())
    }

    /// Make the file under the next free number.
    fn make_file(&mut self, header: &mut Header, first_records: &[u8]) -> io::Result<Active> {
        for _ in 0..MAX_TAKEN {
            header.number = self.next.number;
            let path = self.path(header.number);
            match Active::begin(&*self.disk, &path, header, first_records) {
                Ok(active) => return Ok(active),
                Err(BeginError::Taken) => self.next.number += 1,
                Err(BeginError::Failed { error, was_made }) => {
                    // A file without a whole header would be an unreadable segment for ever.
                    if was_made && self.disk.remove(&path).is_err() {
                        self.next.number += 1;
                    }
                    return Err(error);
                }
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "the next numbers of segments are all taken"))
    }

    /// The root that the next header holds. Of a broken segment, what is intact is read back; if that is impossible,
    /// what the operating system said it took must do.
    fn settle_predecessor(&mut self) -> Root {
        let (number, root, last_sequence) = match self.next.after {
            Predecessor::Closed(root) => return root,
            Predecessor::Broken { number, root, last_sequence } => (number, root, last_sequence),
        };
        self.syncer.settle();
        let read = self.disk.read(&self.path(number), None);
        let intact = read.ok().and_then(|bytes| contents::from_wal(&bytes, &mut |_| {}).ok());
        let Some(intact) = intact else {
            self.next.after = Predecessor::Closed(root);
            return root;
        };
        let found = intact.last_sequence.unwrap_or(intact.header.first_sequence.saturating_sub(1));
        if found < last_sequence {
            self.state_vanished(found + 1, last_sequence);
        }
        self.next.after = Predecessor::Closed(intact.root);
        intact.root
    }

    /// Records that the operating system took are not in the file any more: they are lost like the others.
    fn state_vanished(&mut self, first: u64, last: u64) {
        self.stats.lost_records += last - first + 1;
        if let Some(loss) = &mut self.loss {
            loss.first_sequence = loss.first_sequence.min(first);
            return;
        }
        let payload = loss::gap(first, last, 0, "the disk did not keep what it had taken");
        let monotonic = self.clock.monotonic();
        self.append(Kind::Gap, 0, monotonic, Id::default(), &payload);
    }

    /// Leave the active segment for good: nothing is ever appended to it again.
    pub(crate) fn leave(&mut self, ending: Ending) {
        let Some(active) = self.active.take() else { return };
        self.stats.write_calls += active.write_calls;
        let (number, root) = (active.number, active.chain.root());
        let after = if ending == Ending::Whole && !self.syncer.has_failed(number) {
            Predecessor::Closed(root)
        } else {
            Predecessor::Broken { number, root, last_sequence: active.last_sequence }
        };
        let id = self.identity.next(&*self.clock);
        batch::readdress(&mut self.buffer, id);
        self.next = Next { number: number + 1, id, after };
    }

    /// Leave the active segment if the disk could not sync it: asking again would only hide what was lost.
    pub(crate) fn leave_unsyncable(&mut self) {
        if self.current_segment().is_some_and(|number| self.syncer.has_failed(number)) {
            self.leave(Ending::Broken);
        }
    }

    /// The folder was removed or replaced under the writer: make it again, and write there only with its lock.
    fn take_folder_again(&mut self) -> io::Result<()> {
        let folder = &self.options.folder;
        self.disk.make_folder(folder)?;
        self.lock = self.disk.lock(&folder.join(LOCK)).map_err(|refusal| match refusal {
            Refusal::Failed(error) => error,
            Refusal::Held(_) => {
                io::Error::new(io::ErrorKind::ResourceBusy, "another recorder writes this trace now")
            }
        })?;
        if self.options.persist != Persist::Written {
            let cell = self.disk.open_cell(&folder.join(SYNCED))?;
            self.syncer.publish_in(Arc::clone(&cell));
        }
        Ok(())
    }
}
