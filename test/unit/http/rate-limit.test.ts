import { expect, test } from "bun:test";
import { createRateLimiter } from "../../../src/http/rate-limit";

const START = 1_000_000;

/** Returns how many of `tries` requests at `now` are allowed. */
function countAllowed(take: (now: number) => { allowed: boolean }, tries: number, now: number): number {
  return Array.from({ length: tries }, () => take(now)).filter((result) => result.allowed).length;
}

test("600 requests per minute allow a burst of 100, then one request every 100 ms", () => {
  const limiter = createRateLimiter(600);
  const take = (now: number) => limiter.take("anna", now);
  expect(countAllowed(take, 150, START)).toBe(100);
  expect(countAllowed(take, 10, START + 99)).toBe(0);
  expect(countAllowed(take, 10, START + 100)).toBe(1);
  expect(countAllowed(take, 10, START + 1_100)).toBe(10);
  expect(countAllowed(take, 200, START + 3_600_000)).toBe(100);
});

test("a lower limit has a smaller burst", () => {
  const limiter = createRateLimiter(3);
  const take = (now: number) => limiter.take("anna", now);
  expect(countAllowed(take, 10, START)).toBe(3);
  expect(countAllowed(take, 10, START + 20_000)).toBe(1);
});

test("users do not share a bucket", () => {
  const limiter = createRateLimiter(1);
  expect(["anna", "bert", "anna"].map((user) => limiter.take(user, START).allowed)).toEqual([true, true, false]);
});

test("a response reports the remaining requests, and a refusal the time to wait", () => {
  const limiter = createRateLimiter(60);
  for (let n = 0; n < 59; n++) limiter.take("anna", START);
  expect(limiter.take("anna", START)).toEqual({
    allowed: true,
    retryAfterSeconds: 0,
    headers: {
      "RateLimit-Policy": '"user";q=60;w=60',
      RateLimit: '"user";r=0;t=60',
      "RateLimit-Limit": "60",
      "RateLimit-Remaining": "0",
      "RateLimit-Reset": "60",
    },
  });
  const refused = limiter.take("anna", START);
  expect(refused).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
  expect(limiter.take("anna", START + refused.retryAfterSeconds * 1_000).allowed).toBe(true);
});

test("a clock that is set back changes no bucket", () => {
  const limiter = createRateLimiter(60);
  expect(countAllowed((now) => limiter.take("anna", now), 60, START)).toBe(60);
  expect(limiter.take("anna", START - 60_000).allowed).toBe(false);
});

test("0 disables the limit and its headers", () => {
  const limiter = createRateLimiter(0);
  expect(countAllowed((now) => limiter.take("anna", now), 10_000, START)).toBe(10_000);
  expect(limiter.take("anna", START).headers).toEqual({});
});
