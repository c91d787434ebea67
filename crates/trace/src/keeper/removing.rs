//! Removing: first the tombstone, on the disk, then the segment; and what was interrupted is finished.

use std::io::Write;

use crate::contents;
use crate::folder::{Form, Segment, State};
use crate::keeper::retention::{Plan, Removal};
use crate::keeper::sealing::Appending;
use crate::keeper::tombstone::Tombstone;
use crate::keeper::{KeepError, Keeper, held};

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The numbers of the segments.
    pub segments: Vec<u64>,
    /// How many bytes became free.
    pub bytes: u64,
}

impl Keeper {
    /// Remove what `plan` says. The caller has stated it in the trace before, with [`crate::Writer::restate`] and
    /// [`crate::Writer::note_removed`].
    ///
    /// A segment that is no longer the one of the plan is left alone.
    ///
    /// # Errors
    ///
    /// If the disk refuses. Segments before that one are removed; a removal that was begun is finished next time.
    pub fn remove(&self, plan: &Plan) -> Result<Removed, KeepError> {
        let _alone = held(&self.work);
        let below = plan.remove.iter().map(|removal| removal.segment + 1).max().unwrap_or(0);
        self.tidy(below)?;
        let listing = self.listing()?;
        let mut removed = Removed::default();
        for removal in &plan.remove {
            let Some(segment) =
                listing.segments.get(&removal.segment).filter(|&found| self.is_same(found, removal))
            else {
                continue;
            };
            self.set_tombstone(removal)?;
            self.remove_data(segment)?;
            removed.segments.push(segment.number);
            removed.bytes += segment.bytes();
        }
        Ok(removed)
    }

    /// Finish what was interrupted among the segments below `below`: seals, removals, files without a name.
    pub(crate) fn tidy(&self, below: u64) -> Result<(), KeepError> {
        let listing = self.listing()?;
        for name in &listing.unfinished {
            self.discard(&self.folder.join(name))?;
        }
        for (&number, segment) in listing.segments.range(..below) {
            match segment.state() {
                // One that was left to a person is not read again every time.
                State::Sealing if held(&self.refused).contains_key(&number) => {}
                State::Sealing => self.finish_seal(number)?,
                State::Removing => self.finish_removal(segment)?,
                State::Written | State::Sealed | State::Gone => {}
            }
        }
        Ok(())
    }

    /// A tombstone that does not name this very segment removes nothing.
    fn finish_removal(&self, segment: &Segment) -> Result<(), KeepError> {
        let path = Form::Gone.path(&self.folder, segment.number);
        let tombstone = Tombstone::read(&*self.disk, &self.folder, segment.number)
            .map_err(|error| KeepError::reading(&path, &error))?;
        let header = contents::header(&*self.disk, &self.folder, segment);
        match (tombstone, header) {
            (Some(tombstone), Ok(header)) if tombstone.id == header.id.to_string() => {
                self.remove_data(segment)
            }
            _ => Ok(()),
        }
    }

    fn is_same(&self, segment: &Segment, removal: &Removal) -> bool {
        let is_there = matches!(segment.state(), State::Written | State::Sealed);
        is_there
            && contents::header(&*self.disk, &self.folder, segment)
                .is_ok_and(|header| header.id == removal.id)
    }

    fn set_tombstone(&self, removal: &Removal) -> Result<(), KeepError> {
        let unfinished = Form::Gone.unfinished(&self.folder, removal.segment);
        let line = removal.tombstone(self.clock.wall()).encode();
        let written = self.disk.create(&unfinished).and_then(|file| {
            Appending(file.clone()).write_all(&line)?;
            file.sync()
        });
        written.map_err(|error| KeepError::writing(&unfinished, &error))?;
        let path = Form::Gone.path(&self.folder, removal.segment);
        self.disk.rename(&unfinished, &path).map_err(|error| KeepError::writing(&path, &error))?;
        self.sync_names()
    }

    fn remove_data(&self, segment: &Segment) -> Result<(), KeepError> {
        for form in [Form::Wal, Form::Seal] {
            self.discard(&form.path(&self.folder, segment.number))?;
        }
        self.sync_names()
    }
}
