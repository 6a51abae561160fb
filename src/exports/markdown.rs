use crate::{ExportFault, specification::Specification};

pub(crate) fn write(_specification: &Specification) -> Result<Vec<u8>, ExportFault> {
    unimplemented!()
}
