/** Live events: however commits, readers and disconnections interleave, nothing is lost, repeated or reordered. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { createLog } from "../../../../src/lib/log";
import type { LiveEventFilter } from "../../../../src/store/live-events";
import { createLiveEvents, type LiveEvents } from "../../../../src/work/live/events";
import type { LiveFeed, LiveProgress } from "../../../../src/work/live/feed";
import { fullOr } from "../../../full-size";
import { until } from "../../../until";
import { freshStore, type TestStore } from "../../store/test-store";

setDefaultTimeout(fullOr(1_800_000, 180_000));

/** Small, so that readers fall behind often. */
const MAX_EVENTS = 3;
const FILTERS: LiveEventFilter[] = [
  { workspaceId: "w0", userId: "u0" },
  { workspaceId: "w1", userId: "u1" },
  { pipelineId: "p0" },
];

let fresh: TestStore;
let live: LiveEvents;
beforeEach(async () => {
  fresh = await freshStore();
  live = createLiveEvents({ store: fresh.store, log: createLog(() => {}, false), maxEvents: MAX_EVENTS });
  fresh.store.onCommit(live.wake);
});
afterEach(async () => {
  live.stop();
  await fresh[Symbol.asyncDispose]();
});

/** An event is of a workspace, perhaps in a pipeline, or of a user. */
type Written = { workspace: number | null; user: number | null; pipeline: boolean };

const commit = (events: Written[]): Promise<void> =>
  fresh.store.write(async (tx) => {
    for (const { workspace, user, pipeline } of events)
      await tx.run(sql`INSERT INTO live_events (workspace_id, user_id, type, entity_id, pipeline_id, created_at) VALUES (
        ${workspace === null ? null : `w${workspace}`}, ${user === null ? null : `u${user}`}, 'project.updated', 'e',
        ${pipeline ? "p0" : null}, 1)`);
  });

const listStored = async (filter: LiveEventFilter): Promise<number[]> => {
  const isMatch =
    "pipelineId" in filter
      ? sql`pipeline_id = ${filter.pipelineId}`
      : sql`workspace_id = ${filter.workspaceId} OR user_id = ${filter.userId}`;
  const rows = await fresh.store.read.all<{ id: number }>(sql`SELECT id FROM live_events WHERE ${isMatch} ORDER BY id`);
  return rows.map(({ id }) => id);
};

/** A client that connects again and again. `since`: the position at its first connection. */
class Reader {
  feed: LiveFeed | null = null;
  since: number | null = null;
  ids: number[] = [];
  wasCalled = false;
  constructor(readonly filter: LiveEventFilter) {}

  async connect(): Promise<void> {
    if (this.feed !== null) return;
    const last = this.ids.at(-1) ?? this.since;
    const opened = await live.open(this.filter, last === null ? null : String(last), () => {
      this.wasCalled = true;
    });
    expect(opened.isReset).toBe(false);
    this.feed = opened.feed;
    this.since ??= opened.feed.position();
  }

  disconnect(): void {
    this.feed?.close();
    this.feed = null;
  }

  async take(): Promise<number> {
    const { events } = (await this.feed?.take()) ?? { events: [] };
    this.ids.push(...events.map(({ id }) => id));
    return events.length;
  }
}

const PATIENCE_MS = 20_000;

/** Takes until the reader has this many events. */
async function receive(reader: Reader, count: number): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (reader.ids.length < count) {
    if (performance.now() > end) throw new Error(`${reader.ids.length} of ${count} events: ${reader.ids}`);
    if ((await reader.take()) === 0) await Bun.sleep(1);
  }
}

const written: fc.Arbitrary<Written> = fc.oneof(
  fc.record({ workspace: fc.nat(2), user: fc.constant(null), pipeline: fc.boolean() }),
  fc.record({ workspace: fc.constant(null), user: fc.nat(1), pipeline: fc.constant(false) }),
);
const action = fc.oneof(
  fc.record({ kind: fc.constant("commit" as const), events: fc.array(written, { minLength: 1, maxLength: 7 }) }),
  fc.record({ kind: fc.constantFrom("connect", "take", "take", "disconnect", "wait"), reader: fc.nat(4) }),
);

test("random commits, readers, resumes and disconnections", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), fc.boolean(), async (actions, isConcurrent) => {
      await commit([{ workspace: 2, user: null, pipeline: false }]);
      const readers = Array.from({ length: 5 }, (_, n) => new Reader(FILTERS[n % FILTERS.length]!));
      let running: Promise<unknown>[] = [];
      // A reader does one thing at a time, as a stream does.
      const queues = new Map<Reader, Promise<unknown>>();
      const enqueue = (reader: Reader, run: () => unknown) => {
        const next = (queues.get(reader) ?? Promise.resolve()).then(run);
        queues.set(reader, next);
        return next;
      };
      for (const step of actions) {
        if (step.kind === "commit") running.push(commit(step.events));
        else {
          const reader = readers[step.reader]!;
          if (step.kind === "connect") running.push(enqueue(reader, () => reader.connect()));
          else if (step.kind === "disconnect") running.push(enqueue(reader, () => reader.disconnect()));
          else if (step.kind === "take") running.push(enqueue(reader, () => reader.take()));
          else running.push(Bun.sleep(1));
        }
        if (isConcurrent && step.kind !== "wait") continue;
        await Promise.all(running);
        running = [];
      }
      await Promise.all(running);
      for (const reader of readers) {
        await reader.connect();
        const expected = (await listStored(reader.filter)).filter((id) => id > reader.since!);
        await receive(reader, expected.length);
        expect(reader.ids).toEqual(expected);
        expect(await reader.take()).toBe(0);
        reader.disconnect();
      }
    }),
    { numRuns: fullOr(5_000, 150) },
  );
});

const OWN: Written = { workspace: 0, user: null, pipeline: false };

async function openReader(filter = FILTERS[0]!): Promise<Reader> {
  const reader = new Reader(filter);
  await reader.connect();
  return reader;
}

test("a reader that takes nothing for long keeps a bounded number of events, and gets all of them afterwards", async () => {
  const reader = await openReader();
  for (let n = 0; n < 100; n++) await commit([OWN]);
  await until("the call", () => reader.wasCalled);
  const first = await reader.take();
  expect(first).toBeLessThanOrEqual(MAX_EVENTS);
  await receive(reader, 100);
  expect(reader.ids).toEqual(await listStored(reader.filter));
});

test("the position of an idle reader moves on with the events of others, so that it can resume after they were deleted", async () => {
  const reader = await openReader();
  for (let n = 0; n < 10; n++) await commit([{ workspace: 1, user: null, pipeline: false }]);
  await until("the position of the last event", () => reader.feed!.position() === 10);
  await reader.take();
  expect(reader.ids).toEqual([]);
});

test.each([
  ["0", false],
  ["1", true],
  ["4", false],
  ["9", false],
  ["10", false],
  ["11", true],
  ["", true],
  ["-1", true],
  ["0x1", true],
  ["1 ", true],
  ["99999999999999999999", true],
])("after Last-Event-ID %j of the events 4 to 10, reset is %p", async (lastEventId, isReset) => {
  await commit(Array(10).fill(OWN));
  await fresh.store.write((tx) => tx.run(sql`DELETE FROM live_events WHERE id < 4`));
  const opened = await live.open(FILTERS[0]!, lastEventId, () => {});
  expect(opened.isReset).toBe(isReset);
  if (isReset) expect(opened.feed.position()).toBe(10);
});

test("a failing read is tried again", async () => {
  const reader = await openReader();
  const { all } = fresh.store.read;
  let failures = 0;
  fresh.store.read.all = (() => {
    failures++;
    throw new Error("disk I/O error");
  }) as never;
  await commit([OWN]);
  await until("a failure", () => failures > 0);
  fresh.store.read.all = all;
  await receive(reader, 1);
  expect(reader.ids).toEqual([1]);
});

test("progress: at most one in half a second and entity, the latest, and none after a change of state", async () => {
  const seen: LiveProgress[] = [];
  const reader = new Reader(FILTERS[2]!);
  const { feed } = await live.open(reader.filter, null, () => {});
  const subject = { workspaceId: "other", pipelineId: "p0", entityId: "e" };
  const take = async () => seen.push(...(await feed.take()).progress);
  for (const share of [0.1, 0.2, 0.3]) live.publishProgress(subject, share);
  live.publishProgress({ ...subject, pipelineId: "p1" }, 0.9);
  live.publishProgress({ ...subject, entityId: "f" }, 0.5);
  await take();
  expect(seen).toEqual([
    { entity_id: "e", progress: 0.1 },
    { entity_id: "f", progress: 0.5 },
  ]);
  await Bun.sleep(550);
  await take();
  expect(seen.slice(2)).toEqual([{ entity_id: "e", progress: 0.3 }]);
  live.publishProgress(subject, 0.4);
  await commit([{ workspace: 0, user: null, pipeline: true }]);
  await Bun.sleep(550);
  const last = await feed.take();
  expect([last.events.length, last.progress]).toEqual([1, []]);
});
