//! What the head of orders sees of a sentence: whether it speaks to a machine that reads, and tells it what to make of the
//! document.

use std::sync::LazyLock;

use regex::Regex;

use super::super::corpus::PreparedSentence;
use super::super::lexicon::pattern;
use super::super::tokens::tokens;
use super::features::{Features, plain_token, stem};
use super::subjects::subjects;

/// A machine that might read.
static MACHINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(ai|a\.i\.|artificial intelligences?|llms?|language models?|gpt|chat ?gpt|copilots?|gemini|",
        r"claude|otter|siri|alexa|(chat|assistant)?-?bots?|assistants?|agents?|models?|machines?|robots?|",
        r"computer|algorithms?|parsers?|crawlers?|scrapers?|summari[sz]ers?|transcribers?|automat(ed|",
        r"ic) \w+|automation|tools?|software|screen readers?|system)\b|@\w*(bot|ai)\b|",
        r"sprachmodell|\bki\b|ki-|künstliche intelligenz|assistent|maschine|modèle|\bia\b|",
        r"intelligence artificielle|modelo de lenguaje|inteligencia artificial|الذكاء الاصطناعي|نموذج|",
        r"нейросет|модель|人工知能|人工智能"
    ))
});
/// A machine that reads, rather than any.
static READER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(ai|a\.i\.|artificial intelligences?|llms?|language models?|gpt|chat ?gpt|copilots?|gemini|",
        r"claude|otter|siri|alexa|(chat|assistant)?-?bots?|chatbots?|assistants?|robots?|crawlers?|",
        r"scrapers?|summari[sz]ers?|",
        r"transcribers?|transcription software|screen readers?|automat(ed|ic) (readers?|reading|evaluation|",
        r"triage|review\w*|tools?|agents?|analy\w+|processing|systems?)|",
        r"(machine|software|agents?|models?|tools?|program) (that|which|who|reading|processing|triaging|",
        r"analy[sz]ing|indexing))\b|@\w*(bot|ai)\b"
    ))
});
/// Who reads, without a name, and what they make of it.
static READ_BY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(whoever|whatever|anyone|anybody|anything|everyone|those|you|who|which|",
        r"that) (or whatever )?(is |are |ever |now )?(reads?|reading|summari[sz]es?|summari[sz]ing|",
        r"processes|processing|analy[sz]es|analy[sz]ing|extracts?|extracting|parses|parsing|",
        r"transcribes|transcribing|writes? (the|these|up|this)|writing (the|these|up|this)|turns? this|",
        r"makes? the (summary|minutes|list)|triages?|evaluates?|indexes|types this)\b|",
        r"\byour (output|summary|summaries|answers?|response|reply|list|extraction|results?|notes|minutes|",
        r"report|instructions?|prompt|task|rating|json)\b|",
        r"\b(for|in) the (summary|minutes|extraction|record|protocol|report|output|results?)\b|",
        r"\b(instruction|directive|override|prompt|injection|jailbreak)\w*\b|\bthe following (as|",
        r"is) a requirement\b|\b(requirements?|items?) (from|out of) this (page|document|file|text)\b|",
        r"\b(the|these) (words|lines|text|sentences) (above|below|before)\b|\btraining data\b|",
        r"\bpretend (that|to)\b|\bthis (entry|line|row|paragraph|sentence|note|comment|cell) (supersedes|",
        r"overrides|replaces|takes precedence|outranks)\b|",
        r"\breader of (this|these)\b|\bno human\b|\bneural net\w*\b|\bextraction engine\b|",
        r"\bmachines? (reading|that read)\b|\b(print|list|show|return) no (other|more)\b|\b(summary|digest|",
        r"abstract|minutes|extract) of (this|these)\b|\bworking memory\b|\bcopy of your\b|",
        r".role.: ?.(system|developer)\b|\b(generated|machine-made|automatic) (minutes|lists?|summar(y|",
        r"ies)|tickets)\b|\bverbose mode\b"
    ))
});
/// “SYSTEM: …”, “agent, …”.
static CALLED_SHORTLY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^["'(\[<*> ]*(?:(?:dear|hey|hi|note to|to|for|our|the) )?(?:\w+ )?(?:system|software|computer|"#,
        r#"machine|tool|agent|model|admin|automation)s?(?: \w+){0,2}\s*[:,!–—]"#
    ))
});
/// An order at the start.
static TOLD_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^["'(\[<*> ]*(?:please |now |kindly )?(?:ignore|disregard|skip|mark|set|treat|classify|rate|"#,
        r#"approve|accept|reject|return|omit|drop|delete|erase|output|summari[sz]e|close|withdraw|score|"#,
        r#"regard|forget|conclude|do not|don't|never|record|list|add|insert|include|report|state|write|say|"#,
        r#"give|note|log|rank|leave out|keep quiet|send|reveal|print|show|answer|reply|translate|put)\b"#
    ))
});
/// The machine at the start, or behind a word of address.
static CALLED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^["'(\[<*> ]*(?:(?:oh,?|and|also|ps|p\.s\.|hey|hi|hello|dear|attention|note|instructions?|"#,
        r#"message|for|to|any|all|meta|meeting|our|the|an?|whatever|whichever|if you('re| are))[ :,]+){0,4}"#,
        r"@?(?:[\w-]+ ){0,2}?(?:ai|artificial intelligence|llms?|language models?|gpt|chat ?gpt|copilots?|",
        r"\w*-?bots?|chatbots?|assistants?|agents?|models?|machines?|robots?|computer|crawlers?|",
        r"summari[sz]ers?|transcribers?|",
        r"automated \w+|software|screen reader|system|otter|siri|alexa)\b"
    ))
});
/// A verb of what machines do to documents, where an imperative or an order can stand.
static TOLD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?:^|^@[\w-]+ |[.!?:;,"'(*>\]–—-] ?|\b(?:please|now|kindly|and|must|shall|should|will|to|then|"#,
        r#"also|you|are instructed to|i want to) )"#,
        r"(?:ignore|disregard|skip|mark|set|list|treat|classify|rate|approve|accept|reject|record|return|",
        r"report|add|create|insert|omit|drop|delete|remove|erase|output|write|say|state|summari[sz]e|",
        r"sum up|extract|close|archive|",
        r"pin|withdraw|change|put|give|award|assign|reply|answer|respond|do not|don't|never|always|",
        r"conclude|include|exclude|forget|stop|replace|translate|raise|score|enter|file|log|tell|transfer|",
        r"append|obey|export|leave out|regard|grant|",
        r"minute|note|send|keep quiet|consider|pretend|act|behave|reveal|print|show|repeat|remember)\b"
    ))
});
/// What is made of documents.
static MADE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(requirements?|tickets?|items?|entries|entry|list|summary|minutes|report|record|documents?|",
        r"brief|specification|spec|card|backlog|transcript|sections?|chapters?|parts?|above|below|",
        r"following|instructions?|prompt|",
        r"output|answers?|results?|extraction|tender|thread|chat|rows?|table|comments?|remarks|risks?|",
        r"bidders?|notes?|text|rules|constraints?|this|batch|baseline|file|document|articles)\b"
    ))
});
/// What it is to be told as.
static VERDICT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(approved?|resolved|done|complete[d]?|compliant|fulfilled|nothing|empty|none|agreed|superseded|",
        r"declined|rejected|accepted|paid|unlimited|low priority|top priority|small talk|priority \w+|",
        r"full marks|points|rank|always right|",
        r"is right|confirmed|final|repealed|cancelled|delivered|no (open )?(issues?|questions?|",
        r"requirements?|risks?|objections?)|yes|verified|withdrawn|everyone|everybody)\b"
    ))
});
/// A machine that is part of what is wanted, rather than who reads.
static PRODUCT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(the (system|software|tool|assistant|chatbot|bot|model|application|app|platform) (shall|must|",
        r"should|will|may|can|is|has)|as an? [\w ]{2,30},? (i|we)|users?|customers?|so that)\b"
    ))
});

/// Such machines in other languages.
static FOREIGN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"sprachmodell|künstliche[nr]? intelligenz|\bki-(?:assistent|system|modell)\w*|modèles? de langage|",
        r"intelligence artificielle|modelo de lenguaje|inteligencia artificial|intelligenza artificiale|",
        r"الذكاء الاصطناعي|نموذج (?:اللغة|لغوي)|искусственн\w+ интеллект|языков\w+ модел\w+|人工知能|人工智能|语言模型"
    ))
});

/// What a product must do, in other languages: it may well have such a machine.
static FOREIGN_DEMAND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(muss|müssen|soll|sollen|sollte|sollten|darf|dürfen|kann|können|doit|doivent|devra|debe|deben|",
        r"deberá|deve|devono|должн\w+)\b|يجب|ينبغي"
    ))
});

/// What a sentence has of an order.
pub struct OrderCues {
    machine: bool,
    called: bool,
    told: bool,
    made: bool,
    verdict: bool,
    product: bool,
    reader: bool,
    called_shortly: bool,
    told_first: bool,
    read_by: bool,
    foreign: bool,
    foreign_demand: bool,
}

impl OrderCues {
    pub fn of(sentence: &PreparedSentence) -> Self {
        let lower = sentence.lower.as_str();
        Self {
            machine: MACHINE.is_match(lower),
            called: CALLED.is_match(lower),
            told: TOLD.is_match(lower),
            made: MADE.is_match(lower),
            verdict: VERDICT.is_match(lower),
            product: PRODUCT.is_match(lower),
            reader: READER.is_match(lower),
            called_shortly: CALLED_SHORTLY.is_match(lower),
            told_first: TOLD_FIRST.is_match(lower),
            read_by: READ_BY.is_match(lower),
            foreign: FOREIGN.is_match(lower),
            foreign_demand: FOREIGN_DEMAND.is_match(lower),
        }
    }

    /// Whether it is an order beyond doubt: it calls a machine and tells it what to make of a document, or names one in
    /// another language and demands nothing of a product.
    pub const fn is_certain(&self) -> bool {
        (self.foreign && !self.foreign_demand)
            || (self.called && self.told && self.made && self.verdict && !self.product)
    }

    /// Whether it may well be one: it names a machine that reads, calls one as “SYSTEM:” does, or begins by telling what to make
    /// of a document. Of these fewer need to be left alone.
    pub const fn is_likely(&self) -> bool {
        self.reader
            || self.foreign
            || self.read_by
            || (self.told && self.called_shortly)
            || (self.told_first && (self.made || self.verdict))
            || (self.told && self.made && self.verdict)
    }

    fn names(&self) -> Vec<&'static str> {
        let cues = [
            ("machine", self.machine),
            ("called", self.called),
            ("told", self.told),
            ("made", self.made),
            ("verdict", self.verdict),
            ("product", self.product),
            ("reader", self.reader),
            ("called shortly", self.called_shortly),
            ("told first", self.told_first),
            ("read by", self.read_by),
        ];
        cues.iter().filter(|(_, is_met)| *is_met).map(|(name, _)| *name).collect()
    }
}

/// Returns the features of a sentence for the head of orders.
pub fn of_order(sentence: &PreparedSentence, cues: &OrderCues) -> Features {
    let mut features = Features::default();
    features.add("bias", &[]);
    let words: Vec<&str> = tokens(&sentence.lower).take(60).map(plain_token).collect();
    for word in &words {
        features.add("w", &[word]);
        features.add("s", &[stem(word)]);
    }
    for pair in words.windows(2) {
        features.add("b", pair);
    }
    features.add("f1", words.get(..1).unwrap_or_default());
    features.add("f2", words.get(..2).unwrap_or_default());
    let met = cues.names();
    for (at, one) in met.iter().enumerate() {
        features.add("c", &[one]);
        for other in met.iter().skip(at + 1) {
            features.add("cc", &[one, other]);
        }
    }
    features.add("all", &met);
    let mut about = subjects(&words);
    about.windows(2).for_each(|pair| features.add("kb", pair));
    about.windows(3).for_each(|three| features.add("kt", three));
    about.sort_unstable();
    about.dedup();
    for (at, one) in about.iter().enumerate() {
        features.add("k1", &[one]);
        if let Some(first) = words.first() {
            features.add("fk", &[first, one]);
        }
        for (behind, other) in about.iter().enumerate().skip(at + 1) {
            features.add("k2", &[one, other]);
            about.iter().skip(behind + 1).for_each(|third| features.add("k3", &[one, other, third]));
        }
    }
    features.finish()
}
