/** A preparation whose child process exceeds its memory limit: through the sandbox, the runner and the database. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";

setDefaultTimeout(PATIENCE_MS);

const UNRULY = new URL("../unit/work/job-child/unruly-child.ts", import.meta.url).pathname;

test("a child that allocates without end fails the asset permanently on the first attempt", async () => {
  await using server = await harness();
  const user = await server.user();
  server.tools().jobCommand = [process.execPath, UNRULY, "allocate"];
  const asset = await user.prepared(await user.upload(await wav()));
  expect(asset).toMatchObject({ state: "failed", error_code: "corrupt_media", cuttable: false });
  expect(asset.error_message).toContain("memory");
  const { read } = server.services().store;
  expect(await read.all(sql`SELECT attempts, failures FROM steps`)).toEqual([{ attempts: 1, failures: 0 }]);
});
