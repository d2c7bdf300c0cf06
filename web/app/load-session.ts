/** Loads the session from the server, and keeps all tabs signed in as the same user. */

import { effect } from "@preact/signals";
import { api } from "./api";
import { keepSame } from "./cache";
import { reportNoAnswer } from "./connection";
import { firstEvent } from "./live";
import { forget, listenMemory, recall, remember } from "./memory";
import { MAX_WORKSPACES } from "./paths";
import {
  endSession,
  isAdmin,
  leftWorkspaces,
  me,
  type SessionState,
  session,
  showBilling,
  toWorkspaceName,
  type Workspace,
  workspace,
  workspaces,
} from "./session";
import { showToast } from "./toasts";

/** Loads the account and its workspaces. Without a session, the sign-in page follows. */
export async function loadSession(): Promise<void> {
  try {
    // The others follow, so that without a session only one call is rejected.
    const me = await api.GET("/api/v1/users/me");
    if (!me.data) return me.response.status === 401 ? endSession() : reportNoAnswer();
    if (session.value.kind !== "signed-in") firstEvent.id = me.response.headers.get("last-event-id");
    const [billing, listed] = await Promise.all([
      api.GET("/api/v1/billing"),
      // Workspaces are unavailable during the grace period.
      me.data.deleted_at === null && api.GET("/api/v1/workspaces", { params: { query: { limit: MAX_WORKSPACES } } }),
    ]);
    if (billing.data) showBilling(billing.data.mode);
    if (listed && !listed.data) return listed.response.status === 401 ? endSession() : reportNoAnswer();
    const items = listed ? listed.data.items : [];
    workspaces.value = keepSame(workspaces.value, items);
    const found: SessionState = { kind: "signed-in", me: me.data };
    session.value = keepSame(session.value, found);
  } catch {
    // Without a response the page waits: the connection is being watched, and `App` tries again.
  }
}

let last: Promise<void> = Promise.resolve();

/** Reloads the account and its workspaces, and announces changes, because controls and dialogs may disappear. */
export function readPermissions(): Promise<void> {
  // Reads run one at a time, so that each change is announced once.
  last = last.then(read);
  return last;
}

async function read(): Promise<void> {
  const [before, wasAdmin] = [workspace.value, isAdmin.value];
  await loadSession();
  if (before === null || session.value.kind !== "signed-in" || session.value.me.deleted_at !== null) return;
  if (wasAdmin !== isAdmin.value) announceServerRole();
  const after = workspaces.value.find(({ id }) => id === before.id);
  if (after === undefined) announceLoss(before);
  else if (after.role !== before.role) announceRole(after);
}

function announceServerRole(): void {
  if (isAdmin.value) showToast({ kind: "info", text: "You are now an administrator." });
  else showToast({ kind: "bad", text: "You are no longer an administrator." });
}

function announceLoss(lost: Workspace): void {
  if (leftWorkspaces.has(lost.id)) return;
  const name = toWorkspaceName(lost);
  showToast({ kind: "bad", text: `You no longer have access to ${name}. This is your personal workspace.` });
}

function announceRole(changed: Workspace): void {
  const name = toWorkspaceName(changed);
  if (changed.role === "viewer") showToast({ kind: "bad", text: `You now have view-only access to ${name}.` });
  else showToast({ kind: "info", text: `You are now an ${changed.role} of ${name}.` });
}

const USER_KEY = "user";

/** Returns whether this browser was signed in when it last knew. */
export const wasSignedIn = (): boolean => recall(USER_KEY) !== null;

/**
 * Keeps the tabs of a browser signed in with the same account: they share one session, so signing in or out in one tab
 * affects all of them. Call it once. Returns a function that stops it.
 */
export function watchAccount(): () => void {
  const stopStoring = effect(() => {
    const { kind } = session.value;
    if (me.value !== null && recall(USER_KEY) !== me.value.id) remember(USER_KEY, me.value.id);
    if (kind === "signed-out") forget(USER_KEY);
  });
  const stopListening = listenMemory(USER_KEY, (id) => {
    if (me.value === null || id === me.value.id) return;
    // The page shows the previous user's data, but its calls would be made as the new user.
    if (id !== null) location.reload();
    else void loadSession();
  });
  return () => {
    stopStoring();
    stopListening();
  };
}
