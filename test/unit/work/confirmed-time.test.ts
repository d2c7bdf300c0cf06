import { expect, test } from "bun:test";
import { listClockReadings } from "../../../src/store/clock-readings";
import { type ConfirmedTime, openConfirmedTime } from "../../../src/work/confirmed-time";
import { freshStore } from "../store/test-store";

const START = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A machine whose clock and uptime the test sets. */
async function machine() {
  const db = await freshStore();
  const at = { time: START, uptime: 0 };
  let confirmed: ConfirmedTime;
  const start = async () => {
    confirmed = await openConfirmedTime({ store: db.store, now: () => at.time }, () => at.uptime);
  };
  await start();
  return {
    start,
    confirmed: () => confirmed.get(),
    /** Runs for some minutes, with a reading every ten and one at the end. */
    run: async (minutes: number) => {
      for (let left = minutes; left > 0; left -= 10) {
        at.time += Math.min(left, 10) * MINUTE_MS;
        at.uptime += Math.min(left, 10) * MINUTE_MS;
        await confirmed.readClock();
      }
    },
    jump: (milliseconds: number) => {
      at.time += milliseconds;
    },
    sleep: (milliseconds: number) => {
      at.uptime += milliseconds;
    },
    readings: () => listClockReadings(db.store.read),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

test("a time is confirmed after almost an hour past it", async () => {
  await using m = await machine();
  await m.run(50);
  expect(m.confirmed()).toBe(0);
  await m.run(10);
  expect(m.confirmed()).toBe(START + 10 * MINUTE_MS);
  await m.run(300);
  expect(m.confirmed()).toBe(START + 310 * MINUTE_MS);
  expect((await m.readings()).length).toBeLessThan(8);
});

test.each([
  ["20 minutes at a time", 20, 6],
  ["3 minutes at a time", 3, 30],
])("running time adds up across restarts: %s, a day apart", async (_, minutes, starts) => {
  await using m = await machine();
  for (let n = 0; n < starts; n++) {
    await m.start();
    await m.run(minutes);
    m.jump(DAY_MS);
  }
  expect(m.confirmed()).toBeWithin(START + 1, START + starts * DAY_MS);
  expect((await m.readings()).length).toBeLessThan(15);
});

test("a clock that is ahead confirms nothing unless it stays so for almost an hour", async () => {
  await using m = await machine();
  await m.run(100);
  const before = m.confirmed();
  m.jump(100 * DAY_MS);
  await m.run(40);
  expect(m.confirmed()).toBeLessThan(START + DAY_MS);
  m.jump(-100 * DAY_MS);
  await m.run(10);
  // The readings of the wrong time are gone: it starts again.
  m.jump(100 * DAY_MS);
  await m.run(50);
  expect(m.confirmed()).toBeWithin(before, START + DAY_MS);
  await m.run(10);
  expect(m.confirmed()).toBeGreaterThan(START + 100 * DAY_MS);
  // A time that has been confirmed and was wrong.
  m.jump(-100 * DAY_MS);
  expect(m.confirmed()).toBe(0);
});

test("a clock that is ahead at the start confirms nothing, also not one that is corrected between short runs", async () => {
  await using m = await machine();
  for (let n = 0; n < 10; n++) {
    m.jump(100 * DAY_MS);
    await m.start();
    await m.run(9);
    m.jump(-100 * DAY_MS);
    await m.run(9);
  }
  expect(m.confirmed()).toBeLessThan(START + DAY_MS);
});

test("a clock that is behind at the start voids nothing when it is set before the first reading", async () => {
  await using m = await machine();
  await m.run(60);
  const confirmed = m.confirmed();
  m.jump(-START);
  await m.start();
  expect(m.confirmed()).toBe(0);
  m.jump(START);
  await m.run(10);
  expect(m.confirmed()).toBeGreaterThanOrEqual(confirmed);
});

test("a process that was stopped for a day has not run for a day", async () => {
  await using m = await machine();
  await m.run(10);
  m.sleep(DAY_MS);
  await m.run(10);
  expect(m.confirmed()).toBe(0);
});
