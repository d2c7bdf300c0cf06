import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { generateSync } from "otplib";
import { createTotpSecret, verifyTotpCode } from "../../../../src/work/identity/totp";

const NOW = 1_700_000_010_000;
const STEP_SECONDS = 30;
const STEP = Math.floor(NOW / 1000 / STEP_SECONDS);
const { secret, url } = createTotpSecret("anna+cut@example.com");
const codeAt = (ms: number) => generateSync({ secret, epoch: Math.floor(ms / 1000) });

describe("authenticator codes", () => {
  test("the URL names the product and the account", () => {
    expect(new URL(url).protocol).toBe("otpauth:");
    expect(decodeURIComponent(url)).toContain("Offcut:anna+cut@example.com");
    expect(new URL(url).searchParams.get("secret")).toBe(secret);
  });

  test("the vectors of RFC 6238, last six digits", () => {
    const known = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    for (const [seconds, code] of [
      [59, "287082"] as const,
      [1_111_111_109, "081804"] as const,
      [2_000_000_000, "279037"] as const,
    ])
      expect(verifyTotpCode(known, code, seconds * 1000, null)).toBe(Math.floor(seconds / STEP_SECONDS));
  });

  const rows: [name: string, code: string, lastStep: number | null, expected: number | null][] = [
    ["the current code", codeAt(NOW), null, STEP],
    ["the previous one", codeAt(NOW - 30_000), null, STEP - 1],
    ["the next one", codeAt(NOW + 30_000), null, STEP + 1],
    ["one of a minute ago", codeAt(NOW - 61_000), null, null],
    ["a replayed code", codeAt(NOW), STEP, null],
    ["a code older than the last one", codeAt(NOW - 30_000), STEP, null],
    ["a code after the last one", codeAt(NOW), STEP - 1, STEP],
    ["nothing", "", null, null],
    ["five digits", codeAt(NOW).slice(1), null, null],
    ["seven digits", `${codeAt(NOW)}0`, null, null],
    ["letters", "abcdef", null, null],
    ["digits of another script", "１２３４５６", null, null],
  ];
  test.each(rows)("%s", (_, code, lastStep, expected) => {
    expect(verifyTotpCode(secret, code, NOW, lastStep)).toBe(expected);
  });

  test("no text is an error", () => {
    fc.assert(fc.property(fc.string(), (code) => verifyTotpCode(secret, code, NOW, STEP + 1) === null));
  });
});
