/**
 * How fast the API is, as a ratio to bare Elysia routes over the same database in the same run. Needs Debian's `wrk` and `dist/offcut`.
 * `bun test/bench/api/run.ts [seconds]`. Rate limiting is off. Prints medians of alternating runs.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SECONDS = Number(process.argv[2] ?? 3);
const ROUNDS = 3;
const BINARY = join(import.meta.dir, "../../../dist/offcut");
const dataDir = await mkdtemp(join(tmpdir(), "offcut-api-"));
const env = { OFFCUT_DATA_DIR: dataDir, OFFCUT_PORT: "0", OFFCUT_RATE_LIMIT: "0", PATH: process.env.PATH ?? "" };

type Figures = { perSecond: number; p99: number; errors: number };

const offcut = Bun.spawn([BINARY, "serve"], { env, stdout: "pipe" });
const bare = Bun.spawn([process.execPath, join(import.meta.dir, "bare.ts"), dataDir], { stdout: "pipe" });
const ready = await lineWith(offcut.stdout, '"event":"ready"');
const peer = await lineWith(bare.stdout, '"url"');
const shell = (...args: string[]) =>
  Bun.spawnSync([BINARY, ...args], { env })
    .stdout.toString()
    .trim();
shell("user", "create", "--email", "bench@example.com", "--password", "benchmark");
const key = shell("key", "create", "--email", "bench@example.com");
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const made = await fetch(`${ready.url}/v1/projects`, { method: "POST", headers, body: '{"name":"First"}' });
const { id } = (await made.json()) as { id: string };

const CASES: { what: string; ours: string; theirs: string; post?: string }[] = [
  { what: "GET one project", ours: `/v1/projects/${id}`, theirs: `/projects/${peer.id}` },
  { what: "POST a project", ours: "/v1/projects", theirs: "/projects", post: '{"name":"A project"}' },
];
try {
  const rows: Record<string, string>[] = [];
  for (const { what, ours, theirs, post } of CASES) {
    const pairs: { ours: Figures; theirs: Figures }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      pairs.push({
        ours: await wrk(`${ready.url}${ours}`, post, key),
        theirs: await wrk(`${peer.url}${theirs}`, post, null),
      });
    }
    const ratio = median(pairs.map((p) => p.ours.perSecond / p.theirs.perSecond));
    rows.push({
      what,
      "Offcut /s": median(pairs.map((p) => p.ours.perSecond)).toFixed(0),
      "bare /s": median(pairs.map((p) => p.theirs.perSecond)).toFixed(0),
      ratio: ratio.toFixed(2),
      "p99 ms": median(pairs.map((p) => p.ours.p99)).toFixed(1),
      "bare p99 ms": median(pairs.map((p) => p.theirs.p99)).toFixed(1),
      errors: String(pairs.reduce((sum, p) => sum + p.ours.errors, 0)),
    });
  }
  const nothing = await wrk(`${peer.url}/nothing`, undefined, null);
  rows.push({
    what: "bare route, no database",
    "bare /s": nothing.perSecond.toFixed(0),
    "bare p99 ms": nothing.p99.toFixed(1),
  });
  console.table(rows);
} finally {
  offcut.kill("SIGTERM");
  bare.kill();
  await offcut.exited;
  await rm(dataDir, { recursive: true, force: true });
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

async function wrk(url: string, post: string | undefined, token: string | null): Promise<Figures> {
  const script = join(dataDir, "request.lua");
  const lines = [
    `wrk.method = "${post ? "POST" : "GET"}"`,
    ...(post ? [`wrk.body = '${post}'`, 'wrk.headers["Content-Type"] = "application/json"'] : []),
    ...(token ? [`wrk.headers["Authorization"] = "Bearer ${token}"`] : []),
    "done = function(s, l) io.write(string.format('RESULT %f %f %d', s.requests / s.duration * 1e6, l:percentile(99) / 1e3, s.errors.status + s.errors.connect + s.errors.read + s.errors.timeout)) end",
  ];
  await Bun.write(script, lines.join("\n"));
  const run = Bun.spawn(["wrk", "-t1", "-c16", `-d${SECONDS}s`, "-s", script, url], { stdout: "pipe" });
  const text = await new Response(run.stdout).text();
  const found = /RESULT ([\d.]+) ([\d.]+) (\d+)/.exec(text);
  if (!found) throw new Error(`wrk: ${text}`);
  return { perSecond: Number(found[1]), p99: Number(found[2]), errors: Number(found[3]) };
}

async function lineWith(output: ReadableStream<Uint8Array>, mark: string): Promise<{ url: string; id: string }> {
  const reader = output.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`ended: ${text}`);
    text += new TextDecoder().decode(value);
    const line = text.split("\n").find((l) => l.includes(mark) && l.endsWith("}"));
    if (!line) continue;
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return JSON.parse(line);
  }
}
