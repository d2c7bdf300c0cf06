import { expect, test } from "bun:test";
import { createLog } from "../../../src/lib/log";

test("the last 2,000 lines are kept as JSON, also where the output is for a terminal and of loggers with fields", () => {
  const log = createLog(() => {}, true);
  const child = log.with({ request: "r" });
  for (let n = 0; n < 5_000; n++) (n % 2 === 0 ? log : child).info("tested", { n });
  const lines = log.recent().map((line) => JSON.parse(line));
  expect([lines.length, lines[0].n, lines.at(-1)]).toEqual([
    2_000,
    3_000,
    { time: expect.any(String), level: "info", event: "tested", request: "r", n: 4_999 },
  ]);
  expect(child.recent()).toEqual(log.recent());
});

test("long lines do not fill the memory", () => {
  const log = createLog(() => {}, false);
  log.info("kept");
  log.info("left_out", { text: "x".repeat(100_000) });
  expect(log.recent()).toHaveLength(1);
  for (let n = 0; n < 2_000; n++) log.info("long", { text: "x".repeat(19_000) });
  const characters = log.recent().reduce((sum, line) => sum + line.length, 0);
  expect(characters).toBeLessThanOrEqual(4_000_000);
  expect(characters).toBeGreaterThan(3_900_000);
});
