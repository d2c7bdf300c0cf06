import { expect, test } from "bun:test";
import { createCorsHeaders, isPreflight, respondToPreflight } from "../../../src/http/cors";

const from = (origin: string | null, method = "GET", asks = false) =>
  new Request("http://offcut/", {
    method,
    headers: {
      ...(origin === null ? {} : { Origin: origin }),
      ...(asks ? { "Access-Control-Request-Method": "PATCH" } : {}),
    },
  });

test.each<[string, string[], string | null, string | null]>([
  ["an allowed origin", ["https://a"], "https://a", "https://a"],
  ["any origin if all are allowed", ["*"], "https://b", "https://b"],
  ["another origin", ["https://a"], "https://b", null],
  ["another port", ["https://a"], "https://a:8443", null],
  ["the null origin", ["https://a"], "null", null],
  ["a request without an origin", ["*"], null, null],
  ["no allowed origins", [], "https://a", null],
])("%s", (_, origins, origin, expected) => {
  const headers = createCorsHeaders(origins, from(origin));
  expect(headers["Access-Control-Allow-Origin"] ?? null).toBe(expected);
  expect(headers["Access-Control-Allow-Credentials"]).toBeUndefined();
});

test("a browser may send and read the headers and methods that uploads and live updates need", () => {
  const response = respondToPreflight(["https://a"], from("https://a", "OPTIONS", true));
  expect(response.status).toBe(204);
  const allowed = response.headers.get("access-control-allow-headers")!.toLowerCase();
  for (const name of [
    "authorization",
    "tus-resumable",
    "upload-offset",
    "upload-metadata",
    "content-type",
    "x-http-method-override",
    "x-request-id",
    "last-event-id",
  ]) {
    expect(allowed).toContain(name);
  }
  const exposed = response.headers.get("access-control-expose-headers")!.toLowerCase();
  for (const name of [
    "location",
    "upload-offset",
    "upload-expires",
    "x-request-id",
    "content-range",
    "etag",
    "last-event-id",
  ]) {
    expect(exposed).toContain(name);
  }
  const methods = response.headers.get("access-control-allow-methods")!.split(", ");
  expect(methods).toEqual(expect.arrayContaining(["HEAD", "PUT", "PATCH", "DELETE"]));
});

test("a preflight of another origin is refused", () => {
  expect(respondToPreflight(["https://a"], from("https://b", "OPTIONS", true)).status).toBe(403);
});

test("an OPTIONS request without a requested method is not a preflight", () => {
  expect(isPreflight(from("https://a", "OPTIONS"))).toBe(false);
  expect(isPreflight(from("https://a", "OPTIONS", true))).toBe(true);
  expect(isPreflight(from(null, "OPTIONS", true))).toBe(false);
});
