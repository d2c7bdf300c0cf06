/** The loudness of an asset, which the preparation measures. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";

setDefaultTimeout(3 * PATIENCE_MS);

test("without previews, the preparation measures the loudness; that of an older version stays unknown", async () => {
  await using own = await harness({ PREVIEWS: "never" });
  const user = await own.user();
  const { id } = await user.ready(await wav(2));
  const read = () => user.must<{ loudness: unknown }>("GET", `/api/v1/assets/${id}/media`);
  expect((await read()).loudness).toEqual({ is_ready: true, absent_reason: null });
  expect((await user.call("GET", `/api/v1/assets/${id}/loudness`)).status).toBe(200);
  await rm(own.services().folders.media(id).loudness);
  expect((await read()).loudness).toEqual({ is_ready: false, absent_reason: expect.stringContaining("older version") });
  expect((await user.call("GET", `/api/v1/assets/${id}/loudness`)).status).toBe(404);
});
