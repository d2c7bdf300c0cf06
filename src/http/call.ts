/** A request on its way through a family: who asks, what was sent, and the answer that goes back. */
import type { Log } from "../lib/log";
import type { User } from "../store/users";
import type { IdempotencyKey } from "../work/idempotency";
import type { Services } from "../work/services";
import { formatAttachment } from "./content-disposition";
import { FILE_POLICY } from "./security-headers";

export type Call = {
  services: Services;
  request: Request;
  requestId: string;
  log: Log;
  user: User;
  /** Path parameters: UUIDs. */
  params: Record<string, string>;
  /** Null where the route needs none or the client sent none. */
  idempotency: IdempotencyKey;
};

/** `text` instead of `body`: a file of its own content type, given in `headers`. */
export type Reply = { status: number; body?: unknown; text?: string; headers?: Record<string, string> };

const JSON_TYPE = "application/json; charset=utf-8";

export const ok = (body: unknown): Reply => ({ status: 200, body });
export const created = (location: string, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status: 201,
  body,
  headers: { Location: location, ...headers },
});
/** A resource that is JSON text already. */
export const okJsonText = (text: string): Reply => ({ status: 200, text, headers: { "Content-Type": JSON_TYPE } });
/** A text as a file to save. */
export const fileDownload = (made: { filename: string; contentType: string; body: string }): Reply => ({
  status: 200,
  text: made.body,
  headers: {
    "Content-Type": made.contentType,
    "Content-Disposition": formatAttachment(made.filename),
    "Content-Security-Policy": FILE_POLICY,
  },
});
export const noContent = (): Reply => ({ status: 204 });

/** A reply as the platform sends it. */
export function toResponse(reply: Reply): Response {
  const headers = new Headers(reply.headers);
  if (reply.text !== undefined) return new Response(reply.text, { status: reply.status, headers });
  if (reply.body === undefined) return new Response(null, { status: reply.status, headers });
  headers.set("Content-Type", JSON_TYPE);
  return new Response(JSON.stringify(reply.body), { status: reply.status, headers });
}

/** ISO 8601 in UTC with milliseconds, or null. */
export const formatTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
