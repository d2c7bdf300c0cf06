/** Storage: small files that occupy much, quotas passed side by side, a disk that fills up. */
import { expect, test } from "bun:test";
import { readdir, rm, stat, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOffcut } from "../e2e/offcut";
import type { Client, Reply } from "../http/client";
import { wav } from "../http/media";
import { outcome } from "../http/outcome";
import type { Asset } from "../http/resources";
import { until } from "../until";
import { type AttackedServer, startAttackedServer } from "./attacked-server";
import { silentFlac } from "./silent-flac";

const MINUTE_MS = 60_000;
const MAX_PROBE_MS = 500;
/** As PCM they would occupy 115 MB an hour. */
const HOURS = [1, 0.5];

const open = async (user: Client, sizeBytes: number): Promise<Reply<Asset & { error?: { message: string } }>> =>
  user.call("POST", "/v1/assets", { json: { project_id: (await user.project()).id, size_bytes: sizeBytes } });

/** Bytes that the media of a server occupy on the disk. */
async function occupied(server: AttackedServer): Promise<number> {
  let bytes = 0;
  for (const folder of ["media", "uploads", "work"]) {
    for (const name of await readdir(join(server.data, folder), { recursive: true })) {
      const { blocks } = await stat(join(server.data, folder, name)).catch(() => ({ blocks: 0 }));
      bytes += blocks * 512;
    }
  }
  return bytes;
}

test(
  `with one credit, hours in a few kilobytes occupy next to nothing, several at once as well, and then a 402`,
  async () => {
    await using server = await startAttackedServer();
    const user = await server.user(1);
    const files = HOURS.map((hours) => silentFlac(hours * 3600));
    expect(files[0]!.length).toBeLessThan(85_000);
    const project_id = (await user.project()).id;
    const openFor = ({ length }: Uint8Array) =>
      user.must<Asset>("POST", "/v1/assets", { json: { project_id, size_bytes: length } });
    const assets = await Promise.all(files.map(openFor));
    await Promise.all(assets.map(({ id }, n) => user.patch(id, 0, files[n]!)));
    const isExtracted = async ({ id }: Asset) =>
      (await readdir(join(server.data, "media", id)).catch((): string[] => [])).includes("waveform.json");
    let most = 0;
    await until(
      "all recordings are extracted, or too much is occupied",
      async () => {
        most = Math.max(most, await occupied(server));
        return most > 10e6 || (await Promise.all(assets.map(isExtracted))).every(Boolean);
      },
      150,
    );
    expect(most).toBeLessThan(2e6);
    for (const { id } of assets) await user.must("DELETE", `/v1/assets/${id}`);
    const waiting = await user.upload(await wav(61));
    expect((await user.prepared(waiting)).state).toBe("pending_payment");
    expect(outcome(await open(user, 1_000))).toBe("402 insufficient_credits");
    server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
  },
  3 * MINUTE_MS,
);

test(
  "a quota is not passed by uploads that are opened at once; doctor and users/me say what is used",
  async () => {
    await using server = await startAttackedServer({ STORAGE_QUOTA_BYTES: "10000000" });
    const user = await server.user();
    const replies = await Promise.all(Array.from({ length: 10 }, () => open(user, 3_000_000)));
    expect(replies.map(outcome).toSorted()).toEqual([...Array(3).fill("201"), ...Array(7).fill("409 conflict")]);
    const { message } = replies.find((reply) => reply.status === 409)!.body.error!;
    expect(message).toContain("9,000,000 bytes");
    expect(message).toContain("10,000,000 bytes");
    expect(await user.must("GET", "/v1/users/me")).toMatchObject({
      storage_used_bytes: 9_000_000,
      storage_quota_bytes: 10_000_000,
    });
    const { stdout } = await runOffcut(["doctor", "--json"], { folder: server.folder });
    expect(JSON.parse(stdout).storage).toEqual([{ email: "user1@example.test", used_bytes: 9_000_000 }]);
    const readable = await runOffcut(["doctor"], { folder: server.folder });
    expect(readable.stdout).toMatch(/user1@example\.test {2}9 MB/);
    server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
  },
  2 * MINUTE_MS,
);

const MARGIN_BYTES = 2e9;
const BALLAST_BYTES = 4e9;

/** Takes the bytes from the free space without writing them; false where the file system cannot. */
async function allocate(path: string, bytes: number): Promise<boolean> {
  const child = Bun.spawn(["fallocate", "-l", String(bytes), path], { stderr: "ignore" });
  return (await child.exited) === 0;
}

test(
  "a disk that fills up refuses uploads and renders; what was acknowledged stays, deletes and cuts go on",
  async () => {
    const { bavail, bsize } = await statfs(tmpdir());
    await using server = await startAttackedServer({
      DISK_RESERVE_BYTES: String(Math.max(0, bavail * bsize - MARGIN_BYTES)),
    });
    const user = await server.user();
    const asset = await user.ready(await wav(4));
    const cut = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
    const bytes = new Uint8Array(1_000_000).fill(1);
    const upload = await user.open(2 * bytes.length);
    await user.patch(upload.id, 0, bytes);

    const ballast = join(server.folder, "ballast");
    if (!(await allocate(ballast, BALLAST_BYTES))) {
      console.log("06-storage: the disk cannot be filled up here (fallocate), the test ends early");
      return;
    }
    for (const reply of [
      await open(user, 1_000),
      await user.patch(upload.id, bytes.length, bytes),
      await user.call("POST", "/v1/renders", { json: { asset_id: asset.id } }),
    ]) {
      expect(outcome(reply)).toBe("503 upstream_unavailable");
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    const { stdout } = await runOffcut(["doctor"], {
      folder: server.folder,
      env: { OFFCUT_DISK_RESERVE_BYTES: "1000000000000000" },
    });
    expect(stdout).toMatch(/WARN +data folder .* below the reserve/);
    const made = await Promise.all(
      ["tight", "loose"].map((mode) => user.startCut({ asset_id: asset.id, options: { mode } })),
    );
    for (const { id } of made) expect((await user.cutEnded(id)).state).toMatch(/completed|failed/);
    expect((await user.call("DELETE", `/v1/cuts/${cut.id}`)).status).toBe(204);

    await rm(ballast);
    const head = await user.call("HEAD", `/v1/uploads/${upload.id}`, { headers: user.tus() });
    expect(head.headers.get("upload-offset")).toBe(String(bytes.length));
    expect((await user.patch(upload.id, bytes.length, bytes)).status).toBe(204);
    server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
  },
  2 * MINUTE_MS,
);
