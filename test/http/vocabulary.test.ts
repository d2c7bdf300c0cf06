/** Vocabularies: reads, replacements, rejections, and their effects on transcripts and cuts. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../src/lib/ids";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { attempt, outcome } from "./outcome";
import type { AssetDetail } from "./resources";

setDefaultTimeout(PATIENCE_MS);

type Vocabulary = { entries: { text: string; spoken_as: string[] }[]; revision: number };

let server: Harness;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
});
afterAll(() => server[Symbol.asyncDispose]());

const PATH = "/api/v1/vocabulary";
const read = (user: Client, query = "") => user.must<Vocabulary>("GET", PATH + query);
const save = (user: Client, json: object, query = "") => user.call<Vocabulary>("PUT", PATH + query, { json });
const entry = (text: string, ...spoken_as: string[]) => ({ text, spoken_as });

test("a vocabulary is saved with its revision, and the one of a project is its own", async () => {
  const user = await server.user();
  const { id } = await user.project();
  expect(await read(user)).toEqual({ entries: [], revision: 0 });
  const saved = await save(user, {
    revision: 0,
    entries: [entry("  Jan   Przybylski ", "yan prizbilski"), entry("Offcut")],
  });
  expect(saved.body).toEqual({ entries: [entry("Jan Przybylski", "yan prizbilski"), entry("Offcut")], revision: 1 });
  expect(await read(user)).toEqual(saved.body);
  expect(await read(user, `?project_id=${id}`)).toEqual({ entries: [], revision: 0 });
  expect(outcome(await save(user, { revision: 0, entries: [entry("Ours")] }, `?project_id=${id}`))).toBe("200");
  expect(await read(user, `?project_id=${id.toUpperCase()}`)).toEqual({ entries: [entry("Ours")], revision: 1 });
  const late = await save(user, { revision: 0, entries: [] });
  expect([late.status, late.body]).toMatchObject([
    409,
    { code: "conflict", detail: expect.stringContaining("revision 1") },
  ]);
  // Of two simultaneous requests, one gets a conflict.
  const both = await Promise.all([1, 2].map((n) => save(user, { revision: 1, entries: [entry(`Name ${n}`)] })));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await save(user, { revision: 2, entries: [] })).body).toEqual({ entries: [], revision: 3 });
  await user.must("DELETE", `/v1/projects/${id}`);
  expect(await attempt(user, "GET", `${PATH}?project_id=${id}`)).toBe("404 not_found");
});

test("projects of others and unknown ones are not found, by either call", async () => {
  const [user, other] = [await server.user(), await server.user()];
  const { id } = await other.project();
  for (const project of [id, newId()]) {
    expect(await attempt(user, "GET", `${PATH}?project_id=${project}`)).toBe("404 not_found");
    expect(await attempt(user, "PUT", `${PATH}?project_id=${project}`, { revision: 0, entries: [] })).toBe(
      "404 not_found",
    );
  }
  expect(await attempt(user, "GET", `${PATH}?project_id=x`)).toStartWith("422");
});

test("entries that are too many, too long, repeated or unreadable are refused with their place", async () => {
  const user = await server.user();
  const fieldsOf = async (entries: object[]): Promise<string[]> => {
    const { status, body } = await save(user, { revision: 0, entries });
    expect(status).toBe(422);
    return (body as unknown as { detail: { loc: string[] }[] }).detail.map(({ loc }) => loc.join("."));
  };
  expect(await fieldsOf([entry("Good"), entry("x".repeat(81))])).toEqual(["body.entries.1.text"]);
  expect(await fieldsOf([entry("a\u0007b")])).toEqual(["body.entries.0.text"]);
  expect(await fieldsOf([entry("a\u202Eb")])).toEqual(["body.entries.0.text"]);
  expect(await fieldsOf([entry("…")])).toEqual(["body.entries.0.text"]);
  expect(await fieldsOf([entry("one two three four five six seven eight nine")])).toEqual(["body.entries.0.text"]);
  expect(await fieldsOf([entry("Offcut"), entry("off-cut")])).toEqual(["body.entries.1.text"]);
  expect(await fieldsOf([entry("Offcut", "of cut"), entry("Other", "Of Cut")])).toEqual(["body.entries.1.spoken_as.0"]);
  expect(await fieldsOf([entry("Much", ...Array.from({ length: 11 }, (_, n) => `form ${n}`))])).toEqual([
    "body.entries.0.spoken_as",
  ]);
  expect(await fieldsOf(Array.from({ length: 2_001 }, (_, n) => entry(`Name ${n}`)))).toEqual(["body.entries"]);
  const large = Array.from({ length: 2_000 }, (_, n) => entry(`Name ${n}`, `${"long form ".repeat(7)}${n}`));
  expect((await fieldsOf(large))[0]).toBe("body.entries.0.spoken_as.0");
  const long = Array.from({ length: 2_000 }, (_, n) =>
    entry(`Name ${n}`, `${"x".repeat(70)} ${n}`, `${"y".repeat(70)} ${n}`),
  );
  expect(await fieldsOf(long)).toEqual(["body.entries.1999.text"]);
  expect(await read(user)).toEqual({ entries: [], revision: 0 });
  expect(
    outcome(await save(user, { revision: 0, entries: Array.from({ length: 2_000 }, (_, n) => entry(`Name ${n}`)) })),
  ).toBe("200");
});

test("the next transcription and the next cut have the terms, and a project's entries win", async () => {
  const user = await server.user();
  const { id } = await user.project();
  const before = await user.ready(await wav(4));
  // "alpha" is a common word, which spelling alone does not change.
  await save(user, { revision: 0, entries: [entry("Alfons", "alpha"), entry("Bravissimo", "bravo")] });
  await save(
    user,
    { revision: 0, entries: [entry("Al-Fayed", "Alpha"), entry("Prawo", "Bravo")] },
    `?project_id=${id}`,
  );
  const transcriptOf = async (asset: { id: string }): Promise<string[]> => {
    const { transcript_url } = await user.must<AssetDetail>("GET", `/v1/assets/${asset.id}`);
    const { words } = (await (await fetch(transcript_url!)).json()) as { words: { text: string }[] };
    return words.map(({ text }) => text);
  };
  const cutOf = async (asset: { id: string }) => {
    const { plan } = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
    return {
      text: plan!.segments.map(({ text }) => text).join(" "),
      times: plan!.segments.map(({ start, end }) => [start, end]),
    };
  };
  expect(await transcriptOf(before)).toEqual(["alpha", "bravo"]);
  const old = await cutOf(before);
  expect(old.text).toBe("alpha Bravissimo");
  const asset = await user.ready(await wav(4), { projectId: id });
  expect(await transcriptOf(asset)).toEqual(["alpha", "Prawo"]);
  const cut = await cutOf(asset);
  expect(cut.text).toBe("alpha Prawo");
  expect(cut.times).toEqual(old.times);
  // Without the entries, a new cut has the recognized text.
  await save(user, { revision: 1, entries: [] });
  await save(user, { revision: 1, entries: [] }, `?project_id=${id}`);
  const { plan } = await user.cutEnded((await user.startCut({ asset_id: asset.id, options: { mode: "loose" } })).id);
  expect(plan!.segments.map(({ text }) => text).join(" ")).toBe("alpha bravo");
});
