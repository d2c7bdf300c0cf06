import { expect, test } from "bun:test";
import { createPasswords, requireGoodPassword } from "../../../../src/work/identity/passwords";
import { measureProcessorMs } from "../../../processor-time";

const find = (hash: string | null) => async () => hash;

const LIMITS = { maxRunning: 1, maxRunningPerKey: 1, maxWaiting: 1024, maxWaitingPerKey: 256, maxWaitMs: 30_000 };

test("a password verifies against its own hash only, in either Unicode form", async () => {
  const passwords = createPasswords();
  const hash = await passwords.hash("a", "Gr\u00fc\u00dfe aus K\u00f6ln");
  expect(hash).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$");
  expect(await passwords.verify("a", "Gru\u0308\u00dfe aus Ko\u0308ln", find(hash))).toBe(true);
  expect(await passwords.verify("a", "gr\u00fc\u00dfe aus k\u00f6ln", find(hash))).toBe(false);
  for (const password of ["", "-", "x".repeat(100_000)])
    expect(await passwords.verify("a", password, find(hash))).toBe(false);
});

test("without a hash no password verifies, and the refusal takes as long", async () => {
  const passwords = createPasswords();
  const hash = await passwords.hash("a", "correct horse");
  const time = (stored: string | null) =>
    measureProcessorMs(async () => expect(await passwords.verify("a", "wrong horse", find(stored))).toBe(false));
  for (const password of ["", "-", "correct horse"])
    expect(await passwords.verify("a", password, find(null))).toBe(false);
  const ratios: number[] = [];
  for (let i = 0; i < 5; i++) ratios.push((await time(hash)) / (await time(null)));
  ratios.sort((a, b) => a - b);
  expect(ratios[2]).toBeGreaterThan(0.5);
  expect(ratios[2]).toBeLessThan(2);
}, 120_000);

test("when too many wait, further calls are refused with Retry-After, and the others are served", async () => {
  const passwords = createPasswords({ limits: { ...LIMITS, maxWaitingPerKey: 2 } });
  const calls = Array.from({ length: 5 }, () => passwords.verify("a", "x", find(null)));
  const other = passwords.verify("b", "x", find(null));
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.map(({ status }) => status)).toEqual([...Array(3).fill("fulfilled"), ...Array(2).fill("rejected")]);
  expect(outcomes[4]).toMatchObject({
    reason: { code: "upstream_unavailable", details: { retryAfterSeconds: expect.any(Number) } },
  });
  expect(await other).toBe(false);
}, 120_000);

test("a check that fails when it is the call's turn refuses it without a hash", async () => {
  const passwords = createPasswords({ limits: LIMITS });
  await expect(passwords.verify("a", "x", () => Promise.reject(new Error("limit")))).rejects.toThrow("limit");
});

test("a password that cannot be chosen is an error of its field, which does not repeat it", () => {
  expect(() => requireGoodPassword("correct horse", "a@b")).not.toThrow();
  const refused = (() => {
    try {
      requireGoodPassword("hunter2", "a@b");
    } catch (error) {
      return error;
    }
  })();
  expect(refused).toMatchObject({
    code: "validation_error",
    message: "Password must have 10 to 200 characters.",
    details: { fields: [{ field: "body.password", input: null }] },
  });
  expect(JSON.stringify(refused)).not.toContain("hunter2");
});
