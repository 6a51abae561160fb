//! Reads the tensors of a model in CTranslate2's format.
//!
//! Little endian: u32 version, string kind, u32 revision, u32 count; then for each tensor: string name, u8 rank, u32 for each
//! dimension, u8 type, u32 bytes, the bytes; from version 3 on also u32 count, and for each alias: string alias, string name.
//! A string is a u16 length followed by so many bytes, the last of which is zero.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use half::f16;

use super::errors::ModelError;

const F32: u8 = 0;
const F16: u8 = 4;
/// Bounds of what a file may hold; the largest model there is has 3.1 GB, some 1,600 tensors, and three dimensions at most.
const MAX_BYTES: u64 = 4 << 30;
const MAX_TENSORS: usize = 10_000;
const MAX_DIMS: u8 = 4;

/// The tensors of a file.
pub struct Weights {
    bytes: Vec<u8>,
    tensors: HashMap<String, Tensor>,
}

#[derive(Clone)]
struct Tensor {
    dims: Vec<usize>,
    kind: u8,
    at: usize,
    bytes: usize,
}

struct WeightsReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> WeightsReader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], ModelError> {
        let end = self.at.checked_add(count);
        let part = end.and_then(|end| self.bytes.get(self.at..end));
        let part = part.ok_or_else(|| ModelError::invalid("model.bin ends too early"))?;
        self.at += count;
        Ok(part)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        self.take(N)?.try_into().map_err(|_| ModelError::invalid("model.bin ends too early"))
    }

    fn u8(&mut self) -> Result<u8, ModelError> {
        Ok(u8::from_le_bytes(self.number()?))
    }

    fn u32(&mut self) -> Result<usize, ModelError> {
        Ok(u32::from_le_bytes(self.number()?) as usize)
    }

    /// A number of entries, each of which takes more memory than its bytes in the file.
    fn count(&mut self) -> Result<usize, ModelError> {
        let count = self.u32()?;
        if count > MAX_TENSORS {
            return Err(ModelError::Invalid(format!("model.bin has {count} tensors")));
        }
        Ok(count)
    }

    fn string(&mut self) -> Result<String, ModelError> {
        let length = u16::from_le_bytes(self.number()?) as usize;
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(bytes.strip_suffix(b"\0").unwrap_or(bytes));
        text.map(str::to_owned).map_err(|_| ModelError::invalid("a name in model.bin is no text"))
    }
}

impl Weights {
    pub fn open(file: &Path) -> Result<Self, ModelError> {
        Self::of(read_bounded(file, MAX_BYTES)?)
    }

    pub fn of(bytes: Vec<u8>) -> Result<Self, ModelError> {
        let mut cursor = WeightsReader { bytes: &bytes, at: 0 };
        let version = cursor.u32()?;
        if !(2..=6).contains(&version) || cursor.string()? != "WhisperSpec" {
            return Err(ModelError::invalid(
                "model.bin is no Whisper model in a known version of CTranslate2's format",
            ));
        }
        let _revision = cursor.u32()?;
        let mut tensors = HashMap::new();
        for _ in 0..cursor.count()? {
            let name = cursor.string()?;
            let rank = cursor.u8()?;
            if rank > MAX_DIMS {
                return Err(ModelError::Invalid(format!("{name} has {rank} dimensions")));
            }
            let dims = (0..rank).map(|_| cursor.u32()).collect::<Result<Vec<_>, _>>()?;
            let (kind, bytes) = (cursor.u8()?, cursor.u32()?);
            let at = cursor.at;
            cursor.take(bytes)?;
            tensors.insert(name, Tensor { dims, kind, at, bytes });
        }
        if version >= 3 {
            for _ in 0..cursor.count()? {
                let (alias, name) = (cursor.string()?, cursor.string()?);
                let tensor = tensors.get(&name).cloned();
                tensors.insert(alias, tensor.ok_or_else(|| ModelError::missing(&name))?);
            }
        }
        Ok(Self { bytes, tensors })
    }

    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    fn tensor(&self, name: &str) -> Result<&Tensor, ModelError> {
        self.tensors.get(name).ok_or_else(|| ModelError::missing(name))
    }

    pub fn dims<const N: usize>(&self, name: &str) -> Result<[usize; N], ModelError> {
        let dims = self.tensor(name)?.dims.as_slice();
        dims.try_into().map_err(|_| ModelError::Invalid(format!("{name} has {} dimensions, not {N}", dims.len())))
    }

    /// The stored bytes of a tensor that has these dimensions and elements of a known type.
    fn stored(&self, name: &str, dims: &[usize]) -> Result<(u8, &[u8]), ModelError> {
        let tensor = self.tensor(name)?;
        let size = match tensor.kind {
            F32 => 4,
            F16 => 2,
            kind => return Err(ModelError::Invalid(format!("{name} has elements of type {kind}, not float"))),
        };
        let wanted = dims.iter().try_fold(size, |size: usize, dim| size.checked_mul(*dim));
        if tensor.dims != dims || wanted != Some(tensor.bytes) {
            return Err(ModelError::Invalid(format!("{name} is {:?}, not {dims:?}", tensor.dims)));
        }
        Ok((tensor.kind, self.bytes.get(tensor.at..tensor.at + tensor.bytes).unwrap_or_default()))
    }

    pub fn full(&self, name: &str, dims: &[usize]) -> Result<Vec<f32>, ModelError> {
        let (kind, stored) = self.stored(name, dims)?;
        let all: Vec<f32> = match kind {
            F16 => stored.as_chunks::<2>().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
            _ => stored.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        };
        if all.iter().all(|value| value.is_finite()) { Ok(all) } else { Err(damaged(name)) }
    }

    pub fn half(&self, name: &str, dims: &[usize]) -> Result<Vec<f16>, ModelError> {
        let (kind, stored) = self.stored(name, dims)?;
        let all: Vec<f16> = match kind {
            F16 => stored.as_chunks::<2>().0.iter().map(|bytes| f16::from_le_bytes(*bytes)).collect(),
            _ => stored.as_chunks::<4>().0.iter().map(|bytes| f16::from_f32(f32::from_le_bytes(*bytes))).collect(),
        };
        if all.iter().all(|value| value.is_finite()) { Ok(all) } else { Err(damaged(name)) }
    }
}

fn damaged(name: &str) -> ModelError {
    ModelError::Invalid(format!("{name} has values that are no numbers"))
}

/// Reads a file that has at most so many bytes.
pub fn read_bounded(file: &Path, most: u64) -> Result<Vec<u8>, ModelError> {
    let unreadable = |error| ModelError::Unreadable(file.to_owned(), error);
    let opened = File::open(file).map_err(unreadable)?;
    let length = opened.metadata().map_err(unreadable)?.len();
    if length > most {
        return Err(ModelError::Invalid(format!("{} has {length} bytes, more than {most}", file.display())));
    }
    // `take` also bounds what has no length of its own, such as a device, or a file that grows.
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX)).map_err(|error| unreadable(error.into()))?;
    opened.take(most).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
