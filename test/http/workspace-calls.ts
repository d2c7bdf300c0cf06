/** Calls about workspaces and their members, for tests. */
import type { WorkspaceRole } from "../../src/domain/access";
import type { CallOptions, Client } from "./client";

export type Workspace = { id: string; name: string; role: WorkspaceRole; is_personal: boolean };
export type Member = { user_id: string; email: string; name: string | null; role: WorkspaceRole; created_at: string };
export type Added = { member: Member | null; invitation_url: string | null; expires_at: string | null };
export type Listed<T> = { items: T[]; total: number; limit: number; offset: number };
type ApiError = { detail: unknown; code?: string };

export const createWorkspace = (user: Client, name = "Studio") =>
  user.must<Workspace>("POST", "/api/v1/workspaces", { json: { name } });
export const addMember = (user: Client, workspace: string, email: string, role: WorkspaceRole = "editor") =>
  user.call<Added & ApiError>("POST", `/api/v1/workspaces/${workspace}/members`, { json: { email, role } });
/** Invites a user, who accepts with the link. Both are sessions. */
export async function join(owner: Client, workspace: string, user: Client, role: WorkspaceRole = "editor") {
  const { body } = await addMember(owner, workspace, `${user.userId}@example.test`, role);
  const token = new URL(body.invitation_url!).hash.slice(1);
  return user.must<Workspace>("POST", "/api/v1/invitations/accept", { json: { token } });
}
/** Returns `200`, or the status with the code. */
export async function attempt(user: Client, method: string, path: string, options: CallOptions = {}): Promise<string> {
  const { status, body } = await user.call<ApiError>(method, `/api/v1${path}`, options);
  return status < 400 ? String(status) : `${status} ${body.code ?? "validation_error"}`;
}
export const inside = (workspace: string, json?: unknown): CallOptions => ({
  headers: { "Offcut-Workspace": workspace },
  ...(json === undefined ? {} : { json }),
});
