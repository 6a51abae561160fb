//! What the head of orders sees of a sentence: whether it speaks to a machine that reads, and tells it what to make of the
//! document.

use std::sync::LazyLock;

use regex::Regex;

use super::super::addressed;
use super::super::corpus::PreparedSentence;
use super::super::lexicon::pattern;
use super::super::tokens::tokens;
use super::features::{Features, plain_token, stem};

/// A machine that might read.
static MACHINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(ai|a\.i\.|artificial intelligences?|llms?|language models?|gpt|chat ?gpt|copilots?|gemini|claude|otter|siri|alexa|(chat|assistant)?-?bots?|assistants?|agents?|models?|machines?|robots?|",
        r"computer|algorithms?|parsers?|crawlers?|scrapers?|summari[sz]ers?|transcribers?|automat(ed|ic) \w+|automation|tools?|software|screen readers?|system)\b|@\w*(bot|ai)\b|",
        r"sprachmodell|\bki\b|ki-|künstliche intelligenz|assistent|maschine|modèle|\bia\b|intelligence artificielle|modelo de lenguaje|inteligencia artificial|الذكاء الاصطناعي|نموذج|нейросет|модель|人工知能|人工智能"
    ))
});
/// A machine that reads, rather than any.
static READER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(ai|a\.i\.|artificial intelligences?|llms?|language models?|gpt|chat ?gpt|copilots?|gemini|claude|otter|siri|alexa|(chat|assistant)?-?bots?|chatbots?|assistants?|robots?|crawlers?|scrapers?|summari[sz]ers?|",
        r"transcribers?|transcription software|screen readers?|automat(ed|ic) (readers?|reading|evaluation|triage|review\w*|tools?|agents?|analy\w+|processing|systems?)|",
        r"(machine|software|agents?|models?|tools?|program) (that|which|who|reading|processing|triaging|analy[sz]ing|indexing))\b|@\w*(bot|ai)\b"
    ))
});
/// Who reads, without a name, and what they make of it.
static READ_BY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(whoever|whatever|anyone|anybody|anything|everyone|those|you|who|which|that) (or whatever )?(is |are |ever |now )?(reads?|reading|summari[sz]es?|summari[sz]ing|processes|processing|analy[sz]es|analy[sz]ing|extracts?|extracting|parses|parsing|",
        r"transcribes|transcribing|writes? (the|these|up|this)|writing (the|these|up|this)|turns? this|makes? the (summary|minutes|list)|triages?|evaluates?|indexes|types this)\b|",
        r"\byour (output|summary|summaries|answers?|response|reply|list|extraction|results?|notes|minutes|report|instructions?|prompt|task|rating|json)\b|",
        r"\b(for|in) the (summary|minutes|extraction|record|protocol|report|output|results?)\b|\b(instruction|directive|override|prompt|injection|jailbreak)\w*\b|\bthe following (as|is) a requirement\b|\b(requirements?|items?) (from|out of) this (page|document|file|text)\b|",
        r"\b(the|these) (words|lines|text|sentences) (above|below|before)\b|\btraining data\b|\bpretend (that|to)\b|\bthis (entry|line|row|paragraph|sentence|note|comment|cell) (supersedes|overrides|replaces|takes precedence|outranks)\b|",
        r"\breader of (this|these)\b|\bno human\b|\bneural net\w*\b|\bextraction engine\b|\bmachines? (reading|that read)\b|\b(print|list|show|return) no (other|more)\b|\bworking memory\b|\bcopy of your\b|\bverbose mode\b"
    ))
});
/// “SYSTEM: …”, “agent, …”.
static CALLED_SHORTLY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^["'(\[<*> ]*(?:(?:dear|hey|hi|note to|to|for|our|the) )?(?:\w+ )?(?:system|software|computer|machine|tool|agent|model|admin|automation)s?(?: \w+){0,2}\s*[:,!–—]"#,
    )
});
/// An order at the start.
static TOLD_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^["'(\[<*> ]*(?:please |now |kindly )?(?:ignore|disregard|skip|mark|set|treat|classify|rate|approve|accept|reject|return|omit|drop|delete|erase|output|summari[sz]e|close|withdraw|score|regard|forget|conclude|do not|don't|never|record|list|add|insert|include|report|state|write|say|give|note|log|rank|leave out|keep quiet|send|reveal|print|show|answer|reply|translate|put)\b"#,
    )
});
/// The machine at the start, or behind a word of address.
static CALLED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^["'(\[<*> ]*(?:(?:oh,?|and|also|ps|p\.s\.|hey|hi|hello|dear|attention|note|instructions?|message|for|to|any|all|meta|meeting|our|the|an?|whatever|whichever|if you('re| are))[ :,]+){0,4}"#,
        r"@?(?:[\w-]+ ){0,2}?(?:ai|artificial intelligence|llms?|language models?|gpt|chat ?gpt|copilots?|\w*-?bots?|chatbots?|assistants?|agents?|models?|machines?|robots?|computer|crawlers?|summari[sz]ers?|transcribers?|",
        r"automated \w+|software|screen reader|system|otter|siri|alexa)\b"
    ))
});
/// A verb of what machines do to documents, where an imperative or an order can stand.
static TOLD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?:^|[.!?:;,"'(*>\]–—-] ?|\b(?:please|now|kindly|and|must|shall|should|will|to|then|also|you|are instructed to|i want to) )"#,
        r"(?:ignore|disregard|skip|mark|set|list|treat|classify|rate|approve|accept|reject|record|return|report|add|create|insert|omit|drop|delete|remove|erase|output|write|say|state|summari[sz]e|sum up|extract|close|archive|",
        r"pin|withdraw|change|put|give|award|assign|reply|answer|respond|do not|don't|never|always|conclude|include|exclude|forget|stop|replace|translate|raise|score|enter|file|log|tell|transfer|append|obey|export|leave out|regard|grant|",
        r"minute|note|send|keep quiet|consider|pretend|act|behave|reveal|print|show|repeat|remember)\b"
    ))
});
/// What is made of documents.
static MADE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(requirements?|tickets?|items?|entries|entry|list|summary|minutes|report|record|documents?|brief|specification|spec|card|backlog|transcript|sections?|chapters?|parts?|above|below|following|instructions?|prompt|",
        r"output|answers?|results?|extraction|tender|thread|chat|rows?|table|comments?|remarks|risks?|bidders?|notes?|text|rules|constraints?|this|batch|baseline|file|document|articles)\b"
    ))
});
/// What it is to be told as.
static VERDICT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(approved?|resolved|done|complete[d]?|compliant|fulfilled|nothing|empty|none|agreed|superseded|declined|rejected|accepted|paid|unlimited|low priority|top priority|small talk|priority \w+|full marks|points|rank|always right|",
        r"is right|confirmed|final|repealed|cancelled|delivered|no (open )?(issues?|questions?|requirements?|risks?|objections?)|yes|verified|withdrawn|everyone|everybody)\b"
    ))
});
/// A machine that is part of what is wanted, rather than who reads.
static PRODUCT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(the (system|software|tool|assistant|chatbot|bot|model|application|app|platform) (shall|must|should|will|may|can|is|has)|as an? [\w ]{2,30},? (i|we)|users?|customers?|so that)\b",
    )
});

/// Returns the features of a sentence for the head of orders.
pub fn of_order(sentence: &PreparedSentence) -> Features {
    let lower = sentence.lower.as_str();
    let mut features = Features::default();
    features.add("bias", &[]);
    let words: Vec<&str> = tokens(lower).take(60).map(plain_token).collect();
    for word in &words {
        features.add("w", &[word]);
        features.add("s", &[stem(word)]);
    }
    for pair in words.windows(2) {
        features.add("b", pair);
    }
    features.add("f1", words.get(..1).unwrap_or_default());
    features.add("f2", words.get(..2).unwrap_or_default());
    let cues = [
        ("machine", MACHINE.is_match(lower)),
        ("called", CALLED.is_match(lower)),
        ("told", TOLD.is_match(lower)),
        ("made", MADE.is_match(lower)),
        ("verdict", VERDICT.is_match(lower)),
        ("product", PRODUCT.is_match(lower)),
        ("reader", READER.is_match(lower)),
        ("called shortly", CALLED_SHORTLY.is_match(lower)),
        ("told first", TOLD_FIRST.is_match(lower)),
        ("read by", READ_BY.is_match(lower)),
        ("addressed", addressed::is_addressed(lower)),
    ];
    let met: Vec<&str> = cues.iter().filter(|(_, is_met)| *is_met).map(|(name, _)| *name).collect();
    for (at, one) in met.iter().enumerate() {
        features.add("c", &[one]);
        for other in met.iter().skip(at + 1) {
            features.add("cc", &[one, other]);
        }
    }
    features.add("all", &met);
    features.finish()
}

/// Such machines in other languages.
static FOREIGN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"sprachmodell|künstliche[nr]? intelligenz|\bki-(?:assistent|system|modell)\w*|modèles? de langage|intelligence artificielle|modelo de lenguaje|inteligencia artificial|intelligenza artificiale|الذكاء الاصطناعي|نموذج (?:اللغة|لغوي)|искусственн\w+ интеллект|языков\w+ модел\w+|人工知能|人工智能|语言模型",
    )
});

/// Whether a sentence is an order beyond doubt: it calls a machine and tells it what to make of a document, or names one in
/// another language.
pub fn is_certain(sentence: &PreparedSentence) -> bool {
    let lower = sentence.lower.as_str();
    FOREIGN.is_match(lower)
        || (CALLED.is_match(lower)
            && TOLD.is_match(lower)
            && MADE.is_match(lower)
            && VERDICT.is_match(lower)
            && !PRODUCT.is_match(lower))
}

/// Whether a sentence may be an order: it names a machine that reads, calls one as “SYSTEM:” does, or begins by telling what to
/// make of a document. No other one is looked at closer.
pub fn may_be_order(sentence: &PreparedSentence) -> bool {
    let lower = sentence.lower.as_str();
    let is_told = TOLD.is_match(lower);
    READER.is_match(lower)
        || READ_BY.is_match(lower)
        || (is_told && CALLED_SHORTLY.is_match(lower))
        || (TOLD_FIRST.is_match(lower) && (MADE.is_match(lower) || VERDICT.is_match(lower)))
        || (is_told && MADE.is_match(lower) && VERDICT.is_match(lower))
}
