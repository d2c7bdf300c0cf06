/**
 * Runs a server from the sources: `bun run dev [--seed] [SETTINGS of offcut serve]`. Builds missing files, restarts the
 * server when its sources change, and bundles the dashboard when its sources change; open pages then reload themselves.
 * `--seed` creates an account with a recording and prints a link that signs in.
 */
import { existsSync, watch } from "node:fs";
import { join, resolve } from "node:path";
import { bundleWeb } from "./web";

const PROJECT = resolve(import.meta.dir, "../..");
/** Separate from the folder of the build, which tests read. */
const WEB = join(PROJECT, "dist/dev/web");
const WATCHED = ["web", "src/domain"];
/** An editor writes several files at a time. */
const DELAY_MS = 50;
const ACCOUNT = { email: "demo@example.org", password: "rough cut of a talk" };
const RECORDING = join(PROJECT, "test/fixtures/talk.mp4");

const isSeeded = process.argv.includes("--seed");
const settings = process.argv.slice(2).filter((argument) => argument !== "--seed");
const flag = settings.indexOf("--data-dir");
const dataDir = resolve(settings[flag + 1 || settings.length] ?? process.env.OFFCUT_DATA_DIR ?? "dist/dev/data");

await buildMissing();
await bundleWeb(WEB, { isDevelopment: true });
const server = Bun.spawn([process.execPath, "--watch", "src/main.ts", "serve", ...settings], {
  cwd: PROJECT,
  env: { ...process.env, OFFCUT_DATA_DIR: dataDir, DEV_WEB_FOLDER: WEB },
  stdio: ["inherit", "pipe", "inherit"],
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill("SIGTERM"));
void followServer();
let bundling: ReturnType<typeof setTimeout> | undefined;
for (const folder of WATCHED)
  watch(join(PROJECT, folder), { recursive: true }, () => {
    clearTimeout(bundling);
    bundling = setTimeout(() => void bundleAgain(), DELAY_MS);
  });
process.exit(await server.exited);

/** Installs the packages and prepares what the server reads from `dist/assets`. */
async function buildMissing(): Promise<void> {
  if (!existsSync(join(PROJECT, "node_modules/elysia"))) await run("install");
  const assets = join(PROJECT, "dist/assets");
  const { prepareSpeechGraphs } = await import("./speech-graphs");
  await prepareSpeechGraphs(join(assets, "speech"));
  if (!existsSync(join(PROJECT, "dist/api-types"))) await run("src/build/api-types.ts");
  if (existsSync(join(assets, "licenses.txt"))) return;
  const { collectLicenses } = await import("./licenses");
  await Bun.write(join(assets, "licenses.txt"), await collectLicenses(PROJECT));
}

async function run(...args: string[]): Promise<void> {
  const { exited } = Bun.spawn([process.execPath, ...args], { cwd: PROJECT, stdio: ["ignore", "inherit", "inherit"] });
  if ((await exited) !== 0) throw new Error(`bun ${args.join(" ")} failed.`);
}

/** Keeps the previous bundle when a source has an error. */
async function bundleAgain(): Promise<void> {
  await bundleWeb(WEB, { isDevelopment: true }).catch((error: AggregateError) => console.error(...error.errors));
}

/** Passes the log on, and announces the server when it has started. */
async function followServer(): Promise<void> {
  let isAnnounced = false;
  let text = "";
  for await (const chunk of server.stdout.pipeThrough(new TextDecoderStream())) {
    process.stdout.write(chunk);
    if (isAnnounced) continue;
    text += chunk;
    const line = text.split("\n").find((one) => one.includes('"server.started"') && one.endsWith("}"));
    if (line === undefined) continue;
    isAnnounced = true;
    const url = `http://localhost:${(JSON.parse(line) as { port: number }).port}`;
    void announce(url).catch((error) => console.error("dev:", error));
  }
}

async function announce(url: string): Promise<void> {
  if (!isSeeded) return console.log(`\nOpen ${url}, or run "bun run dev --seed" for an account with a recording.\n`);
  await seed(url);
  // Cookies do not depend on the port, so this address can set that of the server.
  const link = Bun.serve({
    port: 0,
    hostname: "localhost",
    fetch: async () => {
      const cookie = (await signIn(url)).headers.get("set-cookie")!;
      return new Response(null, { status: 303, headers: { Location: url, "Set-Cookie": cookie } });
    },
  });
  console.log(`\nOpen http://localhost:${link.port}, which signs in as ${ACCOUNT.email} ("${ACCOUNT.password}").\n`);
}

async function signIn(url: string): Promise<Response> {
  const response = await send(`${url}/api/v1/auth/login`, JSON.stringify(ACCOUNT), {
    "Content-Type": "application/json",
  });
  if (!response.ok) throw new Error(`The demo account cannot sign in: ${await response.text()}`);
  return response;
}

function send(url: string, body: string | Blob, headers: Record<string, string>, method = "POST"): Promise<Response> {
  return fetch(url, { method, body, headers: { Origin: new URL(url).origin, ...headers } });
}

/** Creates the account with its recording, unless it exists. */
async function seed(url: string): Promise<void> {
  const { getControlSocketPath } = await import("../data-folder");
  const account = { ...ACCOUNT, admin: true, credits: 10_000 };
  const created = await fetch("http://offcut/", {
    unix: getControlSocketPath(dataDir),
    method: "POST",
    body: JSON.stringify({ command: "user create", args: account }),
  });
  if (created.status === 409) return;
  if (!created.ok) throw new Error(`The demo account was not created: ${await created.text()}`);
  const { token } = (await (await signIn(url)).json()) as { token: string };
  const headers = { Authorization: `Bearer ${token}` };
  const create = async <T>(path: string, body: object, more: Record<string, string> = {}): Promise<T> => {
    const all = { ...headers, "Content-Type": "application/json", ...more };
    const response = await send(`${url}/api/v1${path}`, JSON.stringify(body), all);
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const project = await create<{ id: string }>("/projects", { name: "Demo" });
  const file = Bun.file(RECORDING);
  const body = { project_id: project.id, size_bytes: file.size };
  const metadata = { "Upload-Metadata": `filename ${btoa("talk.mp4")}` };
  const asset = await create<{ upload_url: string }>("/assets", body, metadata);
  const upload = { "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream" };
  const { pathname, search } = new URL(asset.upload_url);
  const sent = await send(`${url}${pathname}${search}`, file, { ...headers, ...upload }, "PATCH");
  if (!sent.ok) throw new Error(`The recording was not uploaded: ${sent.status} ${await sent.text()}`);
}
