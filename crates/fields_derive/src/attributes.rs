//! The attributes of a struct or of a field.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::Parse;
use syn::{Attribute, Error, Expr, Lit, Meta, Result, Token};

/// The attributes by their names, each with what follows its `=`.
#[derive(Default)]
pub struct Attributes {
    /// Of `#[body(…)]` or `#[query(…)]`; taken as they are understood.
    own: BTreeMap<String, TokenStream>,
    /// Of `#[schema(…)]` and `#[serde(…)]`, which other derives own.
    others: BTreeMap<String, TokenStream>,
    /// The lines of the doc comment, joined.
    pub doc: String,
}

impl Attributes {
    pub fn of(attributes: &[Attribute], own: &str) -> Result<Self> {
        let mut all = Self::default();
        for attribute in attributes {
            if attribute.path().is_ident(own) {
                collect(attribute, &mut all.own)?;
            } else if attribute.path().is_ident("schema") || attribute.path().is_ident("serde") {
                collect(attribute, &mut all.others)?;
            } else if let Meta::NameValue(doc) = &attribute.meta
                && doc.path.is_ident("doc")
                && let Expr::Lit(literal) = &doc.value
                && let Lit::Str(line) = &literal.lit
            {
                let gap = if all.doc.is_empty() { "" } else { " " };
                all.doc.extend([gap, line.value().trim()]);
            }
        }
        Ok(all)
    }

    pub fn takes(&mut self, name: &str) -> bool {
        self.own.remove(name).is_some()
    }

    pub fn take<T: Parse>(&mut self, name: &str) -> Result<Option<T>> {
        self.own.remove(name).map(syn::parse2).transpose()
    }

    /// Looks at an attribute for another derive.
    pub fn other<T: Parse>(&self, name: &str) -> Result<Option<T>> {
        self.others.get(name).cloned().map(syn::parse2).transpose()
    }

    /// Refuses what nobody took.
    pub fn end(&self, of: &impl quote::ToTokens) -> Result<()> {
        match self.own.keys().next() {
            Some(name) => Err(Error::new_spanned(of, format!("`{name}` is unknown, or means nothing here"))),
            None => Ok(()),
        }
    }
}

/// A value ends at a comma that is not between angle brackets, as those of `value_type = BTreeMap<String, Value>` are.
fn collect(attribute: &Attribute, all: &mut BTreeMap<String, TokenStream>) -> Result<()> {
    attribute.parse_nested_meta(|meta| {
        let name = meta.path.require_ident()?.to_string();
        let input = if meta.input.peek(Token![=]) { meta.value()? } else { meta.input };
        let (mut depth, mut value) = (0_usize, TokenStream::new());
        while !input.is_empty() && (depth > 0 || !input.peek(Token![,])) {
            let tree = input.parse::<TokenTree>()?;
            match &tree {
                TokenTree::Punct(sign) if sign.as_char() == '<' => depth += 1,
                TokenTree::Punct(sign) if sign.as_char() == '>' => depth = depth.saturating_sub(1),
                _ => {}
            }
            value.extend([tree]);
        }
        all.insert(name, value);
        Ok(())
    })
}
