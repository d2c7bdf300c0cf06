import { expect, test } from "bun:test";
import { createSignInLimits, toNetwork } from "../../../../src/work/identity/sign-in-limits";

const MINUTE_MS = 60_000;

function limitsAt() {
  let now = 1_800_000_000_000;
  const limits = createSignInLimits(() => now);
  const outcome = (act: () => void) => {
    try {
      act();
      return "allowed";
    } catch (error) {
      return (error as { code: string; details: { retryAfterSeconds: number } }).details.retryAfterSeconds;
    }
  };
  return {
    check: (account: string, address: string) => outcome(() => limits.check({ account, address })),
    fail: (account: string, address: string, times = 1) => {
      for (let i = 0; i < times; i++) limits.recordFailure({ account, address });
    },
    succeed: (account: string, address: string) => limits.recordSuccess({ account, address }),
    call: (address: string | null) => outcome(() => limits.takeAnonymousCall(address)),
    pass: (minutes: number) => {
      now += minutes * MINUTE_MS;
    },
  };
}

test("10 failures in 15 minutes close an account for every address, whether or not it exists", () => {
  const { check, fail, pass } = limitsAt();
  fail("anna@example.test", "192.0.2.1", 9);
  expect(check("anna@example.test", "192.0.2.1")).toBe("allowed");
  pass(5);
  fail(" ANNA@example.test", "192.0.2.1");
  expect(check("Anna@Example.test ", "192.0.2.9")).toBe(600);
  expect(check("bert@example.test", "192.0.2.1")).toBe("allowed");
  pass(10);
  expect(check("anna@example.test", "192.0.2.1")).toBe("allowed");
  fail("anna@example.test", "192.0.2.1", 9);
  expect(check("anna@example.test", "192.0.2.1")).toBe(300);
});

test("a success opens the account, but not the address", () => {
  const { check, fail, succeed } = limitsAt();
  for (let i = 0; i < 49; i++) fail(`user${i}@example.test`, "192.0.2.1");
  fail("anna@example.test", "192.0.2.2", 9);
  succeed("anna@example.test", "192.0.2.2");
  fail("anna@example.test", "192.0.2.2", 9);
  expect(check("anna@example.test", "192.0.2.2")).toBe("allowed");
  fail("user49@example.test", "192.0.2.1");
  succeed("user49@example.test", "192.0.2.1");
  expect(check("anna@example.test", "192.0.2.1")).toBe(900);
});

test("20 calls an hour without authentication, for each address", () => {
  const { call, pass } = limitsAt();
  for (let i = 0; i < 20; i++) expect(call("192.0.2.1")).toBe("allowed");
  expect(call("192.0.2.1")).toBe(3600);
  expect(call("192.0.2.2")).toBe("allowed");
  expect(call(null)).toBe("allowed");
  pass(60);
  expect(call("192.0.2.1")).toBe("allowed");
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::", "2001:db8:1:2"],
  [null, "unknown"],
  ["unix:", "unknown"],
])("%p counts as %s", (address, network) => {
  expect(toNetwork(address)).toBe(network);
});
