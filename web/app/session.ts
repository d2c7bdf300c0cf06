/** The session: the signed-in user and the workspace that the pages show. */

import { computed, signal } from "@preact/signals";
import type { components } from "../../dist/api-types/schema";
import { GRACE_DAYS } from "../../src/domain/access";
import { forget, recall, remember } from "./memory";

export type Me = components["schemas"]["Profile"];
export type Workspace = components["schemas"]["Workspace"];

/** `unknown` until the server has responded. */
export type SessionState = { kind: "unknown" } | { kind: "signed-out" } | { kind: "signed-in"; me: Me };

export const session = signal<SessionState>({ kind: "unknown" });
export const workspaces = signal<Workspace[]>([]);

const WORKSPACE_KEY = "workspace";
const chosenId = signal<string | null>(recall(WORKSPACE_KEY));

/** The workspace that the pages show: the chosen one while the user is a member of it, otherwise the personal one. */
export const workspace = computed<Workspace | null>(
  () =>
    workspaces.value.find(({ id }) => id === chosenId.value) ??
    workspaces.value.find(({ is_personal }) => is_personal) ??
    null,
);

const BILLING_KEY = "billing";

/**
 * Whether work costs credits on this server. Remembered, so that pages do not show credits until the server has
 * responded.
 */
export const isBilled = signal(recall(BILLING_KEY) !== "off");

export function showBilling(mode: "on" | "off"): void {
  isBilled.value = mode === "on";
  remember(BILLING_KEY, mode);
}

/** The signed-in user, or null. */
export const me = computed<Me | null>(() => (session.value.kind === "signed-in" ? session.value.me : null));

/** Shows an updated profile. */
export function showProfile(changed: Me): void {
  session.value = { kind: "signed-in", me: changed };
}

/** Counts rejected calls, and streams that have opened or ended: the user's permissions may have changed. */
export const refusals = signal(0);

/**
 * Counts rejected changes to resources that were deleted or changed elsewhere, or that the user may no longer change.
 * Pages then read their data again.
 */
export const rejections = signal(0);

/** The workspaces that the user leaves or deletes in this tab. */
export const leftWorkspaces = new Set<string>();

/** Whether the user may change anything in the workspace. */
export const canWrite = computed(() => workspace.value !== null && workspace.value.role !== "viewer");

/** Whether the user administers the server. */
export const isAdmin = computed(() => me.value?.role === "admin");

/** Returns the name that pages show for a workspace. */
export const toWorkspaceName = ({ name, is_personal: isPersonal }: Pick<Workspace, "name" | "is_personal">): string =>
  isPersonal ? "Personal" : name;

/** Returns the name of a workspace; null if the user is not a member. Reads a signal. */
export function findWorkspaceName(workspaceId: string | null): string | null {
  const found = workspaces.value.find(({ id }) => id === workspaceId);
  return found === undefined ? null : toWorkspaceName(found);
}

/** Returns the workspace ID to send with a call; null for the personal workspace, which needs none. */
export const currentWorkspaceId = (): string | null => {
  const current = workspace.value;
  return current === null || current.is_personal ? null : current.id;
};

/** The header of a call that names its workspace; empty for the personal workspace, which needs none. */
export type WorkspaceHeader = { "Offcut-Workspace"?: string };

export const toWorkspaceHeader = (id: string | null): WorkspaceHeader =>
  id === null ? {} : { "Offcut-Workspace": id };

export function chooseWorkspace(id: string): void {
  chosenId.value = id;
  remember(WORKSPACE_KEY, id);
}

/** Chooses a workspace that the user may have joined after the list was loaded. */
export function enterWorkspace(entered: Workspace): void {
  if (!workspaces.value.some(({ id }) => id === entered.id)) workspaces.value = [...workspaces.value, entered];
  chooseWorkspace(entered.id);
}

/** Returns the display name of a user. */
export const toDisplayName = (me: Me): string => [me.first_name, me.last_name].filter(Boolean).join(" ") || me.email;

/** Called when the session has ended, in this tab or elsewhere. */
export function endSession(): void {
  if (session.value.kind === "signed-in") forget(WORKSPACE_KEY);
  session.value = { kind: "signed-out" };
  workspaces.value = [];
}

/** Returns the time at which an account deleted at `deletedAt` is purged. */
export const findPurgeTime = (deletedAt: string): Date =>
  new Date(Date.parse(deletedAt) + GRACE_DAYS * 24 * 3600 * 1000);

type PasswordRequest = { resolve(isConfirmed: boolean): void };

export const passwordRequest = signal<PasswordRequest | null>(null);
let asking: Promise<boolean> | null = null;

/** Returns whether the user signed in again. Calls at the same time share one dialog. */
export function confirmPassword(): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    passwordRequest.value = { resolve };
  }).finally(() => {
    passwordRequest.value = null;
    asking = null;
  });
  return asking;
}
