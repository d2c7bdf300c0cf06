import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { video, wav } from "./media";
import { NO_ID, outcome, tryCall } from "./outcome";
import type { Asset, LedgerEntry, Paged, Project } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
});
beforeEach(async () => {
  anna = await server.user();
});
afterAll(() => server[Symbol.asyncDispose]());

const SIZE = 1_000;

describe("creating an asset", () => {
  test("opens its upload", async () => {
    const { id: project_id } = await anna.project();
    const reply = await anna.call<Asset>("POST", "/v1/assets", {
      json: { project_id, size_bytes: SIZE, language: "EN" },
      headers: { "Upload-Metadata": `filename ${btoa("../a.wav")},external_id ${btoa("scene 1")}` },
    });
    expect(reply.status).toBe(201);
    const { id } = reply.body;
    const upload_url = `${server.url()}/v1/uploads/${id}`;
    expect(reply.headers.get("location")).toBe(upload_url);
    expect(reply.headers.get("tus-resumable")).toBe("1.0.0");
    const days = (Date.parse(reply.headers.get("upload-expires")!) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(7);
    expect(reply.body).toEqual({
      id,
      project_id,
      kind: "source",
      type: null,
      state: "pending_upload",
      extension: null,
      size_bytes: null,
      content_type: null,
      duration_seconds: null,
      language: "en",
      external_id: "scene 1",
      name: null,
      tags: [],
      note: null,
      error_code: null,
      error_message: null,
      created_at: reply.body.created_at,
      upload_url,
    });
    expect(await anna.asset(id)).toMatchObject({
      upload_url,
      filename: "a.wav",
      external_id: "scene 1",
      download_url: null,
      cuttable: false,
      progress: null,
      width: null,
      audio_tracks: null,
      has_transcript: false,
      poster_url: null,
      transcript_url: null,
    });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["without a project", { project_id: undefined }, "422 validation_error body.project_id"],
    ["with an invalid project ID", { project_id: "7" }, "422 validation_error body.project_id"],
    ["in a project that does not exist", { project_id: NO_ID }, "404 not_found"],
    ["without a size", { size_bytes: undefined }, "422 validation_error body.size_bytes"],
    ["of 0 bytes", { size_bytes: 0 }, "422 validation_error body.size_bytes"],
    ["with a negative size", { size_bytes: -1 }, "422 validation_error body.size_bytes"],
    ["with a fractional size", { size_bytes: 1.5 }, "422 validation_error body.size_bytes"],
    ["with a string as its size", { size_bytes: "1000" }, "422 validation_error body.size_bytes"],
    ["of one byte", { size_bytes: 1 }, "400 bad_request"],
    ["of 63 bytes", { size_bytes: 63 }, "400 bad_request"],
    ["of 64 bytes", { size_bytes: 64 }, "201"],
    ["of the maximum size", { size_bytes: 100 * 1024 ** 3 }, "201"],
    ["of one byte more than the maximum", { size_bytes: 100 * 1024 ** 3 + 1 }, "413 payload_too_large"],
    ["of an astronomical size", { size_bytes: 1e300 }, "413 payload_too_large"],
    ["in a language", { language: "De" }, "201"],
    ["with a null language", { language: null }, "201"],
    ["in a language of three letters", { language: "deu" }, "422 validation_error body.language"],
    ["with an empty language", { language: "" }, "422 validation_error body.language"],
    ["in a language with a region", { language: "en-US" }, "422 validation_error body.language"],
    ["in a language with an accent", { language: "é1" }, "422 validation_error body.language"],
    ["with an unknown property", { filename: "a.mp4" }, "422 validation_error body.filename"],
  ])("%s", async (_, change, expected) => {
    const { id } = await anna.project();
    const result = await tryCall(anna, "POST", "/v1/assets", { project_id: id, size_bytes: SIZE, ...change });
    expect(result).toBe(expected);
    const { items } = await anna.must<Paged<Asset>>("GET", "/v1/assets");
    expect(items).toHaveLength(expected === "201" ? 1 : 0);
  });

  test.each([
    ["that is not base64", "filename a.mp4"],
    ["with an external ID that is too long", `external_id ${btoa("x".repeat(257))}`],
  ])("with metadata %s is refused", async (_, metadata) => {
    const { id } = await anna.project();
    const json = { project_id: id, size_bytes: SIZE };
    const reply = await anna.call("POST", "/v1/assets", { json, headers: { "Upload-Metadata": metadata } });
    expect(outcome(reply)).toBe("400 bad_request");
  });

  test("in another user's project is a 404, in an archived one a 409", async () => {
    const bert = await server.user();
    const json = { project_id: (await anna.project()).id, size_bytes: SIZE };
    expect(await tryCall(bert, "POST", "/v1/assets", json)).toBe("404 not_found");
    await anna.must("PATCH", `/v1/projects/${json.project_id}`, { json: { state: "archived" } });
    expect(await tryCall(anna, "POST", "/v1/assets", json)).toBe("409 conflict");
    await anna.must("PATCH", `/v1/projects/${json.project_id}`, { json: { state: "active" } });
    expect(await tryCall(anna, "POST", "/v1/assets", json)).toBe("201");
  });

  test("without credits is a 402 after all other checks", async () => {
    const poor = await server.user(0);
    const json = { project_id: (await poor.project()).id, size_bytes: SIZE };
    expect(await tryCall(poor, "POST", "/v1/assets", json)).toBe("402 insufficient_credits");
    expect(await tryCall(poor, "POST", "/v1/assets", { ...json, size_bytes: 5 })).toBe("400 bad_request");
    expect(await tryCall(poor, "POST", "/v1/assets", { ...json, project_id: NO_ID })).toBe("404 not_found");
    await server.grant(poor, 1);
    expect(await tryCall(poor, "POST", "/v1/assets", json)).toBe("201");
  });
});

describe("a prepared asset", () => {
  test("of a video shows its properties, is charged once and emits one event", async () => {
    const asset = await anna.ready(await video(4), { filename: "talk.mp4" });
    expect(asset).toMatchObject({
      type: "video",
      extension: "mp4",
      content_type: "video/mp4",
      duration_seconds: "4",
      size_bytes: (await video(4)).length,
      upload_url: null,
      filename: "talk.mp4",
      cuttable: true,
      progress: null,
      width: 320,
      height: 240,
      frame_rate: { num: 10, den: 1 },
      video_codec: "h264",
      audio_codec: "aac",
      audio_tracks: 1,
      has_transcript: true,
      language_detected: { code: "en", confidence: 0.98 },
      error_code: null,
    });
    for (const link of ["download", "poster", "filmstrip", "waveform", "transcript"] as const) {
      const answer = await fetch(asset[`${link}_url`]!);
      expect([link, answer.status]).toEqual([link, 200]);
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(10);
    }
    const { items } = await anna.must<Paged<LedgerEntry>>("GET", "/v1/credits/history");
    expect(items.map((entry) => [entry.type, entry.delta, entry.asset_id])).toEqual([
      ["consume_asset", -1, asset.id],
      ["grant", 1_000, null],
    ]);
    expect(await server.events(asset.id)).toEqual(["asset.ready from processing"]);
  });

  test("of a recording has a transcript with its own times", async () => {
    const asset = await anna.ready(await wav(4));
    expect(asset).toMatchObject({ type: "audio", width: null, video_codec: null, poster_url: null, preview_url: null });
    const transcript = await (await fetch(asset.transcript_url!)).json();
    expect(transcript.language).toBe("en");
    expect(transcript.words.map((word: { text: string }) => word.text)).toEqual(["alpha", "bravo"]);
    for (const word of transcript.words) expect(word.end).toBeLessThanOrEqual(Number(asset.duration_seconds));
  });

  test("in an unsupported language is ready without a transcript", async () => {
    const asset = await anna.ready(await wav(4), { language: "xx" });
    expect(asset).toMatchObject({ language: "xx", language_detected: null, cuttable: true, transcript_url: null });
  });
});

describe("an asset in preparation", () => {
  test("shows its progress and becomes cuttable before it is ready", async () => {
    await using own = await harness();
    const user = await own.user();
    const hold = own.speech.hold("analyze");
    const id = await user.upload(await wav(4));
    await hold.reached;
    const asset = await user.asset(id);
    expect(asset).toMatchObject({ state: "processing", cuttable: false, download_url: null, duration_seconds: "4" });
    expect(asset.progress).toBeGreaterThanOrEqual(0);
    expect(asset.progress).toBeLessThan(1);
    hold.release();
    expect((await user.prepared(id)).cuttable).toBe(true);
  });
});

describe("the asset list", () => {
  test("returns pages of summaries, newest first, and filters", async () => {
    const [one, two] = [await anna.project("One"), await anna.project("Two")];
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift((await anna.open(SIZE, { projectId: n === 2 ? two.id : one.id })).id);
    const list = (query: string) => anna.must<Paged<Asset>>("GET", `/v1/assets${query}`);
    const first = await list("?limit=3");
    const second = await list(`?limit=3&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map((asset) => asset.id)).toEqual(ids);
    expect([first.limit, second.next_cursor]).toEqual([3, null]);
    expect(first.items[0]).not.toHaveProperty("download_url");
    expect((await list(`?project_id=${two.id}`)).items.map((asset) => asset.id)).toEqual([ids[2]!]);
    expect((await list(`?project_id=${two.id.toUpperCase()}`)).items).toHaveLength(1);
    expect((await list(`?project_id=${NO_ID}`)).items).toEqual([]);
    expect((await list("?state=pending_upload&limit=100")).items).toHaveLength(5);
    expect((await list("?state=ready")).items).toEqual([]);
    expect((await (await server.user()).must<Paged<Asset>>("GET", "/v1/assets")).items).toEqual([]);
  });

  test.each([
    ["limit=101", "query.limit"],
    ["state=done", "query.state"],
    ["project_id=7", "query.project_id"],
    ["cursor=x", "query.cursor"],
    ["kind=source", "query.kind"],
  ])("refuses %s", async (query, field) => {
    expect(await tryCall(anna, "GET", `/v1/assets?${query}`)).toBe(`422 validation_error ${field}`);
  });

  test("refuses the cursor of another filter", async () => {
    const { id } = await anna.project();
    for (let n = 0; n < 2; n++) await anna.open(SIZE, { projectId: id });
    const { next_cursor } = await anna.must<Paged<Asset>>("GET", "/v1/assets?limit=1");
    const result = await tryCall(anna, "GET", `/v1/assets?state=ready&cursor=${next_cursor}`);
    expect(result).toBe("422 validation_error query.cursor");
  });
});

describe("another user's asset", () => {
  test("is a 404", async () => {
    const bert = await server.user();
    const { id } = await anna.open(SIZE);
    for (const method of ["GET", "DELETE"]) {
      expect(await tryCall(bert, method, `/v1/assets/${id}`)).toBe("404 not_found");
    }
    expect((await anna.asset(id)).state).toBe("pending_upload");
  });
});

test("uploading, deleting, cutting and rendering count as activity of the project; the end of a job does not", async () => {
  const activity = async (id: string) =>
    Date.parse((await anna.must<Project>("GET", `/v1/projects/${id}`)).last_activity_at);
  const { id: projectId } = await anna.project();
  const moved = async (what: () => Promise<unknown>): Promise<boolean> => {
    const before = await activity(projectId);
    server.advance(60_000);
    await what();
    return (await activity(projectId)) > before;
  };
  const bytes = await wav(4);
  let id = "";
  const hold = server.speech.hold("analyze");
  expect(await moved(async () => (id = await anna.upload(bytes, { projectId })))).toBe(true);
  await hold.reached;
  const prepare = async () => {
    hold.release();
    await anna.prepared(id);
  };
  expect(await moved(prepare)).toBe(false);
  let cutId = "";
  expect(await moved(async () => (cutId = (await anna.startCut({ asset_id: id })).id))).toBe(true);
  expect(await moved(() => anna.cutEnded(cutId))).toBe(false);
  expect(await moved(() => anna.startCut({ asset_id: id }))).toBe(false);
  let renderId = "";
  expect(await moved(async () => (renderId = (await anna.startRender({ asset_id: id })).id))).toBe(true);
  expect(await moved(() => anna.renderEnded(renderId))).toBe(false);
  expect(await moved(() => anna.must("GET", `/v1/assets/${id}`))).toBe(false);
  expect(await moved(() => anna.must("DELETE", `/v1/assets/${id}`))).toBe(true);
});
