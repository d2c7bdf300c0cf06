import { expect, test } from "bun:test";
import { formatExpiredCookies, formatSessionCookies, readSessionCookie } from "../../../src/http/dashboard/cookies";

test("the cookie is for this server alone, and over TLS no other site of its domain can set it", () => {
  const usual = "service_session=a.b.c; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax";
  expect(formatSessionCookies("a.b.c", false)).toEqual([usual]);
  expect(formatSessionCookies("a.b.c", true)).toEqual([`__Host-${usual}; Secure`, `${usual}; Secure`]);
  const expired = "service_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure";
  expect(formatExpiredCookies(true)).toEqual([`__Host-${expired}`, expired]);
});

const read = (cookie: string | null, isSecure: boolean, headers: Record<string, string> = {}) =>
  readSessionCookie(
    new Request("http://x", { headers: { ...headers, ...(cookie === null ? {} : { cookie }) } }),
    isSecure,
  );

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
  for (const isSecure of [false, true]) expect(read(header, isSecure)).toBe(token);
});

test.each([
  // cookies, the token over TLS that a browser sends, that a program sends
  ["__Host-service_session=own; service_session=planted", "own", "own"],
  ["service_session=planted; __Host-service_session=own", "own", "own"],
  ["service_session=planted; __Host-service_session=", null, "planted"],
  ["service_session=planted", null, "planted"],
])("%p of a browser over TLS", (cookie, browser, program) => {
  expect(read(cookie, true, { "Sec-Fetch-Site": "same-origin" })).toBe(browser);
  expect(read(cookie, true)).toBe(program);
  expect(read(cookie, false, { "Sec-Fetch-Site": "same-origin" })).toBe(program);
});
