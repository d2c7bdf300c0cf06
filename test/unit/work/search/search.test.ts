/** The search of transcripts, on a database: access to results, and the effects of changes to recordings. */
import { expect, test } from "bun:test";
import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { getFolders } from "../../../../src/blobs/folders";
import { splitPassages } from "../../../../src/domain/search/passages";
import { newId } from "../../../../src/lib/ids";
import { updateAsset } from "../../../../src/store/assets";
import { findDatabaseProblems } from "../../../../src/store/database-file";
import type { Store } from "../../../../src/store/db";
import { insertProject } from "../../../../src/store/projects";
import { assets } from "../../../../src/store/schema";
import { searchBacklog } from "../../../../src/store/schema-search";
import { enterBacklog, listBacklog, mergeSearchIndexes, replacePassages } from "../../../../src/store/search";
import type { CoreNeeds } from "../../../../src/work/needs";
import { indexBacklog } from "../../../../src/work/search/index-transcripts";
import { searchTranscripts } from "../../../../src/work/search/search";
import { addAsset, addUser, freshStore } from "../../store/test-store";

type Owner = { workspaceId: string; projectId: string };

const speak = (text: string) => text.split(" ").map((word, n) => ({ text: word, start: 600 * n, end: 600 * n + 500 }));

const addRecording = (store: Store, owner: Owner, text: string, filename = "talk.wav") =>
  store.write(async (tx) => {
    const { id } = await addAsset(tx, owner, { state: "ready", filename });
    await replacePassages(tx, id, splitPassages(speak(text)));
    return id;
  });

const search = async (store: Store, { workspaceId }: Owner, text: string, projectId: string | null = null) =>
  (await searchTranscripts({ store }, workspaceId, text, { projectId, afterId: null, limit: 100 })).rows;

const find = async (store: Store, owner: Owner, text: string, projectId: string | null = null) =>
  (await search(store, owner, text, projectId)).map(({ asset_id }) => asset_id);

test("a hit has its snippet, its matches and the time of the words where they are closest together", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "Wir gehen zur Straße und die STRASSE geht übers Feld");
  const [hit] = await search(store, owner, "ubers st");
  expect(hit).toBeUndefined();
  expect(await search(store, owner, "UBERS feld")).toEqual([
    {
      id: expect.any(Number),
      asset_id: id,
      asset_name: "talk.wav",
      project_id: owner.projectId,
      start: 4800,
      end: 5400,
      snippet: "Wir gehen zur Straße und die STRASSE geht übers Feld",
      matches: [
        [42, 47],
        [48, 52],
      ],
    },
  ]);
  await addRecording(store, owner, "the second step is to cut the wood today");
  expect((await search(store, owner, "cut the wood"))[0]).toMatchObject({ start: 3000, end: 3600 });
});

test("only the workspace and the project of a recording find it, also after a move, a failure and the deletion", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const [ann, bert] = [await store.write(addUser), await store.write(addUser)];
  const id = await addRecording(store, ann, "the zebra of Ann");
  const other = await addRecording(store, bert, "the zebra of Bert");
  expect([await find(store, ann, "zebra"), await find(store, bert, "zebra")]).toEqual([[id], [other]]);
  expect([await find(store, ann, "zebra", bert.projectId), await find(store, bert, "Ann")]).toEqual([[], []]);
  const projectId = newId();
  await store.write(async (tx) => {
    const project = { name: "Other", state: "active" as const, archived_at: null, created_by: null };
    const times = { created_at: 0, updated_at: 0, last_activity_at: 0 };
    await insertProject(tx, { id: projectId, workspace_id: ann.workspaceId, ...project, ...times });
    await updateAsset(tx, id, { project_id: projectId });
  });
  expect(await find(store, ann, "zebra", projectId)).toEqual([id]);
  expect(await find(store, ann, "zebra", ann.projectId)).toEqual([]);

  await store.write((tx) => updateAsset(tx, id, { state: "pending_payment" }));
  expect(await find(store, ann, "zebra")).toEqual([]);
  await store.write((tx) => replacePassages(tx, id, splitPassages(speak("the lion of Ann"))));
  await store.write((tx) => updateAsset(tx, id, { state: "ready" }));
  expect([await find(store, ann, "zebra"), await find(store, ann, "lion")]).toEqual([[], [id]]);
  const countPassages = async () =>
    (await store.read.all<{ n: number }>(sql`SELECT count(*) AS n FROM passages`))[0]!.n;
  expect(await countPassages()).toBe(2);
  await store.write((tx) => updateAsset(tx, id, { state: "failed" }));
  await store.write((tx) => tx.delete(assets).where(sql`id = ${other}`));
  expect([await countPassages(), await find(store, bert, "zebra")]).toEqual([0, []]);
  // The sweep removes the words from the index.
  await store.write(mergeSearchIndexes);
  const index = await store.read.all<{ block: ArrayBuffer }>(sql`SELECT block FROM passage_words_data`);
  expect(index.filter(({ block }) => /lion|zebra/.test(Buffer.from(block).toString("latin1")))).toEqual([]);
  await store.copyTo(join(fresh.folder, "copy.db"), { isTemporary: true });
  for (const name of ["test.db", "copy.db"]) expect(await findDatabaseProblems(join(fresh.folder, name))).toEqual([]);
});

test("passages of the newest recording come first, in the order of time, and pages follow each other", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const text = Array.from({ length: 100 }, (_, n) => `zebra ${n}`).join(" ");
  const [older, newer] = [await addRecording(store, owner, text), await addRecording(store, owner, text)];
  const all = await search(store, owner, "zebra");
  expect(all.map(({ asset_id, start }) => [asset_id, start])).toEqual(
    [newer, older].flatMap((id) => [0, 24_000, 48_000, 72_000, 96_000].map((start) => [id, start])),
  );
  const paged: typeof all = [];
  for (let afterId: number | null = null, hasMore = true; hasMore; ) {
    const page = await searchTranscripts({ store }, owner.workspaceId, "zebra", { projectId: null, afterId, limit: 3 });
    paged.push(...page.rows);
    ({ hasMore } = page);
    afterId = page.rows.at(-1)?.id ?? null;
  }
  expect(paged).toEqual(all);
  // A phrase across the boundary of two passages is found once.
  expect((await search(store, owner, '"19 zebra 20"')).map(({ asset_id }) => asset_id)).toEqual([newer, older]);
});

test("a project is searched also if other projects have more matches than are read", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const project = { name: "Other", state: "active" as const, archived_at: null, created_by: null };
  const other = { workspaceId: owner.workspaceId, projectId: newId() };
  await store.write((tx) =>
    insertProject(tx, {
      ...{ id: other.projectId, workspace_id: owner.workspaceId, ...project },
      ...{ created_at: 0, updated_at: 0, last_activity_at: 0 },
    }),
  );
  const say = (word: string, times: number) => Array.from({ length: times }, (_, n) => `${word} ${n}`).join(" ");
  const inOther = [await addRecording(store, other, say("zebra", 60)), await addRecording(store, other, "a zebra")];
  const searchPages = async (text: string) => {
    const found: string[] = [];
    const filter = { projectId: other.projectId, limit: 2 };
    for (let afterId: number | null = null, hasMore = true; hasMore; ) {
      const page = await searchTranscripts({ store }, owner.workspaceId, text, { ...filter, afterId });
      expect(page.rows.length).toBeLessThanOrEqual(filter.limit);
      found.push(...page.rows.map(({ asset_id, start }) => `${asset_id} ${start}`));
      ({ hasMore } = page);
      afterId = page.rows.at(-1)?.id ?? null;
    }
    return found;
  };
  const expected = [`${inOther[1]} 600`, ...[0, 24_000, 48_000].map((start) => `${inOther[0]} ${start}`)];
  expect(await searchPages("zebra")).toEqual(expected);
  // Before the last of them, none of the matches that are read first is in the project.
  for (const matches of [60, 250, 1_100]) {
    await addRecording(store, owner, say("zebra", 20 * matches));
    expect(await searchPages("zebra")).toEqual(expected);
    expected.unshift(`${await addRecording(store, other, "a zebra")} 600`);
    expect(await searchPages("zebra")).toEqual(expected);
  }
});

test("text without spaces is found by any part of it", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const id = await addRecording(store, owner, "今天 我们 去 北 京 吃 烤鸭");
  for (const text of ["北京", "京", "我们去北", "烤鸭", "鸭", "今天 烤鸭"])
    expect([text, ...(await find(store, owner, text))]).toEqual([text, id]);
  expect(await search(store, owner, "烤鸭")).toMatchObject([
    { snippet: "今天我们去北京吃烤鸭", matches: [[8, 10]], start: 3600 },
  ]);
  for (const text of ["京北", "上", "我们去上", "今天 上海"])
    expect([text, ...(await find(store, owner, text))]).toEqual([text]);
});

test("a search text is only text", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  await addRecording(store, owner, "nothing of that kind");
  for (const text of HOSTILE) expect([text, ...(await find(store, owner, text))]).toEqual([text]);
});

const HOSTILE = [
  ...[
    '"',
    "a*",
    "NEAR(a b, 1)",
    "text : a",
    "a AND",
    "-a",
    "^a",
    "a+b",
    "\u0000",
    "' OR 1=1 --",
    "%",
    "_",
    "{a b} : c",
  ],
  ...["中*", '中"', "中*人人", "x".repeat(256), "中".repeat(256), "w ".repeat(128), '" OR "nothing'],
];

test("transcripts that an older version has stored are indexed after the start, also when one cannot be read", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const folders = getFolders(fresh.folder);
  const ids: string[] = [];
  for (const text of ['{"words":[{"text":"zebra","start":1.5,"end":2}]}', "{", null]) {
    const { id } = await store.write((tx) => addAsset(tx, owner, { state: "ready", has_transcript: true }));
    ids.push(id);
    if (text !== null) await Bun.write(folders.media(id).transcript, text);
    await store.write((tx) => tx.insert(searchBacklog).values({ asset_id: id }));
  }
  const warnings: unknown[] = [];
  const log = { warn: (_event: string, { asset }: { asset: string }) => warnings.push(asset) };
  await indexBacklog({ store, folders, log } as unknown as CoreNeeds);
  expect(await search(store, owner, "zebra")).toMatchObject([{ asset_id: ids[0], start: 1500, asset_name: null }]);
  expect([warnings, await listBacklog(store.read, "", 10)]).toEqual([[ids[1]], []]);
});

test("a transcript that could not be read for a moment is indexed after the next start", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const folders = getFolders(fresh.folder);
  const { id } = await store.write((tx) => addAsset(tx, owner, { state: "ready", has_transcript: true }));
  await store.write((tx) => tx.insert(searchBacklog).values({ asset_id: id }));
  const { transcript } = folders.media(id);
  const text = '{"words":[{"text":"zebra","start":1.5,"end":2}]}';
  // Reading it fails with EISDIR.
  await mkdir(transcript, { recursive: true });
  const needs = { store, folders, log: { warn: () => {} } } as unknown as CoreNeeds;
  await indexBacklog(needs);
  expect(await listBacklog(store.read, "", 10)).toEqual([id]);
  await rmdir(transcript);
  await Bun.write(transcript, text);
  await indexBacklog(needs);
  expect([await find(store, owner, "zebra"), await listBacklog(store.read, "", 10)]).toEqual([[id], []]);
});

test("an asset whose deletion starts while the backlog is indexed is not indexed again", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const owner = await store.write(addUser);
  const folders = getFolders(fresh.folder);
  const add = async () => {
    const { id } = await store.write((tx) => addAsset(tx, owner, { state: "ready", has_transcript: true }));
    await Bun.write(folders.media(id).transcript, '{"words":[{"text":"zebra","start":1.5,"end":2}]}');
    return id;
  };
  const [waiting, deleted] = [await add(), await add()];
  await store.write((tx) => tx.insert(searchBacklog).values({ asset_id: waiting }));
  const duringDeletion: Store = {
    ...store,
    write: async (work) => {
      await store.write((tx) => enterBacklog(tx, deleted));
      return await store.write(work);
    },
  };
  await indexBacklog({ store: duringDeletion, folders, log: {} } as unknown as CoreNeeds);
  expect([await find(store, owner, "zebra"), await listBacklog(store.read, "", 10)]).toEqual([[waiting], [deleted]]);
});
