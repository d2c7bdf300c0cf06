/** The search of texts that were corrected in cuts: found with their cut, and gone with it. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { getFolders } from "../../../../src/blobs/folders";
import type { EditedText } from "../../../../src/domain/plan-texts";
import { splitPassages } from "../../../../src/domain/search/passages";
import { newId } from "../../../../src/lib/ids";
import { type Cut, deleteCut, supersedeCut } from "../../../../src/store/cuts";
import { findDatabaseProblems } from "../../../../src/store/database-file";
import type { Store } from "../../../../src/store/db";
import { assets, cuts } from "../../../../src/store/schema";
import { searchBacklog } from "../../../../src/store/schema-search";
import { listBacklog, listCorrections, mergeSearchIndexes, replacePassages } from "../../../../src/store/search";
import { packTexts } from "../../../../src/work/cuts/stored-basis";
import type { CoreNeeds } from "../../../../src/work/needs";
import { indexCorrections, readCorrections } from "../../../../src/work/search/index-corrections";
import { indexBacklog, indexTranscript } from "../../../../src/work/search/index-transcripts";
import { addAsset, addUser, freshStore } from "../../store/test-store";
import { addCut, addRecording, type Owner, PLAN, search, speak, write } from "./recordings";

const correct = (store: Store, owner: Owner, assetId: string, ...texts: EditedText[]): Promise<Cut> =>
  store.write(async (tx) => {
    const cut = await addCut(tx, owner, assetId, texts);
    await indexCorrections(tx, cut, null);
    return cut;
  });

const find = async (store: Store, owner: Owner, text: string) =>
  (await search(store, owner, text)).map(({ asset_id, start, snippet }) => [asset_id, start, snippet]);

test("a corrected word is found at its time, once, and so is the recognized one", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const [ann, bert] = [await store.write(addUser), await store.write(addUser)];
  const id = await addRecording(store, ann, "good morning my name is Janus and Janus is here");
  await correct(store, ann, id, write("Jānis", 5));
  const corrected = "good morning my name is Jānis and Janus is here";
  expect(await search(store, ann, "janis")).toMatchObject([
    { asset_id: id, start: 3000, end: 3600, snippet: corrected, matches: [[24, 29]] },
  ]);
  expect(await find(store, ann, '"is Jānis and"')).toEqual([[id, 2400, corrected]]);
  // No passage is found twice, and the corrected text is shown where both match.
  expect(await find(store, ann, "morning")).toEqual([[id, 600, corrected]]);
  expect(await find(store, ann, "Janus")).toEqual([[id, 3000, "good morning my name is Janus and Janus is here"]]);
  // No phrase goes from one text to the other.
  expect(await find(store, ann, '"here good"')).toEqual([]);
  expect([await find(store, bert, "janis"), await find(store, ann, "\ue000")]).toEqual([[], []]);
});

test("corrections of a cut are gone with it, and those of others stay", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "my name is Janus");
  const [first, second, third] = [
    await correct(store, owner, id, write("Jānis", 3)),
    await correct(store, owner, id, write("Jānis", 3)),
    await correct(store, owner, id, write("Hans", 3)),
  ];
  const found = async () =>
    Promise.all(["janis", "hans", "janus"].map(async (text) => (await find(store, owner, text)).length));
  expect(await found()).toEqual([1, 1, 1]);
  // Where several match, the newest one is shown.
  expect(await find(store, owner, "name")).toEqual([[id, 600, "my name is Hans"]]);
  await store.write((tx) => deleteCut(tx, first!.id));
  expect(await found()).toEqual([1, 1, 1]);
  await store.write((tx) => supersedeCut(tx, second!.id, third!.id, 0));
  expect(await found()).toEqual([0, 1, 1]);
  await store.write((tx) => deleteCut(tx, third!.id));
  expect([await found(), await find(store, owner, "name")]).toEqual([[0, 0, 1], [[id, 600, "my name is Janus"]]]);

  await correct(store, owner, id, write("Jānis", 3));
  await store.write((tx) => tx.delete(assets).where(sql`id = ${id}`));
  expect(await found()).toEqual([0, 0, 0]);
  await store.write(mergeSearchIndexes);
  const index = await store.read.all<{ block: ArrayBuffer }>(sql`SELECT block FROM passage_words_data`);
  expect(index.filter(({ block }) => /janis|hans/.test(Buffer.from(block).toString("latin1")))).toEqual([]);
  await store.copyTo(join(fresh.folder, "copy.db"), { isTemporary: true });
  for (const name of ["test.db", "copy.db"]) expect(await findDatabaseProblems(join(fresh.folder, name))).toEqual([]);
});

test("a cut without a basis has its own corrections and those of the cut before it", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "my name is Janus and hers is Lisa");
  await store.write(async (tx) => {
    const first = await addCut(tx, owner, id, null, packTexts([write("Jānis", 3)]));
    await indexCorrections(tx, first, newId());
    // An older version kept no texts of the first one.
    const second = await addCut(tx, owner, id, null, packTexts([write("Liese", 7)]));
    await indexCorrections(tx, second, first.id);
    await deleteCut(tx, first.id);
  });
  expect(await find(store, owner, "janis liese")).toEqual([[id, 1800, "my name is Jānis and hers is Liese"]]);
});

test("a text without spaces is found where the transcript has others, and not after its cut", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "we went to Beijing by train");
  const { id: cutId } = await correct(store, owner, id, write("北京", 3));
  expect(await find(store, owner, "北京")).toEqual([[id, 1800, "we went to 北京 by train"]]);
  expect(await find(store, owner, "京")).toHaveLength(1);
  expect(await find(store, owner, "beijing train")).toHaveLength(1);
  await store.write((tx) => deleteCut(tx, cutId));
  expect([await find(store, owner, "北京"), await find(store, owner, "京")]).toEqual([[], []]);
});

test("corrections of older versions, and those made before there were words, are found after the start", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const indexed = await addRecording(store, owner, "my name is Janus");
  const early = await store.write(async (tx) => {
    await addCut(tx, owner, indexed, [write("Jānis", 3)]);
    await tx.insert(searchBacklog).values({ asset_id: indexed });
    const { id } = await addAsset(tx, owner, { state: "ready" });
    await addCut(tx, owner, id, [write("Liese", 3)]);
    await addCut(tx, owner, id, null, packTexts([write("Liesl", 3)]));
    await indexTranscript(tx, id, splitPassages(speak("her name is Lisa")));
    return id;
  });
  const passages = () => store.read.all(sql`SELECT id FROM passages ORDER BY id`);
  const before = await passages();
  const log = { warn: () => expect.unreachable() };
  await indexBacklog({ store, folders: getFolders(fresh.folder), log } as unknown as CoreNeeds);
  expect(await find(store, owner, "janis")).toEqual([[indexed, 1800, "my name is Jānis"]]);
  expect(await find(store, owner, "liese")).toEqual([[early, 1800, "her name is Liese"]]);
  expect(await find(store, owner, "liesl")).toEqual([[early, 1800, "her name is Liesl"]]);
  // They keep their place among the hits.
  expect([await listBacklog(store.read, "", 10), await passages()]).toEqual([[], before]);
});

test("a hit has all words in one text", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "my name is Janus and hers is Lisa");
  await correct(store, owner, id, write("JĀNIS", 3));
  await correct(store, owner, id, write("Liese", 7));
  for (const text of ["janus janis", "janis liese", "janis lie"]) expect(await find(store, owner, text)).toEqual([]);
  expect(await find(store, owner, "jānis lis")).toEqual([[id, 1800, "my name is JĀNIS and hers is Lisa"]]);
  expect(await find(store, owner, '"Name is" LÍESE ')).toEqual([[id, 600, "my name is Janus and hers is Liese"]]);
  // The index has no symbols.
  await correct(store, owner, id, write("Offcut™", 3));
  expect(await find(store, owner, "offcut hers")).toEqual([[id, 1800, "my name is Offcut™ and hers is Lisa"]]);
});

test("short terms beside text without spaces do not match across two texts", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "we went to Beijing or to");
  await correct(store, owner, id, write("北京", 3));
  expect(await find(store, owner, "北京 to")).toEqual([[id, 1200, "we went to 北京 or to"]]);
});

test("the 8 newest cuts that correct a passage are searched and read", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "my name is Janus");
  await correct(store, owner, id, write("Hans", 3));
  const newer: Cut[] = [];
  for (let n = 0; n < 8; n++) newer.push(await correct(store, owner, id, write(`Jan${n % 2}`, 3)));
  const [passage] = await store.read.all<{ id: number; text: string }>(sql`SELECT id, text FROM passages`);
  expect(passage!.text).not.toContain("Hans");
  const read = async () => (await listCorrections(store.read, [passage!.id])).length;
  expect([await find(store, owner, "hans"), await read()]).toEqual([[], 8]);
  expect(await find(store, owner, "jan0")).toHaveLength(1);
  await store.write((tx) => deleteCut(tx, newer[3]!.id));
  expect([(await find(store, owner, "hans")).length, await read()]).toEqual([1, 8]);
});

test("times that are not whole milliseconds are stored as whole ones", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "Janus is my name");
  await correct(store, owner, id, { text: "Jānis or Hans was", start: 0.000333, end: 1.100333 });
  expect(await store.read.all(sql`SELECT DISTINCT typeof(start) AS type FROM corrected_passages`)).toEqual([
    { type: "integer" },
  ]);
  const [hit] = await search(store, owner, "was");
  expect([hit!.start, hit!.end].every(Number.isInteger)).toBeTrue();
});

test("requests are answered while long texts are read, which are searched up to a limit", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, Array.from({ length: 15_000 }, (_, n) => `w${n}`).join(" "));
  const texts = Array.from({ length: 150 }, (_, n) => write(`c${n} ${"x".repeat(98)} ${"y ".repeat(4_950)}`, 100 * n));
  let [answered, isRead] = [0, false];
  const answer = (): void => {
    answered++;
    if (!isRead) setImmediate(answer);
  };
  setImmediate(answer);
  const cut = { asset_id: id, script: "", plan: JSON.stringify(PLAN), basis: packTexts(texts) };
  const read = await readCorrections(store.read, cut, null);
  isRead = true;
  expect(answered).toBeGreaterThan(100);
  const has = (word: string) => read!.found.some(({ text }) => text.split(" ").includes(word));
  expect([has("c90"), has("c149")]).toEqual([true, false]);
});

test("corrections read before the transcript was replaced are read again", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "nothing is here");
  const cut = await store.write((tx) => addCut(tx, owner, id, [write("Jānis", 3)]));
  const read = await readCorrections(store.read, cut, null);
  const other = await addRecording(store, owner, "another one");
  await store.write(async (tx) => {
    await replacePassages(tx, id, splitPassages(speak("my name is Janus")));
    await indexCorrections(tx, cut, null, read);
  });
  expect(other).not.toBe(id);
  expect(await find(store, owner, "janis")).toEqual([[id, 1800, "my name is Jānis"]]);
});

test("text that a database failure kept from the search is found after the next start", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "my name is Janus");
  await store.write(async (tx) => {
    await addCut(tx, owner, id, [write("Jānis", 3)]);
    await tx.insert(searchBacklog).values({ asset_id: id });
  });
  let failures = 1;
  const failing: Store = {
    ...store,
    write: (work) => (failures-- > 0 ? Promise.reject(new Error("database is locked")) : store.write(work)),
  };
  const warnings: string[] = [];
  const log = { warn: (event: string) => warnings.push(event) };
  const needs = { folders: getFolders(fresh.folder), log };
  await indexBacklog({ ...needs, store: failing } as unknown as CoreNeeds);
  expect([warnings, await listBacklog(store.read, "", 10)]).toEqual([["search.corrections_unreadable"], [id]]);
  await indexBacklog({ ...needs, store } as unknown as CoreNeeds);
  expect([warnings.length, await listBacklog(store.read, "", 10)]).toEqual([1, []]);
  expect(await find(store, owner, "janis")).toHaveLength(1);
});

test("a cut that cannot be read does not keep the others from the search", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "my name is Janus");
  const broken = await store.write(async (tx) => {
    const cut = await addCut(tx, owner, id, [write("Hans", 3)]);
    await tx.update(cuts).set({ plan: "{" }).where(sql`id = ${cut.id}`);
    await addCut(tx, owner, id, [write("Jānis", 3)]);
    await tx.insert(searchBacklog).values({ asset_id: id });
    return cut.id;
  });
  const warnings: string[] = [];
  const log = { warn: (_event: string, { cut }: { cut: string }) => warnings.push(cut) };
  await indexBacklog({ store, folders: getFolders(fresh.folder), log } as unknown as CoreNeeds);
  expect([warnings, await listBacklog(store.read, "", 10)]).toEqual([[broken], []]);
  expect(await find(store, owner, "janis")).toHaveLength(1);
});
