/** Asks the server who is signed in. */
import { api } from "./api";
import { reportNoAnswer } from "./connection";
import { MAX_WORKSPACES } from "./first-reads";
import { endSession, type SessionState, session, showBilling, workspaces } from "./session";

/** Loads the account and its workspaces. Without a session, the sign-in page follows. */
export async function loadSession(): Promise<void> {
  try {
    // The calls are sequential, so that without a session only one is rejected.
    const me = await api.GET("/api/v1/users/me");
    if (!me.data) return me.response.status === 401 ? endSession() : reportNoAnswer();
    const billing = await api.GET("/api/v1/billing");
    if (billing.data) showBilling(billing.data.mode);
    // Workspaces are unavailable during the grace period.
    if (me.data.deleted_at === null) {
      const listed = await api.GET("/api/v1/workspaces", { params: { query: { limit: MAX_WORKSPACES } } });
      if (!listed.data) return listed.response.status === 401 ? endSession() : reportNoAnswer();
      if (hasChanged(workspaces.value, listed.data.items)) workspaces.value = listed.data.items;
    } else workspaces.value = [];
    const found: SessionState = { kind: "signed-in", me: me.data };
    if (hasChanged(session.value, found)) session.value = found;
  } catch {
    // Without a response the page waits: the connection is being watched, and `App` tries again.
  }
}

/** Setting a signal to an equal value would render the pages again. */
const hasChanged = (before: unknown, after: unknown): boolean => JSON.stringify(before) !== JSON.stringify(after);
