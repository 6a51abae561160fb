import type { Schemas } from '$shared/api/client';

export type Permission = 'VIEWER' | 'COMMENTER' | 'APPROVER';
export type Verdict = 'APPROVE' | 'CHANGE';
export type TargetType =
  | 'SUMMARY' | 'REQUIREMENT' | 'USER_STORY' | 'ACCEPTANCE_CRITERION' | 'RISK' | 'OPEN_QUESTION' | 'ACTION_ITEM';
export type FeedbackStatus = 'OPEN' | 'IN_PROGRESS' | 'RESOLVED' | 'REJECTED';

export interface ReviewInvitationPreview {
  projectName: string;
  inviterName: string;
  permission: Permission;
  status: 'PENDING' | 'ACCEPTED' | 'EXPIRED' | 'REVOKED';
  expiresAt: string;
}

export interface ProjectReviewAccess {
  reviewToken: string;
  permission: Permission;
  status: 'ACTIVE' | 'EXPIRED' | 'REVOKED';
  projectName: string;
  expiresAt: string;
}

export interface Quote {
  quote: string;
  sourceName: string | null;
  page: number | null;
  section: string | null;
  startMs: number | null;
  speaker: string | null;
  before: string | null;
  after: string | null;
}

type Reviewed<Item, Left extends keyof Item = never> = Omit<Item, 'sources' | Left> & { quotes?: Quote[] };
export type ReviewRequirement = Reviewed<Schemas['Requirement']>;
export type ReviewUserStory = Reviewed<Schemas['UserStory']>;
export type ReviewCriterion = Schemas['AcceptanceCriterion'];
export type ReviewRisk = Reviewed<Schemas['Risk']>;
export type ReviewQuestion = Reviewed<Schemas['OpenQuestion'], 'raisedBy'>;
export type ReviewAction = Reviewed<Schemas['ActionItem'], 'assignee'>;
export type ReviewSummary = Schemas['Summary'];

export interface ReviewDashboard {
  projectId: string;
  projectName: string;
  permission: Permission;
  scope: Schemas['ReviewScope'];
  /** Null with another scope than BASELINE. */
  baselineName: string | null;
  runId: string | null;
  generatedAt: string;
  summary: ReviewSummary;
  requirements: ReviewRequirement[];
  userStories: ReviewUserStory[];
  risks: ReviewRisk[];
  openQuestions: ReviewQuestion[];
  actionItems: ReviewAction[];
}

export interface SubmitFeedback {
  targetType: TargetType;
  targetId: string | null;
  comment: string;
  verdict: Verdict | null;
}

export interface StakeholderFeedback extends SubmitFeedback {
  id: string;
  targetCode: string | null;
  status: FeedbackStatus;
  resolutionNote: string | null;
  author: { name: string; email: string | null };
  createdAt: string;
  resolvedAt: string | null;
}
