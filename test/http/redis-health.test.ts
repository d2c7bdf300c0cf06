/** Readiness, health and checks of the server while Redis works, is down, and is back. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { openRedis, REDIS_SERVER } from "../redis";
import { until } from "../until";
import { createAdmin, startSession } from "./accounts";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { silentVideo } from "./media";
import { joinWorker } from "./workers";

setDefaultTimeout(PATIENCE_MS);

type Ready = { ready: boolean; redis?: boolean };
type Health = {
  status: string;
  checks: { name: string; state: string; about: string }[];
  redis: { is_reachable: boolean; version: string | null } | null;
};

const NO_LOCAL_JOBS = { RENDER_JOBS: "0", PREPARE_JOBS: "0", CUT_JOBS: "0" };

/** Waits until the server has noticed the state of Redis. */
const readyWith = (server: Harness, redis: boolean) =>
  until(`Redis ${redis ? "reachable" : "away"}`, async () => {
    const { status, body } = await server.nobody.call<Ready>("GET", "/readyz");
    return body.redis === redis ? { status, ready: body.ready } : null;
  });

async function readHealth(server: Harness): Promise<Health> {
  const admin = await startSession(server, await createAdmin(server));
  return admin.must<Health>("GET", "/api/v1/admin/health");
}

const findCheck = ({ checks }: Health, name: string) => checks.find((check) => check.name === name);

test("without Redis, no check mentions it", async () => {
  await using server = await harness();
  expect((await server.nobody.call<Ready>("GET", "/readyz")).body).not.toHaveProperty("redis");
  const health = await readHealth(server);
  expect([health.redis, findCheck(health, "redis"), findCheck(health, "workers")]).toEqual([
    null,
    undefined,
    undefined,
  ]);
});

describe.skipIf(REDIS_SERVER === null)("with Redis", () => {
  test("a server that works itself stays ready while Redis is away", async () => {
    await using redis = await openRedis();
    await using server = await harness({ REDIS_URL: redis.url });
    expect(await readyWith(server, true)).toEqual({ status: 200, ready: true });
    const good = await readHealth(server);
    expect(good.redis).toMatchObject({ is_reachable: true, version: expect.stringMatching(/^\d/) });
    expect(findCheck(good, "redis")).toMatchObject({ state: "ok", about: expect.stringContaining("127.0.0.1") });
    expect(findCheck(good, "workers")).toMatchObject({ state: "ok" });
    await redis.kill();
    expect(await readyWith(server, false)).toEqual({ status: 200, ready: true });
    const bad = await readHealth(server);
    expect([bad.status, bad.redis]).toEqual(["degraded", expect.objectContaining({ is_reachable: false })]);
    expect(findCheck(bad, "redis")?.state).toBe("broken");
    await redis.restart();
    expect(await readyWith(server, true)).toEqual({ status: 200, ready: true });
  });

  test("Redis is asked once, however often the state is read", async () => {
    await using redis = await openRedis();
    await using server = await harness({ REDIS_URL: redis.url });
    await readyWith(server, true);
    const admin = await startSession(server, await createAdmin(server));
    const readTimes = async (times: number) => {
      for (let n = 0; n < times; n++) await admin.must("GET", "/api/v1/admin/health");
      return /total_connections_received:(\d+)/.exec(await redis.client.info("stats"))![1]!;
    };
    expect(await readTimes(5)).toBe(await readTimes(1));
  });

  test("a server that leaves all work to workers is not ready without Redis, and asks for workers", async () => {
    await using redis = await openRedis("--maxmemory-policy", "allkeys-lru");
    await using server = await harness({ REDIS_URL: redis.url, ...NO_LOCAL_JOBS });
    expect(await readyWith(server, true)).toEqual({ status: 200, ready: true });
    const alone = await readHealth(server);
    expect(findCheck(alone, "redis")).toMatchObject({ state: "warning", about: expect.stringContaining("noeviction") });
    expect(findCheck(alone, "workers")).toMatchObject({
      state: "warning",
      about: expect.stringMatching(/No worker does prepare .*cut .*render/),
    });
    await joinWorker(server.services(), "desk");
    expect(findCheck(await readHealth(server), "workers")).toMatchObject({ state: "ok", about: "1 online (desk)" });
    await redis.kill();
    expect(await readyWith(server, false)).toEqual({ status: 503, ready: false });
  });

  test("a job that no worker can run is assigned to none, and the checks report what is missing", async () => {
    await using redis = await openRedis();
    await using server = await harness({ REDIS_URL: redis.url, ...NO_LOCAL_JOBS });
    await readyWith(server, true);
    const desk = await joinWorker(server.services(), "desk");
    const user = await server.user();
    const german = await user.upload(await silentVideo(), { language: "de" });
    const admin = await startSession(server, await createAdmin(server));
    const about = async (freeBytes?: number) => {
      desk.beat(freeBytes);
      return findCheck(await admin.must<Health>("GET", "/api/v1/admin/health"), "workers")!.about;
    };
    await until("a language", async () =>
      (await about()).includes("1 prepare job needs a worker with speech models for de"),
    );
    expect(server.log.join("\n")).toContain('"job.no_machine"');
    await user.must("DELETE", `/v1/assets/${german}`);
    expect(await about()).toBe("1 online (desk)");

    desk.beat(1_000_000);
    const english = await user.upload(await silentVideo(), { language: "en" });
    await until("free space", async () => (await about(1_000_000)).includes("1 prepare job needs a worker with 268"));
    expect(await redis.client.keys(`bull:*${desk.worker.id}*`)).toEqual([]);
    desk.beat();
    await until("the step on the worker", () =>
      server
        .services()
        .workerList.list()
        .then(([one]) => one!.current.length === 1),
    );
    await user.must("DELETE", `/v1/assets/${english}`);
    expect(server.errors).toEqual([]);
  });
});
