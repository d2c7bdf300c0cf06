/** Workers on other machines, as administrators see and change them. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../src/lib/ids";
import { LOST_AFTER_MS } from "../../src/work/cluster/worker-list";
import { authenticateWorker } from "../../src/work/cluster/worker-tokens";
import { createAdmin, startSession } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { joinWorker } from "./workers";

setDefaultTimeout(PATIENCE_MS);

type Worker = { id: string; name: string; state: string; current: { progress: number | null }[] };
type Detail = Worker & { runs: { outcome: string; media_seconds: number | null }[] };
type Audit = { items: { action: string; target: { kind: string; id: string }; details: { name: string } }[] };

let server: Harness;
let admin: Client;
beforeAll(async () => {
  server = await harness();
  admin = await startSession(server, await createAdmin(server));
});
afterAll(() => server[Symbol.asyncDispose]());

const WORKERS = "/api/v1/admin/workers";
const read = (id: string) => admin.must<Detail>("GET", `${WORKERS}/${id}`);
const lastAudit = async () => (await admin.must<Audit>("GET", "/api/v1/admin/audit?limit=1")).items[0];

test("a worker is shown with its current runs, and later with its past ones", async () => {
  const { workerList } = server.services();
  const { worker, beat } = await joinWorker(server.services(), "desk");
  const run = { execution: newId(), kind: "chunk" as const, stepId: newId(), subjectId: newId() };
  workerList.startRun(worker.id, run);
  expect(await read(worker.id)).toMatchObject({
    state: "online",
    current: [{ id: run.execution, kind: "chunk", job_id: run.stepId, subject_id: run.subjectId, progress: null }],
    runs: [],
  } as never);
  workerList.endRun(run.execution, "completed", 12.5);
  workerList.setSpeed(worker.id, 3.25);
  expect(await read(worker.id)).toMatchObject({
    speed: 3.25,
    current: [],
    runs: [{ id: run.execution, outcome: "completed", media_seconds: 12.5 }],
  } as never);
  server.advance(LOST_AFTER_MS);
  expect((await read(worker.id)).state).toBe("offline");
  beat();
  expect((await read(worker.id)).state).toBe("online");
});

test("draining and resuming are in the audit log, once each", async () => {
  const { worker } = await joinWorker(server.services(), "attic");
  for (const [action, state] of [
    ["drain", "draining"],
    ["drain", "draining"],
    ["resume", "online"],
  ])
    expect(await admin.must<Worker>("POST", `${WORKERS}/${worker.id}/${action}`)).toMatchObject({ state: state! });
  const { items } = await admin.must<Audit>("GET", `/api/v1/admin/audit?target_id=${worker.id}`);
  expect(items.map((entry) => [entry.action, entry.details.name])).toEqual([
    ["worker.resumed", "attic"],
    ["worker.drained", "attic"],
  ]);
});

test.each(["worker", "token"])(
  "revoking a %s takes effect at once: its token, its executions, its place",
  async (what) => {
    const services = server.services();
    const { worker, token, secret, beat } = await joinWorker(services, `cellar-${what}`);
    const changes: string[] = [];
    services.workerList.onChange(({ type, workerId }) => {
      if (workerId === worker.id) changes.push(type);
    });
    services.workerList.startRun(worker.id, { execution: newId(), kind: "cut", stepId: newId(), subjectId: newId() });
    if (what === "worker") await admin.must("POST", `${WORKERS}/${worker.id}/revoke`);
    else expect((await admin.call("DELETE", `/api/v1/admin/worker-tokens/${token.id}`)).status).toBe(204);
    expect(changes).toEqual(["revoked"]);
    expect(await authenticateWorker(services, secret)).toBeNull();
    expect(beat()).toBeNull();
    expect((await read(worker.id)).runs).toMatchObject([{ outcome: "aborted" }]);
    expect(await lastAudit()).toMatchObject({
      action: "worker_token.revoked",
      target: { kind: "worker_token", id: token.id },
      details: { name: `cellar-${what}` },
    });
    const { items } = await admin.must<{ items: Worker[] }>("GET", `${WORKERS}?limit=100`);
    expect(items.map((one) => one.name)).not.toContain(`cellar-${what}`);
  },
);

test("a new token may have the name of a revoked one, and its worker is another one", async () => {
  const first = await joinWorker(server.services(), "roof");
  await admin.must("POST", `${WORKERS}/${first.worker.id}/revoke`);
  const second = await joinWorker(server.services(), "roof");
  expect(second.worker.id).not.toBe(first.worker.id);
});

test("no response and no log line contains a join token", async () => {
  const { worker, secret } = await joinWorker(server.services(), "vault");
  const bodies = await Promise.all(
    [WORKERS, `${WORKERS}/${worker.id}`, "/api/v1/admin/worker-tokens", "/api/v1/admin/audit"].map((path) =>
      admin.must("GET", path),
    ),
  );
  expect(JSON.stringify(bodies)).not.toContain(secret);
  expect(server.log.join("\n")).not.toContain(secret);
});
