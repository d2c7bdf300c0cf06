/** Rows of the contract: early cuttable, files of an asset, configurable limits, and server failures. */
import { expect } from "bun:test";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { FFMPEG, oldVideo, video, wav } from "../../http/media";
import { outcome } from "../../http/outcome";
import { receiver } from "../../http/receiver";
import type { AssetDetail, Cut } from "../../http/resources";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";
import { createFixtures, type Row } from "./fixtures";

const HOOK = { url: "http://127.0.0.1:8080/hook", event_types: ["render.completed"] };

/** An ffmpeg that creates no preview until a file `go` exists next to it. */
async function ffmpegThatHoldsPreviews(folder: string): Promise<string> {
  const path = join(folder, "ffmpeg");
  const wait = `case "$*" in *preview.mp4*) while [ ! -e "${folder}/go" ]; do sleep 0.05; done ;; esac`;
  await Bun.write(path, `#!/bin/sh\n${wait}\nexec "${FFMPEG}" "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

export const edgeRows: Row[] = [
  [
    "An asset can be cuttable before it is ready: cuts and audio renders are created, a video render is 409",
    async () => {
      await using folder = await temporaryFolder();
      await using own = await createFixtures({ FFMPEG: await ffmpegThatHoldsPreviews(folder.path) });
      const id = await own.anna.upload(await oldVideo());
      const early = await until("cuttable", async () => {
        const { body } = await own.call<AssetDetail>("GET", `/v1/assets/${id}`);
        return body.cuttable && body;
      });
      expect(early).toMatchObject({ state: "processing", download_url: null, has_transcript: true });
      expect(early.transcript_url).not.toBeNull();
      expect(await own.getOutcome("POST", "/v1/renders", { asset_id: id })).toBe("409 asset_not_ready");
      expect(await own.getOutcome("POST", "/v1/renders", { asset_id: id, output: { format: "mp3" } })).toBe("201");
      expect(await own.getOutcome("POST", "/v1/cuts", { asset_id: id })).toBe("201");
      await Bun.write(join(folder.path, "go"), "");
      expect((await own.anna.prepared(id)).state).toBe("ready");
    },
  ],
  [
    "poster, filmstrip, waveform and transcript: signed links; the transcript is { language, words: [text, start, end, confidence] }",
    async ({ videoAsset, anna }) => {
      const asset = await anna.asset((await videoAsset()).id);
      const types = {
        poster_url: "image/jpeg",
        filmstrip_url: "image/jpeg",
        waveform_url: "application/json",
      } as const;
      for (const [name, type] of Object.entries(types)) {
        const file = await fetch(asset[name as keyof typeof types]!);
        expect([name, file.status, file.headers.get("content-type")]).toEqual([name, 200, type]);
      }
      expect(asset.preview_url).toBeNull();
      const transcript = (await (await fetch(asset.transcript_url!)).json()) as { language: string; words: object[] };
      expect(Object.keys(transcript).toSorted()).toEqual(["language", "words"]);
      expect(transcript.words.length).toBeGreaterThan(0);
      for (const word of transcript.words) {
        expect(word).toEqual({
          text: expect.any(String),
          start: expect.any(Number),
          end: expect.any(Number),
          confidence: expect.any(Number),
        });
      }
    },
  ],
  [
    "asset error_code media_limits_exceeded: duration and side above the limits of the settings",
    async () => {
      await using own = await createFixtures({ MAX_DURATION_SECONDS: "3", MAX_SIDE_PIXELS: "300" });
      for (const bytes of [await wav(4), await video(1)]) {
        const asset = await own.anna.prepared(await own.anna.upload(bytes));
        expect(asset).toMatchObject({ state: "failed", error_code: "media_limits_exceeded" });
      }
    },
  ],
  [
    "Idempotency-Key on the other calls that create: 50 simultaneous edits are one cut, 50 registrations one endpoint",
    async ({ send, server, cut, anna }) => {
      const user = await server.user();
      const fifty = async (client: typeof anna, path: string, json: object) => {
        const call = { json, headers: { "Idempotency-Key": "fifty" } };
        const all = await Promise.all(Array.from({ length: 50 }, () => send<Cut>(client, "POST", path, call)));
        return [...new Set(all.map((reply) => `${reply.status} ${reply.body.id}`))];
      };
      const [segment] = (await cut()).plan!.segments;
      expect(await fifty(anna, `/v1/cuts/${(await cut()).id}/edits`, { segments: [segment] })).toHaveLength(1);
      expect(await fifty(user, "/v1/webhook-endpoints", HOOK)).toHaveLength(1);
    },
  ],
  [
    "webhook endpoints: at most 50 per user, then 409 conflict; no events while the account is being deleted",
    async () => {
      await using own = await createFixtures();
      await using hook = receiver();
      const { anna, server } = own;
      await own.call("POST", "/v1/webhook-endpoints", { url: hook.url, event_types: ["asset.ready"] });
      for (let n = 1; n < 50; n++) await own.call("POST", "/v1/webhook-endpoints", HOOK);
      expect(await own.getOutcome("POST", "/v1/webhook-endpoints", HOOK)).toBe("409 conflict");
      const analysis = server.speech.hold("analyze");
      const id = await anna.upload(await wav(2));
      await analysis.reached;
      const { store } = server.services();
      await store.write((tx) => tx.run(sql`UPDATE users SET deleted_at = 1 WHERE id = ${anna.userId}`));
      analysis.release();
      await server.idle();
      expect(await server.events(id)).toEqual(["asset.ready from processing"]);
      const [row] = await store.read.all<{ n: number }>(sql`SELECT count(*) AS n FROM deliveries`);
      expect([row!.n, hook.received.length]).toEqual([0, 0]);
    },
  ],
  [
    "OFFCUT_STORAGE_QUOTA_BYTES: a create above it is 409 conflict; users/me has storage_used_bytes and storage_quota_bytes (null: none)",
    async ({ call }) => {
      expect((await call("GET", "/v1/users/me")).body).toMatchObject({ storage_quota_bytes: null });
      await using own = await createFixtures({ STORAGE_QUOTA_BYTES: "5000" });
      const json = { project_id: (await own.anna.project()).id, size_bytes: 2_500 };
      expect(await own.getOutcome("POST", "/v1/assets", { ...json, size_bytes: 5_001 })).toBe("409 conflict");
      expect(await own.getOutcome("POST", "/v1/assets", json)).toBe("201");
      expect(await own.getOutcome("POST", "/v1/assets", json)).toBe("201");
      expect(await own.getOutcome("POST", "/v1/assets", json)).toBe("409 conflict");
      const { body } = await own.call("GET", "/v1/users/me");
      expect(body).toMatchObject({ storage_used_bytes: 5_000, storage_quota_bytes: 5_000 });
    },
  ],
  [
    "OFFCUT_DISK_RESERVE_BYTES: below it uploads, renders and exports are 503 upstream_unavailable with Retry-After; reads and deletes work",
    async () => {
      await using own = await createFixtures();
      const { anna, server } = own;
      const { id } = await anna.ready(await wav(4));
      const cut = await anna.cutEnded((await anna.startCut({ asset_id: id })).id);
      const upload = await anna.open(1_000);
      const project_id = (await anna.project()).id;
      server.services().disk.availableBytes = () => 0;
      const patch = {
        headers: { ...anna.tus(), "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0" },
      };
      for (const reply of [
        await own.call("POST", "/v1/assets", { project_id, size_bytes: 100 }),
        await own.send(anna, "PATCH", `/v1/uploads/${upload.id}`, { body: new Uint8Array(10), ...patch }),
        await own.call("POST", "/v1/renders", { asset_id: id }),
        await own.call("GET", `/v1/cuts/${cut.id}/export?format=csv`),
      ]) {
        expect([outcome(reply), reply.headers.get("retry-after")]).toEqual(["503 upstream_unavailable", "60"]);
      }
      expect(await own.getOutcome("GET", `/v1/assets/${id}`)).toBe("200");
      expect(await own.getOutcome("DELETE", `/v1/assets/${id}`)).toBe("204");
    },
  ],
  [
    "503 upstream_unavailable with Retry-After when the storage is full; 500 internal_error shows no internals",
    async () => {
      await using own = await createFixtures();
      const { store } = own.server.services();
      const { write } = store;
      const failing = async (error: Error) => {
        store.write = async () => {
          throw error;
        };
        const reply = await own.send(own.anna, "POST", "/v1/projects", { json: { name: "a" } });
        store.write = write;
        return reply;
      };
      const full = await failing(Object.assign(new Error("disk"), { code: "SQLITE_FULL" }));
      expect([outcome(full), full.headers.get("retry-after")]).toEqual(["503 upstream_unavailable", "60"]);
      const broken = await failing(new Error("the secret inside"));
      expect(outcome(broken)).toBe("500 internal_error");
      expect(JSON.stringify(broken.body)).not.toContain("secret");
      expect(await own.getOutcome("POST", "/v1/projects", { name: "a" })).toBe("201");
    },
  ],
];
