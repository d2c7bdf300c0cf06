/** Requests that are possible while a recording is prepared, or its cut is planned. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../src/domain/errors";
import { updateAsset } from "../../src/store/assets";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { harness, PATIENCE_MS } from "./harness";
import { FFMPEG, oldVideo, video, wav } from "./media";
import { attempt, tryCall } from "./outcome";

setDefaultTimeout(3 * PATIENCE_MS);

describe("a source that is not ready", () => {
  test("can be cut and rendered to audio once it is cuttable, to video once it is ready", async () => {
    // It is never opened, so no preview is created.
    await using own = await harness({ PREVIEWS: "on_opening" });
    const user = await own.user();
    const analysis = own.speech.hold("analyze");
    const held = own.holdRenders();
    const id = await user.upload(await oldVideo());
    const ask = (output: unknown) => tryCall(user, "POST", "/v1/renders", { asset_id: id, output });
    await analysis.reached;
    expect([await ask({}), await ask({ format: "mp3" })]).toEqual(["409 asset_not_ready", "409 asset_not_ready"]);
    expect(await tryCall(user, "POST", "/v1/cuts", { asset_id: id })).toBe("409 asset_processing");

    analysis.release();
    expect((await user.prepared(id)).state).toBe("ready");
    // The audio can be prepared before the video is. Their order differs from run to run.
    const setVideoPrepared = (isPrepared: boolean) => {
      const state = isPrepared ? "ready" : "processing";
      const { store } = own.services();
      return store.write((tx) => updateAsset(tx, id, { state, video_prepared: isPrepared }));
    };
    await setVideoPrepared(false);
    const asset = await user.asset(id);
    expect(asset.cuttable).toBe(true);
    expect(asset).toMatchObject({ state: "processing", download_url: null, has_transcript: true });
    expect(asset.transcript_url).not.toBeNull();
    expect([await ask({}), await ask({ format: "mp3" })]).toEqual(["409 asset_not_ready", "201"]);
    const cut = await user.cutEnded((await user.startCut({ asset_id: id })).id);
    expect(cut.state).toBe("completed");

    held.release();
    await setVideoPrepared(true);
    const ready = await user.asset(id);
    // "`preview_url` is null until then, and neither `cuttable` nor `ready` waits for it."
    expect(ready.preview_url).toBeNull();
    expect(await ask({})).toBe("201");
  });

  test("is played while it is being transcribed", async () => {
    await using own = await harness();
    const user = await own.user();
    const analysis = own.speech.hold("analyze");
    const id = await user.upload(await video(2));
    await analysis.reached;
    const read = (what: string) => user.call("GET", `/api/v1/assets/${id}/${what}`);
    type Media = { is_playable: boolean; has_storyboard: boolean; loudness: unknown };
    const readComplete = async () => {
      const media = await user.must<Media>("GET", `/api/v1/assets/${id}/media`);
      return media.is_playable && media.has_storyboard ? media : null;
    };
    const { loudness } = await until("index and storyboard", readComplete);
    expect(loudness).toEqual({ is_ready: true, absent_reason: null });
    for (const what of [
      "waveform",
      "loudness",
      "storyboard",
      "pieces/video?from=0&to=1&variant=source",
      "pieces/audio?from=0&to=1",
    ])
      expect([what, (await read(what)).status]).toEqual([what, 200]);
    analysis.release();
  });

  test("is played while its storyboard is being made", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "ffmpeg");
    const wait = `case "$*" in *sheet-*) while [ ! -e "${folder.path}/go" ]; do sleep 0.05; done ;; esac`;
    await Bun.write(path, `#!/bin/sh\n${wait}\nexec "${FFMPEG}" "$@"\n`);
    await chmod(path, 0o755);
    await using own = await harness({ FFMPEG: path });
    const user = await own.user();
    const id = await user.upload(await video(2));
    type Media = { is_playable: boolean; has_storyboard: boolean };
    const readMedia = () => user.must<Media>("GET", `/api/v1/assets/${id}/media`);
    const piece = async (track: string) =>
      (await user.call("GET", `/api/v1/assets/${id}/pieces/${track}?from=0&to=1&variant=source`)).status;
    const media = await until("the index", async () => {
      const read = await readMedia();
      return read.is_playable && (await piece("video")) === 200 ? read : null;
    });
    expect([media.has_storyboard, await piece("audio")]).toEqual([false, 200]);
    expect(await attempt(user, "GET", `/api/v1/assets/${id}/storyboard`)).toBe("409 asset_processing");
    await Bun.write(join(folder.path, "go"), "");
    await until("the storyboard", async () => (await readMedia()).has_storyboard);
    expect(await attempt(user, "GET", `/api/v1/assets/${id}/storyboard/0`)).toBe("200");
    await user.prepared(id);
  });

  test("shows its words while it is being transcribed, and none of them once that has ended", async () => {
    await using own = await harness();
    const user = await own.user();
    const stranger = await own.user();
    const word = (text: string, start: number) => ({ text, start, end: start + 500_000, confidence: 0.9 });
    own.speech.early = [word("alpha", 0), word("bravo", 1_000_000)];
    const transcribe = async () => {
      const analysis = own.speech.hold("analyze");
      const id = await user.upload(await wav(3));
      const path = (from: number, run = 0) => `/api/v1/assets/${id}/transcript/partial?from=${from}&run=${run}`;
      type Read = { run: number; from: number; text: string[]; start: number[]; end: number[] };
      const read = (from: number, run?: number) => user.must<Read>("GET", path(from, run));
      await analysis.reached;
      await until("the words", async () => (await read(0)).text.length > 0);
      return { id, analysis, path, read };
    };
    const { id, analysis, path, read } = await transcribe();
    const { run, ...all } = await read(0);
    expect(all).toEqual({ from: 0, text: ["alpha", "bravo"], start: [0, 1000], end: [500, 1500] });
    expect(await read(1, run)).toMatchObject({ run, from: 1, text: ["bravo"] });
    expect(await read(2, run)).toMatchObject({ run, from: 2, text: [] });
    // A position of another run, or beyond the last word.
    for (const [from, of] of [
      [1, run - 1],
      [9, run],
    ] as const)
      expect(await read(from, of)).toMatchObject({ run, from: 0, text: ["alpha", "bravo"] });
    expect(await attempt(user, "GET", path(0, -1))).toBe("422 query.run");
    expect(await attempt(user, "GET", path(-1))).toBe("422 query.from");
    expect(await attempt(stranger, "GET", path(0))).toBe("404 not_found");
    expect(await attempt(user, "GET", `/api/v1/assets/${id}/transcript`)).toBe("409 asset_processing");
    analysis.release();
    await user.prepared(id);
    await until("the end of the job", async () => (await read(0)).text.length === 0);

    const failed = await transcribe();
    own.speech.failNext(new AppError("corrupt_media", "The audio is damaged."));
    failed.analysis.release();
    await until("the failure", async () => (await user.asset(failed.id)).state === "failed");
    await until("the end of the job", async () => (await failed.read(0)).text.length === 0);
  });

  test("has the same rule for a cut that is not completed", async () => {
    await using own = await harness();
    const user = await own.user();
    const asset = await user.ready(await wav(4));
    const hold = own.speech.hold("forcedAlign");
    const cut = await user.startCut({ asset_id: asset.id, script: "alpha bravo" });
    const json = { asset_id: asset.id, cut_id: cut.id };
    expect(await tryCall(user, "POST", "/v1/renders", json)).toBe("409 modifier_not_ready");
    hold.release();
    const foreign = await user.startCut({
      asset_id: asset.id,
      script: "nothing of this is spoken anywhere here at all",
    });
    expect((await user.cutEnded(foreign.id)).state).toBe("failed");
    const result = await tryCall(user, "POST", "/v1/renders", { ...json, cut_id: foreign.id });
    expect(result).toBe("409 modifier_not_ready");
  });
});
