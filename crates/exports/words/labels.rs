//! The table of headings, names of columns and labels.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

/// Declares the labels with their words in English, Arabic and German.
macro_rules! labels {
    ($($label:ident: $english:literal, $arabic:literal, $german:literal;)+) => {
        /// A fixed word of a file: a heading, the name of a column, a label.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Label {
            $($label,)+
        }

        impl Label {
            pub const ALL: &'static [Label] = &[$(Self::$label,)+];

            pub(super) fn row(self) -> [&'static str; 3] {
                match self {
                    $(Self::$label => [$english, $arabic, $german],)+
                }
            }
        }
    };
}

labels! {
    Specification: "Requirements specification", "وثيقة مواصفات المتطلبات", "Anforderungsspezifikation";
    Contents: "Contents", "المحتويات", "Inhalt";
    Overview: "Overview", "نظرة عامة", "Überblick";
    Summary: "Summary", "الملخص", "Zusammenfassung";
    KeyDecisions: "Key decisions", "القرارات الرئيسية", "Wichtige Entscheidungen";
    Scope: "In scope", "ضمن النطاق", "Im Umfang enthalten";
    OutOfScope: "Out of scope", "خارج النطاق", "Nicht im Umfang enthalten";
    Assumptions: "Assumptions", "الافتراضات", "Annahmen";
    Requirements: "Requirements", "المتطلبات", "Anforderungen";
    FunctionalRequirements: "Functional requirements", "المتطلبات الوظيفية", "Funktionale Anforderungen";
    QualityRequirements: "Quality requirements", "متطلبات الجودة", "Qualitätsanforderungen";
    BusinessRequirements: "Business requirements", "متطلبات الأعمال", "Geschäftliche Anforderungen";
    Constraints: "Constraints", "القيود", "Randbedingungen";
    OtherRequirements: "Other requirements", "متطلبات أخرى", "Weitere Anforderungen";
    UserStories: "User stories", "قصص المستخدمين", "User Storys";
    AcceptanceCriteria: "Acceptance criteria", "معايير القبول", "Abnahmekriterien";
    Risks: "Risks", "المخاطر", "Risiken";
    OpenQuestions: "Open questions", "الأسئلة المفتوحة", "Offene Fragen";
    ActionItems: "Action items", "بنود العمل", "Aufgaben";
    Decisions: "Decisions", "القرارات", "Entscheidungen";
    Sources: "Sources", "المصادر", "Quellen";
    LongTexts: "Long texts", "النصوص الطويلة", "Lange Texte";
    Project: "Project", "المشروع", "Projekt";
    ProjectId: "Project id", "معرّف المشروع", "Projekt-ID";
    Description: "Description", "الوصف", "Beschreibung";
    Language: "Language", "اللغة", "Sprache";
    AsOf: "As of", "حتى تاريخ", "Stand";
    ExportedBy: "Exported by", "صدّره", "Exportiert von";
    Contains: "Contains", "يحتوي على", "Enthält";
    Filtered: "narrowed down by filters", "مع تضييقها بمرشحات", "durch Filter eingegrenzt";
    Run: "Analysis run", "عملية التحليل", "Analyselauf";
    FormatVersion: "Format version", "إصدار التنسيق", "Formatversion";
    Page: "Page", "الصفحة", "Seite";
    Section: "Section", "القسم", "Abschnitt";
    Id: "Id", "المعرّف", "ID";
    Code: "Code", "الرمز", "Kennung";
    Title: "Title", "العنوان", "Titel";
    Statement: "Statement", "نص المتطلب", "Anforderungstext";
    Type: "Type", "النوع", "Art";
    Category: "Category", "الفئة", "Kategorie";
    Priority: "Priority", "الأولوية", "Priorität";
    Confidence: "Confidence", "درجة الثقة", "Konfidenz";
    Status: "Status", "الحالة", "Status";
    Suspect: "Suspect", "مشكوك فيه", "Zweifelhaft";
    SuspectNote: "Something it depends on has changed since its approval.",
        "تغيّر شيء يعتمد عليه بعد اعتماده.", "Etwas, wovon es abhängt, hat sich seit der Freigabe geändert.";
    QualityIssues: "Quality issues", "ملاحظات الجودة", "Qualitätsmängel";
    QualityScore: "Quality score", "درجة الجودة", "Qualitätswert";
    DuplicateOf: "Duplicate of", "مكرر من", "Duplikat von";
    ConflictsWith: "Conflicts with", "يتعارض مع", "Im Widerspruch zu";
    Version: "Version", "الإصدار", "Version";
    RevisionSource: "Last revised", "آخر تحرير", "Zuletzt überarbeitet";
    CreatedAt: "Created at", "تاريخ الإنشاء", "Erstellt am";
    UpdatedAt: "Updated at", "تاريخ التحديث", "Aktualisiert am";
    Role: "Role", "الدور", "Rolle";
    Goal: "Goal", "الهدف", "Ziel";
    Benefit: "Benefit", "الفائدة", "Nutzen";
    Story: "Story", "القصة", "Story";
    Criterion: "Criterion", "المعيار", "Kriterium";
    Given: "Given", "بافتراض", "Angenommen";
    When: "When", "عندما", "Wenn";
    Then: "Then", "إذن", "Dann";
    TrackerIssue: "Tracker issue", "تذكرة نظام التتبع", "Ticket";
    TrackerUrl: "Tracker address", "عنوان التذكرة", "Ticket-Adresse";
    StoryCode: "Story code", "رمز القصة", "Story-Kennung";
    Severity: "Severity", "الخطورة", "Schwere";
    Likelihood: "Likelihood", "الاحتمالية", "Wahrscheinlichkeit";
    Mitigation: "Mitigation", "التخفيف", "Gegenmaßnahme";
    Question: "Question", "السؤال", "Frage";
    Why: "Why it matters", "سبب الأهمية", "Warum es wichtig ist";
    RaisedBy: "Raised by", "طرحه", "Aufgeworfen von";
    ActionItem: "Action item", "بند العمل", "Aufgabe";
    Assignee: "Assignee", "المسؤول", "Zuständig";
    DueDate: "Due date", "تاريخ الاستحقاق", "Fällig am";
    Decision: "Decision", "القرار", "Entscheidung";
    Item: "Item", "العنصر", "Eintrag";
    SourceKind: "Kind of source", "نوع المصدر", "Art der Quelle";
    SourceId: "Source id", "معرّف المصدر", "Quellen-ID";
    SourceName: "Source", "المصدر", "Quelle";
    Quote: "Quote", "الاقتباس", "Zitat";
    StartTime: "From", "من", "Von";
    EndTime: "To", "إلى", "Bis";
    StartOffset: "First character", "أول حرف", "Erstes Zeichen";
    EndOffset: "Character after the last", "الحرف التالي للأخير", "Zeichen nach dem letzten";
    Speaker: "Speaker", "المتحدث", "Sprecher";
    Sheet: "Sheet", "الورقة", "Blatt";
    Column: "Column", "العمود", "Spalte";
    Part: "Part", "الجزء", "Teil";
    Text: "Text", "النص", "Text";
    ContinuesInRow: "continues in sheet “Long texts”, row", "يتبع في ورقة «النصوص الطويلة»، الصف", "weiter im Blatt „Lange Texte“, Zeile";
    Yes: "Yes", "نعم", "Ja";
    No: "No", "لا", "Nein";
}

impl Label {
    /// The kinds of content, in the order in which they are shown.
    pub const SECTIONS: [Label; 11] = [
        Self::Overview,
        Self::Requirements,
        Self::UserStories,
        Self::AcceptanceCriteria,
        Self::Risks,
        Self::OpenQuestions,
        Self::ActionItems,
        Self::Decisions,
        Self::Sources,
        Self::LongTexts,
        Self::Summary,
    ];

    /// The labels that a heading says, in any of the languages. A file may have many headings: none goes through all labels.
    pub fn written(heading: &str) -> &'static [Label] {
        static BY_HEADING: LazyLock<HashMap<String, Vec<Label>>> = LazyLock::new(|| {
            let mut labels: HashMap<String, Vec<Label>> = HashMap::new();
            for label in Label::ALL {
                let headings: BTreeSet<String> = label.row().iter().map(|shown| shown.to_lowercase()).collect();
                headings.into_iter().for_each(|heading| labels.entry(heading).or_default().push(*label));
            }
            labels
        });
        BY_HEADING.get(&heading.trim().to_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// Whether a heading says this in any of the languages.
    pub fn is_written(self, heading: &str) -> bool {
        let heading = heading.trim().to_lowercase();
        self.row().iter().any(|shown| shown.to_lowercase() == heading)
    }
}
