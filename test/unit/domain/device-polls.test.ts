import { expect, test } from "bun:test";
import { decidePoll } from "../../../src/domain/device-grant";

const NOW = 1_000_000;
const CODE = { state: "pending", interval_seconds: 5, last_polled_at: null, expires_at: NOW + 60_000 } as const;

type Row = [name: string, change: Partial<Parameters<typeof decidePoll>[0]>, expected: object];
test.each<Row>([
  ["the first poll", {}, { error: "authorization_pending", intervalSeconds: 5 }],
  [
    "a poll after the interval",
    { last_polled_at: NOW - 5_000 },
    { error: "authorization_pending", intervalSeconds: 5 },
  ],
  [
    "a poll that was delayed less than the one before",
    { last_polled_at: NOW - 4_600 },
    { error: "authorization_pending" },
  ],
  ["an early poll", { last_polled_at: NOW - 4_000 }, { error: "slow_down", intervalSeconds: 10 }],
  [
    "a second early poll",
    { last_polled_at: NOW - 5_000, interval_seconds: 10 },
    { error: "slow_down", intervalSeconds: 15 },
  ],
  [
    "a client that never slows down",
    { last_polled_at: NOW, interval_seconds: 60 },
    { error: "slow_down", intervalSeconds: 60 },
  ],
  ["a clock that was set back", { last_polled_at: NOW + 3_600_000 }, { error: "slow_down", intervalSeconds: 10 }],
  ["an approved code", { state: "approved" }, { kind: "issue_key" }],
  ["an approved code, early", { state: "approved", last_polled_at: NOW }, { kind: "issue_key" }],
  ["an approved code that has expired", { state: "approved", expires_at: NOW }, { error: "expired_token" }],
  ["an expired code", { expires_at: NOW }, { error: "expired_token" }],
  ["a denied code", { state: "denied" }, { error: "access_denied" }],
  ["a denied code that has expired", { state: "denied", expires_at: 0 }, { error: "access_denied" }],
  ["a code that was exchanged", { state: "exchanged" }, { error: "invalid_grant" }],
  ["a code that was exchanged and has expired", { state: "exchanged", expires_at: 0 }, { error: "invalid_grant" }],
])("%s", (_, change, expected) => {
  expect(decidePoll({ ...CODE, ...change }, NOW)).toMatchObject(expected);
});
