/**
 * The check of the head by `offcut doctor` with the settings of a worker. It reports whether the worker could join, and
 * changes nothing.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { checkHead } from "../../src/cli/doctor-head";
import { WORKER_PROTOCOL } from "../../src/domain/workers";
import { COMMAND_ACTOR } from "../../src/work/access/audit";
import { listTokenViews, revokeToken } from "../../src/work/cluster/worker-tokens";
import { REDIS_SERVER } from "../redis";
import { callWorkers } from "../worker-client";
import { harness, PATIENCE_MS } from "./harness";
import { type HarnessWithWorkers, withWorkers } from "./with-workers";
import { joinWorker } from "./workers";

setDefaultTimeout(PATIENCE_MS);

describe.skipIf(REDIS_SERVER === null)("the check of a worker's settings", () => {
  let cluster: HarnessWithWorkers;
  beforeAll(async () => {
    cluster = await withWorkers();
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());
  const check = (token: string, head = cluster.server.url()) => checkHead({ head, token, ca: null });
  const problem = (token: string, head?: string) =>
    check(token, head).then(
      () => null,
      (error: Error) => error.message,
    );

  test("accepts a token that nobody uses, and joins nothing", async () => {
    const found = await check(await cluster.createToken("spare"));
    expect(found.state).toBe("ok");
    expect(found.about).toContain("accepts the token of spare, whose worker is offline");
    const services = cluster.server.services();
    const tokens = await listTokenViews(services.store.read);
    expect(tokens.find(({ name }) => name === "spare")).toMatchObject({ worker_id: null, last_used_at: null });
    expect((await services.workerList.list()).map(({ worker }) => worker.name)).not.toContain("spare");
  });

  test("does not disturb the worker that runs", async () => {
    const { secret, worker, beat } = await joinWorker(cluster.server.services(), "busy");
    expect((await check(secret)).about).toContain("accepts the token of busy, whose worker is online");
    expect(beat()?.announcement.bootId).toBe(worker.announcement.bootId);
  });

  test("says that a token is wrong or revoked, as the log of the worker does", async () => {
    const token = await cluster.createToken("gone");
    await revokeToken(cluster.server.services(), COMMAND_ACTOR, { name: "gone" });
    for (const wrong of [token, "wt_wrong"])
      expect(await problem(wrong)).toContain("The head does not accept the token: it was revoked or is incomplete.");
  });

  test("names both versions when the protocols differ", async () => {
    const headers = { Authorization: `Bearer ${await cluster.createToken("newer")}` };
    const json = { protocol: 999, version: "9.9.9", wheels: 4 };
    const { status, body } = await callWorkers(cluster.server.url(), "POST", "/workers/check", { json, headers });
    expect(status).toBe(409);
    expect((body as { error: { message: string } }).error.message).toMatch(
      new RegExp(`job protocol 999 \\(Offcut 9.9.9\\), this server has ${WORKER_PROTOCOL} \\(Offcut [^)]+\\): install`),
    );
  });

  test("a server without Redis has no workers", async () => {
    await using server = await harness();
    expect(await problem("wt_x", server.url())).toContain("has no redis_url");
  });
});
