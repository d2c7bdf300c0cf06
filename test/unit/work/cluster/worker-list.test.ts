/** Join tokens, and the list of workers: joining, connections, and the history of runs. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { WorkerAnnouncement } from "../../../../src/domain/worker-messages";
import { WORKER_PROTOCOL } from "../../../../src/domain/workers";
import { newId } from "../../../../src/lib/ids";
import { silentLog } from "../../../../src/lib/log";
import { deleteOldWorkerRuns, deleteRevokedTokensBefore } from "../../../../src/store/workers";
import { COMMAND_ACTOR } from "../../../../src/work/access/audit";
import {
  createWorkerList,
  LOST_AFTER_MS,
  type WorkerChange,
  type WorkerNeeds,
} from "../../../../src/work/cluster/worker-list";
import {
  authenticateWorker,
  createWorkerToken,
  revokeToken,
  revokeWorker,
  setDraining,
} from "../../../../src/work/cluster/worker-tokens";
import { addStep, addUser, freshStore } from "../../store/test-store";

const START = 1_800_000_000_000;
const ANNOUNCEMENT: WorkerAnnouncement = {
  protocol: WORKER_PROTOCOL,
  version: "0.1.0",
  bootId: "11111111-1111-4111-8111-111111111111",
  jobs: ["render", "cut"],
  slots: 2,
  encoding: { ffmpeg: "7.1", libavutil: 59, encoder: "libx264", hasZscale: true },
  sandbox: { mode: "bwrap", reason: null },
  languages: ["en"],
  freeBytes: 5_000,
};

async function cluster() {
  const { store, ...db } = await freshStore();
  const clock = { now: START };
  const now = () => clock.now;
  const workerList = createWorkerList({ store, log: silentLog(), now, clock: now });
  const services = { store, now, workerList } as WorkerNeeds;
  const changes: WorkerChange["type"][] = [];
  workerList.onChange(({ type }) => changes.push(type));
  const create = (name: string) => store.write((tx) => createWorkerToken(tx, COMMAND_ACTOR, name, now()));
  return {
    ...services,
    services,
    clock,
    changes,
    create,
    join: async (name: string, change: Partial<WorkerAnnouncement> = {}) => {
      const { secret } = await create(name);
      const token = (await authenticateWorker(services, secret))!;
      const { id } = await workerList.join(token, { ...ANNOUNCEMENT, ...change });
      return { secret, token, id, boot: { workerId: id, bootId: change.bootId ?? ANNOUNCEMENT.bootId } };
    },
    storedSeen: async () =>
      (await store.read.get<{ at: number }>(sql`SELECT last_seen_at AS at FROM workers`))?.at ?? null,
    actions: async () =>
      (await store.read.all<{ action: string }>(sql`SELECT action FROM audit_log ORDER BY id`)).map(
        (row) => row.action,
      ),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

const run = (execution: string) => ({ execution, kind: "render" as const, stepId: newId(), subjectId: newId() });

test("a token is accepted until it is revoked, and is stored as a hash only", async () => {
  await using c = await cluster();
  const { token, secret } = await c.create("desk");
  expect(secret).toMatch(/^wt_[0-9A-Za-z]{43}$/);
  expect((await authenticateWorker(c, secret))?.id).toBe(token.id);
  const dump = JSON.stringify(await c.store.read.all(sql`SELECT * FROM worker_tokens, audit_log`));
  expect(dump).not.toContain(secret.slice(3));
  await revokeToken(c.services, COMMAND_ACTOR, { name: "desk" });
  expect(await authenticateWorker(c, secret)).toBeNull();
  await expect(revokeToken(c.services, COMMAND_ACTOR, { name: "desk" })).rejects.toMatchObject({ code: "not_found" });
  expect(await c.actions()).toEqual(["worker_token.created", "worker_token.revoked"]);
});

test.each(["", "wt_", "wt_unknown", "sk_0000000000000000000000000000000000000000", `wt_${"0".repeat(1_000_000)}`])(
  "a text of another form is no token: %#",
  async (text) => {
    await using c = await cluster();
    await c.create("desk");
    expect(await authenticateWorker(c, text)).toBeNull();
  },
);

test("a name is used by one valid token, also when two are created at once", async () => {
  await using c = await cluster();
  const results = await Promise.allSettled([c.create("desk"), c.create("desk")]);
  expect(results.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected"]);
  await expect(c.create("desk")).rejects.toMatchObject({ code: "conflict" });
  await revokeToken(c.services, COMMAND_ACTOR, { name: "desk" });
  await c.create("desk");
});

test.each(["-desk", "my desk", "a/b", "ä", "x".repeat(64), "a\nb", ""])("%j is no name of a worker", async (name) => {
  await using c = await cluster();
  await expect(c.create(name)).rejects.toMatchObject({ code: "bad_request" });
});

test("a worker is online while it sends heartbeats", async () => {
  await using c = await cluster();
  const { token, id, boot } = await c.join("desk");
  expect(await c.workerList.list()).toMatchObject([
    { state: "online", current: [], revokedAt: null, worker: { id, name: "desk", slots: 2, jobs: ["render", "cut"] } },
  ]);
  c.clock.now += LOST_AFTER_MS;
  expect((await c.workerList.find(id))?.state).toBe("offline");
  expect(c.workerList.listOnline()).toEqual([]);
  c.workerList.heartbeat(token, { ...boot, freeBytes: 7, running: [] });
  expect(await c.workerList.find(id)).toMatchObject({
    state: "online",
    worker: { free_bytes: 7, last_seen_at: START + LOST_AFTER_MS },
  });
  c.workerList.heartbeat(token, { ...boot, freeBytes: 7, hasRedis: false, running: [] });
  expect((await c.workerList.find(id))?.state).toBe("no_redis");
  expect(c.workerList.listOnline()).toMatchObject([{ id, hasRedis: false }]);
  c.workerList.leave(token, boot);
  expect((await c.workerList.find(id))?.state).toBe("offline");
  expect(c.changes).toEqual(["joined", "left"]);
});

test("heartbeats are written when the list is saved, not before", async () => {
  await using c = await cluster();
  const { token, boot } = await c.join("desk");
  let commits = 0;
  c.store.onCommit(() => commits++);
  for (let i = 1; i <= 100; i++) {
    c.clock.now = START + i * 1_000;
    c.workerList.heartbeat(token, { ...boot, freeBytes: i, running: [] });
  }
  expect(commits).toBe(0);
  expect(await c.storedSeen()).toBe(START);
  await c.workerList.stop();
  expect(commits).toBe(1);
  expect(await c.storedSeen()).toBe(START + 100_000);
});

test("a heartbeat of another token, boot or worker has to join again", async () => {
  await using c = await cluster();
  const desk = await c.join("desk");
  const attic = await c.join("attic");
  const beat = { freeBytes: 1, running: [] };
  expect(c.workerList.heartbeat(attic.token, { ...desk.boot, ...beat })).toBeNull();
  expect(c.workerList.heartbeat(desk.token, { ...desk.boot, bootId: newId(), ...beat })).toBeNull();
  expect(c.workerList.heartbeat(desk.token, { ...desk.boot, workerId: newId(), ...beat })).toBeNull();
  c.workerList.leave(attic.token, desk.boot);
  expect((await c.workerList.find(desk.id))?.state).toBe("online");
  const restarted = createWorkerList({ store: c.store, log: silentLog(), now: c.now });
  expect(restarted.heartbeat(desk.token, { ...desk.boot, ...beat })).toBeNull();
  expect((await restarted.join(desk.token, ANNOUNCEMENT)).id).toBe(desk.id);
});

test("a second machine with the same token replaces the first, which is informed", async () => {
  await using c = await cluster();
  const { token, id } = await c.join("desk");
  c.workerList.startRun(id, run(newId()));
  const second = await c.workerList.join(token, { ...ANNOUNCEMENT, bootId: newId() });
  expect(second.id).toBe(id);
  expect(c.changes).toEqual(["joined", "replaced", "joined"]);
  await expect(c.workerList.join(token, ANNOUNCEMENT)).rejects.toMatchObject({ code: "forbidden" });
  expect(await c.workerList.listRuns(id)).toMatchObject([{ outcome: "lost" }]);
});

test("another protocol is refused, and the message names both versions", async () => {
  await using c = await cluster();
  const refused = c.join("desk", { protocol: 999, version: "9.9.9" });
  await expect(refused).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringMatching(new RegExp(`999 \\(Offcut 9\\.9\\.9\\).*${WORKER_PROTOCOL} \\(Offcut 0`)),
  });
});

test("runs of a worker are shown with their progress, and are in its history when they have ended", async () => {
  await using c = await cluster();
  const { token, id, boot } = await c.join("desk");
  const [first, second] = [run(newId()), run(newId())];
  c.workerList.startRun(id, first);
  c.workerList.startRun(id, second);
  const report = (execution: string, progress: number | null) =>
    c.workerList.heartbeat(token, { ...boot, freeBytes: 1, running: [{ execution, progress }] });
  report(first.execution, 0.5);
  report(first.execution, 0.25);
  report(second.execution, 7);
  report(newId(), 0.5);
  const { current } = (await c.workerList.find(id))!;
  expect(current.map((one) => one.progress)).toEqual([0.5, 1]);
  c.clock.now += 4_000;
  c.workerList.endRun(first.execution, "completed", 60);
  c.workerList.endRun(first.execution, "failed", null);
  c.workerList.endRun(newId(), "failed", null);
  expect(await c.workerList.listRuns(id)).toEqual([
    {
      id: first.execution,
      worker_id: id,
      kind: "render",
      step_id: first.stepId,
      subject_id: first.subjectId,
      started_at: START,
      ended_at: START + 4_000,
      outcome: "completed",
      media_seconds: 60,
    },
  ]);
});

test("draining is stored, and ends when it is resumed", async () => {
  await using c = await cluster();
  const { token, id } = await c.join("desk");
  await setDraining(c.services, COMMAND_ACTOR, id, true);
  await setDraining(c.services, COMMAND_ACTOR, id, true);
  expect((await c.workerList.find(id))?.state).toBe("draining");
  expect((await c.workerList.join(token, ANNOUNCEMENT)).isDraining).toBe(true);
  await setDraining(c.services, COMMAND_ACTOR, id, false);
  expect((await c.workerList.find(id))?.state).toBe("online");
  expect(await c.actions()).toEqual(["worker_token.created", "worker.drained", "worker.resumed"]);
  await expect(setDraining(c.services, COMMAND_ACTOR, newId(), true)).rejects.toMatchObject({ code: "not_found" });
});

test("a worker learns which of its executions are of steps that have ended or were deleted, saved or not", async () => {
  await using c = await cluster();
  const [desk, other] = [await c.join("desk"), await c.join("other", { bootId: newId() })];
  const { stepId, pipelineId } = await c.store.write(async (tx) => addStep(tx, await addUser(tx)));
  const [open, running] = [run(newId()), run(newId())];
  const [saved, unsaved] = [run(newId()), run(newId())];
  for (const one of [{ ...open, stepId }, running, saved, unsaved]) c.workerList.startRun(desk.id, one);
  for (const one of [open, saved]) c.workerList.endRun(one.execution, "aborted", null);
  await c.workerList.stop();
  c.workerList.endRun(unsaved.execution, "yielded", null);
  const asked = [open, running, saved, unsaved, run(newId())].map(({ execution }) => execution);
  const ended = async (token = desk.token) => (await c.workerList.findEnded(token, asked)).toSorted();
  expect(await ended()).toEqual([saved.execution, unsaved.execution].toSorted());
  expect(await ended(other.token)).toEqual([]);
  await c.store.write((tx) => tx.run(sql`DELETE FROM pipelines WHERE id = ${pipelineId}`));
  expect(await ended()).toEqual([open.execution, saved.execution, unsaved.execution].toSorted());
});

test("a revoked worker is not listed, and its runs are in its history as aborted", async () => {
  await using c = await cluster();
  const { token, id } = await c.join("desk");
  c.workerList.startRun(id, run(newId()));
  await revokeWorker(c.services, COMMAND_ACTOR, id);
  expect(c.changes).toEqual(["joined", "revoked"]);
  expect(await c.workerList.list()).toEqual([]);
  expect(await c.workerList.find(id)).toMatchObject({ state: "offline", revokedAt: START });
  expect(await c.workerList.listRuns(id)).toMatchObject([{ outcome: "aborted" }]);
  await expect(revokeWorker(c.services, COMMAND_ACTOR, id)).rejects.toMatchObject({ code: "conflict" });
  await expect(setDraining(c.services, COMMAND_ACTOR, id, true)).rejects.toMatchObject({ code: "conflict" });
  // The token was read before it was revoked.
  await expect(c.workerList.join(token, ANNOUNCEMENT)).rejects.toMatchObject({ code: "unauthenticated" });
});

test("the history keeps runs that the database could not store, and is bounded", async () => {
  await using c = await cluster();
  const { id } = await c.join("desk");
  for (let i = 0; i < 20; i++) {
    const started = run(newId());
    c.workerList.startRun(id, started);
    c.clock.now += 1_000;
    c.workerList.endRun(started.execution, "completed", null);
  }
  await c.store.write(async (tx) => {
    await tx.run(sql`CREATE TRIGGER refuse BEFORE INSERT ON worker_runs BEGIN SELECT RAISE(ABORT, 'full'); END`);
  });
  await c.workerList.stop();
  expect(await c.workerList.listRuns(id)).toHaveLength(20);
  await c.store.write(async (tx) => {
    await tx.run(sql`DROP TRIGGER refuse`);
  });
  await c.workerList.stop();
  expect(await c.workerList.listRuns(id)).toHaveLength(20);
  await c.store.write((tx) => deleteOldWorkerRuns(tx, START + 11_000, 4));
  expect((await c.workerList.listRuns(id)).map((one) => one.ended_at - START)).toEqual([
    20_000, 19_000, 18_000, 17_000,
  ]);
  await revokeWorker(c.services, COMMAND_ACTOR, id);
  await c.store.write((tx) => deleteRevokedTokensBefore(tx, c.clock.now + 1));
  expect(await c.workerList.find(id)).toBeNull();
});
