/** What can be asked for while a recording is prepared, or its cut is planned. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { updateAsset } from "../../src/store/assets";
import { until } from "../until";
import { harness, PATIENCE_MS } from "./harness";
import { oldVideo, video, wav } from "./media";
import { tryCall } from "./outcome";

setDefaultTimeout(3 * PATIENCE_MS);

describe("a source that is not ready", () => {
  test("can be cut and rendered to audio once it is cuttable, to video once it is ready", async () => {
    // Nobody opens it, so that there is no preview at any time.
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
    // The audio can be prepared before the video is. Which comes first differs from run to run.
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
    const isPlayable = async () =>
      (await read("media").then(({ body }) => body as { is_playable: boolean })).is_playable;
    await until("the index", isPlayable);
    for (const what of [
      "waveform",
      "storyboard",
      "pieces/video?from=0&to=1&variant=source",
      "pieces/audio?from=0&to=1",
    ])
      expect([what, (await read(what)).status]).toEqual([what, 200]);
    analysis.release();
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
