/** Totals of projects, which triggers maintain: after random operations they equal a count of all rows. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { CUT_MODES } from "../../../src/domain/plan";
import { newId } from "../../../src/lib/ids";
import { deleteAsset } from "../../../src/store/assets";
import { deleteCut, insertCut } from "../../../src/store/cuts";
import type { Queries } from "../../../src/store/db";
import { type ProjectTotals, readProjectTotals, saveCutSummary, updateOpenMarks } from "../../../src/store/library";
import { deleteProject } from "../../../src/store/projects";
import { assets } from "../../../src/store/schema";
import { createRandom, type Random } from "../../random";
import { addAsset, addUser, freshStore, type TestStore } from "./test-store";

let fresh: TestStore;
beforeEach(async () => {
  fresh = await freshStore();
});
afterEach(() => fresh[Symbol.asyncDispose]());

/** Counts the rows of a project, as the totals are defined. */
async function count(db: Queries, projectId: string): Promise<ProjectTotals> {
  const [counted] = await db.all<ProjectTotals>(sql`
    SELECT count(*) AS recordings, total(a.duration) AS duration,
      total(iif(s.kept IS NULL, 0, a.duration)) AS cut_duration, total(s.kept) AS kept,
      total(s.cut_id IS NULL) AS without_cut, total(s.open_marks > 0) AS to_review, total(s.open_marks) AS open_marks,
      total(s.cut_id IS NOT NULL AND s.open_marks IS NULL) AS uncounted
    FROM assets AS a LEFT JOIN cut_summaries AS s ON s.asset_id = a.id
      AND s.cut_id = (SELECT coalesce(max(iif(n.is_set_aside, NULL, n.cut_id)), max(n.cut_id))
        FROM cut_summaries AS n WHERE n.asset_id = a.id)
    WHERE a.project_id = ${projectId} AND a.kind = 'source' AND a.state <> 'pending_upload'`);
  return counted!;
}

type World = {
  owner: { workspaceId: string };
  projects: string[];
  assets: string[];
  cuts: { id: string; asset: string; isSetAside: boolean }[];
};

const STATES = ["pending_upload", "processing", "ready", "failed"] as const;

const OPERATIONS: ((tx: Queries, world: World, random: Random) => Promise<unknown>)[] = [
  async (tx, { owner, projects, assets }, random) => {
    const kind = random(5) === 0 ? "cut_file" : "source";
    const state = STATES[random(4)]!;
    const duration = random(3) === 0 ? null : random(10_000_000);
    const projectId = projects[random(projects.length)]!;
    assets.push((await addAsset(tx, { ...owner, projectId }, { kind, state, duration })).id);
  },
  (tx, world, random) =>
    update(tx, world, random, { state: STATES[random(4)]!, duration: random(4) === 0 ? null : random(10_000_000) }),
  (tx, world, random) => update(tx, world, random, { project_id: world.projects[random(world.projects.length)]! }),
  async (tx, { owner, assets, cuts }, random) => {
    const asset = assets[random(assets.length)];
    if (asset === undefined) return;
    const id = newId();
    const isSetAside = random(3) === 0;
    const cut = { id, workspace_id: owner.workspaceId, asset_id: asset, state: "completed" as const, created_at: 0 };
    await insertCut(tx, { ...cut, script: "", options: CUT_MODES.natural, completed_at: 0 });
    cuts.push({ id, asset, isSetAside });
    await summarize(tx, cuts.at(-1)!, random);
  },
  async (tx, { cuts }, random) => {
    const cut = cuts[random(cuts.length)];
    if (cut) await summarize(tx, cut, random);
  },
  async (tx, { cuts }, random) => {
    const cut = cuts[random(cuts.length)];
    if (cut) await updateOpenMarks(tx, cut.id, random(4));
  },
  async (tx, { cuts }, random) => {
    const [cut] = cuts.splice(random(cuts.length), 1);
    if (cut) await deleteCut(tx, cut.id);
  },
  async (tx, world, random) => {
    const [asset] = world.assets.splice(random(world.assets.length), 1);
    if (asset === undefined) return;
    await deleteAsset(tx, asset);
    world.cuts = world.cuts.filter((cut) => cut.asset !== asset);
  },
];

async function update(tx: Queries, world: World, random: Random, change: Partial<typeof assets.$inferInsert>) {
  const id = world.assets[random(world.assets.length)];
  if (id !== undefined) await tx.update(assets).set(change).where(eq(assets.id, id));
}

const summarize = (tx: Queries, { id, asset, isSetAside }: World["cuts"][number], random: Random) => {
  const isCounted = random(4) > 0;
  const [kept, openMarks] = isCounted ? [random(5_000_000), random(3)] : [null, null];
  const row = { cut_id: id, asset_id: asset, is_set_aside: isSetAside, kept, open_marks: openMarks };
  return saveCutSummary(tx, row);
};

test("totals equal a recount after random operations, deletions included", async () => {
  const { store } = fresh;
  for (let seed = 1; seed <= 6; seed++) {
    const random = createRandom(seed);
    await store.write(async (tx) => {
      const owners = [await addUser(tx), await addUser(tx)];
      const projects = owners.map(({ projectId }) => projectId);
      const world: World = { owner: owners[0]!, projects, assets: [], cuts: [] };
      for (let step = 0; step < 150; step++) {
        await OPERATIONS[random(OPERATIONS.length)]!(tx, world, random);
        const totals = await readProjectTotals(tx, projects);
        for (const id of projects) expect(totals.get(id)!, `seed ${seed}, step ${step}`).toEqual(await count(tx, id));
      }
      await deleteProject(tx, projects[0]!);
      const [gone, kept] = [await readProjectTotals(tx, projects), await count(tx, projects[1]!)];
      expect(gone.get(projects[0]!)!.recordings).toBe(0);
      expect(gone.get(projects[1]!)!).toEqual(kept);
    });
  }
});
