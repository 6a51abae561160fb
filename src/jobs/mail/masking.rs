//! E-mail addresses as an operator may see them: the first letter and the domain.

/// Returns an address without the rest of its local part: `a…@example.org`.
#[must_use]
pub fn masked(address: &str) -> String {
    let (local, domain) = address.rsplit_once('@').unwrap_or((address, ""));
    let first = local.chars().next().filter(|_| local.chars().count() > 1);
    let at = if domain.is_empty() { "" } else { "@" };
    format!("{}…{at}{domain}", first.map(String::from).unwrap_or_default())
}

/// Masks every address in a text, such as the answer of a mail server.
#[must_use]
pub fn without_addresses(text: &str) -> String {
    let mut masked_text = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        let (before, after) = rest.split_at(at);
        let local = before.len() - before.trim_end_matches(is_local).len();
        let (ahead, local) = before.split_at(before.len() - local);
        let after = after.get(1..).unwrap_or_default();
        let domain = after.len() - after.trim_start_matches(is_domain).len();
        let (domain, next) = after.split_at(domain);
        masked_text.push_str(ahead);
        masked_text.push_str(&masked(&format!("{local}@{domain}")));
        rest = next;
    }
    masked_text.push_str(rest);
    masked_text
}

/// The signs of a local part that may stand without quotes (RFC 5322), and letters beyond ASCII.
fn is_local(sign: char) -> bool {
    sign.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(sign)
}

fn is_domain(sign: char) -> bool {
    sign.is_alphanumeric() || "-.".contains(sign)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{masked, without_addresses};

    #[test]
    fn an_address_shows_its_first_letter_and_its_domain() {
        for (address, shown) in
            [("ada@example.org", "a…@example.org"), ("a@example.org", "…@example.org"), ("ada", "a…"), ("", "…")]
        {
            assert_eq!(masked(address), shown, "{address}");
        }
    }

    #[test]
    fn no_address_is_left_in_what_a_mail_server_says() {
        let said =
            "550 5.1.1 <ada.lovelace+x@mail.example.org>: Recipient rejected (ben@example.org, again Ben@example.org)";
        let shown = "550 5.1.1 <a…@mail.example.org>: Recipient rejected (b…@example.org, again B…@example.org)";
        assert_eq!(without_addresses(said), shown);
        for same in ["", "connection refused", "a … b"] {
            assert_eq!(without_addresses(same), same);
        }
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_masked_without_harm(text in ".*", local in "[a-z.]{2,20}") {
            let said = format!("{text} {local}@example.org");
            let is_shown = without_addresses(&said).contains(&format!("{local}@"));
            prop_assert!(!is_shown);
        }
    }
}
