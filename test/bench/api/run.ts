/**
 * How fast the API is, as a ratio to bare Elysia routes over the same database in the same run. Needs Debian's `wrk` and `dist/offcut`.
 * `bun test/bench/api/run.ts [seconds]`. Rate limiting is off. Prints medians of alternating runs.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, startOffcut, startPeer } from "../running";

const SECONDS = Number(process.argv[2] ?? 3);
const ROUNDS = 3;
const dataDir = await mkdtemp(join(tmpdir(), "offcut-api-"));
type Figures = { perSecond: number; p99: number; errors: number };

const offcut = await startOffcut(dataDir);
const peer = await startPeer(join(import.meta.dir, "bare.ts"), dataDir);
const { key } = offcut;
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const made = await fetch(`${offcut.url}/v1/projects`, { method: "POST", headers, body: '{"name":"First"}' });
const { id } = (await made.json()) as { id: string };

const CASES: { what: string; ours: string; theirs: string; post?: string }[] = [
  { what: "GET one project", ours: `/v1/projects/${id}`, theirs: `/projects/${peer.told.id}` },
  { what: "POST a project", ours: "/v1/projects", theirs: "/projects", post: '{"name":"A project"}' },
];
try {
  const rows: Record<string, string>[] = [];
  for (const { what, ours, theirs, post } of CASES) {
    const pairs: { ours: Figures; theirs: Figures }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      pairs.push({
        ours: await wrk(`${offcut.url}${ours}`, post, key),
        theirs: await wrk(`${peer.told.url}${theirs}`, post, null),
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
  const nothing = await wrk(`${peer.told.url}/nothing`, undefined, null);
  rows.push({
    what: "bare route, no database",
    "bare /s": nothing.perSecond.toFixed(0),
    "bare p99 ms": nothing.p99.toFixed(1),
  });
  console.table(rows);
} finally {
  peer.stop();
  await offcut.stop();
  await rm(dataDir, { recursive: true, force: true });
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
