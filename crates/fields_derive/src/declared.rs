//! The implementation that follows from a declaration.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Data, DeriveInput, Error, Field, Fields, GenericArgument, Ident, LitBool, LitInt, LitStr, Path, PathArguments,
    Result, Type,
};

use crate::attributes::Attributes;

/// Which trait is derived.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Body,
    Query,
}

impl Kind {
    fn attribute(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Query => "query",
        }
    }

    fn path(self) -> TokenStream {
        match self {
            Self::Body => quote!(crate::http::input::Body),
            Self::Query => quote!(crate::http::input::Query),
        }
    }
}

/// The code of one field.
struct Declared {
    ident: Ident,
    /// Reads it; none if it is not read.
    reading: Option<TokenStream>,
    /// Of a query: whether a key is one of its own.
    has: Option<TokenStream>,
    /// Of a query: adds to the parameters.
    parameter: Option<TokenStream>,
    /// Of a query: adds to the enumerations.
    enumeration: Option<TokenStream>,
}

pub fn implementation(input: &DeriveInput, kind: Kind) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "only a struct is read field by field"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "the fields need names, which are the keys of a request"));
    };
    let mut attributes = Attributes::of(&input.attrs, kind.attribute())?;
    let (name, trait_path) = (&input.ident, kind.path());
    let declared = fields.named.iter().map(|field| Declared::of(field, kind)).collect::<Result<Vec<_>>>()?;
    let read = read(&declared, &mut attributes)?;
    let others = match kind {
        Kind::Body => {
            let is_optional = attributes.takes("optional");
            quote!(const OPTIONAL: bool = #is_optional;)
        }
        Kind::Query => description(&declared),
    };
    attributes.end(name)?;
    Ok(quote! {
        #[automatically_derived]
        impl #trait_path for #name {
            #read
            #others
        }
    })
}

/// All fields are read before the first error is returned, so that all errors are reported at once.
fn read(declared: &[Declared], attributes: &mut Attributes) -> Result<TokenStream> {
    let fields = fields();
    let mut not_empty = attributes.take::<LitStr>("not_empty")?.map(|sentence| sentence.value());
    if attributes.other::<LitInt>("min_properties")?.is_some() {
        not_empty.get_or_insert_with(|| "Name at least one field to change.".to_owned());
    }
    let is_empty = Ident::new("is_empty", Span::mixed_site());
    let before = not_empty.as_ref().map(|_| quote!(let #is_empty = #fields.left() == 0;));
    let refusal = not_empty.map(|sentence| {
        quote! {
            if #is_empty {
                return ::core::result::Result::Err(#fields.reject(#sentence));
            }
        }
    });
    let readings = declared.iter().filter_map(|field| {
        let (ident, reading) = (&field.ident, field.reading.as_ref()?);
        Some(quote!(let #ident = #reading;))
    });
    let values = declared.iter().map(|field| {
        let ident = &field.ident;
        match &field.reading {
            Some(_) => quote!(#ident: #ident?),
            None => quote!(#ident: ::core::default::Default::default()),
        }
    });
    let check = attributes.take::<Path>("check")?.map(|check| quote!(#check(&read, #fields);));
    Ok(quote! {
        fn read(
            #fields: &mut crate::http::fields::Fields,
        ) -> ::core::result::Result<Self, crate::http::fields::Rejected> {
            #before
            #(#readings)*
            #refusal
            let read = Self { #(#values),* };
            #check
            ::core::result::Result::Ok(read)
        }
    })
}

fn description(declared: &[Declared]) -> TokenStream {
    let has = declared.iter().filter_map(|field| field.has.as_ref());
    let parameters = declared.iter().filter_map(|field| field.parameter.as_ref());
    let enumerations: Vec<&TokenStream> = declared.iter().filter_map(|field| field.enumeration.as_ref()).collect();
    let enumerations = (!enumerations.is_empty()).then(|| {
        quote! {
            fn enumerations() -> ::std::vec::Vec<(
                ::std::string::String,
                ::utoipa::openapi::RefOr<::utoipa::openapi::Schema>,
            )> {
                let mut all = ::std::vec::Vec::new();
                #(#enumerations)*
                all
            }
        }
    });
    quote! {
        fn has(key: &str) -> bool {
            #(#has)||*
        }
        fn parameters() -> ::std::vec::Vec<::utoipa::openapi::path::Parameter> {
            let mut all = ::std::vec::Vec::new();
            #(#parameters)*
            all
        }
        #enumerations
    }
}

/// The argument of `read`, which a field may be called as well.
fn fields() -> Ident {
    Ident::new("fields", Span::mixed_site())
}

impl Declared {
    fn of(field: &Field, kind: Kind) -> Result<Self> {
        let ident = field.ident.clone().ok_or_else(|| Error::new_spanned(field, "a field needs a name"))?;
        let mut attributes = Attributes::of(&field.attrs, kind.attribute())?;
        let rename = attributes.take::<LitStr>("rename")?.or(attributes.other("rename")?);
        let key = rename.map_or_else(|| camel_case(&ident.to_string()), |name| name.value());
        let mut declared = Self { ident, reading: None, has: None, parameter: None, enumeration: None };
        if attributes.takes("skip") {
            // It is there for the document alone, or set by somebody else.
        } else if attributes.takes("flatten") {
            let (ty, path) = (&field.ty, kind.path());
            let fields = fields();
            declared.reading = Some(quote!(<#ty as #path>::read(#fields)));
            declared.has = Some(quote!(<#ty as #path>::has(key)));
            declared.parameter = Some(quote!(all.extend(<#ty as #path>::parameters());));
            declared.enumeration = Some(quote!(all.extend(<#ty as #path>::enumerations());));
        } else if kind == Kind::Query {
            declared.of_query(field, &key, &mut attributes)?;
        } else {
            declared.reading = Some(of_body(&field.ty, &key, &mut attributes)?);
        }
        attributes.end(field)?;
        Ok(declared)
    }

    fn of_query(&mut self, field: &Field, key: &str, attributes: &mut Attributes) -> Result<()> {
        let value = Value::of(&field.ty, attributes, false)?;
        let ty = &value.ty;
        self.reading = Some(value.reading(key));
        self.has = Some(quote!(key == #key));
        let description = attributes.take::<LitStr>("description")?.map(|text| text.value());
        let description = description.unwrap_or_else(|| attributes.doc.clone());
        if description.is_empty() {
            return Err(Error::new_spanned(field, "a parameter needs a doc comment, which describes it"));
        }
        let schema = match attributes.take::<TokenStream>("schema")? {
            Some(schema) => schema,
            None => quote!(<#ty as ::utoipa::PartialSchema>::schema()),
        };
        let function = match value.function {
            "required" => quote!(required_query_parameter),
            _ => quote!(query_parameter),
        };
        self.parameter = Some(quote!(all.push(crate::http::input::#function(#key, #description, #schema));));
        if attributes.takes("enumeration") {
            let name = quote!(<#ty as ::utoipa::ToSchema>::name().into_owned());
            self.enumeration = Some(quote!(all.push((#name, <#ty as ::utoipa::PartialSchema>::schema()));));
        }
        Ok(())
    }
}

fn of_body(ty: &Type, key: &str, attributes: &mut Attributes) -> Result<TokenStream> {
    let (fields, body, optional) = (fields(), Kind::Body.path(), argument(ty, "Option"));
    let inner = optional.unwrap_or(ty);
    let is_nullable = attributes.other::<LitBool>("nullable")?.is_none_or(|nullable| nullable.value);
    let is_replaced = attributes.takes("replaced") || !is_nullable;
    if let Some(function) = attributes.take::<Path>("with")? {
        return Ok(quote!(#function(#fields)));
    }
    if attributes.takes("object") {
        let function = if optional.is_some() { quote!(object) } else { quote!(required_object) };
        return Ok(quote!(#fields.#function(#key, <#inner as #body>::read)));
    }
    let is_of_objects = attributes.takes("objects");
    if is_of_objects || attributes.takes("values") {
        let item = argument(inner, "Vec").ok_or_else(|| Error::new_spanned(ty, "a list is a Vec"))?;
        let max = attributes.other::<LitInt>("max_items")?;
        let max = max.ok_or_else(|| Error::new_spanned(ty, "a list needs #[schema(max_items = …)]"))?;
        let min = attributes.other::<LitInt>("min_items")?.map_or_else(|| quote!(0), |min| quote!(#min));
        return Ok(match (is_of_objects, optional) {
            (true, None) => quote!(#fields.objects(#key, #min..=#max, <#item as #body>::read)),
            (true, Some(_)) if is_replaced => {
                quote!(#fields.replaced_objects(#key, #min..=#max, <#item as #body>::read))
            }
            (true, Some(_)) => quote!(#fields.optional_objects(#key, #min..=#max, <#item as #body>::read)),
            (false, None) => quote!(#fields.values::<#item>(#key, #max, |_| ::core::result::Result::Ok(()))),
            (false, Some(_)) => {
                let values = quote!(#fields.values::<#item>(#key, #max, |_| ::core::result::Result::Ok(())));
                quote!(#values.map(::core::option::Option::Some))
            }
        });
    }
    if attributes.takes("or_empty") {
        return Ok(quote!(#fields.patch::<#inner>(#key).map(crate::http::patch::Patch::or_empty)));
    }
    if let Some(inner) = argument(ty, "Patch") {
        return Ok(quote!(#fields.patch::<#inner>(#key)));
    }
    Value::of(ty, attributes, is_replaced).map(|value| value.reading(key))
}

/// A field that is parsed as one value.
struct Value {
    /// What is parsed.
    ty: Type,
    /// The function of `Fields` that reads it.
    function: &'static str,
    /// What becomes of the parsed value.
    map: Option<TokenStream>,
    /// What an absent one is.
    default: Option<TokenStream>,
}

impl Value {
    fn of(ty: &Type, attributes: &mut Attributes, is_replaced: bool) -> Result<Self> {
        let optional = argument(ty, "Option");
        let parsed_as = attributes.take::<Type>("as")?;
        let first_field = parsed_as.as_ref().map(|ty| quote!(|value: #ty| value.0));
        let map = attributes.take::<TokenStream>("map")?.or(first_field);
        let default = match attributes.take::<TokenStream>("default")? {
            Some(_) if optional.is_some() => return Err(Error::new_spanned(ty, "what has a default is no Option")),
            Some(value) if value.is_empty() => Some(quote!(::core::default::Default::default())),
            given => given,
        };
        let function = match (optional.is_some() || default.is_some(), is_replaced) {
            (false, _) => "required",
            (true, true) => "replaced",
            (true, false) => "optional",
        };
        let ty = parsed_as.unwrap_or_else(|| optional.unwrap_or(ty).clone());
        Ok(Self { ty, function, map, default })
    }

    fn reading(&self, key: &str) -> TokenStream {
        let Self { ty, function, map, default } = self;
        let (fields, function) = (fields(), Ident::new(function, Span::call_site()));
        let mut read = quote!(#fields.#function::<#ty>(#key));
        if let Some(map) = map {
            read = match function == "required" {
                true => quote!(#read.map(#map)),
                false => quote!(#read.map(|value| value.map(#map))),
            };
        }
        match default {
            Some(default) => quote!(#read.map(|value| value.unwrap_or_else(|| #default))),
            None => read,
        }
    }
}

/// Returns `T` of `Name<T>`.
fn argument<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut key = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut signs = word.chars();
        key.extend(signs.next().into_iter().flat_map(char::to_uppercase));
        key.push_str(signs.as_str());
    }
    key
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn refused(input: &DeriveInput, kind: Kind) -> String {
        implementation(input, kind).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_key_is_the_name_in_camel_case() {
        assert_eq!(["title", "is_read_by_2_people", "a_b_"].map(camel_case), ["title", "isReadBy2People", "aB"]);
    }

    #[test]
    fn attributes_of_other_derives_are_read_past() {
        let field: Field = parse_quote! {
            /// Only what
            /// is new.
            #[schema(value_type = BTreeMap<String, Value>, example = json!(["a", "b"]), rename = "type", nullable = false)]
            #[serde(skip_serializing_if = "Option::is_none")]
            #[query(as = Kind, description = "One, two.")]
            kind: Option<Kind>
        };
        let mut attributes = Attributes::of(&field.attrs, "query").unwrap();
        assert_eq!(attributes.doc, "Only what is new.");
        assert_eq!(attributes.other::<LitStr>("rename").unwrap().unwrap().value(), "type");
        assert!(!attributes.other::<LitBool>("nullable").unwrap().unwrap().value);
        assert_eq!(attributes.take::<LitStr>("description").unwrap().unwrap().value(), "One, two.");
        assert!(attributes.end(&field).is_err());
        assert!(attributes.takes("as"));
        assert!(attributes.end(&field).is_ok());
    }

    #[test]
    fn what_cannot_be_read_does_not_compile() {
        let body = |input: DeriveInput| refused(&input, Kind::Body);
        let unknown = |name: &str| format!("`{name}` is unknown, or means nothing here");
        assert_eq!(
            body(parse_quote!(
                enum Sample {
                    One,
                }
            )),
            "only a struct is read field by field"
        );
        let unnamed = "the fields need names, which are the keys of a request";
        assert_eq!(
            body(parse_quote!(
                struct Sample(Title);
            )),
            unnamed
        );
        assert_eq!(
            body(parse_quote!(
                struct Sample {
                    #[body(requird)]
                    title: Title,
                }
            )),
            unknown("requird")
        );
        assert_eq!(
            body(parse_quote!(
                struct Sample {
                    #[body(object, map = f)]
                    title: Title,
                }
            )),
            unknown("map")
        );
        assert_eq!(
            body(parse_quote!(
                #[body(optionl)]
                struct Sample {
                    title: Title,
                }
            )),
            unknown("optionl")
        );
        let without_count = "a list needs #[schema(max_items = …)]";
        assert_eq!(
            body(parse_quote!(
                struct Sample {
                    #[body(objects)]
                    items: Vec<Item>,
                }
            )),
            without_count
        );
        let with_default = "what has a default is no Option";
        assert_eq!(
            body(parse_quote!(
                struct Sample {
                    #[body(default)]
                    title: Option<Title>,
                }
            )),
            with_default
        );
        let undescribed = "a parameter needs a doc comment, which describes it";
        assert_eq!(
            refused(
                &parse_quote!(
                    struct Sample {
                        status: Option<Status>,
                    }
                ),
                Kind::Query
            ),
            undescribed
        );
    }
}
