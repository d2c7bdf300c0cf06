import { expect, test } from "bun:test";
import {
  formatExpiredCookie,
  formatSessionCookie,
  readSessionCookie,
} from "../../../src/http/dashboard/session-cookie";

test("the cookie is for this server alone, and Secure over TLS", () => {
  const usual = "service_session=a.b.c; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax";
  expect(formatSessionCookie("a.b.c", false)).toBe(usual);
  expect(formatSessionCookie("a.b.c", true)).toBe(`${usual}; Secure`);
  expect(formatExpiredCookie(true)).toBe("service_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure");
});

test.each([
  [null, null],
  ["", null],
  ["service_session=a.b.c", "a.b.c"],
  ["x=1;service_session=a.b.c; y=2", "a.b.c"],
  ["service_session=", null],
  ["xservice_session=a", null],
  ["Service_Session=a", null],
  ["service_session", null],
  ["service_session=a; service_session=b", null],
  ["service_session=a; service_session=a", null],
])("%p has the token %p", (header, token) => {
  expect(readSessionCookie(header)).toBe(token);
});
