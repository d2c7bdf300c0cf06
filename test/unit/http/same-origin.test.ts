import { expect, test } from "bun:test";
import { isSameOrigin } from "../../../src/http/dashboard/authentication";

const PUBLIC_URL = "https://cut.example";
const HTTP = { host: "studio.lan:4700", isSecure: false, publicUrl: "http://127.0.0.1:4700" };
const HTTPS = { host: "studio.lan", isSecure: true, publicUrl: PUBLIC_URL };

test.each<[string, string | null, Parameters<typeof isSameOrigin>[1]]>([
  ["the configured URL", "https://cut.example", HTTPS],
  ["the configured URL, behind a proxy that changes Host", "https://cut.example", { ...HTTP, publicUrl: PUBLIC_URL }],
  ["the configured URL with the default port", "https://cut.example:443", HTTPS],
  ["a path in the configured URL", "https://cut.example", { ...HTTP, publicUrl: "https://cut.example/offcut" }],
  ["the name on the LAN", "http://studio.lan:4700", HTTP],
  ["the name in capitals", "http://STUDIO.lan:4700", HTTP],
  ["the default port", "http://nas", { ...HTTP, host: "nas:80" }],
  ["an IPv6 address", "http://[fd00::1]:4700", { ...HTTP, host: "[fd00:0::1]:4700" }],
  ["TLS that a proxy ends which is not trusted", "https://studio.lan", { ...HTTP, host: "studio.lan" }],
  ["TLS", "https://studio.lan", HTTPS],
])("%s is the server's origin", (_, origin, request) => {
  expect(isSameOrigin(origin, request)).toBe(true);
});

test.each<[string, string | null, Parameters<typeof isSameOrigin>[1]]>([
  ["none", null, HTTP],
  ["an empty one", "", HTTP],
  ["an opaque one", "null", HTTP],
  ["another site", "https://evil.example", HTTPS],
  ["another port", "http://studio.lan:8080", HTTP],
  ["another scheme of the configured URL", "http://cut.example", HTTPS],
  ["an unencrypted page of an encrypted server", "http://studio.lan", HTTPS],
  ["a subdomain", "http://evil.studio.lan:4700", HTTP],
  ["a longer name", "http://studio.lan.evil.example:4700", HTTP],
  ["a name before an @", "http://studio.lan:4700@evil.example", HTTP],
  ["a file", "file:///studio.lan:4700", HTTP],
  ["an extension", "chrome-extension://studio.lan:4700", HTTP],
  ["a data URL", "data:text/html,x", HTTP],
  ["two", "http://studio.lan:4700, http://evil.example", HTTP],
  ["any, without a Host", "http://studio.lan:4700", { ...HTTP, host: null }],
  ["any, with an invalid Host", "http://studio.lan:4700", { ...HTTP, host: "studio lan" }],
])("%s is not", (_, origin, request) => {
  expect(isSameOrigin(origin, request)).toBe(false);
});
