import { expect, test } from "bun:test";
import { silentLog } from "../../../src/lib/log";
import { createClockReader } from "../../../src/work/background";
import { until } from "../../until";

test("the clock is read every ten minutes and at the stop, also after a reading that failed", async () => {
  let uptime = 0;
  let reads = 0;
  const readClock = async () => {
    reads++;
    throw new Error("The disk is full.");
  };
  const reader = createClockReader({ log: silentLog() }, { readClock }, () => uptime);
  reader.start();
  for (const expected of [1, 2]) {
    uptime += 10 * 60_000;
    reader.wake();
    await until("a reading", async () => reads === expected);
  }
  await reader.stop();
  expect(reads).toBe(3);
});
