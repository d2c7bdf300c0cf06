/** Rows of the contract: drafts, corrected texts and share links. */
import { expect } from "bun:test";
import { rename } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { sql } from "drizzle-orm";
import { createApiKey } from "../../../src/work/access/command-accounts";
import { emailOf } from "../../http/accounts";
import { type Client, createClient } from "../../http/client";
import { wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import type { Cut, Render } from "../../http/resources";
import { offsetPageOf } from "../billing-schemas";
import { exactly, orNull, text, time, url, uuid } from "../schema-parts";
import { conforms } from "./account-setting";
import type { DashboardFixtures, DashboardRow } from "./dashboard-fixtures";

const draftSchema = exactly({
  revision: Type.Integer({ minimum: 1 }),
  segments: Type.Array(exactly({ start: Type.Number(), end: Type.Number() })),
  texts: Type.Array(exactly({ start: Type.Number(), end: Type.Number(), text: Type.String() })),
  updated_by: orNull(exactly({ id: uuid, name: orNull(text) })),
  updated_at: time,
});
const shareSchema = exactly({ url, page_url: url, expires_at: time });
const sharePageSchema = offsetPageOf(
  exactly({
    id: uuid,
    has_password: Type.Boolean(),
    created_at: time,
    expires_at: time,
    created_by: orNull(exactly({ id: uuid, name: orNull(text) })),
  }),
);

type Draft = { revision: number; segments: object[]; texts: object[] };
export type Owned = { as: Client; key: Client; cut: Cut; segments: { start: number; end: number }[]; path: string };

/** Creates a user with a completed cut, by default of audio, whose preview takes little time. */
export async function createCut({ server, user }: DashboardFixtures, recording = wav(4)): Promise<Owned> {
  const as = await user();
  const { key: text } = await createApiKey(server.services(), { email: emailOf(as), name: "k" });
  const key = createClient(server.url, text, as.userId);
  const asset = await key.ready(await recording);
  const cut = await key.cutEnded((await key.startCut({ asset_id: asset.id })).id);
  const segments = cut.plan!.segments.map(({ start, end }) => ({ start, end }));
  return { as, key, cut, segments, path: `/cuts/${cut.id}/draft` };
}

/** Returns the first word that the cut keeps, as the transcript has it. */
async function findWord({ key, cut }: Owned): Promise<{ start: number; end: number; text: string }> {
  const { transcript_url } = await key.asset(cut.asset_id);
  const { words } = (await (await fetch(transcript_url!)).json()) as { words: Awaited<ReturnType<typeof findWord>>[] };
  const [first] = cut.plan!.segments;
  return words.find(({ start, end }) => start >= first!.start && end <= first!.end)!;
}

export const draftRows: DashboardRow[] = [
  [
    "GET cuts/{id}/explanation -> the findings with rule, scores and spans that `offcut cut --explain` prints",
    async (fixtures) => {
      const { as, cut } = await createCut(fixtures);
      type Explanation = { findings: { rule: string; confidence: number }[]; pacing: object | null };
      const { status, body } = await fixtures.call<Explanation>("GET", `/cuts/${cut.id}/explanation`, { as });
      expect([status, body.findings.length > 0]).toEqual([200, true]);
      for (const { rule, confidence } of body.findings)
        expect([rule !== "", confidence >= 0 && confidence <= 1]).toEqual([true, true]);
      expect(body.pacing).not.toBeNull();
    },
  ],
  [
    "GET, PUT and DELETE /api/v1/cuts/{id}/draft ({ revision, segments, texts }): revision starts at 1, a first PUT sends 0; 404 without one",
    async (fixtures) => {
      const { call, getOutcome, bert } = fixtures;
      const { as, cut, segments, path } = await createCut(fixtures);
      const readRevision = async () =>
        (await call<{ draft_revision: number | null }>("GET", `/cuts/${cut.id}`, { as })).body.draft_revision;
      expect(await getOutcome("GET", path, { as })).toBe("404 not_found");
      expect(await getOutcome("DELETE", path, { as })).toBe("404 not_found");
      expect(await readRevision()).toBeNull();
      const texts = [{ start: 0.5, end: 1, text: "Offcut" }];
      const json = { revision: 0, segments: cut.plan!.segments, texts };
      const saved = await call<Draft>("PUT", path, { json, as });
      conforms(draftSchema, saved.body);
      expect(saved.body).toMatchObject({ revision: 1, segments, texts });
      const next = await call<Draft>("PUT", path, { json: { revision: 1, segments: [], texts: [] }, as });
      expect(next.body).toMatchObject({ revision: 2, segments: [], texts: [] });
      expect((await call<Draft>("GET", path, { as })).body).toEqual(next.body);
      expect(await readRevision()).toBe(2);
      const { body: short } = await call<Cut>("GET", `/cuts/${cut.id}?plan=false`, { as });
      const { body: whole } = await call<Cut>("GET", `/cuts/${cut.id}?plan=true`, { as });
      expect([short, whole.plan!.segments.length]).toEqual([{ ...whole, plan: null }, segments.length]);
      expect(short).toHaveProperty("jobs_before", null);
      expect(await getOutcome("GET", `/cuts/${cut.id}?plan=no`, { as })).toBe("422 validation_error query.plan");
      expect(await getOutcome("GET", `/cuts/${cut.id}?plan=false`, { as: bert })).toBe("404 not_found");
      for (const method of ["GET", "PUT", "DELETE"]) {
        const body = method === "PUT" ? { json } : {};
        expect(await getOutcome(method, path, { as: bert, ...body })).toBe("404 not_found");
        expect(await getOutcome(method, `/cuts/${NO_ID}/draft`, { as, ...body })).toBe("404 not_found");
      }
      expect(await getOutcome("DELETE", path, { as })).toBe("204");
      expect(await getOutcome("GET", path, { as })).toBe("404 not_found");
      // Revisions continue, so that a page with the deleted draft cannot overwrite the next one.
      expect((await call<Draft>("PUT", path, { json, as })).body.revision).toBe(3);
      for (const revision of [0, 1, 2])
        expect(await getOutcome("PUT", path, { json: { ...json, revision }, as })).toBe("409 conflict");
    },
  ],
  [
    "a PUT with another revision than the stored one is 409 conflict",
    async (fixtures) => {
      const { call, getOutcome } = fixtures;
      const { as, segments, path } = await createCut(fixtures);
      const put = (revision: number) => getOutcome("PUT", path, { json: { revision, segments, texts: [] }, as });
      expect(await put(1)).toBe("409 conflict");
      expect(await put(0)).toBe("200");
      expect([await put(0), await put(2)]).toEqual(["409 conflict", "409 conflict"]);
      const both = await Promise.all([put(1), put(1)]);
      expect(both.toSorted()).toEqual(["200", "409 conflict"]);
      expect((await call<Draft>("GET", path, { as })).body.revision).toBe(2);
    },
  ],
  [
    "a draft is validated like an edit: at most 20,000 segments and 5,000 texts, a body of 1 MiB",
    async (fixtures) => {
      const { getOutcome } = fixtures;
      const { as, path } = await createCut(fixtures);
      const put = (change: object) =>
        getOutcome("PUT", path, { json: { revision: 0, segments: [], texts: [], ...change }, as });
      const text = (start: number, end: number) => ({ start, end, text: "x" });
      for (const [change, expected] of [
        [{ segments: [{ start: 2, end: 1 }] }, "422 validation_error body.segments.0"],
        [{ segments: [{ start: 0, end: 900 }] }, "422 validation_error body.segments.0"],
        [{ segments: Array(20_001).fill({ start: 0, end: 1 }) }, "422 validation_error body.segments"],
        [{ texts: [text(1, 1)] }, "422 validation_error body.texts.0"],
        [{ texts: [text(0, 1), text(0.5, 2)] }, "422 validation_error body.texts.1"],
        [{ texts: [text(0, 900)] }, "422 validation_error body.texts.0"],
        [{ texts: [{ start: 0, end: 1, text: 5 }] }, "422 validation_error body.texts.0.text"],
        [{ texts: Array(5_001).fill(text(0, 1)) }, "422 validation_error body.texts"],
        [{ revision: -1 }, "422 validation_error body.revision"],
        [{ texts: [{ start: 0, end: 1, text: "x".repeat(1024 * 1024) }] }, "413 payload_too_large"],
      ] as const)
        expect([await put(change), change]).toEqual([expected, change]);
      expect(await getOutcome("GET", path, { as })).toBe("404 not_found");
    },
  ],
  [
    "a draft is gone when it is saved as a cut, and with its cut",
    async (fixtures) => {
      const { call, getOutcome, server } = fixtures;
      const { as, cut, segments, path } = await createCut(fixtures);
      const json = { revision: 0, segments, texts: [] };
      expect(await getOutcome("PUT", path, { json, as })).toBe("200");
      const edit = (json: object) => call<Cut>("POST", `/cuts/${cut.id}/edits`, { json: { segments, ...json }, as });
      expect((await edit({ keep_draft: true })).status).toBe(201);
      expect(await getOutcome("GET", path, { as })).toBe("200");
      const edited = await edit({});
      expect(await getOutcome("GET", path, { as })).toBe("404 not_found");
      const both = { json: { segments, keep_draft: true, replaces: edited.body.id }, as };
      expect(await getOutcome("POST", `/cuts/${cut.id}/edits`, both)).toBe("422 validation_error body.keep_draft");
      const its = `/cuts/${edited.body.id}/draft`;
      expect(await getOutcome("PUT", its, { json, as })).toBe("200");
      for (const [query, expected] of [
        ["?revision=2", "409 conflict"],
        ["?revision=0", "422 validation_error query.revision"],
        ["?revision=1", "204"],
      ])
        expect([query, await getOutcome("DELETE", `${its}${query}`, { as })]).toEqual([query, expected]);
      expect(await getOutcome("PUT", its, { json, as })).toBe("200");
      expect(await getOutcome("DELETE", `/cuts/${edited.body.id}`, { as })).toBe("204");
      expect(await getOutcome("GET", its, { as })).toBe("404 not_found");
      expect(server.errors).toEqual([]);
    },
  ],
  [
    "POST cuts/{id}/edits takes texts beside segments: corrected words appear in segments[].text, subtitles and exports",
    async (fixtures) => {
      const { call } = fixtures;
      const owned = await createCut(fixtures);
      const { as, key, cut, segments } = owned;
      const word = await findWord(owned);
      const json = { segments, texts: [{ start: word.start, end: word.end, text: "Offcut 5" }] };
      for (const made of [
        await call<Cut>("POST", `/cuts/${cut.id}/edits`, { json, as }),
        await key.call<Cut>("POST", `/v1/cuts/${cut.id}/edits`, { json }),
      ]) {
        expect(made.status).toBe(201);
        const { id, plan } = made.body;
        expect(plan!.segments[0]!.text).toContain("Offcut 5");
        expect(plan!.segments[0]!.text).not.toContain(word.text);
        expect(plan!.segments.slice(1)).toEqual(cut.plan!.segments.slice(1));
        for (const file of ["subtitle?format=srt", "subtitle?format=vtt", "export?format=csv", "export?format=json"])
          expect([file, JSON.stringify((await call("GET", `/cuts/${id}/${file}`, { as })).body)]).toEqual([
            file,
            expect.stringContaining("Offcut 5"),
          ]);
      }
      const twice = { segments, texts: [...json.texts, ...json.texts] };
      expect(await fixtures.getOutcome("POST", `/cuts/${cut.id}/edits`, { json: twice, as })).toBe(
        "422 validation_error body.texts.1",
      );
    },
  ],
  [
    "POST renders/{id}/share { expires_in_seconds } (1 hour to 30 days) -> 201 { url, expires_at }, a signed download link that ends with the render",
    async (fixtures) => {
      const { call, getOutcome, server, bert } = fixtures;
      const { as, key, cut } = await createCut(fixtures);
      const hold = server.holdRenders();
      const { id } = await key.startRender({ asset_id: cut.asset_id, output: { format: "mp3" } });
      const path = `/renders/${id}/share`;
      const share = (seconds: unknown, user = as) =>
        getOutcome("POST", path, { json: { expires_in_seconds: seconds }, as: user });
      await hold.reached;
      expect(await share(3_600)).toBe("409 conflict");
      hold.release();
      const render: Render = await key.renderEnded(id);
      for (const seconds of [3_599, 2_592_001, 3_600.5, "3600", null])
        expect([seconds, await share(seconds)]).toEqual([seconds, "422 validation_error body.expires_in_seconds"]);
      expect(await share(3_600, bert)).toBe("404 not_found");
      const { body } = await call<{ url: string; expires_at: string }>("POST", path, {
        json: { expires_in_seconds: 2_592_000 },
        as,
      });
      conforms(shareSchema, body);
      const days = (Date.parse(body.expires_at) - server.services().now()) / 86_400_000;
      expect(Math.abs(days - 30)).toBeLessThan(0.01);
      const file = await fetch(body.url);
      expect([file.status, file.headers.get("content-disposition")]).toEqual([
        200,
        expect.stringContaining("attachment"),
      ]);
      expect((await file.arrayBuffer()).byteLength).toBe(render.size_bytes!);
      // A separate kind: its signature does not open a download link, and vice versa.
      expect((await fetch(body.url.replace("/files/shares/", "/files/renders/"))).status).toBe(404);
      expect((await fetch(render.download_url!.replace("/files/renders/", "/files/shares/"))).status).toBe(404);
      // Honours Idempotency-Key like every creating POST, without storing the link.
      const once = { headers: { "Idempotency-Key": "share" }, as };
      const shareOnce = (seconds: number) =>
        call<{ url: string }>("POST", path, { ...once, json: { expires_in_seconds: seconds } });
      const first = await shareOnce(7_200);
      server.advance(60_000);
      const replay = await shareOnce(7_200);
      expect([replay.status, replay.body, replay.headers.get("location")]).toEqual([201, first.body, first.body.url]);
      expect((await fetch(replay.body.url)).status).toBe(200);
      expect((await shareOnce(7_201)).status).toBe(422);
      const stored = await server.services().store.read.all(sql`SELECT body, headers FROM idempotency`);
      expect(JSON.stringify(stored)).not.toContain("signature");

      const { body: shares } = await call<{ items: { id: string }[]; total: number }>("GET", `${path}s`, { as });
      conforms(sharePageSchema, shares);
      // The two that work: the link and the one of the Idempotency-Key.
      expect(shares.total).toBe(2);
      expect(await getOutcome("GET", `${path}s`, { as: bert })).toBe("404 not_found");
      expect(await getOutcome("DELETE", `${path}s/${shares.items[0]!.id}`, { as: bert })).toBe("404 not_found");
      expect(await getOutcome("DELETE", `${path}s/${shares.items[0]!.id}`, { as })).toBe("204");
      expect(await getOutcome("DELETE", `${path}s/${shares.items[0]!.id}`, { as })).toBe("404 not_found");
      expect((await fetch(first.body.url)).status).toBe(404);

      const output = server.services().folders.renderOutput(id, "mp3");
      await rename(output, `${output}.lost`);
      expect(await share(3_600)).toBe("409 conflict");
      await rename(`${output}.lost`, output);

      // Deleted after the request has begun: the rest of the body follows the deletion.
      const parts = [`{"expires_in_seconds":`, "3600}"];
      const late = new ReadableStream<string>({
        pull: async (controller) => {
          if (parts.length === 1) expect(await getOutcome("DELETE", `/renders/${id}`, { as })).toBe("204");
          controller.enqueue(parts.shift()!);
          if (parts.length === 0) controller.close();
        },
      });
      const headers = { "Content-Type": "application/json" };
      expect(await getOutcome("POST", path, { body: late.pipeThrough(new TextEncoderStream()), headers, as })).toBe(
        "404 not_found",
      );
      expect((await fetch(body.url)).status).toBe(404);
    },
  ],
];
