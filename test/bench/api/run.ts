/**
 * Measures requests per second of the API, as a ratio to plain Elysia routes over the same table in the same run:
 * `bun test/bench/api/run.ts [SECONDS]`. Rate limiting is off. Prints medians of alternating runs. Needs `wrk` and
 * `dist/offcut`.
 */
import { Database } from "bun:sqlite";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getMedian, startBaseline, startOffcut } from "../servers";

const SECONDS = Number(process.argv[2] ?? 3);
const ROUNDS = 3;
const dataDir = await mkdtemp(join(tmpdir(), "offcut-api-"));
type WrkResult = { perSecond: number; p99: number; errors: number };

const offcut = await startOffcut(dataDir);
const baseline = await startBaseline(join(import.meta.dir, "baseline.ts"), dataDir);
const { key } = offcut;
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const created = await fetch(`${offcut.url}/v1/projects`, { method: "POST", headers, body: '{"name":"First"}' });
const { id } = (await created.json()) as { id: string };

const CASES: { what: string; path: string; baselinePath: string; post?: string }[] = [
  { what: "GET one project", path: `/v1/projects/${id}`, baselinePath: `/projects/${baseline.info.id}` },
  { what: "POST a project", path: "/v1/projects", baselinePath: "/projects", post: '{"name":"A project"}' },
];
try {
  const rows: Record<string, string>[] = [];
  for (const { what, path, baselinePath, post } of CASES) {
    const pairs: { ours: WrkResult; theirs: WrkResult }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      pairs.push({
        ours: await runWrk(`${offcut.url}${path}`, post, key),
        theirs: await runWrk(`${baseline.info.url}${baselinePath}`, post, null),
      });
      if (post) deleteProjects();
    }
    const ratio = getMedian(pairs.map((p) => p.ours.perSecond / p.theirs.perSecond));
    rows.push({
      what,
      "Offcut /s": getMedian(pairs.map((p) => p.ours.perSecond)).toFixed(0),
      "baseline /s": getMedian(pairs.map((p) => p.theirs.perSecond)).toFixed(0),
      ratio: ratio.toFixed(2),
      "p99 ms": getMedian(pairs.map((p) => p.ours.p99)).toFixed(1),
      "baseline p99 ms": getMedian(pairs.map((p) => p.theirs.p99)).toFixed(1),
      errors: String(pairs.reduce((sum, p) => sum + p.ours.errors, 0)),
    });
  }
  const withoutDatabase = await runWrk(`${baseline.info.url}/nothing`, undefined, null);
  rows.push({
    what: "baseline route without a database",
    "baseline /s": withoutDatabase.perSecond.toFixed(0),
    "baseline p99 ms": withoutDatabase.p99.toFixed(1),
  });
  console.table(rows);
} finally {
  baseline.stop();
  await offcut.stop();
  await rm(dataDir, { recursive: true, force: true });
}

/**
 * Deletes what a round created: a workspace holds at most 10,000 projects, and more would be answered with an error.
 */
function deleteProjects(): void {
  const db = new Database(join(dataDir, "offcut.db"));
  db.run("PRAGMA busy_timeout = 5000");
  db.run("DELETE FROM projects WHERE id <> ?", [id]);
  db.close();
}

/** Runs wrk with 16 connections on one thread. */
async function runWrk(url: string, post: string | undefined, token: string | null): Promise<WrkResult> {
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
  const match = /RESULT ([\d.]+) ([\d.]+) (\d+)/.exec(text);
  if (!match) throw new Error(`wrk: ${text}`);
  return { perSecond: Number(match[1]), p99: Number(match[2]), errors: Number(match[3]) };
}
