/** When the weekly check of all files runs, with clocks that are moved. */
import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { getFolders } from "../../../../src/blobs/folders";
import { createLog } from "../../../../src/lib/log";
import type { BackupNeeds } from "../../../../src/work/backup/backups";
import { createScrubber } from "../../../../src/work/upkeep/scrubber";
import { until } from "../../../until";
import { addAsset, addUser, freshStore } from "../../store/test-store";

const MINUTE = 60_000;
const WEEK = 7 * 24 * 60 * MINUTE;
/** A Wednesday. */
const NOW = Date.parse("2027-02-03T12:00:00Z");

test("a pass runs a while after the start, once a week, again an hour after it was paused or failed, and ends with the server", async () => {
  await using fresh = await freshStore();
  const folders = getFolders(fresh.folder);
  for (const folder of [folders.mediaRoot, folders.rendersRoot, folders.uploads]) await mkdir(folder);
  // Its files are not checked before it is complete.
  await fresh.store.write(async (tx) => addAsset(tx, await addUser(tx), { state: "pending_upload" }));
  const clock = { now: NOW, uptime: 0 };
  const online = { isOnline: true, error: null as Error | null, wait: Promise.resolve(true), isWaiting: false };
  const events: string[] = [];
  let polls = 0;
  const services = {
    backups: {},
    config: { backupTo: null },
    disk: { isCritical: () => false },
    folders,
    log: createLog((line) => events.push((JSON.parse(line) as { event: string }).event), false),
    // Each poll asks for the time first.
    now: () => {
      polls++;
      return clock.now;
    },
    store: fresh.store,
  } as unknown as BackupNeeds;
  const isOnline = async () => {
    if (online.error !== null) throw online.error;
    online.isWaiting = true;
    await online.wait;
    return online.isOnline;
  };
  const tools = { ffmpeg: { path: "/nonexistent" }, jobCommand: ["/bin/false"], sandbox: { mode: "none" } } as never;
  let looks = 0;
  const uptime = () => {
    looks++;
    return clock.uptime;
  };
  const scrubber = createScrubber(services, tools, { isOnline, clock: uptime });
  /** Polls after some time, and returns the log entry of the pass; null without a pass. */
  const pollAfter = async (milliseconds: number): Promise<string | null> => {
    clock.uptime += milliseconds;
    events.length = 0;
    [polls, looks] = [0, 0];
    scrubber.wake();
    await until("a poll", () => polls > 0);
    // A pass records its start immediately.
    return looks < 2 ? null : until("the end of the pass", () => events[0]);
  };
  scrubber.start();
  expect(await pollAfter(14 * MINUTE)).toBeNull();
  online.isOnline = false;
  expect(await pollAfter(MINUTE)).toBe("scrub.paused");
  expect(await pollAfter(59 * MINUTE)).toBeNull();
  online.error = new Error("The disk does not respond.");
  expect(await pollAfter(MINUTE)).toBe("scrub.failed");
  Object.assign(online, { isOnline: true, error: null });
  expect(await pollAfter(59 * MINUTE)).toBeNull();
  expect(await pollAfter(MINUTE)).toBe("scrub.completed");
  expect(await pollAfter(90 * MINUTE)).toBeNull();
  clock.now += WEEK;
  expect(await pollAfter(0)).toBe("scrub.completed");
  clock.now += WEEK;
  // The stop interrupts a pass, which is not an error.
  const waiting = Promise.withResolvers<boolean>();
  Object.assign(online, { wait: waiting.promise, isWaiting: false });
  clock.uptime += 90 * MINUTE;
  events.length = 0;
  scrubber.wake();
  await until("a pass", () => online.isWaiting);
  const stopped = scrubber.stop();
  waiting.resolve(true);
  await stopped;
  expect([events, scrubber.isStopped]).toEqual([[], true]);
});
