/**
 * A head whose workers are attackers with a token and arbitrary messages. The functions use the server that
 * `useWorkerAttacks` opens.
 */
import { afterAll, afterEach, beforeAll, describe } from "bun:test";
import { readdir } from "node:fs/promises";
import { createJoinToken, revokeJoinToken } from "../e2e/server";
import type { Client } from "../http/client";
import { silentVideo, video } from "../http/media";
import type { AssetDetail, Render } from "../http/resources";
import { openRedis, REDIS_SERVER, type TestRedis } from "../redis";
import { callWorkers, executionPath, joinAsWorker, type WorkerClient, type WorkerTicket } from "../worker-client";
import { type AttackedServer, startAttackedServer } from "./attacked-server";

export const TIMEOUT_MS = 60_000;
/** Marks every text that users write. */
export const MARK = "Zaphod";

export let redis: TestRedis;
export let server: AttackedServer;
export let anna: Client;
export let bert: Client;
export let film: AssetDetail;
export let other: AssetDetail;
export let monitor: ReturnType<typeof startMonitor>;
let workers = 0;

/** Records every command that Redis runs. */
function startMonitor({ port }: TestRedis) {
  const child = Bun.spawn(["redis-cli", "-p", String(port), "MONITOR"], { stdout: "pipe", stderr: "ignore" });
  let text = "";
  void (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) text += part;
  })();
  return { text: () => text, stop: () => child.kill() };
}

/** The names of valid tokens, and renders that are not deleted. */
const names = new Set<string>();
const renders: { user: Client; id: string }[] = [];
export type Attacker = { worker: WorkerClient; token: string; name: string };

/** A worker with a token of its own, which is revoked after the test. */
export async function attack(): Promise<Attacker> {
  const name = `attacker-${++workers}`;
  names.add(name);
  const token = await createJoinToken(server.data, name);
  return { name, token, worker: await joinAsWorker(server.url, token) };
}
export async function revoke({ name }: Attacker): Promise<void> {
  names.delete(name);
  await revokeJoinToken(server.data, name);
}

/** The render is deleted after the test. */
export async function startRender(user = anna, asset = film): Promise<Render> {
  const render = await user.startRender({ asset_id: asset.id, output: { video_bitrate: 50_000 } });
  renders.push({ user, id: render.id });
  return render;
}

/** A render whose execution the attacker has started. */
export async function takeRender({ worker }: Attacker, user = anna, asset = film, known: string[] = []) {
  const render = await startRender(user, asset);
  const ticket = await worker.ticket(redis, known);
  return { render, ticket, manifest: await worker.start(ticket) };
}

export const call = (method: string, path: string, options: Parameters<typeof callWorkers>[3] = {}) =>
  callWorkers(server.url(), method, path, options);
export const sendResult = (ticket: WorkerTicket, json: unknown) =>
  call("POST", executionPath(ticket, "result"), { json });
export const sendOutput = (
  ticket: WorkerTicket,
  name: string,
  bytes: Uint8Array,
  headers: Record<string, string> = {},
) =>
  call("PATCH", executionPath(ticket, "outputs", name), {
    body: bytes as Uint8Array<ArrayBuffer>,
    headers: {
      "Content-Type": "application/offset+octet-stream",
      "Upload-Offset": "0",
      "Upload-Length": String(bytes.length),
      ...headers,
    },
  });
const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
export const FACTS = { strategy: "chunked", encodedShare: 1, reasons: [], warnings: [] };
export const completed = (name: string, bytes: Uint8Array) => ({
  status: "completed",
  output: FACTS,
  files: [{ name, bytes: bytes.length, sha256: sha256(bytes) }],
});

export const stateOf = async (user: Client, { id }: Render) => (await user.render(id)).state;
/** Lists the files of a render in the data folder. */
export const filesOf = async ({ id }: Render) =>
  (await readdir(server.data, { recursive: true })).filter((path) => path.includes(id)).toSorted();

/** Skipped without Redis. */
export const attacks = describe.skipIf(REDIS_SERVER === null);

/** Opens the server for the tests of a file, and revokes and deletes after each test what it has created. */
export function useWorkerAttacks(): void {
  beforeAll(async () => {
    if (REDIS_SERVER === null) return;
    redis = await openRedis();
    monitor = startMonitor(redis);
    server = await startAttackedServer({ REDIS_URL: redis.url, RENDER_JOBS: "0", PREVIEWS: "on_opening" });
    [anna, bert] = [await server.user(), await server.user()];
    const project = await anna.project(`${MARK} project`);
    [film, other] = await Promise.all([
      anna.ready(await video(4), { filename: `${MARK}.mp4`, externalId: `${MARK}-7`, projectId: project.id }),
      bert.ready(await silentVideo(2), { filename: `${MARK}-2.mp4` }),
    ]);
  }, TIMEOUT_MS);
  afterAll(async () => {
    monitor?.stop();
    await server?.[Symbol.asyncDispose]();
    await redis?.[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    for (const name of names) await revokeJoinToken(server.data, name);
    names.clear();
    for (const { user, id } of renders.splice(0)) await user.call("DELETE", `/v1/renders/${id}`);
  });
}
