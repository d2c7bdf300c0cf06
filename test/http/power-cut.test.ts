/** What a power cut may not take: a file is on disk, with its name, before a row says that it exists. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { recordDiskCalls } from "../disk-calls";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";

setDefaultTimeout(PATIENCE_MS);

/** Returns the calls before the commit after which the query has a row. */
function watchCommits(server: Harness, calls: readonly string[], query: (id: string) => ReturnType<typeof sql>) {
  const { store } = server.services();
  const { write } = store;
  let id = "";
  let found: string[] | null = null;
  store.write = async (work) => {
    const before = [...calls];
    const result = await write(work);
    if (found === null && id !== "" && (await store.read.all(query(id))).length > 0) found = before;
    return result;
  };
  return {
    watch: (watched: string) => {
      id = watched;
      found = null;
    },
    found: () => found ?? [],
  };
}

test("an upload and a render are flushed, with the folders of their names, before their rows say that they exist", async () => {
  await using server = await harness();
  using disk = recordDiskCalls({ folder: server.dataDir });
  const commits = watchCommits(
    server,
    disk.calls,
    (id) => sql`SELECT id FROM assets WHERE id = ${id} AND state <> 'pending_upload'
      UNION SELECT id FROM renders WHERE id = ${id} AND state = 'completed'`,
  );
  const user = await server.user(10);
  const bytes = (await wav(4)) as Uint8Array<ArrayBuffer>;
  const { id } = await user.open(bytes.length);
  commits.watch(id);
  await user.patch(id, 0, bytes);
  const places = commits.found().filter((call) => call.includes(id) || call === "flush media");
  expect(places).toEqual([
    "flush media",
    `flush uploads/${id}`,
    `rename media/${id}/source`,
    `flush media/${id}`,
    `flush media/${id}`,
    "flush media",
  ]);
  await user.prepared(id);
  const render = await user.startRender({ asset_id: id });
  commits.watch(render.id);
  await user.renderEnded(render.id);
  const rendered = commits.found().filter((call) => call.includes(render.id) || call === "flush renders");
  const output = `renders/${render.id}/output.m4a`;
  expect(rendered).toEqual([
    "flush renders",
    `rename ${output}.part`,
    `flush ${output}.part`,
    `rename ${output}`,
    `flush renders/${render.id}`,
  ]);
});
