import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { freshStore } from "./test-store";

test("the pipelines of a workspace that run or wait are found without reading those that have ended", async () => {
  await using fresh = await freshStore();
  const matches = sql`FROM pipelines WHERE workspace_id = ${"w"} AND finished_at IS NULL AND is_hidden = ${0}`;
  for (const query of [sql`SELECT * ${matches} ORDER BY id DESC LIMIT ${20}`, sql`SELECT count(*) ${matches}`]) {
    const plan = await fresh.store.read.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${query}`);
    expect(plan.map(({ detail }) => detail)).toEqual(["SEARCH pipelines USING INDEX pipelines_open (workspace_id=?)"]);
  }
});
