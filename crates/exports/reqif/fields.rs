//! The attributes and relations of a ReqIF file, for its writer and its reader.

use crate::words::TermSet;

/// An attribute of a requirement or a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ReqifField {
    Code,
    Title,
    Text,
    Kind,
    Category,
    Priority,
    Status,
    Version,
    Role,
    Goal,
    Benefit,
    Criteria,
    /// Ids of requirements that a story realises and that are not in the file: a relation needs both of its ends.
    RequirementsOutside,
    DuplicateOutside,
    ConflictsOutside,
    Sources,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReqifDatatype {
    Line,
    /// XHTML
    Rich,
    Integer,
    Enumeration(TermSet),
}

impl ReqifField {
    pub(crate) const OF_REQUIREMENTS: [ReqifField; 11] = [
        Self::Code,
        Self::Title,
        Self::Text,
        Self::Kind,
        Self::Category,
        Self::Priority,
        Self::Status,
        Self::Version,
        Self::DuplicateOutside,
        Self::ConflictsOutside,
        Self::Sources,
    ];

    pub(crate) const OF_USER_STORIES: [ReqifField; 12] = [
        Self::Code,
        Self::Title,
        Self::Text,
        Self::Role,
        Self::Goal,
        Self::Benefit,
        Self::Criteria,
        Self::Priority,
        Self::Status,
        Self::Version,
        Self::RequirementsOutside,
        Self::Sources,
    ];

    /// The first three are those of the implementation guide of the prostep ivip association, which other programs look for.
    pub(crate) fn long_name(self) -> &'static str {
        match self {
            Self::Code => "ReqIF.ForeignID",
            Self::Title => "ReqIF.Name",
            Self::Text => "ReqIF.Text",
            Self::Kind => "Type",
            Self::Category => "Category",
            Self::Priority => "Priority",
            Self::Status => "Status",
            Self::Version => "Version",
            Self::Role => "Role",
            Self::Goal => "Goal",
            Self::Benefit => "Benefit",
            Self::Criteria => "Acceptance criteria",
            Self::RequirementsOutside => "Requirements outside this file",
            Self::DuplicateOutside => "Duplicate of, outside this file",
            Self::ConflictsOutside => "Conflicts with, outside this file",
            Self::Sources => "Sources",
        }
    }

    /// The part of the definition's identifier.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Title => "title",
            Self::Text => "text",
            Self::Kind => "type",
            Self::Category => "category",
            Self::Priority => "priority",
            Self::Status => "status",
            Self::Version => "version",
            Self::Role => "role",
            Self::Goal => "goal",
            Self::Benefit => "benefit",
            Self::Criteria => "acceptance-criteria",
            Self::RequirementsOutside => "requirements-outside",
            Self::DuplicateOutside => "duplicate-outside",
            Self::ConflictsOutside => "conflicts-outside",
            Self::Sources => "sources",
        }
    }

    pub(crate) fn datatype(self) -> ReqifDatatype {
        match self {
            Self::Code | Self::Title => ReqifDatatype::Line,
            Self::Kind => ReqifDatatype::Enumeration(TermSet::RequirementType),
            Self::Category => ReqifDatatype::Enumeration(TermSet::Category),
            Self::Priority => ReqifDatatype::Enumeration(TermSet::Priority),
            Self::Status => ReqifDatatype::Enumeration(TermSet::WorkflowStatus),
            Self::Version => ReqifDatatype::Integer,
            Self::RequirementsOutside | Self::DuplicateOutside | Self::ConflictsOutside => ReqifDatatype::Line,
            Self::Text | Self::Role | Self::Goal | Self::Benefit | Self::Criteria | Self::Sources => {
                ReqifDatatype::Rich
            }
        }
    }
}

/// What links two objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RelationKind {
    /// From a story to a requirement.
    Realises,
    /// Between two requirements, in either direction.
    ConflictsWith,
    /// From the copy to the original.
    Duplicates,
}

impl RelationKind {
    pub(crate) const ALL: [RelationKind; 3] = [Self::Realises, Self::ConflictsWith, Self::Duplicates];

    pub(crate) fn long_name(self) -> &'static str {
        match self {
            Self::Realises => "realises",
            Self::ConflictsWith => "conflicts with",
            Self::Duplicates => "duplicates",
        }
    }

    /// The part of the identifiers of the type and of its relations.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Realises => "realises",
            Self::ConflictsWith => "conflicts-with",
            Self::Duplicates => "duplicates",
        }
    }
}
