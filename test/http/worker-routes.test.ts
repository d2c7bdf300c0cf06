/** The routes of workers, called as a worker and as an attacker would. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { version } from "../../package.json";
import { MAX_COPIED_ASSETS, WORKER_PROTOCOL } from "../../src/domain/workers";
import { sha256 } from "../../src/lib/hash";
import { newId } from "../../src/lib/ids";
import { COMMAND_ACTOR } from "../../src/work/access/audit";
import type { ExecutionRequest } from "../../src/work/cluster/execution";
import { revokeToken } from "../../src/work/cluster/worker-tokens";
import { REDIS_SERVER } from "../redis";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { harness, PATIENCE_MS } from "./harness";
import { type HarnessWithWorkers, withWorkers } from "./with-workers";

setDefaultTimeout(PATIENCE_MS);

const announcement = (change: Record<string, unknown> = {}) => ({
  protocol: WORKER_PROTOCOL,
  version,
  bootId: newId(),
  jobs: ["render"],
  slots: 2,
  encoding: { ffmpeg: "6.1", libavutil: 58, encoder: "libx264", hasZscale: true },
  sandbox: { mode: "bwrap", reason: null },
  languages: ["en"],
  freeBytes: 1e12,
  ...change,
});

type Answer = { status: number; body: unknown; headers: Headers };

describe.skipIf(REDIS_SERVER === null)("the routes of workers", () => {
  let cluster: HarnessWithWorkers;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    cluster = await withWorkers();
    folder = await temporaryFolder();
    await Bun.write(join(folder.path, "source"), "0123456789");
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
  });

  const services = () => cluster.server.services();

  async function call(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${cluster.server.url()}${path}`, { method, ...init });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return {
      status: response.status,
      body: isJson && text !== "" ? JSON.parse(text) : text,
      headers: response.headers,
    };
  }
  const post = (path: string, body: unknown, token?: string) =>
    call("POST", path, {
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    });

  async function joined(name: string) {
    const token = await cluster.createToken(name);
    const body = announcement();
    const answer = await post("/workers/join", body, token);
    expect(answer.status).toBe(200);
    const { workerId } = answer.body as { workerId: string };
    return { token, workerId, boot: { workerId, bootId: body.bootId } };
  }

  /** Starts an execution on the worker, and returns the path of its link as it is in Redis. */
  async function execution(workerId: string, change: Partial<ExecutionRequest> = {}) {
    const abort = new AbortController();
    const promise = services().cluster!.executions.run(workerId, {
      kind: "render",
      stepId: newId(),
      subjectId: newId(),
      assetId: newId(),
      owner: "owner",
      input: {},
      files: [{ name: "source", role: "input", bytes: 10, key: "k", modifiedAt: 7, path: join(folder.path, "source") }],
      outputs: [{ name: /^output\.mp4$/, dir: join(folder.path, newId()), maxBytes: 100 }],
      mediaSeconds: null,
      incomingDir: join(folder.path, "incoming"),
      signal: abort.signal,
      shouldYield: () => false,
      progress: () => {},
      checkpoint: async () => {},
      check: async () => {},
      ...change,
    });
    const ended = promise.then(
      (output) => output,
      (error) => error as Error,
    );
    const { client } = cluster.redis;
    const key = await until("a ticket", async () =>
      (await client.keys(`bull:offcut-worker-${workerId}:*-*-*-*-*`)).find(
        (one) => /:[0-9a-f-]{36}$/.test(one) && !seen.has(one),
      ),
    );
    seen.add(key);
    const ticket = JSON.parse((await client.hget(key, "data"))!) as { execution: string; url: string };
    const { pathname, search } = new URL(ticket.url);
    return {
      id: ticket.execution,
      at: (part: string) => `${pathname}/${part}${search}`,
      pathname,
      search,
      abort,
      ended,
    };
  }
  const seen = new Set<string>();
  const patch = (path: string, offset: number, length: number, body: string, headers: Record<string, string> = {}) =>
    call("PATCH", path, {
      body,
      headers: {
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": String(offset),
        "Upload-Length": String(length),
        ...headers,
      },
    });
  const codeOf = ({ body }: Answer) => (body as { error?: { code: string } }).error?.code;

  test("joining returns the queue and the time limits of the worker", async () => {
    const token = await cluster.createToken("first");
    const { status, body } = await post("/workers/join", announcement(), token);
    const { workerId } = body as { workerId: string };
    expect([status, body]).toEqual([
      200,
      { workerId, queue: `offcut-worker-${workerId}`, heartbeatMs: 1_000, lostAfterMs: 15_000 },
    ]);
  });

  test("a worker of another protocol is refused with both versions, regardless of its other fields", async () => {
    const token = await cluster.createToken("newer");
    const { status, body } = await post("/workers/join", { protocol: 999, version: "9.9.9", wheels: 4 }, token);
    expect([status, (body as { error: { message: string } }).error.message]).toEqual([
      409,
      `Worker has job protocol 999 (Offcut 9.9.9), this server has ${WORKER_PROTOCOL} (Offcut ${version}): install the same version on both.`,
    ]);
  });

  const invalid: [string, unknown, number][] = [
    ["no JSON", "{", 400],
    ["another type", [], 422],
    ["an unknown field", announcement({ extra: 1 }), 422],
    ["no jobs", announcement({ jobs: [] }), 422],
    ["a job of the server", announcement({ jobs: ["preview"] }), 422],
    ["no slots", announcement({ slots: 0 }), 422],
    ["a million slots", announcement({ slots: 1e6 }), 422],
    ["a process that is no UUID", announcement({ bootId: "../../x" }), 422],
    ["negative space", announcement({ freeBytes: -1 }), 422],
    ["too many languages", announcement({ languages: Array.from({ length: 301 }, () => "en") }), 422],
    ["a long version", announcement({ version: "x".repeat(65) }), 422],
    ["a large body", announcement({ version: "x".repeat(70_000) }), 413],
  ];
  test.each(invalid)("joining with %s is refused", async (name, body, status) => {
    const token = await cluster.createToken(name.replaceAll(" ", "-"));
    expect((await post("/workers/join", body, token)).status).toBe(status);
  });

  test.each(["join", "heartbeat", "leave", "copies", "ended"])(
    "%s needs a join token that is not revoked",
    async (name) => {
      const { token, boot } = await joined(`revoked-${name}`);
      const bodies: Record<string, object> = {
        join: announcement(),
        heartbeat: { ...boot, freeBytes: 1, running: [] },
        leave: boot,
        copies: { assets: [] },
        ended: { executions: [] },
      };
      const body = bodies[name];
      const { key } = await cluster.server.user().then((user) => ({ key: user.userId }));
      for (const wrong of [undefined, "wt_wrong", "x".repeat(10_000), key])
        expect([wrong, codeOf(await post(`/workers/${name}`, body, wrong))]).toEqual([wrong, "unauthenticated"]);
      await revokeToken(services(), COMMAND_ACTOR, { name: `revoked-${name}` });
      expect(codeOf(await post(`/workers/${name}`, body, token))).toBe("unauthenticated");
    },
  );

  test("a heartbeat of a process that has not joined, or with the token of another worker, has to join", async () => {
    const [one, other] = [await joined("one"), await joined("other")];
    const beat = (boot: object, token: string) =>
      post("/workers/heartbeat", { ...boot, freeBytes: 1, running: [] }, token);
    expect((await beat(one.boot, one.token)).body).toEqual({ isDraining: false, abort: [], yield: [] });
    expect(codeOf(await beat(one.boot, other.token))).toBe("not_found");
    expect(codeOf(await beat({ ...one.boot, bootId: newId() }, one.token))).toBe("not_found");
    expect((await post("/workers/leave", one.boot, one.token)).status).toBe(204);
    expect(codeOf(await beat(one.boot, one.token))).toBe("not_found");
  });

  test("a worker learns only which recordings do not exist", async () => {
    const { token } = await joined("curious");
    const user = await cluster.server.user();
    const { id } = await user.open(1_000);
    const unknown = newId();
    const ask = (assets: unknown) => post("/workers/copies", { assets }, token);
    expect((await ask([id, unknown])).body).toEqual({ deleted: [unknown] });
    await user.must("DELETE", `/v1/assets/${id}`);
    expect((await ask([id])).body).toEqual({ deleted: [id] });
    for (const wrong of [["../x"], [id, 1], "all", Array.from({ length: MAX_COPIED_ASSETS + 1 }, newId)])
      expect((await ask(wrong)).status).toBe(422);
  });

  test.each<[string, object]>([
    ["a share beyond the whole", { running: [{ execution: newId(), progress: 2 }] }],
    ["an execution that is no UUID", { running: [{ execution: "x", progress: null }] }],
    [
      "more executions than slots",
      { running: Array.from({ length: 600 }, () => ({ execution: newId(), progress: null })) },
    ],
  ])("a heartbeat with %s is refused", async (name, change) => {
    const { token, boot } = await joined(`beat-${name.length}`);
    const { status } = await post("/workers/heartbeat", { ...boot, freeBytes: 1, running: [], ...change }, token);
    expect(status).toBe(422);
  });

  test("an execution from its start to its result", async () => {
    const { workerId, boot, token } = await joined("worker");
    const run = await execution(workerId);
    expect(codeOf(await call("GET", run.at("files/source")))).toBe("conflict");
    expect(codeOf(await post(run.at("start"), { ...boot, bootId: newId() }))).toBe("conflict");
    const started = await post(run.at("start"), boot);
    expect(started.body).toMatchObject({
      execution: run.id,
      kind: "render",
      owner: "owner",
      files: [{ name: "source" }],
    });
    expect(JSON.stringify(started.body)).not.toContain(folder.path);

    const whole = await call("GET", run.at("files/source"));
    expect([whole.status, whole.body]).toEqual([200, "0123456789"]);
    const range = await call("GET", run.at("files/source"), { headers: { Range: "bytes=3-5" } });
    expect([range.status, range.body, range.headers.get("content-range")]).toEqual([206, "345", "bytes 3-5/10"]);
    expect((await call("GET", run.at("files/source"), { headers: { Range: "bytes=10-" } })).status).toBe(416);
    expect((await call("HEAD", run.at("files/source"))).headers.get("content-length")).toBe("10");

    const output = run.at("outputs/output.mp4");
    expect((await call("HEAD", output)).headers.get("upload-offset")).toBe("0");
    const refused: [Promise<Answer>, number][] = [
      [patch(output, 0, 4, "film", { "Content-Type": "text/plain" }), 415],
      [patch(output, 0, 4, "film", { "Upload-Offset": "-1" }), 400],
      [patch(output, 0, 4, "film", { "Upload-Length": "1e3" }), 400],
      [patch(output, 0, 101, "film"), 413],
      [patch(run.at("outputs/output.mov"), 0, 4, "film"), 404],
      [patch(run.at("outputs/..%2Foutput.mp4"), 0, 4, "film"), 404],
    ];
    for (const [answer, status] of refused) expect((await answer).status).toBe(status);
    expect((await patch(output, 0, 4, "fi")).headers.get("upload-offset")).toBe("2");
    expect(codeOf(await patch(output, 0, 4, "fi"))).toBe("conflict");
    expect((await call("HEAD", output)).headers.get("upload-offset")).toBe("2");
    expect((await patch(output, 2, 4, "lm")).status).toBe(204);

    const file = { name: "output.mp4", bytes: 4, sha256: sha256("film") };
    const result = (change: object) =>
      post(run.at("result"), { status: "completed", output: {}, files: [file], ...change });
    expect((await result({ status: "done" })).status).toBe(422);
    expect((await result({ files: [{ ...file, sha256: "x" }] })).status).toBe(422);
    expect((await result({ files: Array.from({ length: 65 }, () => file) })).status).toBe(422);
    const wrong = await result({ files: [{ ...file, sha256: sha256("flim") }] });
    expect([wrong.status, wrong.body]).toMatchObject([422, { error: { fields: [{ field: "output.mp4" }] } }]);
    expect((await patch(output, 0, 4, "film")).status).toBe(204);
    expect((await result({ output: { made: 1 } })).status).toBe(204);
    expect((await result({ output: { made: 2 } })).status).toBe(204);
    expect(await run.ended).toEqual({ made: 1 });
    for (const path of ["files/source", "outputs/output.mp4"])
      expect(codeOf(await call("GET", run.at(path)))).toBe("not_found");
    expect((await post("/workers/leave", boot, token)).status).toBe(204);
  });

  test("a link gives access to its own execution only, and ends with it", async () => {
    const [mine, foreign] = [await joined("mine"), await joined("foreign")];
    const own = await execution(mine.workerId);
    const other = await execution(foreign.workerId);
    await post(own.at("start"), mine.boot);
    await post(other.at("start"), foreign.boot);
    const calls: [string, string][] = [
      ["POST", "start"],
      ["GET", "files/source"],
      ["HEAD", "files/source"],
      ["HEAD", "outputs/output.mp4"],
      ["PATCH", "outputs/output.mp4"],
      ["POST", "checkpoint"],
      ["POST", "result"],
    ];
    const links = [
      (part: string) => `${other.pathname}/${part}`,
      (part: string) => `${other.pathname}/${part}${own.search}`,
      (part: string) => `${other.pathname}/${part}?signature=`,
      (part: string) => `/workers/executions/${newId()}/${part}${own.search}`,
      (part: string) => `/workers/executions/not-a-uuid/${part}${own.search}`,
      (part: string) => `/workers/executions/${newId()}/${part}?signature=${"é".repeat(43)}`,
    ];
    for (const link of links)
      for (const [method, part] of calls) expect([part, (await call(method, link(part))).status]).toEqual([part, 404]);
    for (const name of ["other", "..%2Fsource", "%2e%2e%2fsource", "source%00", "probed.json"])
      expect([name, (await call("GET", own.at(`files/${name}`))).status]).toEqual([name, 404]);

    await revokeToken(services(), COMMAND_ACTOR, { name: "mine" });
    expect(await own.ended).toMatchObject({ name: "ExecutionLost" });
    expect(codeOf(await call("GET", own.at("files/source")))).toBe("not_found");
    expect(codeOf(await post(own.at("result"), { status: "yielded" }))).toBe("not_found");
    other.abort.abort(new Error("cancelled"));
    await other.ended;
    const beat = { ...foreign.boot, freeBytes: 1, running: [{ execution: other.id, progress: null }] };
    expect((await post("/workers/heartbeat", beat, foreign.token)).body).toMatchObject({ abort: [other.id] });
  });

  test("links of files for users do not open executions, and the other way around", async () => {
    const { workerId, boot } = await joined("links");
    const run = await execution(workerId);
    await post(run.at("start"), boot);
    const { links, now } = services();
    const upload = links.signUpload(run.id, now() + 60_000);
    expect((await call("GET", `${run.pathname}/files/source?${upload}`)).status).toBe(404);
    expect((await call("GET", `/files/assets/${run.id}/source${run.search}`)).status).toBe(404);
    run.abort.abort(new Error("cancelled"));
    await run.ended;
  });
});

test("without Redis, the routes of workers do not exist", async () => {
  await using server = await harness();
  for (const path of ["join", "heartbeat", `executions/${newId()}/start`]) {
    const response = await fetch(`${server.url()}/workers/${path}`, { method: "POST", body: "{}" });
    expect(response.status).toBe(404);
  }
  expect(server.services().cluster).toBeNull();
});
