/** The client of the dashboard API, typed from its OpenAPI document. */
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "../../dist/api-types/schema";
import { reportAnswer, reportNoAnswer } from "./connection";
import { confirmPassword, currentWorkspaceId, endSession, refusals, rejections } from "./session";

export type Schemas = components["schemas"];

/** A call that failed. `message` is shown to the user; `fields` has the message of each field that is wrong. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly fields: Record<string, string> = {},
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

const UNREAD = "The server does not respond. Nothing was changed. Check the connection and try again.";
/** The request may have arrived before the connection was lost. */
const UNANSWERED =
  "The server does not respond. Your change may not have been saved. Check the connection and the page, then try again.";

/** Labels of request fields in messages that differ from their names. */
const FIELD_NAMES: Record<string, string> = {
  token: "Link",
  url: "URL",
  event_types: "Events",
  expires_at: "Expiry",
  delta: "Credits",
  user_code: "Code",
  scopes: "Access",
  asset_id: "Recording",
};
/** Labels of an item of a list that differ from the label of the list. */
const ITEM_NAMES: Record<string, string> = { tags: "Tag", event_types: "Event", entries: "Entry" };

/**
 * Returns the label of a field. A field without an entry is derived from its name: `storage_quota_bytes` becomes
 * "Storage quota".
 */
const nameField = (name: string): string => {
  const words = name.replace(/_(?:bytes|id|seconds)$/, "").replaceAll("_", " ");
  return FIELD_NAMES[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
};

/** Replaces type names in messages of the API with wording that users understand. */
const nameProblem = (message: string): string =>
  message
    .replace(/must be a UUID(?: or null)?/, "is not valid")
    .replace(/ or null$/, "")
    .replace(/must be a string of (at most )?/, "must have $1")
    .replace("must be an integer", "must be a whole number");

/** Returns the name of a field, and the index of the item if the error is about one: `tags.3`. */
function splitPlace(place: readonly string[]): [name: string, item?: number] {
  const last = String(place.at(-1));
  return /^\d+$/.test(last) ? [String(place.at(-2)), Number(last)] : [last];
}

type FieldError = { loc: string[]; msg: string };
type PublicError = { code?: string; message?: string; reason?: string; fields?: { field: string; message: string }[] };
type ErrorBody = {
  detail?: string | FieldError[] | undefined;
  code?: string | undefined;
  reason?: string | undefined;
  error?: PublicError | string;
  error_description?: string;
};

/**
 * Converts an error body to the shape of the dashboard API. The API for API keys uses the shape of `/v1`; the API
 * for devices uses the shape of OAuth.
 */
function toDashboardShape(body: unknown): ErrorBody {
  const { error, error_description: detail, ...shown } = (body ?? {}) as ErrorBody;
  if (error === undefined) return shown;
  if (typeof error === "string") return { ...shown, detail, code: error };
  const fields = error.fields?.map(({ field, message }) => ({ loc: field.split("."), msg: message }));
  return { detail: fields ?? error.message, code: error.code, reason: error.reason };
}

/** The code of errors without one, and of unexpected ones. */
const NO_CODE = "internal_error";

/** Converts an error response of the API to an `ApiError`. */
export function toApiError(response: Response, body: unknown): ApiError {
  const { detail, code = NO_CODE, reason } = toDashboardShape(body);
  const retryAfter = Number(response.headers.get("retry-after")) || null;
  if (Array.isArray(detail)) {
    const fields: Record<string, string> = {};
    for (const { loc, msg } of detail) {
      const [name, item] = splitPlace(loc);
      const label = item === undefined ? nameField(name) : `${ITEM_NAMES[name] ?? nameField(name)} ${item + 1}`;
      fields[name] ??= `${label} ${nameProblem(msg)}.`;
    }
    return new ApiError(Object.values(fields).join(" "), "validation_error", response.status, fields);
  }
  const message =
    typeof detail === "string" ? nameResources(detail) : `The server is unavailable. ${toAdvice(retryAfter)}`;
  const shown = response.status === 429 ? `Too many attempts. ${toAdvice(retryAfter ?? 1)}` : message;
  return new ApiError(shown, reason ?? code, response.status, {}, retryAfter);
}

const toAdvice = (retryAfter: number | null): string =>
  retryAfter === null ? "Try again in a moment." : `Try again in ${formatWait(retryAfter)}.`;

const formatWait = (seconds: number): string =>
  seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : seconds > 1 ? `${seconds} seconds` : "1 second";

/** Adds the workspace to requests, and asks for the password when a call needs a recent sign-in. */
const middleware: Middleware = {
  onRequest: ({ request }) => {
    const workspace = currentWorkspaceId();
    if (workspace !== null && !request.headers.has("Offcut-Workspace"))
      request.headers.set("Offcut-Workspace", workspace);
    return request;
  },
};

const SIGN_IN = /\/api\/v1\/auth\/login(\/two-factor)?$/;

/** Statuses of rejected changes to data that differs from what the page shows. */
const OUTDATED = [403, 404, 409];

/** Sends a request, and counts rejected changes. */
export async function sendToServer(request: Request): Promise<Response> {
  const response = await sendAuthenticated(request);
  if (request.method !== "GET" && OUTDATED.includes(response.status)) rejections.value++;
  return response;
}

/** Sends a request. A call that needs a recent sign-in is repeated once after the user has entered the password. */
async function sendAuthenticated(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await fetchFromServer(request);
  if (response.status === 401) {
    // A wrong password does not mean that the session has ended.
    if (!SIGN_IN.test(request.url)) endSession();
    return response;
  }
  if (response.status !== 403) return response;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  const isTooOld = toDashboardShape(body).reason === "session_too_old";
  if (!isTooOld) refusals.value++;
  if (!isTooOld || !(await confirmPassword())) return response;
  return fetchFromServer(again);
}

async function fetchFromServer(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    reportAnswer();
    return response;
  } catch (error) {
    throw request.signal.aborted ? error : reportLost(request.method);
  }
}

/** Returns the error of a request that got no response, or not all of it. */
export function reportLost(method: string): ApiError {
  reportNoAnswer();
  return new ApiError(method === "GET" ? UNREAD : UNANSWERED, "offline", 0);
}

export const api = createClient<paths>({
  baseUrl: location.origin,
  credentials: "same-origin",
  fetch: sendToServer,
});
api.use(middleware);

type Answer<Data> = { data?: Data; error?: unknown; response: Response };

/** Returns the body of a successful response. Throws `ApiError`. */
export async function must<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await answer;
  if (!response.ok) throw toApiError(response, error);
  return data as Data;
}

/**
 * Whether a resource does not exist for the user, or its ID in the address is malformed. A proxy's 404, as while the
 * server restarts, has no code.
 */
export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && ["not_found", "validation_error"].includes(error.code);

/** Statuses of calls that fail again, however often they are sent. */
const FINAL = [400, 403, 404, 410, 413, 422];

/** Whether the same call fails again. A proxy may answer without a code of the API while the server restarts. */
export const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.code !== NO_CODE && FINAL.includes(error.status);

/** Whether a call failed because the balance does not cover it. */
export const needsCredits = (error: unknown): boolean =>
  error instanceof ApiError && error.code === "insufficient_credits";

/** Whether code or styles of the page failed to load. Browsers report that only in the text of the error. */
export const isLoadFailure = (error: unknown): boolean =>
  /dynamically imported module|importing a module script|styles were not loaded/i.test(String(error));

/** Returns the message to show for a failed call. */
export function toMessage(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return isLoadFailure(error)
    ? "Part of this page did not load. Reload it; edits of cuts are kept."
    : "That did not work. Try again, or reload the page.";
}

/**
 * Returns the address of a file of a recording for HTML elements, which cannot send the header that names a workspace.
 */
export const mediaUrl = (assetId: string, path: string, query: Record<string, string> = {}): string =>
  inWorkspace(currentWorkspaceId(), `/api/v1/assets/${assetId}/${path}`, query);

/** Returns the address of the file of an export of data. */
export const exportUrl = (workspaceId: string | null, exportId: string): string =>
  inWorkspace(workspaceId, `/api/v1/exports/${exportId}/file`, {});

function inWorkspace(workspaceId: string | null, path: string, query: Record<string, string>): string {
  const params = new URLSearchParams(query);
  if (workspaceId !== null) params.set("workspace_id", workspaceId);
  const text = params.toString();
  return `${path}${text === "" ? "" : `?${text}`}`;
}

/** Replaces "assets" in a message of the API with the word that pages use: "Delete recordings or renders." */
export const nameResources = (message: string): string =>
  message.replace(
    /(?<![\w@.-])(a)sset(s?)(?![\w@-]|\.\w)/gi,
    (_, first: string, plural: string) => `${first === "A" ? "R" : "r"}ecording${plural}`,
  );

/** Returns 32 random hexadecimal digits. `crypto.randomUUID` does not exist over plain HTTP. */
export const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
