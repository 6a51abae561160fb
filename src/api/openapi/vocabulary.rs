//! The words that mean the same wherever they are the name of a property. A property's own doc comment, in the type
//! that has it, takes precedence; so does that of a type which describes itself, such as an enumeration.

use serde_json::{Value, json};

/// Describes the properties of a schema that have no description yet.
pub fn describe(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    for (name, property) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        let refers = ["$ref", "oneOf", "anyOf", "allOf"].iter().any(|key| property.get(*key).is_some());
        if let (false, Some(description), Some(property)) = (refers, about(name, property), property.as_object_mut()) {
            property.entry("description").or_insert_with(|| json!(description));
        }
    }
    for several in ["allOf", "oneOf", "anyOf"] {
        schema.get_mut(several).and_then(Value::as_array_mut).into_iter().flatten().for_each(describe);
    }
}

fn about(name: &str, property: &Value) -> Option<&'static str> {
    let is_number = property.get("type").is_some_and(|types| *types == json!("integer"));
    let counted = is_number.then(|| count(name)).flatten();
    let meant = || WORDS.iter().find(|(word, _)| *word == name).map(|(_, description)| *description);
    counted.or_else(meant)
}

/// The names of lists, where they are numbers.
fn count(name: &str) -> Option<&'static str> {
    Some(match name {
        "requirements" => "Number of requirements.",
        "userStories" => "Number of user stories.",
        "acceptanceCriteria" => "Number of acceptance criteria of all user stories.",
        "risks" => "Number of risks.",
        "openQuestions" => "Number of open questions.",
        "actionItems" => "Number of action items.",
        "decisions" => "Number of decisions.",
        _ => return None,
    })
}

const WORDS: &[(&str, &str)] = &[
    ("acceptanceCriteria", "The conditions under which the story counts as done, in order."),
    ("acceptedAt", "When the invitation was accepted; null if it was not."),
    ("actionItems", "What somebody has to do, in the order of the sources."),
    ("assignee", "Who has to do it, as the source names them; null if it names nobody."),
    ("avatarUrl", "The path of the picture, another one for each new picture; null without one."),
    ("benefit", "What the role gains by it; null where the source names no benefit."),
    ("code", "The code for people, such as `REQ-001` or `US-001`: unique in the project and never given twice."),
    ("createdAt", "When it was created."),
    ("decisions", "What was decided, in the order of the sources."),
    ("description", "In sentences, as the source has it."),
    ("displayName", "The name that is shown; null if none is known."),
    ("email", "The e-mail address, in lower case; null where the caller may not see it."),
    ("endMs", "End in milliseconds since the beginning of the recording; null for anything else."),
    ("endOffset", "End in Unicode scalar values, exclusive."),
    ("expiresAt", "When it expires; it is refused with `Gone` from then on."),
    ("fileName", "The name of the file."),
    ("fullName", "The name of the person."),
    ("generatedAt", "When these results were generated."),
    ("given", "The situation at the beginning; null where the criterion is not in this form."),
    ("goal", "What the role wants to do."),
    ("id", "Its id, a UUID of version 7 unless it comes from the caller or another system."),
    ("invitees", "Who is invited."),
    ("inviterName", "The name of the person who invited."),
    ("isRead", "Whether a member has read it."),
    ("items", "The items, in the order that the operation names."),
    ("jobId", "Id of the job, as the caller chose it."),
    ("joinedAt", "When the person joined; null if they never did."),
    ("key", "The item's key within this result."),
    ("language", "The language."),
    ("meetingId", "Id of the meeting."),
    ("message", "A sentence for people."),
    ("mitigation", "What would make it less likely or less severe; null where the source names nothing."),
    ("name", "The name that is shown."),
    ("openQuestions", "What the sources leave open, in their order."),
    ("projectId", "Id of the project."),
    ("projectName", "The name of the project."),
    ("qualityIssues", "What could be better in the wording; empty if nothing was found."),
    ("question", "The question, as a sentence."),
    ("quotes", "The words of the sources that it rests on, without the sources themselves."),
    ("raisedBy", "Who raised it, as the source names them; null if it names nobody."),
    ("recordingId", "Id of the recording."),
    ("requirementIds", "Ids of the requirements that the story comes from."),
    ("requirements", "The requirements, in the order of their codes."),
    ("risks", "What may go wrong, in the order of the sources."),
    ("role", "Who wants it, such as `receptionist`; null where the source names nobody."),
    ("runId", "Id of the AI analysis run that found it."),
    ("scheduledAt", "When the meeting is to take place."),
    ("sendCount", "How often it was mailed, the first time included."),
    ("sourceId", "Id of the source."),
    ("sources", "The places in the sources that it rests on; every quote is verbatim."),
    ("startMs", "Start in milliseconds since the beginning of the recording; null for anything else."),
    ("startOffset", "Start in Unicode scalar values, from 0."),
    ("startedById", "Id of the account that started it."),
    ("statement", "The requirement in one sentence."),
    (
        "suspect",
        "Whether what it rests on was changed or rejected after it was approved. Such an item is left out of exports.",
    ),
    ("text", "What it says, in the words of its source or of the person who edited it."),
    ("then", "What has to be so afterwards; null where the criterion is not in this form."),
    ("title", "A short title on one line."),
    ("updatedAt", "When it was last changed."),
    ("userId", "Id of the account; null for a person without one."),
    ("userStories", "The user stories, in the order of their codes."),
    ("version", "The version, which is also the ETag. It rises with each change of content or status."),
    ("warnings", "What could not be used, or is unsure."),
    ("when", "What happens; null where the criterion is not in this form."),
];
