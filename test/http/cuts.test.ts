import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { type BasisJson, basisFromJson } from "../../src/domain/pacing/basis-json";
import type { JudgedPlan } from "../../src/domain/pacing/judge-plan";
import { type PacingOptions, repace, toPacingOptions } from "../../src/domain/pacing/repace";
import { CUT_MODES, type CutOptions } from "../../src/domain/plan";
import type { EditedText } from "../../src/domain/plan-texts";
import type { ExplainedFinding } from "../../src/domain/planning/explain-rules";
import { findCutById } from "../../src/store/cuts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { quiet, wav } from "./media";
import { outcome, tryCall } from "./outcome";
import type { AssetDetail, Cut, ErrorBody, Paged } from "./resources";

setDefaultTimeout(PATIENCE_MS);

type CutExplanation = {
  findings: ExplainedFinding[];
  pacing: (BasisJson & { texts: EditedText[]; options: PacingOptions }) | null;
};

let server: Harness;
let anna: Client;
let bert: Client;
let asset: AssetDetail;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
  [anna, bert] = [await server.user(), await server.user()];
  asset = await anna.ready(await wav(6));
});
afterAll(() => server[Symbol.asyncDispose]());

const post = (json: unknown, user = anna) => user.call<Cut>("POST", "/v1/cuts", { json });
/** Returns options that no other test uses, so that each test creates its own cut. */
let made = 0;
const fresh = () => {
  made++;
  return { asset_id: asset.id, options: { min_silence_seconds: 1 + made / 100 } };
};

describe("an identical request", () => {
  test("returns the existing cut; omitted, null and blank scripts are identical", async () => {
    const base = fresh();
    const first = await post(base);
    for (const script of [undefined, null, "", "  \n\t "]) {
      const again = await post({ ...base, script });
      expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    }
    expect((await post({ ...base, asset_id: asset.id.toUpperCase() })).body.id).toBe(first.body.id);
  });

  test("is one with the same resolved options, however they are given", async () => {
    const first = await post({ asset_id: asset.id, options: { mode: "tight" } });
    const written = { ...CUT_MODES.tight };
    const again = await post({ asset_id: asset.id, options: Object.fromEntries(Object.entries(written).toReversed()) });
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    expect((await post({ asset_id: asset.id, options: { mode: "natural" } })).body.id).not.toBe(first.body.id);
  });

  test("with another script creates another cut", async () => {
    const base = fresh();
    const [one, two] = [await post({ ...base, script: "alpha" }), await post({ ...base, script: "alpha bravo" })];
    expect(one.body.id).not.toBe(two.body.id);
  });

  test("of another user creates another cut", async () => {
    const other = await bert.ready(await wav(6));
    const [mine, theirs] = [await post({ asset_id: asset.id }), await post({ asset_id: other.id }, bert)];
    expect(theirs.body.id).not.toBe(mine.body.id);
  });
});

describe("an asset that cannot be cut", () => {
  test("reports why, with Retry-After during preparation", async () => {
    await using own = await harness();
    const user = await own.user(1);
    const cutOf = (id: string) => user.call<ErrorBody>("POST", "/v1/cuts", { json: { asset_id: id } });

    const { id: uploading } = await user.open(1_000);
    expect(outcome(await cutOf(uploading))).toBe("409 asset_processing");

    const hold = own.speech.hold("analyze");
    const id = await user.upload(await wav(4));
    await hold.reached;
    const early = await cutOf(id);
    expect(outcome(early)).toBe("409 asset_processing");
    const seconds = Number(early.headers.get("retry-after"));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    hold.release();
    expect((await user.prepared(id)).state).toBe("ready");
    expect((await cutOf(id)).status).toBe(201);
  });

  test("reports that it is unpaid or failed", async () => {
    await using own = await harness({ CREDITS_PER_MINUTE: "10" });
    const user = await own.user(9);
    const unpaid = await user.prepared(await user.upload(await wav(4)));
    expect(unpaid.state).toBe("pending_payment");
    expect(await tryCall(user, "POST", "/v1/cuts", { asset_id: unpaid.id })).toBe("409 asset_payment_required");
    const other = await own.user();
    const broken = await other.prepared(await other.upload(new Uint8Array(500).fill(65)));
    expect(broken.state).toBe("failed");
    expect(await tryCall(other, "POST", "/v1/cuts", { asset_id: broken.id })).toBe("409 asset_failed");
  });
});

describe("a completed cut", () => {
  test("keeps the speech, covers the recording with kept and removed spans, and emits one event", async () => {
    const { id } = await anna.startCut({
      asset_id: asset.id,
      options: { mode: "natural", padding_before_seconds: 0.1 },
    });
    const cut = await anna.cutEnded(id);
    expect(cut).toMatchObject({ state: "completed", error_code: null });
    const plan = cut.plan!;
    expect(plan.source_duration).toBe(Number(asset.duration_seconds));
    expect(plan.frame_rate).toBeNull();
    expect(plan.segments).toHaveLength(3);
    const pieces = [...plan.segments, ...plan.removed].toSorted((a, b) => a.start - b.start);
    expect(pieces[0]!.start).toBe(0);
    expect(pieces.at(-1)!.end).toBe(plan.source_duration);
    for (const [n, piece] of pieces.slice(1).entries()) expect(piece.start).toBe(pieces[n]!.end);
    const kept = plan.segments.reduce((sum, segment) => sum + segment.end - segment.start, 0);
    expect(Math.abs(kept - plan.kept_duration)).toBeLessThan(1e-6);
    expect([cut.created_at, cut.started_at!, cut.completed_at!]).toEqual(
      [cut.created_at, cut.started_at!, cut.completed_at!].toSorted(),
    );
    expect(await server.events(id)).toEqual(["cut.completed"]);
  });
});

describe("a failed cut", () => {
  test("because of missing speech is returned for identical requests", async () => {
    const silent = await anna.ready(await quiet(4));
    const cut = await anna.cutEnded((await anna.startCut({ asset_id: silent.id })).id);
    expect(cut).toMatchObject({ state: "failed", error_code: "no_speech", plan: null });
    expect(cut.error_message).toMatch(/^.+$/);
    const again = await post({ asset_id: silent.id });
    expect([again.status, again.body.id]).toEqual([200, cut.id]);
    expect(await server.events(cut.id)).toEqual(["cut.failed"]);
  });

  test("because of a script that is not spoken has the code script_mismatch", async () => {
    const script = "Completely different words which nobody has ever spoken in this recording today.";
    const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id, script })).id);
    expect(cut).toMatchObject({ state: "failed", error_code: "script_mismatch", script });
  });

  test("because of a language without a model has transcription_unavailable; without a script the asset is cut by voice activity", async () => {
    const foreign = await anna.ready(await wav(6), { language: "xx" });
    const withScript = await anna.startCut({ asset_id: foreign.id, script: "alpha bravo" });
    expect(await anna.cutEnded(withScript.id)).toMatchObject({ error_code: "transcription_unavailable" });
    const without = await anna.cutEnded((await anna.startCut({ asset_id: foreign.id })).id);
    expect(without.state).toBe("completed");
    expect(without.plan!.segments).toHaveLength(3);
  });
});

describe("the explanation of a cut", () => {
  const explain = (id: string, user = anna) => user.call<CutExplanation>("GET", `/api/v1/cuts/${id}/explanation`);
  const spansOf = (all: readonly { start: number; end: number }[]) => all.map(({ start, end }) => [start, end]);

  test("names the rule of each removed span; its pacing gives the plan of the cut, also after an edit", async () => {
    const cut = await anna.cutEnded(
      (await anna.startCut({ asset_id: asset.id, options: { min_silence_seconds: 0.31 } })).id,
    );
    const plan = cut.plan!;
    const { status, body } = await explain(cut.id);
    expect(status).toBe(200);
    expect(spansOf(body.findings)).toEqual(spansOf(plan.removed));
    expect(body.findings.map(({ rule }) => rule)).toEqual(plan.removed.map(({ rule }) => rule!));
    expect(body.findings[0]).toMatchObject({ reason: "silence", confidence: 0.99, scores: { pause: 1_000_000 } });
    const repaced = repace(plan, [], basisFromJson(body.pacing!), toPacingOptions(cut.options as CutOptions)).plan;
    expect(repaced).toEqual(plan);
    // Earlier releases have stored the basis as base64.
    const { write } = server.services().store;
    const { basis } = (await findCutById(server.services().store.read, cut.id))!;
    await write((tx) => tx.run(sql`UPDATE cuts SET basis = ${basis} WHERE id = ${cut.id}`));
    expect((await explain(cut.id)).body).toEqual(body);

    const [first, ...others] = plan.segments;
    const texts = [
      { ...spansOf(others).map(([start, end]) => ({ start: start!, end: end! }))[0]!, text: "Bravissimo" },
    ];
    const edit = { segments: others.map(({ start, end }) => ({ start, end })), texts };
    const { body: edited } = await anna.call<Cut>("POST", `/v1/cuts/${cut.id}/edits`, { json: edit });
    const { body: after } = await explain(edited.id);
    expect(after.pacing!.texts).toEqual(texts);
    const before = repace(
      edited.plan!,
      [],
      basisFromJson(after.pacing!),
      toPacingOptions(cut.options as CutOptions),
    ).plan;
    expect(spansOf(before.segments)).toEqual(spansOf(plan.segments));
    expect(after.findings.find(({ rule }) => rule === "manual.edit")).toMatchObject({
      start: first!.start,
      confidence: 1,
    });
  });

  test("an edit with other pacing has its options, and reasons for what it removes", async () => {
    const cut = await anna.cutEnded(
      (await anna.startCut({ asset_id: asset.id, options: { mode: "loose", min_silence_seconds: 1.3 } })).id,
    );
    const { body } = await explain(cut.id);
    expect(body.pacing!.options).toEqual(toPacingOptions(cut.options as CutOptions));
    const pacing = { ...toPacingOptions(CUT_MODES.tight), remove_off_script: false };
    const paced = repace(cut.plan!, [], basisFromJson(body.pacing!), pacing).plan;
    expect(paced.removed.length).toBeGreaterThan(cut.plan!.removed.length);
    const [first, ...others] = paced.segments.map(({ start, end }) => ({ start, end }));
    const { mode, remove_off_script } = pacing;
    const { body: edited } = await anna.call<Cut>("POST", `/v1/cuts/${cut.id}/edits`, {
      json: { segments: others, pacing: { mode, remove_off_script } },
    });
    expect(edited.options).toEqual(CUT_MODES.tight);
    expect(edited.plan!.segments).toEqual(paced.segments.slice(1));
    const byHand = edited.plan!.removed.filter(({ reason }) => reason === "manual");
    expect(byHand).toMatchObject([{ start: first!.start, end: first!.end }]);
    const { body: after } = await explain(edited.id);
    expect(after.pacing!.options).toEqual(pacing);
    const before = repace(edited.plan!, [], basisFromJson(after.pacing!), after.pacing!.options).plan;
    expect(spansOf(before.removed)).toEqual(spansOf(paced.removed));
    const { status } = await anna.call("POST", `/v1/cuts/${cut.id}/edits`, {
      json: { segments: others, pacing: { mode: "manual" } },
    });
    expect(status).toBe(422);
  });

  test("edits of a cut by hand are kept by a planned one", async () => {
    const byHand = await anna.cutEnded((await anna.startCut({ asset_id: asset.id, options: { mode: "manual" } })).id);
    const planned = (await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id)).plan!;
    const [first, second] = planned.segments;
    const end = byHand.plan!.source_duration;
    const texts = [{ start: second!.start, end: second!.end, text: "Bravissimo" }];
    const json = { segments: [{ start: first!.end, end }], texts };
    const { body: edited } = await anna.call<Cut>("POST", `/v1/cuts/${byHand.id}/edits`, { json });
    const { id } = await anna.startCut({ asset_id: asset.id, keep_edits_of: edited.id });
    const { plan } = await anna.cutEnded(id);
    expect(plan!.warnings).toEqual([]);
    expect(plan!.segments[0]).toMatchObject({ start: second!.start, text: "Bravissimo" });
    expect(plan!.removed[0]).toMatchObject({ start: 0, reason: "manual" });
    expect(spansOf(plan!.segments)).toEqual(spansOf(planned.segments.slice(1)));
  });

  test("its edits are kept by a cut with other options, and the confidence of its removals is shown", async () => {
    const source = { asset_id: asset.id, options: { min_silence_seconds: 0.32 } };
    const cut = await anna.cutEnded((await anna.startCut(source)).id);
    const [first, second, ...others] = cut.plan!.segments;
    const texts = [{ start: second!.start, end: second!.end, text: "Bravissimo" }];
    const edit = { segments: [second!, ...others].map(({ start, end }) => ({ start, end })), texts };
    const { body: edited } = await anna.call<Cut>("POST", `/v1/cuts/${cut.id}/edits`, { json: edit });

    const again = { asset_id: asset.id, options: { mode: "loose", min_silence_seconds: 0.32 } };
    const { id } = await anna.startCut({ ...again, keep_edits_of: edited.id });
    const { plan } = await anna.cutEnded(id);
    expect(plan!.segments.some(({ start, end }) => start <= first!.start && first!.end <= end)).toBe(false);
    expect(plan!.segments[0]!.text).toContain("Bravissimo");
    expect(plan!.removed.some(({ reason }) => reason === "manual")).toBe(true);
    expect(plan!.warnings).toEqual([]);
    expect((await anna.startCut({ ...again, keep_edits_of: edited.id })).id).toBe(id);
    expect((await anna.startCut(again)).id).not.toBe(id);

    const shown = await anna.must<{ plan: JudgedPlan }>("GET", `/api/v1/cuts/${id}`);
    for (const { reason, confidence } of shown.plan.removed) expect(confidence).toBe(reason === "manual" ? null : 0.99);

    type Review = { items: { id: string; kind: string; start: number; end: number; state: string }[] };
    const reviewOf = (cutId: string) => anna.must<Review>("GET", `/api/v1/cuts/${cutId}/review`);
    const restored = cut.plan!.removed.find(({ start }) => start >= second!.end)!;
    const { items } = await reviewOf(cut.id);
    const item = items.find(({ start }) => start === restored.start)!;
    await anna.must("PATCH", `/api/v1/cuts/${cut.id}/review`, { json: { items: [{ id: item.id, state: "kept" }] } });
    const joined = [
      { start: first!.start, end: second!.start },
      { start: second!.start, end: restored.end },
    ];
    const { body: whole } = await anna.call<Cut>("POST", `/v1/cuts/${cut.id}/edits`, { json: { segments: joined } });
    const kept = await anna.startCut({ ...source, keep_edits_of: whole.id });
    const { plan: next } = await anna.cutEnded(kept.id);
    expect(next!.removed.some(({ start, end }) => start < restored.end && restored.start < end)).toBe(false);
    expect((await reviewOf(kept.id)).items.find(({ id }) => id === item.id)).toMatchObject({
      kind: "removal",
      state: "kept",
    });

    const other = await anna.ready(await wav(6));
    const keep = (json: object, user = anna) => tryCall(user, "POST", "/v1/cuts", json);
    expect(await keep({ asset_id: other.id, keep_edits_of: edited.id })).toBe(
      "422 validation_error body.keep_edits_of",
    );
    const theirs = await bert.ready(await wav(6));
    expect(await keep({ asset_id: theirs.id, keep_edits_of: edited.id }, bert)).toBe("404 not_found");
  });

  test("is refused before the cut is completed, and to others", async () => {
    const hold = server.speech.hold("forcedAlign");
    const cut = await anna.startCut({ asset_id: asset.id, script: "alpha bravo charlie" });
    await hold.reached;
    const { status } = await explain(cut.id);
    hold.release();
    expect(status).toBe(409);
    await anna.cutEnded(cut.id);
    expect((await explain(cut.id, bert)).status).toBe(404);
  });
});

describe("the cut list", () => {
  test("returns pages without plans, newest first, and filters", async () => {
    const user = await server.user();
    const source = await user.ready(await wav(6));
    const ids: string[] = [];
    for (const mode of ["tight", "natural", "loose"]) {
      const { id } = await user.startCut({ asset_id: source.id, options: { mode } });
      ids.unshift(id);
      await user.cutEnded(id);
    }
    const list = (query: string) => user.must<Paged<Cut>>("GET", `/v1/cuts${query}`);
    const first = await list(`?asset_id=${source.id}&limit=2`);
    const second = await list(`?asset_id=${source.id}&limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map((cut) => cut.id)).toEqual(ids);
    expect(first.items[0]).not.toHaveProperty("plan");
    expect((await list("?state=completed")).items).toHaveLength(3);
    expect((await list("?state=failed")).items).toEqual([]);
    expect((await list(`?asset_id=${asset.id}`)).items).toEqual([]);
    expect(await tryCall(user, "GET", "/v1/cuts?state=cancelled")).toBe("422 validation_error query.state");
    expect(await tryCall(user, "GET", "/v1/cuts?asset_id=x")).toBe("422 validation_error query.asset_id");
  });
});

describe("deleting a cut", () => {
  test("deletes its renders; another user's cut is a 404", async () => {
    const cut = await anna.cutEnded((await anna.startCut(fresh())).id);
    const render = await anna.renderEnded((await anna.startRender({ asset_id: asset.id, cut_id: cut.id })).id);
    expect(render.state).toBe("completed");
    expect(await tryCall(bert, "GET", `/v1/cuts/${cut.id}`)).toBe("404 not_found");
    expect(await tryCall(bert, "DELETE", `/v1/cuts/${cut.id}`)).toBe("404 not_found");
    expect(await tryCall(anna, "DELETE", `/v1/cuts/${cut.id}`)).toBe("204");
    for (const path of [`/v1/cuts/${cut.id}`, `/v1/renders/${render.id}`]) {
      expect(await tryCall(anna, "GET", path)).toBe("404 not_found");
    }
    expect((await fetch(render.download_url!)).status).toBe(404);
    expect(await server.events(render.id)).toEqual(["render.completed"]);
    const again = await post(fresh());
    expect(again.status).toBe(201);
  });
});
