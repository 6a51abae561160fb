//! The header of downloads.

use actix_web::http::header::{Charset, ContentDisposition, DispositionParam, DispositionType, ExtendedValue};

/// The file name in ASCII for old clients, and unchanged for all others.
#[must_use]
pub fn attachment(file_name: &str) -> ContentDisposition {
    let plain = |c: char| if c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') || c == ' ' { c } else { '_' };
    let exact = ExtendedValue {
        charset: Charset::Ext("UTF-8".to_owned()),
        language_tag: None,
        value: file_name.as_bytes().to_vec(),
    };
    ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters: vec![
            DispositionParam::Filename(file_name.chars().map(plain).collect()),
            DispositionParam::FilenameExt(exact),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::attachment;

    #[test]
    fn a_name_stays_within_its_header() {
        let header = attachment("Żeby\"; filename=x.exe %00.pdf").to_string();
        assert_eq!(
            header,
            "attachment; filename=\"_eby_; filename=x.exe _00.pdf\"; \
             filename*=UTF-8''%C5%BBeby%22%3B%20filename=x.exe%20%2500.pdf"
        );
    }
}
