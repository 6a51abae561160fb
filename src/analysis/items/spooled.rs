//! Items of a project as they were at one moment, in a spool: their sizes and places are in memory, their bodies are not.

use std::collections::HashMap;
use std::io::{self, Write};

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::http::spool::{Spool, SpoolWriter};
use crate::projects::item_kind::ItemKind;

/// How many bytes of bodies are read from the database at once, and of how many items.
pub const PIECE_BYTES: usize = 4 * 1024 * 1024;
const PIECE_ITEMS: usize = 200;

/// What is known of an item without its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedItem {
    pub id: Uuid,
    pub kind: ItemKind,
    pub run_id: Id<Run>,
    /// Of its code.
    pub number: i64,
    pub updated_at: Time,
    /// Of the body.
    pub bytes: usize,
}

/// Splits items into pieces that are read at once. A piece has one item at least.
#[must_use]
pub fn pieces(items: &[ListedItem]) -> Vec<Vec<Uuid>> {
    let (mut pieces, mut bytes) = (Vec::<Vec<Uuid>>::new(), 0_usize);
    for item in items {
        bytes = bytes.saturating_add(item.bytes);
        match pieces.last_mut().filter(|piece| bytes <= PIECE_BYTES && piece.len() < PIECE_ITEMS) {
            Some(piece) => piece.push(item.id),
            None => {
                bytes = item.bytes;
                pieces.push(vec![item.id]);
            }
        }
    }
    pieces
}

/// Items that are being read.
pub struct ItemSpooling {
    writer: SpoolWriter,
    places: HashMap<Uuid, (ListedItem, usize)>,
}

impl ItemSpooling {
    #[must_use]
    pub fn new(writer: SpoolWriter) -> Self {
        Self { writer, places: HashMap::new() }
    }

    /// Adds an item, or another state of one.
    ///
    /// # Errors
    /// The disk is full, or too much is on its way.
    pub fn add(&mut self, item: ListedItem, body: &str) -> io::Result<()> {
        self.places.insert(item.id, (item, self.writer.length()));
        self.writer.write_all(body.as_bytes())
    }

    /// Returns those that were not added as they are listed.
    #[must_use]
    pub fn missing(&self, listed: &[ListedItem]) -> Vec<ListedItem> {
        let is_missing = |item: &&ListedItem| self.places.get(&item.id).is_none_or(|(own, _)| own != *item);
        listed.iter().filter(is_missing).copied().collect()
    }

    /// Ends with the listed items, in their order; those that were not added are left out.
    ///
    /// # Errors
    /// The disk is full.
    pub fn finish(self, listed: &[ListedItem]) -> io::Result<SpooledItems> {
        let items = listed.iter().filter_map(|item| self.places.get(&item.id).copied()).collect();
        Ok(SpooledItems { items, spool: self.writer.finish()? })
    }
}

/// The items, in their order.
pub struct SpooledItems {
    /// With the place where each begins.
    items: Vec<(ListedItem, usize)>,
    spool: Spool,
}

impl SpooledItems {
    /// The items, with the numbers by which their bodies are read.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &ListedItem)> {
        self.items.iter().enumerate().map(|(at, (item, _))| (at, item))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The size of all bodies, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.items.iter().map(|(item, _)| item.bytes).sum()
    }

    /// Reads the body of an item, as JSON. Blocks.
    ///
    /// # Errors
    /// The spool can't be read.
    pub fn body(&self, at: usize) -> io::Result<Bytes> {
        let place = self.items.get(at).ok_or_else(|| io::Error::other("there is no such item"))?;
        let (ListedItem { bytes, .. }, offset) = *place;
        self.spool.read(offset, bytes)
    }

    /// Returns hex digits that change with any of the items. Blocks.
    ///
    /// # Errors
    /// The spool can't be read.
    pub fn hash(&self, digits: usize) -> io::Result<String> {
        let mut hash = Sha256::new();
        for at in 0..self.items.len() {
            hash.update(self.body(at)?);
        }
        Ok(hex::encode(hash.finalize()).chars().take(digits).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::spool::Spools;

    fn listed(number: u128, bytes: usize) -> ListedItem {
        ListedItem {
            id: Uuid::from_u128(number),
            kind: ItemKind::UserStory,
            run_id: Id::from_uuid(Uuid::nil()),
            number: 1,
            updated_at: Time::from_millis(0).unwrap(),
            bytes,
        }
    }

    #[test]
    fn items_are_read_in_pieces_of_some_megabytes_and_none_is_left_out() {
        let half = PIECE_BYTES / 2;
        let sizes = [half, half, 1, PIECE_BYTES + 1, 1, 1];
        let items: Vec<ListedItem> = (0..).zip(sizes).map(|(number, bytes)| listed(number, bytes)).collect();
        let lengths: Vec<usize> = pieces(&items).iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 1, 1, 2]);
        let many: Vec<ListedItem> = (0..450).map(|number| listed(number, 10)).collect();
        assert_eq!(pieces(&many).concat(), many.iter().map(|item| item.id).collect::<Vec<_>>());
        assert_eq!(pieces(&many).len(), 3);
    }

    #[test]
    fn what_changed_while_it_was_read_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut spooling = ItemSpooling::new(Spools::at(folder.path().to_owned(), 0).begin("project".to_owned()));
        let (one, two) = (listed(1, 3), listed(2, 5));
        assert_eq!(spooling.missing(&[one, two]), [one, two]);
        spooling.add(one, "one").unwrap();
        spooling.add(two, "the 2").unwrap();
        let changed = ListedItem { updated_at: Time::from_millis(7).unwrap(), bytes: 4, ..two };
        assert_eq!(spooling.missing(&[changed, one]), [changed]);
        spooling.add(changed, "anew").unwrap();
        let items = spooling.finish(&[changed, one, listed(3, 9)]).unwrap();
        let bodies: Vec<Bytes> = items.iter().map(|(at, _)| items.body(at).unwrap()).collect();
        assert_eq!((bodies, items.bytes()), (vec![Bytes::from("anew"), Bytes::from("one")], 7));
    }
}
