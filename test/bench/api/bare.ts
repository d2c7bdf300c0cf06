/** The peer: bare Elysia routes over the same database driver, without authentication, checks or documentation. */
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { Elysia, t } from "elysia";

const client = createClient({ url: `file:${join(process.argv[2]!, "bare.db")}`, concurrency: 1 });
for (const pragma of ["journal_mode=WAL", "synchronous=FULL"]) await client.execute(`PRAGMA ${pragma}`);
await client.execute(
  "CREATE TABLE projects (id text PRIMARY KEY, user_id text, name text, state text, created_at integer)",
);
const insert = (id: string, name: string) =>
  client.execute({ sql: "INSERT INTO projects VALUES (?, 'user', ?, 'active', ?)", args: [id, name, Date.now()] });
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
