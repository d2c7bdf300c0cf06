/** Data of each endpoint in addition to its `Route`: a valid request, and the outcome for a permitted caller. */
import type { Client } from "../client";
import type { Fixtures } from "./fixtures";
import { endTests, newCut, newEndpoint, newProject, newRender, newUpload } from "./fixtures";
import type { Caller } from "./principals";

export type RequestContext = { fixtures: Fixtures; client: Client };

export type Entry = {
  /** `201`, or the code of a refusal that is not about access: `409 conflict`. */
  allowed: string;
  /** Outcomes that depend on who calls. */
  allowedFor?: (caller: Caller) => string | undefined;
  /** The outcome in the caller's own workspace, if it does not follow from the path. */
  elsewhere?: string;
  query?: string;
  body?: (context: RequestContext) => unknown;
  /** The fields of a form. */
  form?: (context: RequestContext) => Record<string, string> | Promise<Record<string, string>>;
  /** The body is bytes. */
  bytes?: Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  /** Creates the resource that the call removes. Others name the shared resources. */
  make?: (fixtures: Fixtures) => Promise<Record<string, string>>;
  /** The call changes the caller: it is made by an account of its own. */
  isIsolated?: boolean;
};

/** An address that no account has. */
export const newAddress = ({ fixtures }: RequestContext): string => `new${fixtures.next()}@example.test`;

const segment = ({ fixtures }: RequestContext) => {
  const { start, end } = fixtures.cut.plan!.segments[0]!;
  return { start, end };
};
const hook = () => ({ url: "http://127.0.0.1:8999/hook", event_types: ["asset.ready"] });
const named = () => ({ name: "P" });

/** The resources that two families share, below the prefix of each. */
export const RESOURCE_ENTRIES: Record<string, Entry> = {
  "POST /projects": { allowed: "201", body: named },
  "GET /projects": { allowed: "200" },
  "GET /projects/:project_id": { allowed: "200" },
  "PATCH /projects/:project_id": { allowed: "200", body: named },
  "DELETE /projects/:project_id": { allowed: "204", make: newProject },

  "POST /assets": {
    allowed: "201",
    elsewhere: "404 not_found",
    body: ({ fixtures }) => ({ project_id: fixtures.ids.project_id, size_bytes: 100 }),
  },
  "GET /assets": { allowed: "200" },
  "GET /assets/:asset_id": { allowed: "200" },
  "DELETE /assets/:asset_id": { allowed: "204", make: newUpload },

  "POST /cuts": {
    allowed: "201",
    elsewhere: "404 not_found",
    body: ({ fixtures }) => ({ asset_id: fixtures.ids.asset_id, script: `bravo ${fixtures.next()}` }),
  },
  "GET /cuts": { allowed: "200" },
  "GET /cuts/:cut_id": { allowed: "200" },
  "POST /cuts/:cut_id/edits": { allowed: "201", body: (context) => ({ segments: [segment(context)] }) },
  "GET /cuts/:cut_id/export": { allowed: "200", query: "?format=csv" },
  "GET /cuts/:cut_id/subtitle": { allowed: "200", query: "?format=srt" },
  "GET /cuts/:cut_id/transcript": { allowed: "200", query: "?format=txt" },
  "DELETE /cuts/:cut_id": { allowed: "204", make: newCut },

  "POST /renders": {
    allowed: "201",
    elsewhere: "404 not_found",
    body: ({ fixtures }) => ({
      asset_id: fixtures.ids.asset_id,
      output: { audio_bitrate: 50_000 + fixtures.next() },
    }),
  },
  "GET /renders": { allowed: "200" },
  "GET /renders/:render_id": { allowed: "200" },
  "POST /renders/:render_id/cancel": { allowed: "200", make: newRender },
  "DELETE /renders/:render_id": { allowed: "204", make: newRender },

  "GET /users/me": { allowed: "200" },
  "GET /credits/history": { allowed: "200" },

  "POST /webhook-endpoints": { allowed: "201", body: hook },
  "GET /webhook-endpoints": { allowed: "200" },
  "GET /webhook-endpoints/:endpoint_id": { allowed: "200" },
  "PATCH /webhook-endpoints/:endpoint_id": { allowed: "200", body: () => ({ state: "enabled" }) },
  "DELETE /webhook-endpoints/:endpoint_id": { allowed: "204", make: newEndpoint },
  "POST /webhook-endpoints/:endpoint_id/rotate-secret": { allowed: "200" },
  "POST /webhook-endpoints/:endpoint_id/test": { allowed: "202", make: endTests },
  "GET /webhook-endpoints/:endpoint_id/deliveries": { allowed: "200" },
  "GET /webhook-endpoints/:endpoint_id/deliveries/:delivery_id": { allowed: "200" },
  "POST /webhook-endpoints/:endpoint_id/deliveries/:delivery_id/resend": { allowed: "202" },
};

const TUS = { "Tus-Resumable": "1.0.0" };
const PATCH_HEADERS = { ...TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0" };

/** Uploads that only the dashboard family creates. */
export const CREATION_ENTRIES: Record<string, Entry> = {
  "POST /assets/upload-url": { allowed: "201", body: () => ({ type: "cut_file" }) },
  "POST /assets/upload-resumable": {
    allowed: "201",
    headers: { "Upload-Metadata": `type ${Buffer.from("cut_file").toString("base64")}` },
  },
  "OPTIONS /assets/upload-resumable": { allowed: "204" },
  "PUT /uploads/:upload_id/file": {
    // Without the signature, the credential of its owner does not help.
    allowed: "403 forbidden",
    bytes: new Uint8Array(100),
  },
};

/** The TUS surface. */
export const UPLOAD_ENTRIES: Record<string, Entry> = {
  "OPTIONS /uploads/:upload_id": { allowed: "204" },
  "HEAD /uploads/:upload_id": { allowed: "200", headers: TUS },
  "PATCH /uploads/:upload_id": {
    allowed: "204",
    headers: PATCH_HEADERS,
    bytes: new Uint8Array(10),
    make: newUpload,
  },
  // "DELETE of someone else's upload is 204 and does nothing"
  "DELETE /uploads/:upload_id": { allowed: "204", elsewhere: "204", headers: TUS, make: newUpload },
  "POST /uploads/:upload_id": {
    allowed: "204",
    headers: { ...PATCH_HEADERS, "X-HTTP-Method-Override": "PATCH" },
    bytes: new Uint8Array(10),
    make: newUpload,
  },
};
