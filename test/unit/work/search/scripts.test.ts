/** The search of words that cuts have from their scripts. */
import { expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import type { Job } from "../../../../src/domain/jobs";
import type { EditedText } from "../../../../src/domain/plan-texts";
import type { Store } from "../../../../src/store/db";
import { cuts } from "../../../../src/store/schema";
import { packTexts } from "../../../../src/work/cuts/stored-basis";
import { cutJob } from "../../../../src/work/jobs/cut-job";
import type { CutOutput } from "../../../../src/work/jobs/cut-run";
import type { CoreNeeds } from "../../../../src/work/needs";
import { indexCorrections, readCorrections } from "../../../../src/work/search/index-corrections";
import { addUser, freshStore } from "../../store/test-store";
import { addCut, addRecording, type Owner, PLAN, search, write } from "./recordings";

/** Indexes a cut with a script, whose plan has these segments. `texts` are corrections of the plan. */
const addScripted = (
  store: Store,
  owner: Owner,
  assetId: string,
  segments: EditedText[],
  texts: EditedText[] = [],
): Promise<void> =>
  store.write(async (tx) => {
    const plan = JSON.stringify({ ...PLAN, language: "en", segments });
    const cut = { ...(await addCut(tx, owner, assetId, [])), plan, basis: packTexts(texts), script: "Welcome back" };
    await indexCorrections(tx, cut, null);
  });

const countCorrected = async (store: Store) =>
  (await store.read.all<{ count: number }>(sql`SELECT count(*) AS count FROM corrected_passages`))[0]!.count;

test("words that a cut has from its script are found at their times, and so are the recognized ones", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const spoken = "welcome back we build a small book shelf and leave the gulloam at night";
  const id = await addRecording(store, owner, spoken);
  await addScripted(store, owner, id, [
    { start: 0, end: 4.75, text: "Welcome back: we build a small bookshelf," },
    { start: 4.75, end: 9, text: "and leave it alone at night." },
  ]);
  expect(await search(store, owner, "bookshelf")).toMatchObject([{ asset_id: id, start: 3600 }]);
  expect(await search(store, owner, '"leave it alone at night"')).toMatchObject([{ start: 5400 }]);
  expect(await search(store, owner, "gulloam")).toMatchObject([{ start: 6600 }]);
  expect(await countCorrected(store)).toBe(1);
});

test("a script with the recognized words adds nothing to a passage that another cut corrects", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "we build a small shelf tonight");
  const script = (text: string) => addScripted(store, owner, id, [{ start: 0, end: 9, text }]);
  await script("We build a tall shelf tonight.");
  await script("We build a small shelf tonight.");
  expect(await countCorrected(store)).toBe(1);
});

test("corrections are found once beside words of the script, in the plan that an edit stores", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const spoken = "we build a small book shelf and leave the gulloam at night";
  const id = await addRecording(store, owner, spoken);
  const segments = [
    { start: 0, end: 3.55, text: "We build a small bookshelf," },
    { start: 3.55, end: 9, text: "and leave it alone through the night" },
  ];
  await addScripted(store, owner, id, segments, [write("through the night", 10, 11)]);
  const corrected = "we build a small bookshelf, and leave it alone through the night";
  expect(await search(store, owner, "alone ")).toMatchObject([{ start: 5400, snippet: corrected }]);
  expect(await search(store, owner, '"it alone through the night"')).toMatchObject([{ start: 4800 }]);
  expect(await countCorrected(store)).toBe(1);
});

test("words of a segment that is too long to compare are found at the recognized time only", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const spoken = Array.from({ length: 1_500 }, (_, n) => (n === 600 ? "zebra" : `w${n}`));
  const id = await addRecording(store, owner, spoken.join(" "));
  // The first and the last word differ, and those between are more than there are recognized ones.
  const text = `${"extra ".repeat(100)}${spoken.join(" ")} end`;
  await addScripted(store, owner, id, [{ start: 0, end: 900, text }]);
  expect((await search(store, owner, "zebra ")).map(({ start }) => start)).toEqual([360_000]);
});

test("requests are answered while a long script is read", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const spoken = Array.from({ length: 15_000 }, (_, n) => `w${n}`);
  const id = await addRecording(store, owner, spoken.join(" "));
  const segments = Array.from({ length: 150 }, (_, n) =>
    write(`${spoken.slice(100 * n, 100 * n + 99).join(" ")} s${n}`, 100 * n, 100 * n + 99),
  );
  let [answered, isRead] = [0, false];
  const answer = (): void => {
    answered++;
    if (!isRead) setImmediate(answer);
  };
  setImmediate(answer);
  const plan = JSON.stringify({ ...PLAN, language: "en", segments });
  const read = await readCorrections(store.read, { asset_id: id, script: "Welcome", plan, basis: null }, null);
  isRead = true;
  expect(answered).toBeGreaterThan(100);
  expect(read!.found.some(({ text }) => text.split(" ").includes("s149"))).toBeTrue();
});

test("words of a new cut are read before the transaction, which stores them unless the cut has failed", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "we build a small book shelf");
  const segments = [{ start: 0, end: 9, text: "We build a small bookshelf." }];
  const output = { plan: JSON.stringify({ ...PLAN, language: "en", segments }), basis: null } as CutOutput;
  for (const [state, count] of [
    ["failed", 0],
    ["completed", 1],
  ] as const) {
    const cut = await store.write(async (tx) => {
      const { id: cutId } = await addCut(tx, owner, id, []);
      await tx.update(cuts).set({ state, script: "We build" }).where(eq(cuts.id, cutId));
      return cutId;
    });
    // The stored plan has no words.
    await store.write(await cutJob.readForSettle!({ store } as CoreNeeds, output, { subjectId: cut } as Job));
    expect([state, await countCorrected(store)]).toEqual([state, count]);
  }
});
