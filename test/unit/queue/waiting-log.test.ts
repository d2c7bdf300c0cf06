/** The log names the reason for which a job waits, once for each situation. */
import { expect, test } from "bun:test";
import { createLog } from "../../../src/lib/log";
import { until } from "../../until";
import { openRunner } from "./open-runner";

test("a job that waits for a slot is logged once, and again when something has changed", async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog((line) => lines.push(JSON.parse(line)), false, "debug");
  const waiting = () =>
    lines.filter(({ event }) => event === "job.waiting").map(({ job, running, slots }) => [job, running, slots]);
  await using b = openRunner({ log, heartbeatMs: 60_000, timeSliceMs: 60_000 });
  b.source.add("first", { workspaceId: "w" });
  b.source.add("second", { workspaceId: "w" });
  b.source.add("third", { workspaceId: "w" });
  b.runner.start();
  const first = await b.work.nth(1);
  await until("the second job to be logged", () => waiting().length > 0);
  // Both passes find the same as the last one.
  for (let n = 0; n < 2; n++) {
    const asked = b.source.asked();
    b.runner.wake();
    await asked;
  }
  first.finish();
  await b.work.nth(2);
  await until("the third job to be logged", () => waiting().length > 1);
  expect(waiting()).toEqual([
    ["second", 1, 1],
    ["third", 1, 1],
  ]);
  expect(lines.filter(({ event }) => event === "job.started").map(({ job }) => job)).toEqual(["first", "second"]);
});
