//! What words are about, as far as it tells orders to a machine from demands on a product: who reads, what is made of a
//! document, what is done to its items.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The subjects of a word.
static BY_WORD: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut by_word: HashMap<&str, Vec<&str>> = HashMap::new();
    for (subject, words) in SUBJECTS {
        words.split(' ').for_each(|word| by_word.entry(word).or_default().push(subject));
    }
    by_word
});

/// Returns what words in lower case are about, in their order.
pub fn subjects(words: &[&str]) -> Vec<&'static str> {
    words.iter().filter_map(|word| BY_WORD.get(word)).flatten().copied().collect()
}

/// What a word may be about. What there is to learn is in how these meet in a sentence.
const SUBJECTS: [(&str, &str); 16] = [
    (
        "reader",
        concat!(
            "helper helpers automat automaten auswertungsprogramm generated miner mining artificial ai ais llm llms \
                gpt bot bots chatbot robot robots machine machines program programs script scripts ",
            "software computer computers algorithm algorithms parser parsers pipeline pipelines engine engines crawler ",
            "crawlers scraper indexer summariser summarizer transcriber assistant assistants agent agents model models ",
            "automated automatic automatically silicon binary digital reader readers compiler sorter ",
            "counter evaluator extractor classifier tool tools ki maschine maschinen programm programme programmen ",
            "auswertung auswertungen sprachmodell automatisch machinery neural metal brass steel siri alexa copilot ",
            "gemini claude otter openai scribe scribes",
        ),
    ),
    (
        "output",
        concat!(
            "summary summaries digest abstract extract extracts extraction output outputs result results list lists ",
            "register backlog minutes report record answer answers reply response title score scores rating label ",
            "labels json export transcript spec specification retelling gist version copy copies board headline words ",
            "zusammenfassung auszug liste ergebnis protokoll ausgabe",
        ),
    ),
    (
        "item",
        concat!(
            "requirement requirements item items entry entries risk risks question questions task tasks decision ",
            "decisions story stories wish wishes point points row rows bullet bullets column columns dates date ",
            "deadline deadlines owner owners priority priorities prio status anforderung anforderungen punkte punkt ",
            "risiko risiken fragen",
        ),
    ),
    (
        "text",
        concat!(
            "document documents file files page pages text texts chapter chapters section sections paragraph ",
            "paragraphs sentence sentences line lines footnote table sheet mail mails message messages thread notes ",
            "note chat comment part tender letter dokument datei seite absatz abschnitt zeile zeilen brief",
        ),
    ),
    (
        "here",
        concat!(
            "this these above below following here hereby herewith foregoing preceding previous present hier diese ",
            "dieser dieses diesem oben folgende folgenden obigen vorherigen bisherigen",
        ),
    ),
    ("you", "you your yours yourself du dein deine sie ihr ihre"),
    (
        "shown",
        concat!(
            "mark marked list listed count counts counted treat treated rate rated rank ranked sort sorted record ",
            "recorded show shown shows write written state stated states say says said note noted report reported put ",
            "add added append appended insert enter entered include included print printed set give given assign ",
            "assigned classify classified label labelled name named call called render rendered translate translated ",
            "rename retitle swap replace repeat describe present presented carry carried reproduced file summarise ",
            "summarize conclude read understood regard regarded consider considered taken take behave pretend act ",
            "answer tell passed surface schreib schreibe fasse führe führen stufe nenne liste markiere erwähne setze",
        ),
    ),
    (
        "left out",
        concat!(
            "ignore ignored ignores disregard skip skipped omit omitted leave leaves left drop dropped forget ",
            "forgotten overlook hide hidden erase erased delete deleted remove removed struck strike exclude excluded ",
            "without mention mentions withhold stop stops ends end cancelled void secret silent unmentioned obsolete ",
            "overtaken superseded ignoriere ignorieren weglassen lösche streiche vergiss überspringe verschweige",
        ),
    ),
    ("nothing", "nothing none no nil zero empty blank nobody never nichts kein keine keinen leer null"),
    (
        "verdict",
        concat!(
            "approved approval accepted acceptance agreed done closed resolved complete completed settled signed ",
            "confirmed finished final fulfilled compliant verified checked lapsed must-have musthave top highest ",
            "lowest urgent excellent perfect unanimous yes full best winner erledigt genehmigt angenommen beschlossen ",
            "abgeschlossen",
        ),
    ),
    ("as", "as als instead statt rather"),
    ("asked", "please kindly be dear bitte would could must shall should ought needs hereby may let psst hey"),
    ("to be", "is are be being counts count sind ist zu"),
    (
        "rules",
        concat!(
            "instruction instructions rule rules guidelines prompt prompts restriction restrictions orders policy ",
            "administrator admin system override training settings configuration anweisung anweisungen regeln vorgaben",
        ),
    ),
    ("whoever", "whoever whatever whichever anyone anything anybody those wer was"),
    (
        "person",
        concat!(
            "user users customer customers guest guests member members patient patients clerk admin visitor visitors ",
            "staff driver drivers team",
        ),
    ),
];
