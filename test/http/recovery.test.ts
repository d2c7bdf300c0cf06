import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { AppError } from "../../src/domain/errors";
import { JobKilled, MAX_ATTEMPTS, MAX_FAILURES, retryDelayMs } from "../../src/domain/jobs";
import { newId } from "../../src/lib/ids";
import { updateAsset } from "../../src/store/assets";
import { readBalance, readTotalHeld } from "../../src/store/credits";
import { findLatestStep, type Step } from "../../src/store/steps";
import { createJobSource } from "../../src/work/jobs/job-source";
import { sweep } from "../../src/work/recovery";
import { measureProcessorMs } from "../processor-time";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { video, wav } from "./media";

setDefaultTimeout(PATIENCE_MS);

/** A clock in local time east of Greenwich, until it is corrected. */
const AHEAD_MS = 8 * 3_600_000;

const money = async (server: Harness, user: Client) => {
  const { read } = server.services().store;
  return { free: await readBalance(read, user.userId), held: await readTotalHeld(read, user.userId) };
};

/** Waits until the step of this asset, cut or render has these values. */
const stepIs = (server: Harness, subjectId: string, expected: (step: Step) => boolean) =>
  until(`a step of ${subjectId}`, async () => {
    const step = await findLatestStep(server.services().store.read, subjectId);
    return step && expected(step) ? step : null;
  });

/** Ends the wait before the next attempt. */
function skipWait(server: Harness): void {
  server.advance(60_000);
  server.services().runner.wake();
}

test("a job that was queued while the clock was ahead does not wait until the clock reaches its time", async () => {
  await using server = await harness();
  const user = await server.user(10);
  const { runner } = server.services();
  await runner.stop();
  server.advance(AHEAD_MS);
  const id = await user.upload(await wav(4));
  server.advance(-AHEAD_MS);
  runner.start();
  await sweep(server.services());
  runner.wake();
  expect((await user.prepared(id)).state).toBe("ready");
});

describe("a failed job", () => {
  test("is retried, and its success emits one event and one charge", async () => {
    await using server = await harness();
    server.advance(3_600_000);
    const user = await server.user(10);
    server.speech.failNext(new Error("the child crashed"));
    const id = await user.upload(await wav(4));
    const waiting = await stepIs(server, id, (step) => step.failures === 1);
    expect(waiting).toMatchObject({ state: "pending", attempts: 1, lease_owner: null });
    expect(waiting.run_after).toBeGreaterThan(Date.now());
    expect(await createJobSource(server.services()).nextDueInMs()).toBeWithin(1, retryDelayMs(1)! + 1);
    expect(await user.asset(id)).toMatchObject({ state: "processing", error_code: null });
    skipWait(server);
    expect((await user.prepared(id)).state).toBe("ready");
    expect(await server.events(id)).toEqual(["asset.ready from processing"]);
    expect(await money(server, user)).toEqual({ free: 9, held: 0 });
  });

  test("ends as processing_failed after all attempts, without a charge", async () => {
    await using server = await harness();
    const user = await server.user(10);
    for (let n = 0; n < MAX_FAILURES; n++) server.speech.failNext(new Error("the child crashed in /secret/path"));
    const id = await user.upload(await wav(4));
    for (let n = 1; n < MAX_FAILURES; n++) {
      await stepIs(server, id, (step) => step.failures === n);
      skipWait(server);
    }
    const asset = await user.prepared(id);
    expect(asset).toMatchObject({ state: "failed", error_code: "processing_failed" });
    expect(asset.error_message).not.toContain("/secret");
    expect(await server.events(id)).toEqual(["asset.failed from processing"]);
    expect(await money(server, user)).toEqual({ free: 10, held: 0 });
    expect(server.speech.analyzed).toBe(MAX_FAILURES);
  });

  test("is retried if storage is full: a preparation has no such error code", async () => {
    await using server = await harness();
    const user = await server.user(10);
    server.speech.failNext(new AppError("storage_full", "the storage is full"));
    const id = await user.upload(await wav(4));
    await stepIs(server, id, (step) => step.state === "pending" && step.attempts === 1 && step.failures === 0);
    skipWait(server);
    expect((await user.prepared(id)).state).toBe("ready");
  });

  test("fails permanently if the server is killed on each attempt", async () => {
    await using server = await harness();
    const user = await server.user(10);
    server.speech.failNext(new Error("the child crashed"));
    const id = await user.upload(await wav(4));
    await stepIs(server, id, (step) => step.failures === 1);
    const { store } = server.services();
    await store.write((tx) => tx.run(sql`UPDATE steps SET attempts = ${MAX_ATTEMPTS} WHERE subject_id = ${id}`));
    skipWait(server);
    expect(await user.prepared(id)).toMatchObject({ state: "failed", error_code: "processing_failed" });
    expect(await money(server, user)).toEqual({ free: 10, held: 0 });
  });

  test("is retried once, immediately, if the kernel killed its process, and does not count as an error", async () => {
    await using server = await harness();
    const user = await server.user(10);
    server.speech.failNext(new JobKilled());
    const id = await user.upload(await wav(4));
    expect((await user.prepared(id)).state).toBe("ready");
    expect(await findLatestStep(server.services().store.read, id)).toMatchObject({
      kernel_kills: 1,
      attempts: 2,
      failures: 0,
    });
    expect(await money(server, user)).toEqual({ free: 9, held: 0 });
  });

  test("fails permanently with a reason if the kernel killed its process twice", async () => {
    await using server = await harness();
    const user = await server.user(10);
    for (let n = 0; n < 2; n++) server.speech.failNext(new JobKilled());
    const asset = await user.prepared(await user.upload(await wav(4)));
    expect(asset).toMatchObject({ state: "failed", error_code: "processing_failed" });
    expect(asset.error_message).toContain("more memory than the server has");
    expect(server.speech.analyzed).toBe(2);
    expect(await money(server, user)).toEqual({ free: 10, held: 0 });
  });

  test("can be requested again if it is a cut", async () => {
    await using server = await harness();
    const user = await server.user();
    const asset = await user.ready(await wav(4));
    const { store } = server.services();
    const first = await user.startCut({ asset_id: asset.id });
    await user.cutEnded(first.id);
    await store.write((tx) =>
      tx.run(sql`UPDATE cuts SET state = 'failed', error_code = 'processing_failed' WHERE id = ${first.id}`),
    );
    const second = await user.call<{ id: string }>("POST", "/v1/cuts", { json: { asset_id: asset.id } });
    expect([second.status, second.body.id === first.id]).toEqual([201, false]);
  });
});

describe("a shutdown", () => {
  test("during a preparation leaves it to the next start without counting an attempt", async () => {
    await using server = await harness();
    const user = await server.user(10);
    const hold = server.speech.hold("analyze");
    const id = await user.upload(await wav(4));
    await hold.reached;
    // A database that a migration kept long ago.
    const kept = join(server.dataDir, "offcut-before-0001_refunds-2020-01-31.db");
    await Bun.write(kept, "old");
    await server.restart();
    expect(await Bun.file(kept).exists()).toBe(false);
    hold.release();
    expect((await user.prepared(id)).state).toBe("ready");
    expect(await findLatestStep(server.services().store.read, id)).toMatchObject({ attempts: 1, failures: 0 });
    expect(await server.events(id)).toEqual(["asset.ready from processing"]);
    expect(await money(server, user)).toEqual({ free: 9, held: 0 });
  });

  test("during a cut or a render does the same", async () => {
    await using server = await harness();
    const user = await server.user();
    const asset = await user.ready(await video(4));
    const force = server.speech.hold("forcedAlign");
    const renders = server.holdRenders();
    const cut = await user.startCut({ asset_id: asset.id, script: "alpha bravo" });
    const render = await user.startRender({ asset_id: asset.id });
    await Promise.all([force.reached, renders.reached]);
    const restarted = server.restart();
    renders.release();
    await restarted;
    force.release();
    expect((await user.cutEnded(cut.id)).state).toBe("completed");
    expect((await user.renderEnded(render.id)).state).toBe("completed");
    expect(await server.events(cut.id)).toEqual(["cut.completed"]);
    expect(await server.events(render.id)).toEqual(["render.completed"]);
    await server.idle();
    expect(await server.leftovers(render.id)).toEqual([`renders/${render.id}`, `renders/${render.id}/output.mp4`]);
  });

  test("without running jobs takes no time", async () => {
    await using server = await harness();
    await (await server.user()).must("GET", "/v1/users/me");
    expect(await measureProcessorMs(() => server.restart())).toBeLessThan(3_000);
  });
});

describe("a start after a crash", () => {
  test("counts it for the jobs that ran; after the second they run alone", async () => {
    await using server = await harness();
    const user = await server.user();
    const hold = server.speech.hold("analyze");
    const id = await user.upload(await wav(4));
    const crash = () =>
      server.restart((store) =>
        store.write((tx) => tx.run(sql`UPDATE steps SET state = 'running' WHERE subject_id = ${id}`)),
      );
    for (const crashes of [1, 2]) {
      await stepIs(server, id, (step) => step.state === "running");
      await crash();
      expect(await stepIs(server, id, (step) => step.state === "running")).toMatchObject({ unclean_starts: crashes });
    }
    const later = await user.upload(await wav(2));
    await stepIs(server, later, (step) => step.state === "pending");
    hold.release();
    expect((await user.prepared(later)).state).toBe("ready");
    const [first, second] = [await stepIs(server, id, () => true), await stepIs(server, later, () => true)];
    expect(first).toMatchObject({ state: "completed" });
    expect(second.started_at!).toBeGreaterThanOrEqual(first.finished_at!);
  });

  test("finishes an upload that was complete on the disk but not in the database", async () => {
    await using server = await harness();
    const user = await server.user();
    const bytes = await wav(4);
    const { id } = await user.open(bytes.length);
    await Bun.write(server.services().folders.upload(id), bytes);
    await server.restart();
    expect((await user.prepared(id)).state).toBe("ready");
  });

  test("finishes an upload whose file was moved but whose row was not updated", async () => {
    await using server = await harness();
    const user = await server.user();
    const bytes = await wav(4);
    const { id } = await user.open(bytes.length);
    const { folders } = server.services();
    await mkdir(folders.media(id).dir, { recursive: true });
    await Bun.write(folders.upload(id), bytes);
    await rename(folders.upload(id), folders.media(id).source);
    const head = await user.call("HEAD", `/v1/uploads/${id}`, { headers: user.tus() });
    expect(head.headers.get("upload-offset")).not.toBe("0");
    await server.restart();
    expect((await user.prepared(id)).state).toBe("ready");
    expect(await server.events(id)).toEqual(["asset.ready from processing"]);
  });

  test("keeps an incomplete upload", async () => {
    await using server = await harness();
    const user = await server.user();
    const bytes = await wav(4);
    const { id } = await user.open(bytes.length);
    await Bun.write(server.services().folders.upload(id), bytes.slice(0, 5_000));
    await server.restart();
    const head = await user.call("HEAD", `/v1/uploads/${id}`, { headers: user.tus() });
    expect(head.headers.get("upload-offset")).toBe("5000");
    expect((await user.patch(id, 5_000, bytes.slice(5_000) as Uint8Array<ArrayBuffer>)).status).toBe(204);
    expect((await user.prepared(id)).state).toBe("ready");
  });

  test("completes an upload whose file is moved and whose length the restored row does not know", async () => {
    await using server = await harness();
    const user = await server.user();
    const bytes = await wav(4);
    const { id } = await user.open(bytes.length);
    await Bun.write(server.services().folders.media(id).source, bytes);
    await server.restart((store) =>
      store.write((tx) => updateAsset(tx, id, { is_length_deferred: true, upload_length: 0 })),
    );
    expect((await user.prepared(id)).state).toBe("ready");
    expect((await user.asset(id)).size_bytes).toBe(bytes.length);
  });

  test("deletes orphaned files and no others", async () => {
    await using server = await harness();
    const user = await server.user();
    const asset = await user.ready(await wav(4));
    const render = await user.renderEnded((await user.startRender({ asset_id: asset.id })).id);
    const { folders } = server.services();
    const [orphan, kept] = [newId(), [folders.media(asset.id).source, folders.renderOutput(render.id, "m4a")]];
    const lost = [
      folders.media(orphan).source,
      folders.upload(orphan),
      folders.renderOutput(orphan, "mp4"),
      join(folders.work(orphan), "chunk"),
      join(folders.trash, orphan),
    ];
    for (const path of lost) await Bun.write(path, "bytes");
    await server.restart();
    await until("a clean folder", async () => (await server.leftovers(orphan)).length === 0);
    for (const path of kept) expect(await Bun.file(path).exists()).toBe(true);
  });

  test("leaves the rest of a sweep that is aborted to the next one", async () => {
    await using server = await harness();
    const { folders } = server.services();
    const path = folders.upload(newId());
    await Bun.write(path, "bytes");
    await sweep(server.services(), AbortSignal.abort());
    expect(await Bun.file(path).exists()).toBe(true);
    await sweep(server.services());
    expect(await Bun.file(path).exists()).toBe(false);
  });

  test("requeues every running step immediately", async () => {
    await using server = await harness();
    const user = await server.user();
    const hold = server.speech.hold("analyze");
    const id = await user.upload(await wav(4));
    await hold.reached;
    // As after a kill: running, with a lease that has not expired.
    await server.restart((store) =>
      store.write((tx) =>
        tx.run(
          sql`UPDATE steps SET state = 'running', lease_owner = 'gone', lease_until = ${Date.now() + 30_000} WHERE subject_id = ${id}`,
        ),
      ),
    );
    hold.release();
    expect((await user.prepared(id)).state).toBe("ready");
  });
});
