/**
 * The baseline: Elysia routes over the same database driver, without authentication, validation of responses or
 * documentation.
 */
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { Elysia, t } from "elysia";

const client = createClient({ url: `file:${join(process.argv[2]!, "baseline.db")}`, concurrency: 1 });
for (const pragma of ["journal_mode=WAL", "synchronous=FULL"]) await client.execute(`PRAGMA ${pragma}`);
// The product's own table and index: the same read and the same insert.
await client.executeMultiple(`
  CREATE TABLE projects (id text PRIMARY KEY NOT NULL, user_id text NOT NULL, name text NOT NULL, state text NOT NULL,
    archived_at integer, created_at integer NOT NULL, updated_at integer NOT NULL, last_activity_at integer NOT NULL);
  CREATE INDEX projects_by_activity ON projects (user_id, state, last_activity_at, id);
`);
const USER = Bun.randomUUIDv7();
const insert = (id: string, name: string) => {
  const now = Date.now();
  return client.execute({
    sql: "INSERT INTO projects VALUES (?, ?, ?, 'active', NULL, ?, ?, ?)",
    args: [id, USER, name, now, now, now],
  });
};
const first = Bun.randomUUIDv7();
await insert(first, "First");

const app = new Elysia()
  .get("/nothing", () => ({ ok: true }))
  .get("/projects/:id", async ({ params }) => {
    const { rows } = await client.execute({ sql: "SELECT * FROM projects WHERE id = ?", args: [params.id] });
    return rows[0];
  })
  .post(
    "/projects",
    async ({ body, set }) => {
      const id = Bun.randomUUIDv7();
      await insert(id, body.name);
      set.status = 201;
      return { id, name: body.name };
    },
    { body: t.Object({ name: t.String({ minLength: 1, maxLength: 256 }) }) },
  )
  .listen({ port: 0, hostname: "127.0.0.1" });
console.log(JSON.stringify({ url: `http://127.0.0.1:${app.server!.port}`, id: first }));
