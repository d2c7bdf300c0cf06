import { expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { harness, PATIENCE_MS } from "./harness";
import { outcome } from "./outcome";
import type { Paged, Project } from "./resources";

setDefaultTimeout(PATIENCE_MS);

test("a full database is a 503 with Retry-After, keeps acknowledged writes, and recovers when there is space", async () => {
  await using server = await harness();
  const user = await server.user();
  const { store } = server.services();
  const allow = (pages: number) => store.write((tx) => tx.run(sql.raw(`PRAGMA max_page_count=${pages}`)));
  // Migrations leave free pages, which writes would fill first.
  await store.read.run(sql.raw("VACUUM"));
  const [now] = await store.read.all<{ page_count: number }>(sql`PRAGMA page_count`);
  await allow(now!.page_count);

  const made: string[] = [];
  let refused = 0;
  for (let n = 0; n < 60 && refused < 3; n++) {
    const json = { name: `${n} ${"x".repeat(250)}` };
    const replies = await Promise.all([1, 2, 3].map(() => user.call<Project>("POST", "/v1/projects", { json })));
    for (const reply of replies) {
      if (reply.status === 201) made.push(reply.body.id);
      else {
        expect(outcome(reply)).toBe("503 upstream_unavailable");
        expect(reply.headers.get("retry-after")).toBe("60");
        refused++;
      }
    }
  }
  expect(refused).toBeGreaterThanOrEqual(3);
  const listed = await user.must<Paged<Project>>("GET", "/v1/projects?limit=100");
  expect(listed.items.map(({ id }) => id).toSorted()).toEqual(made.toSorted());

  await allow(1_000_000);
  expect((await user.call("POST", "/v1/projects", { json: { name: "Room again" } })).status).toBe(201);
});
