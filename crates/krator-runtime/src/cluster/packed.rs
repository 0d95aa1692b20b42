//! Compresses objects at rest, and their children, to save memory. The text of another object of the same
//! kind is the dictionary, because most field names, labels and words of conditions are the same.
use lz4_flex::block;
use serde::{Serialize, de::DeserializeOwned};
use std::sync::{Arc, OnceLock};

/// LZ4 does not refer further back.
const LONGEST_DICTIONARY: usize = 64 * 1024;

/// Packs the objects of one kind as compressed text, and unpacks them.
#[derive(Default)]
pub(super) struct Packer {
    dictionary: OnceLock<Box<[u8]>>,
}

impl Packer {
    /// Packs an object. The first one that is at rest becomes the dictionary of those that follow.
    ///
    /// # Errors
    ///
    /// If the object is no JSON. None that was read from the API server is.
    pub fn pack<K: Serialize + DeserializeOwned>(
        &self,
        object: &K,
        at_rest: bool,
    ) -> serde_json::Result<Arc<[u8]>> {
        let text = serde_json::to_vec(object)?;
        debug_assert!(
            serde_json::from_slice::<K>(&text).is_ok(),
            "an object that was written can be read: {}",
            String::from_utf8_lossy(&text)
        );
        let packed = block::compress_prepend_size_with_dict(&text, self.dictionary());
        if at_rest {
            let end = text.len().saturating_sub(LONGEST_DICTIONARY);
            self.dictionary.get_or_init(|| text[end..].into());
        }
        Ok(packed.into())
    }

    /// Reads a packed object, or a part of it.
    ///
    /// # Errors
    ///
    /// If the packed text cannot be decoded, which is a defect of the type.
    pub fn unpack<K: DeserializeOwned>(&self, packed: &[u8]) -> serde_json::Result<K> {
        serde_json::from_slice(&self.text(packed))
    }

    /// Text that was packed without a dictionary does not refer to one, so a dictionary added later is
    /// harmless.
    fn text(&self, packed: &[u8]) -> Vec<u8> {
        // This fails only for text that was not packed here.
        block::decompress_size_prepended_with_dict(packed, self.dictionary()).unwrap_or_default()
    }

    fn dictionary(&self) -> &[u8] {
        self.dictionary.get().map_or(&[], |text| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn object(name: &str, words: usize) -> Value {
        json!({
            "apiVersion": "example.com/v1", "kind": "Moose",
            "metadata": {"name": name, "namespace": "default", "labels": {"app.kubernetes.io/part-of": "zoo"}},
            "spec": {"sender": "word ".repeat(words)},
            "status": {"state": "Roam", "message": "It roams.", "conditions": []},
        })
    }

    #[test]
    fn what_is_packed_is_unpacked_with_and_without_a_dictionary() {
        let packer = Packer::default();
        let objects: Vec<Value> = (0..50)
            .map(|at| object(&format!("moose-{at}"), at * 1_000))
            .collect();
        // The first ones are not at rest, so they are packed without a dictionary.
        let packed: Vec<Arc<[u8]>> = (0..)
            .zip(&objects)
            .map(|(at, object)| packer.pack(object, at > 9).expect("JSON"))
            .collect();
        for (object, packed) in objects.iter().zip(&packed) {
            assert_eq!(packer.unpack::<Value>(packed).expect("the same"), *object);
        }
    }

    #[test]
    fn an_object_like_the_others_takes_a_fraction_of_its_text() {
        let packer = Packer::default();
        packer.pack(&object("a", 1), true).expect("JSON");
        let packed = packer.pack(&object("b", 1), true).expect("JSON");
        let (packed, text) = (packed.len(), object("b", 1).to_string().len());
        assert!(packed * 4 < text, "{packed} bytes of {text}");
    }
}
