/** Short forms of responses for test tables. */
import type { Client, Reply } from "./client";
import type { ErrorBody } from "./resources";

/** Formats a response as `201` or `422 validation_error body.name,body.state`. */
export function outcome(reply: Reply<unknown>): string {
  if (reply.status < 400) return String(reply.status);
  const { error } = (reply.body || { error: { code: "(no body)" } }) as ErrorBody;
  const fields = error.fields?.map((f) => f.field).join(",");
  return [reply.status, error.code, fields].filter(Boolean).join(" ");
}

/** Calls and returns the outcome. `json` is the body. */
export const tryCall = async (client: Client, method: string, path: string, json?: unknown): Promise<string> =>
  outcome(await client.call(method, path, json === undefined ? {} : { json }));

type DashboardFailure = { detail: string | { loc: string[] }[]; code?: string; reason?: string };

/** Calls a route of the dashboard family, and formats the response as `204`, `409 conflict` or `422 body.delta`. */
export async function attempt(client: Client, method: string, path: string, json?: unknown): Promise<string> {
  return dashboardOutcome(await client.call(method, path, json === undefined ? {} : { json }));
}

/** Formats a response of the dashboard family as `attempt` does. */
export function dashboardOutcome({ status, body: received }: Reply<unknown>): string {
  const body = received as DashboardFailure;
  if (status < 400) return String(status);
  const { detail, code, reason } = body;
  if (typeof detail !== "string") return `${status} ${detail.map(({ loc }) => loc.join(".")).join(",")}`;
  return [status, code, reason].filter(Boolean).join(" ");
}

/** An ID that no resource has. */
export const NO_ID = "01890a5d-ac96-774b-bcce-b302099a8057";
