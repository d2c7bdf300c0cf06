import { expect, test } from "bun:test";
import { isLocalPath } from "../../../src/domain/oidc";

const ORIGIN = "http://offcut.example:4700";

test.each([
  "/",
  "/projects",
  "/projects/1?tab=cuts&x=//evil.example#top",
  "/a/../b",
  "/%2F%2Fevil.example",
  "/.//evil.example",
])("%s is a path of this server", (path) => {
  expect(isLocalPath(path)).toBe(true);
  expect(new URL(path, ORIGIN).origin).toBe(ORIGIN);
});

test.each([
  "",
  "projects",
  "//evil.example",
  "///evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "/a\\b",
  "https://evil.example/",
  "javascript:alert(1)",
  " /projects",
  "/\t/evil.example",
  "/\n/evil.example",
  "/a\r\nSet-Cookie: a=b",
  "/a b",
  "/ü",
  "/\u0000",
  "?redirect=/",
  "#",
  `/${"a".repeat(2048)}`,
])("%j is not", (text) => {
  expect(isLocalPath(text)).toBe(false);
});
