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
  ["an origin that is named", ["https://a"], "https://a", "https://a"],
  ["an origin when all are allowed", ["*"], "https://b", "https://b"],
  ["another origin", ["https://a"], "https://b", null],
  ["another port", ["https://a"], "https://a:8443", null],
  ["the null origin", ["https://a"], "null", null],
  ["a request without an origin", ["*"], null, null],
  ["nobody", [], "https://a", null],
])("%s", (_, origins, origin, expected) => {
  const headers = createCorsHeaders(origins, from(origin));
  expect(headers["Access-Control-Allow-Origin"] ?? null).toBe(expected);
  expect(headers["Access-Control-Allow-Credentials"]).toBeUndefined();
});

test("an upload in a browser can read and send what TUS needs", () => {
  const answer = respondToPreflight(["https://a"], from("https://a", "OPTIONS", true));
  expect(answer.status).toBe(204);
  const allowed = answer.headers.get("access-control-allow-headers")!.toLowerCase();
  for (const name of [
    "authorization",
    "tus-resumable",
    "upload-offset",
    "upload-metadata",
    "content-type",
    "x-http-method-override",
    "x-request-id",
  ]) {
    expect(allowed).toContain(name);
  }
  const exposed = answer.headers.get("access-control-expose-headers")!.toLowerCase();
  for (const name of ["location", "upload-offset", "upload-expires", "x-request-id", "content-range", "etag"]) {
    expect(exposed).toContain(name);
  }
  expect(answer.headers.get("access-control-allow-methods")).toContain("PATCH");
});

test("a preflight of an origin that may not call is refused", () => {
  expect(respondToPreflight(["https://a"], from("https://b", "OPTIONS", true)).status).toBe(403);
});

test("an OPTIONS request that asks for nothing is not a preflight", () => {
  expect(isPreflight(from("https://a", "OPTIONS"))).toBe(false);
  expect(isPreflight(from("https://a", "OPTIONS", true))).toBe(true);
  expect(isPreflight(from(null, "OPTIONS", true))).toBe(false);
});
