// The roles that a member may give to another.

import type { Schemas } from '$shared/api/client';
import { t } from '$shared/words/text.svelte';
import type { Project } from '../project/project.svelte';

type Role = Schemas['ProjectRole'];
const ROLES: readonly Role[] = ['STAKEHOLDER', 'ANALYST', 'MANAGER', 'OWNER'];

/** The roles to choose from, with their words: only an owner makes owners. The present one is always among them. */
export const rolesFor = (project: Project, present?: Role): [Role, string][] =>
  ROLES.filter((role) => role !== 'OWNER' || project.isOwner || present === 'OWNER').map((role) => [role, t(`role.${role}`)]);
