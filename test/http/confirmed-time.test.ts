/** The confirmed time of a server, by which it deletes what is old. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { listClockReadings, replaceClockReadings } from "../../src/store/clock-readings";
import { findStoredResponse, insertStoredResponse } from "../../src/store/idempotency";
import { harness, PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

test("a stop reads the clock, and a start deletes what is old at the time that was confirmed", async () => {
  await using server = await harness({}, { isTimeConfirmed: false });
  const { userId } = await server.user();
  const old = { user_id: userId, key: "old", request_hash: "", status: 200, body: "{}", headers: {}, created_at: 0 };
  await server.services().store.write((tx) => insertStoredResponse(tx, old));
  const find = () => findStoredResponse(server.services().store.read, userId, "old");
  let time = 0;
  await server.restart(async (store) => {
    const readings = await listClockReadings(store.read);
    expect(readings).toHaveLength(1);
    time = readings[0]!.time;
  });
  expect(server.services().confirmedNow()).toBe(0);
  expect(await find()).not.toBeNull();
  const hour = 3600_000;
  await server.restart((store) => store.write((tx) => replaceClockReadings(tx, [{ time, running_ms: hour }])));
  expect(server.services().confirmedNow()).toBe(time);
  expect(await find()).toBeNull();
});
