// Calls of the dashboard API from the account pages.

/** An answer that is not a success: what to show, and the names of the fields that are wrong. */
export class ApiError extends Error {
  constructor(message, code, fields) {
    super(message);
    this.code = code;
    this.fields = fields;
  }
}

const OFFLINE = "The server does not respond. Check the connection and try again.";

/** Calls `/api/v1` and returns the JSON body, null for an empty one. Throws `ApiError`. */
export async function call(method, path, body) {
  const request = { method, headers: { accept: "application/json" }, credentials: "same-origin" };
  if (body !== undefined) {
    request.headers["content-type"] = "application/json";
    request.body = JSON.stringify(body);
  }
  const response = await fetch(`/api/v1/${path}`, request).catch(() => {
    throw new ApiError(OFFLINE, "offline", []);
  });
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer;
  throw toApiError(response, answer);
}

function toApiError(response, answer) {
  const { detail, code = "internal_error" } = answer ?? {};
  if (Array.isArray(detail)) {
    const fields = detail.map(({ loc }) => String(loc.at(-1)));
    const messages = detail.map(({ loc, msg }) => `${nameOf(String(loc.at(-1)))} ${msg}.`);
    return new ApiError(messages.join(" "), "validation_error", fields);
  }
  const seconds = Number(response.headers.get("retry-after"));
  if (response.status === 429) return new ApiError(`Too many attempts. Try again in ${formatWait(seconds)}.`, code, []);
  return new ApiError(typeof detail === "string" ? detail : "Something went wrong. Try again.", code, []);
}

const NAMES = { email: "Email address", password: "Password", token: "Link", code: "Code" };
const nameOf = (field) => NAMES[field] ?? field;

const formatWait = (seconds) =>
  seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.max(1, seconds)} seconds`;
