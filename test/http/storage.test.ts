/** Quota, reserve of free space, and the storage of assets. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../src/domain/errors";
import { findAssetById, updateAsset } from "../../src/store/assets";
import { findLatestStep, type Step } from "../../src/store/steps";
import { allSamples } from "../analysis-audio";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { video, wav } from "./media";
import { outcome } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

type Me = { storage_used_bytes: number; storage_quota_bytes: number | null };
const used = async (user: Client) => (await user.must<Me>("GET", "/v1/users/me")).storage_used_bytes;
const open = async (user: Client, sizeBytes: number, projectId?: string) =>
  user.call<{ error?: { message: string } }>("POST", "/v1/assets", {
    json: { project_id: projectId ?? (await user.project()).id, size_bytes: sizeBytes },
  });
/** Sets the free space above the reserve as the server reads it. */
function setRoom(server: Harness, bytes: number): void {
  const { disk } = server.services();
  disk.availableBytes = () => bytes;
  disk.claim = (count) => count <= bytes;
}

describe("an asset that waits for payment", () => {
  test("makes new uploads a 402 until it is paid or deleted", async () => {
    await using server = await harness();
    const anna = await server.user(1);
    const id = await anna.upload(await wav(90));
    expect((await anna.prepared(id)).state).toBe("pending_payment");
    expect(outcome(await open(anna, 100))).toBe("402 insufficient_credits");
    await anna.must("DELETE", `/v1/assets/${id}`);
    const hold = server.speech.hold("analyze");
    const early = await anna.upload(await wav(90));
    await hold.reached;
    expect(outcome(await open(anna, 100))).toBe("402 insufficient_credits");
    hold.release();
    await anna.prepared(early);
    await anna.must("DELETE", `/v1/assets/${early}`);
    expect(outcome(await open(anna, 100))).toBe("201");
    const second = await anna.upload(await wav(90));
    expect((await anna.prepared(second)).state).toBe("pending_payment");
    expect(outcome(await open(anna, 100))).toBe("402 insufficient_credits");
    await server.grant(anna, 5);
    expect(outcome(await open(anna, 100))).toBe("201");
  });
});

describe("the quota", () => {
  const QUOTA = 1_000_000;

  test("counts sources, derived files, renders and the full size of uploads, and no deleted ones", async () => {
    await using server = await harness({ STORAGE_QUOTA_BYTES: String(QUOTA) });
    const anna = await server.user();
    expect(await anna.must<Me>("GET", "/v1/users/me")).toMatchObject({
      storage_used_bytes: 0,
      storage_quota_bytes: QUOTA,
    });
    const bytes = await wav(4);
    const asset = await anna.ready(bytes);
    const { dir, source } = server.services().folders.media(asset.id);
    const sizes = await Promise.all((await readdir(dir)).map(async (name) => (await stat(join(dir, name))).size));
    expect((await stat(source)).size).toBe(bytes.length);
    const prepared = sizes.reduce((sum, size) => sum + size, 0);
    expect(await used(anna)).toBe(prepared);
    const render = await anna.renderEnded((await anna.startRender({ asset_id: asset.id })).id);
    expect(await used(anna)).toBe(prepared + render.size_bytes!);
    const upload = await anna.open(5_000);
    expect(await used(anna)).toBe(prepared + render.size_bytes! + 5_000);
    await anna.call("DELETE", `/v1/uploads/${upload.id}`, { headers: anna.tus() });
    await anna.must("DELETE", `/v1/renders/${render.id}`);
    expect(await used(anna)).toBe(prepared);
    await anna.must("DELETE", `/v1/assets/${asset.id}`);
    expect(await used(anna)).toBe(0);
  });

  test("cannot be exceeded by simultaneous uploads, and applies to each user", async () => {
    await using server = await harness({ STORAGE_QUOTA_BYTES: String(QUOTA) });
    const [anna, bert] = [await server.user(), await server.user()];
    const { id } = await anna.project();
    const all = await Promise.all(Array.from({ length: 10 }, () => open(anna, 300_000, id)));
    expect(all.map(outcome).toSorted()).toEqual([...Array(3).fill("201"), ...Array(7).fill("409 conflict")]);
    const { message } = all.find((reply) => reply.status === 409)!.body.error!;
    expect(message).toBe(
      "Storage quota reached: 900 KB (900,000 bytes) of 1 MB (1,000,000 bytes) are used, unfinished uploads included. " +
        "Delete assets or renders. This upload needs 300 KB (300,000 bytes).",
    );
    expect(outcome(await open(anna, 100_000, id))).toBe("201");
    expect(outcome(await open(anna, 64, id))).toBe("409 conflict");
    expect(outcome(await open(bert, QUOTA))).toBe("201");
    expect(outcome(await open(bert, QUOTA + 1))).toBe("409 conflict");
  });

  test("refuses new renders when it is reached, returns existing ones, and fails pending ones", async () => {
    await using server = await harness({ STORAGE_QUOTA_BYTES: "2000000" });
    const anna = await server.user();
    const asset = await anna.ready(await wav(4));
    const first = await anna.startRender({ asset_id: asset.id });
    await anna.renderEnded(first.id);
    const { runner } = server.services();
    await runner.stop();
    const queued = await anna.startRender({ asset_id: asset.id, output: { audio_bitrate: 64_000 } });
    const rest = 2_000_000 - (await used(anna));
    const filler = await anna.open(rest);
    runner.start();
    expect(await anna.renderEnded(queued.id)).toMatchObject({ state: "failed", error_code: "storage_full" });
    const ask = (json: object) => anna.call("POST", "/v1/renders", { json: { asset_id: asset.id, ...json } });
    expect(outcome(await ask({}))).toBe("200");
    expect(outcome(await ask({ output: { audio_bitrate: 48_000 } }))).toBe("409 conflict");
    expect(outcome(await anna.call("POST", "/v1/cuts", { json: { asset_id: asset.id } }))).toBe("409 conflict");
    await anna.call("DELETE", `/v1/uploads/${filler.id}`, { headers: anna.tus() });
    expect(outcome(await ask({ output: { audio_bitrate: 48_000 } }))).toBe("201");
  });
});

describe("below the reserve of free space", () => {
  test("uploads, renders and exports are 503 with Retry-After; reads, cuts and deletions work", async () => {
    await using server = await harness();
    const anna = await server.user();
    const asset = await anna.ready(await wav(4));
    const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
    const bytes = new Uint8Array(1_000);
    const upload = await anna.open(2_000);
    await anna.patch(upload.id, 0, bytes);

    setRoom(server, 0);
    for (const reply of [
      await open(anna, 100),
      await anna.patch(upload.id, 1_000, bytes),
      await anna.call("POST", "/v1/renders", { json: { asset_id: asset.id } }),
      await anna.call("GET", `/v1/cuts/${cut.id}/export?format=csv`),
    ]) {
      expect(outcome(reply)).toBe("503 upstream_unavailable");
      expect(reply.headers.get("retry-after")).toBe("60");
    }
    const head = await anna.call("HEAD", `/v1/uploads/${upload.id}`, { headers: anna.tus() });
    expect(head.headers.get("upload-offset")).toBe("1000");
    expect(outcome(await anna.call("GET", `/v1/cuts/${cut.id}/subtitle?format=srt`))).toBe("200");
    const another = await anna.startCut({ asset_id: asset.id, options: { mode: "tight" } });
    expect((await anna.cutEnded(another.id)).state).toBe("completed");
    expect((await fetch((await anna.asset(asset.id)).download_url!)).status).toBe(200);
    expect(outcome(await anna.call("DELETE", `/v1/assets/${asset.id}`))).toBe("204");

    setRoom(server, 1e9);
    expect((await anna.patch(upload.id, 1_000, bytes)).status).toBe(204);
  });

  test("new cuts and edits are refused when most of the reserve is used; existing ones are returned", async () => {
    await using server = await harness();
    const anna = await server.user();
    const asset = await anna.ready(await wav(4));
    const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
    const { disk } = server.services();
    const [segment] = cut.plan!.segments;
    const ask = async (path: string, json: object) => outcome(await anna.call("POST", path, { json }));
    const calls = () =>
      Promise.all([
        ask("/v1/cuts", { asset_id: asset.id }),
        ask("/v1/cuts", { asset_id: asset.id, script: "alpha" }),
        ask(`/v1/cuts/${cut.id}/edits`, { segments: [{ start: segment!.start, end: segment!.end }] }),
      ]);
    disk.isCritical = () => true;
    expect(await calls()).toEqual(["200", "503 upstream_unavailable", "503 upstream_unavailable"]);
    disk.isCritical = () => false;
    expect(await calls()).toEqual(["200", "201", "201"]);
  });

  test("a running upload stops and keeps the received bytes", async () => {
    await using server = await harness();
    const anna = await server.user();
    const { disk } = server.services();
    let left = 3_000_000;
    disk.claim = (count) => {
      if (count > left) return false;
      left -= count;
      return true;
    };
    const { id } = await anna.open(20_000_000);
    expect(outcome(await anna.patch(id, 0, new Uint8Array(20_000_000)))).toBe("503 upstream_unavailable");
    const head = await anna.call("HEAD", `/v1/uploads/${id}`, { headers: anna.tus() });
    const offset = Number(head.headers.get("upload-offset"));
    expect(offset).toBe(3_000_000 - left);
    expect(offset).toBeGreaterThan(1_000_000);
    left = 1e9;
    expect((await anna.patch(id, offset, new Uint8Array(20_000_000 - offset))).status).toBe(204);
  });

  test("a preparation is postponed and continues later", async () => {
    await using server = await harness();
    const anna = await server.user();
    const { runner } = server.services();
    await runner.stop();
    const id = await anna.upload(await wav(4));
    setRoom(server, 0);
    runner.start();
    await until(
      "the preparation has been looked at",
      async () => ((await stepOfAsset(server, id)).run_after ?? 0) > Date.now(),
    );
    expect((await anna.asset(id)).state).toBe("processing");
    expect(await stepOfAsset(server, id)).toMatchObject({ state: "pending", attempts: 0, failures: 0 });
    setRoom(server, 1e9);
    server.advance(60_000);
    runner.wake();
    expect((await anna.prepared(id)).state).toBe("ready");
  });

  test("a running render fails with storage_full and leaves no files", async () => {
    await using server = await harness();
    const anna = await server.user();
    const asset = await anna.ready(await video(4));
    const hold = server.holdRenders();
    const { id } = await anna.startRender({ asset_id: asset.id, output: { frame_rate: 5 } });
    await hold.reached;
    let looks = 0;
    server.services().disk.availableBytes = () => {
      looks++;
      return 0;
    };
    await until("the render's watch has looked", () => looks > 0);
    hold.release();
    expect(await anna.renderEnded(id)).toMatchObject({ state: "failed", error_code: "storage_full" });
    await until("the deletion of its files", async () => (await server.leftovers(id)).length === 0);
  });
});

describe("the files of a preparation", () => {
  test("contain the compressed analysis audio of the whole recording", async () => {
    await using server = await harness();
    const anna = await server.user();
    const asset = await anna.ready(await wav(4));
    const folder = server.services().folders.media(asset.id);
    expect((await readdir(folder.dir)).filter((name) => /pcm|f32|part/.test(name))).toEqual([]);
    expect(await allSamples(folder.analysisAudio)).toHaveLength(64_000);
    expect((await stat(folder.analysisAudio)).size).toBeLessThan(64_000);
  });

  test("are only the source after a failure", async () => {
    await using server = await harness();
    const anna = await server.user();
    server.speech.failNext(new AppError("corrupt_media", "unreadable"));
    const id = await anna.upload(await video(4));
    expect((await anna.prepared(id)).state).toBe("failed");
    const { dir, source } = server.services().folders.media(id);
    await until("only the source is left", async () => (await readdir(dir)).join() === "source");
    await until("only the source counts", async () => (await used(anna)) === (await stat(source)).size);
  });

  test("are removed on the next start after a crash in a failed one, and measured if an older version made them", async () => {
    await using server = await harness();
    const anna = await server.user();
    server.speech.failNext(new AppError("corrupt_media", "unreadable"));
    const failed = await anna.prepared(await anna.upload(await wav(2)));
    const ready = await anna.ready(await wav(4));
    const { folders } = server.services();
    const before = await until("the failed one is settled", async () => {
      const row = await findAssetById(server.services().store.read, failed.id);
      return row?.derived_bytes === 0 ? { used: await used(anna) } : null;
    });
    const leftover = join(folders.media(failed.id).dir, "preview.mp4");
    await server.restart(async (store) => {
      await writeFile(leftover, "x");
      await store.write(async (tx) => {
        await updateAsset(tx, failed.id, { derived_bytes: 1 });
        await updateAsset(tx, ready.id, { derived_bytes: 0 });
      });
    });
    await until("the figures are true again", async () => (await used(anna)) === before.used);
    expect(await Bun.file(leftover).exists()).toBe(false);
  });

  test("of an older version, with raw audio and energy, can be cut", async () => {
    await using server = await harness();
    const anna = await server.user();
    const asset = await anna.ready(await wav(6));
    const script = "alpha bravo charlie";
    const plan = async () => {
      const { id } = await anna.startCut({ asset_id: asset.id, script });
      const cut = await anna.cutEnded(id);
      await anna.must("DELETE", `/v1/cuts/${id}`);
      return [cut.state, cut.plan];
    };
    const now = await plan();
    const folder = server.services().folders.media(asset.id);
    await toOldFormat(folder);
    expect(await plan()).toEqual(now);
  });
});

type Folder = ReturnType<ReturnType<Harness["services"]>["folders"]["media"]>;

/** Rewrites the asset's files in the format before compression. */
async function toOldFormat(folder: Folder): Promise<void> {
  const audio = await allSamples(folder.analysisAudio);
  await writeFile(folder.rawAudio, new Uint8Array(audio.buffer));
  const steps = await allSamples(folder.energy);
  await writeFile(folder.rawEnergy, new Uint8Array(Float32Array.from(steps, (step) => step / 128).buffer));
  for (const path of [folder.analysisAudio, folder.energy]) await Bun.file(path).delete();
}

async function stepOfAsset(server: Harness, assetId: string): Promise<Step> {
  return (await findLatestStep(server.services().store.read, assetId))!;
}
