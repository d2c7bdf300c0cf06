/** The examples of the page of webhooks: each verifies deliveries of a real server, and rejects unsigned ones. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { receiver } from "./receiver";
import type { Paged } from "./resources";

setDefaultTimeout(PATIENCE_MS);

const PROJECT = join(import.meta.dir, "../..");
const readExample = (name: string) => Bun.file(join(PROJECT, "web/pages/webhooks/examples", name)).text();

type Endpoint = { id: string; secret: string };
type Delivery = { id: string; state: string; response_status: number | null };

let server: Harness;
let anna: Client;
beforeAll(async () => {
  server = await harness({ WEBHOOKS_ALLOW_LOOPBACK: "true" }, { sharesChild: true });
  anna = await server.user();
});
afterAll(() => server[Symbol.asyncDispose]());

const register = (url: string) =>
  anna.must<Endpoint>("POST", "/v1/webhook-endpoints", { json: { url, event_types: ["cut.failed"] } });

/** Sends a test event, and returns the delivery after its first attempt. */
async function sendTest({ id }: Endpoint): Promise<Delivery> {
  const path = `/v1/webhook-endpoints/${id}`;
  const sent = await anna.must<{ delivery_id: string }>("POST", `${path}/test`);
  return until("the delivery", async () => {
    const { items } = await anna.must<Paged<Delivery>>("GET", `${path}/deliveries`);
    return items.find((one) => one.id === sent.delivery_id && one.response_status !== null);
  });
}

/** Returns a port that is free now. */
async function findPort(): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = probe;
  await probe.stop(true);
  return port!;
}

test.each([
  ["JavaScript", "receiver.mjs", process.execPath],
  ["Python", "receiver.py", Bun.which("python3") ?? "python3"],
])("the example in %s accepts deliveries of the server and nothing else", async (_, name, program) => {
  await using folder = await temporaryFolder();
  await symlink(join(PROJECT, "node_modules"), join(folder.path, "node_modules"));
  const port = await findPort();
  await Bun.write(join(folder.path, name), (await readExample(name)).replace("8080", String(port)));
  const url = `http://127.0.0.1:${port}/hooks`;
  const endpoint = await register(url);
  const environment = { ...process.env, WEBHOOK_SECRET: endpoint.secret, PYTHONUNBUFFERED: "1" };
  const example = Bun.spawn([program, join(folder.path, name)], { env: environment, stdout: "pipe", stderr: "ignore" });
  try {
    const forge = (headers: Record<string, string> = {}) =>
      fetch(url, { method: "POST", body: "{}", headers }).then(({ status }) => status);
    await until("the receiver", () => forge().catch(() => null));
    const delivery = await sendTest(endpoint);
    expect(delivery).toMatchObject({ state: "delivered", response_status: 204 });
    const printed = await example.stdout.getReader().read();
    expect(new TextDecoder().decode(printed.value)).toStartWith(`${delivery.id} webhook.test {`);
    await anna.must("POST", `/v1/webhook-endpoints/${endpoint.id}/rotate-secret`);
    expect(await sendTest(endpoint)).toMatchObject({ response_status: 204 });

    const now = String(Math.floor(Date.now() / 1000));
    const signed = { "webhook-id": "a", "webhook-timestamp": now };
    expect(await forge()).toBe(400);
    expect(await forge({ ...signed, "webhook-signature": "v1,AAAA v1,ü" })).toBe(400);
    expect(await forge({ ...signed, "webhook-timestamp": "soon", "webhook-signature": "v1,AAAA" })).toBe(400);
    // The right signature, but of a time that has passed.
    const key = Buffer.from(endpoint.secret.slice("whsec_".length), "base64");
    const sign = (at: string) => `v1,${new Bun.CryptoHasher("sha256", key).update(`a.${at}.{}`).digest("base64")}`;
    expect(await forge({ ...signed, "webhook-signature": sign(now) })).toBe(204);
    const old = String(Number(now) - 600);
    expect(await forge({ ...signed, "webhook-timestamp": old, "webhook-signature": sign(old) })).toBe(400);
  } finally {
    example.kill();
    await example.exited;
  }
});

test("the example for the shell tells a delivery of the server from a changed one", async () => {
  await using folder = await temporaryFolder();
  await using hook = receiver();
  const endpoint = await register(hook.url);
  await sendTest(endpoint);
  const { headers, body } = hook.received[0]!;
  const script = (await readExample("verify.sh"))
    .replace("whsec_…", endpoint.secret)
    .replace(/value of the header ([\w-]+)/g, (_, name: string) => headers.get(name)!);
  const run = async (received: string) => {
    await Bun.write(join(folder.path, "body.json"), received);
    const shell = Bun.spawn(["sh", "-c", script], { cwd: folder.path, stdout: "pipe", stderr: "pipe" });
    return [await shell.exited, (await new Response(shell.stdout).text()).trim()];
  };
  expect(await run(body)).toEqual([0, "valid"]);
  expect(await run(`${body} `)).toEqual([1, "invalid"]);
});
