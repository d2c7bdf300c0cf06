/** Errors of the API as pages show them: no field names, no types, no status codes. */
import { beforeAll, expect, test } from "bun:test";
import { usePageGlobals } from "./page-globals";

usePageGlobals();
let toApiError: typeof import("../../../web/app/api").toApiError;
let toMessage: typeof import("../../../web/app/api").toMessage;
let isNotFound: typeof import("../../../web/app/api").isNotFound;
beforeAll(async () => {
  ({ isNotFound, toApiError, toMessage } = await import("../../../web/app/api"));
});

const invalid = (field: string, msg: string) => ({ detail: [{ loc: ["body", ...field.split(".")], msg, type: "x" }] });

test.each([
  [
    422,
    invalid("first_name", "must be a string of at most 120 characters or null"),
    "First name must have at most 120 characters.",
  ],
  [
    422,
    invalid("storage_quota_bytes", "must be an integer of at least 0 or null"),
    "Storage quota must be a whole number of at least 0.",
  ],
  [422, invalid("workspace_id", "must be a UUID or null"), "Workspace is not valid."],
  [422, invalid("asset_id", "must be a UUID"), "Recording is not valid."],
  [422, invalid("delta", "must be an integer"), "Credits must be a whole number."],
  [422, invalid("tags.3", "must be a string"), "Tag 4 must be a string."],
  [422, invalid("event_types.0", "must be a string"), "Event 1 must be a string."],
  [422, invalid("entries.0", "must be an object"), "Entry 1 must be an object."],
  [422, invalid("entries.0.spoken_as.1", "must be a string"), "Spoken as 2 must be a string."],
  [422, invalid("scopes.0", "must be a string"), "Access 1 must be a string."],
  [422, invalid("name", "must be a string of 1 to 200 characters"), "Name must have 1 to 200 characters."],
  [
    409,
    { detail: "Delete assets or renders. Asset a is not.", code: "conflict" },
    "Delete recordings or renders. Recording a is not.",
  ],
  [409, { detail: "asset@studio.example uses asset.mp4.", code: "conflict" }, "asset@studio.example uses asset.mp4."],
  [409, { detail: "Render is failed, not completed.", code: "conflict" }, "Render is failed, not completed."],
  [502, null, "The server is unavailable. Try again in a moment."],
  [500, {}, "The server is unavailable. Try again in a moment."],
] as const)("%i %j", (status, body, message) => {
  expect(toApiError(new Response(null, { status }), body).message).toBe(message);
});

test.each([
  [429, "30", "Too many attempts. Try again in 30 seconds."],
  [429, "1", "Too many attempts. Try again in 1 second."],
  [429, "600", "Too many attempts. Try again in 10 minutes."],
  [503, "45", "The server is unavailable. Try again in 45 seconds."],
])("%i says how long to wait", (status, seconds, message) => {
  const response = new Response(null, { status, headers: { "Retry-After": seconds } });
  expect(toApiError(response, {}).message).toBe(message);
});

test.each([
  // Chromium, Firefox and Safari.
  ["Failed to fetch dynamically imported module: https://offcut.example/app/chunk-a.js", true],
  ["error loading dynamically imported module: https://offcut.example/app/chunk-a.js", true],
  ["Importing a module script failed.", true],
  ["The styles were not loaded.", true],
  ["Failed to fetch", false],
  ["Cannot read properties of undefined (reading 'id')", false],
])("%s", (text, isLoad) => {
  const message = isLoad
    ? "Part of this page did not load. Reload it; edits of cuts are kept."
    : "That did not work. Try again, or reload the page.";
  expect(toMessage(new TypeError(text))).toBe(message);
});

test("an error of OAuth has its description and code", () => {
  const body = { error: "invalid_grant", error_description: "This code has expired." };
  expect(toApiError(new Response(null, { status: 400 }), body)).toMatchObject({
    message: "This code has expired.",
    code: "invalid_grant",
    status: 400,
  });
});

test.each([
  ["a proxy, without a body", 404, null, false],
  ["a proxy, without a code", 404, { detail: "default backend" }, false],
  ["the API", 404, { detail: "Recording not found.", code: "not_found" }, true],
  ["the API about a malformed ID", 422, invalid("asset_id", "must be a UUID"), true],
  ["the API about a refusal", 403, { detail: "No.", code: "forbidden" }, false],
] as const)("an answer of %s says whether something is gone only by its code", (_, status, body, expected) => {
  const error = toApiError(new Response(null, { status }), body);
  expect(isNotFound(error)).toBe(expected);
});
