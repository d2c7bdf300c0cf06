/** Detects when the user's permissions have changed. */
import { loadSession } from "./load-session";
import { isAdmin, leftWorkspaces, session, toWorkspaceName, type Workspace, workspace, workspaces } from "./session";
import { showToast } from "./toasts";

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
