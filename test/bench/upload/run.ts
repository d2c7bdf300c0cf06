/**
 * Measures upload throughput with 1 and 16 streams, as a ratio to a baseline server that writes request bodies to disk,
 * in the same run: `bun test/bench/upload/run.ts [MIB]` (total of all streams; default 512). Needs curl and
 * `dist/offcut`.
 */
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getMedian, startBaseline, startOffcut } from "../servers";

const MIB = 1024 * 1024;
const TOTAL = Number(process.argv[2] ?? 512) * MIB;
const ROUNDS = 3;
const folder = await mkdtemp(join(tmpdir(), "offcut-upload-"));
const offcut = await startOffcut(join(folder, "data"), { OFFCUT_MAX_UPLOADS: "1000" });
const baseline = await startBaseline(join(import.meta.dir, "baseline.ts"), folder);
const { url, key } = offcut;
const authorization = `Authorization: Bearer ${key}`;

const call = async (path: string, body: unknown) => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return (await answer.json()) as { id: string; upload_url: string };
};

try {
  const project = await call("/v1/projects", { name: "Uploads" });
  const rows: Record<string, string>[] = [];
  for (const streams of [1, 16]) {
    const size = Math.floor(TOTAL / streams);
    const source = join(folder, `source-${streams}`);
    await writeFile(source, "");
    await truncate(source, size);
    const ratios: { synced: number; inMemory: number }[] = [];
    const speeds: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const assets = await Promise.all(
        Array.from({ length: streams }, () => call("/v1/assets", { project_id: project.id, size_bytes: size })),
      );
      const tus = [
        "-H",
        authorization,
        "-H",
        "Tus-Resumable: 1.0.0",
        "-H",
        "Upload-Offset: 0",
        "-H",
        "Content-Type: application/offset+octet-stream",
      ];
      const seconds = await measureSeconds(
        assets.map((asset) => ["-X", "PATCH", ...tus, asset.upload_url]),
        source,
      );
      const measureBaseline = (path: string) =>
        measureSeconds(
          assets.map(() => ["-X", "PATCH", `${baseline.info.url!}${path}`]),
          source,
        );
      ratios.push({
        synced: (await measureBaseline("/synced")) / seconds,
        inMemory: (await measureBaseline("/")) / seconds,
      });
      speeds.push(TOTAL / MIB / seconds);
      for (const asset of assets)
        await fetch(`${url}/v1/assets/${asset.id}`, { method: "DELETE", headers: { authorization: `Bearer ${key}` } });
    }
    rows.push({
      streams: String(streams),
      "Offcut MiB/s": getMedian(speeds).toFixed(0),
      "ratio to baseline, on disk": getMedian(ratios.map((r) => r.synced)).toFixed(2),
      "ratio to baseline, in memory": getMedian(ratios.map((r) => r.inMemory)).toFixed(2),
    });
  }
  console.table(rows);
} finally {
  baseline.stop();
  await offcut.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Sends the requests concurrently and returns the seconds until all have a response. */
async function measureSeconds(requests: string[][], source: string): Promise<number> {
  const started = performance.now();
  const statuses = await Promise.all(
    requests.map(async (args) => {
      const run = Bun.spawn(
        ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Expect:", "-T", source, ...args],
        { stdout: "pipe" },
      );
      return (await new Response(run.stdout).text()).trim();
    }),
  );
  if (statuses.some((status) => status !== "204")) throw new Error(`unexpected statuses: ${statuses.join(", ")}`);
  return (performance.now() - started) / 1000;
}
