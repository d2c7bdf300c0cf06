/**
 * Notifies accounts of invitations. Runs outside of the request that invites, because its timing must not reveal
 * whether the address has an account; accounts that confirm their address later are notified then.
 */
import type { Log } from "../../lib/log";
import { createPoller, type Poller } from "../../lib/poller";
import type { Store } from "../../store/db";
import { listInvitationsToNotify, recordInvitationNotified } from "../../store/workspace-invitations";
import { formatInviter } from "../identity/invitations";
import { notify } from "./notifications";

/** Invitations per transaction. */
const MAX_PER_POLL = 50;

/** Creates the poller. Wake it after each commit. */
export function createInvitationNotifier(options: { store: Store; log: Log; now(): number }): Poller {
  const { store, log, now } = options;

  async function poll(): Promise<number | null> {
    const at = now();
    const found = await listInvitationsToNotify(store.read, at, MAX_PER_POLL);
    if (found.length === 0) return null;
    await store.write(async (tx) => {
      for (const { token, workspace, inviter, role, userId } of found) {
        if (!(await recordInvitationNotified(tx, token.id, at))) continue;
        const payload = {
          invitation_id: token.id,
          invited_workspace_id: workspace.id,
          workspace_name: workspace.name,
          role,
          invited_by: inviter && formatInviter(inviter),
          expires_at: new Date(token.expires_at).toISOString(),
        };
        const request = { userId, workspaceId: null, cause: token.id, now: at };
        await notify(tx, { type: "workspace_invitation", payload, ...request });
      }
    });
    return found.length === MAX_PER_POLL ? 0 : null;
  }

  return createPoller(poll, (error) => log.error("invitation.notice_failed", { error }));
}
