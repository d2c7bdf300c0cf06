/** BullMQ and the Redis client are loaded only with a configured Redis: by a dynamic import. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const SOURCE = join(import.meta.dir, "../../../src");

/** Lists the modules loaded with a file: paths below `src/`, and names of packages. */
async function listLoaded(entry: string): Promise<Set<string>> {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const loaded = new Set<string>();
  const open = [join(SOURCE, entry)];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const name = relative(SOURCE, file);
    if (loaded.has(name)) continue;
    loaded.add(name);
    for (const { kind, path } of transpiler.scanImports(await Bun.file(file).text())) {
      if (kind !== "import-statement" && kind !== "require-call") continue;
      const target = join(dirname(file), path);
      const source = [`${target}.ts`, join(target, "index.ts")].find(existsSync);
      if (!path.startsWith(".")) loaded.add(path);
      else if (source) open.push(source);
    }
  }
  return loaded;
}

test.each(["boot.ts", "cli/serve.ts", "work/job-child/worker.ts"])("%s loads neither of them", async (entry) => {
  const loaded = await listLoaded(entry);
  expect([...loaded].filter((name) => /bullmq|ioredis/.test(name))).toEqual([]);
});

test("the list is complete: it contains modules that are known to be loaded", async () => {
  const server = await listLoaded("cli/serve.ts");
  expect([...server]).toContain("queue/runner.ts");
  expect([...server]).toContain("elysia");
  expect([...(await listLoaded("queue/bullmq.ts"))]).toEqual(expect.arrayContaining(["bullmq", "ioredis"]));
});
