/** Ends the previous session when a user signs in again. */
import { api } from "./api";

/** Returns the ID of this browser's session, or null. */
export async function findSessionId(): Promise<string | null> {
  const { data } = await api.GET("/api/v1/sessions", { params: { query: { limit: 100 } } });
  return data?.items.find(({ is_current: isCurrent }) => isCurrent)?.id ?? null;
}

/** Ends the replaced session. Otherwise the list of sessions would contain this browser twice. */
export function endReplacedSession(id: string | null): void {
  if (id === null) return;
  void api.DELETE("/api/v1/sessions/{session_id}", { params: { path: { session_id: id } } }).catch(() => {});
}
