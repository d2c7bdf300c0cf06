/**
 * A real browser: the states of the editor, and each row of its table of actions, by keyboard and by pointer. Firefox
 * does the same.
 */
import { test } from "bun:test";
import { runRows } from "./action-rows";
import { useDashboard } from "./dashboard";
import { expectAccessibleStates } from "./editor-states";
import { createStudioAsset } from "./studio";

const { expectFailures, open, server } = useDashboard();

test("each action of the editor has the effect in its row, by keyboard and by pointer", async () => {
  // A busy server may refuse playback that is stopped immediately.
  expectFailures(503);
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user, {
    viewport: { width: 1360, height: 850 },
  });
  await page.getByRole("button", { name: "Play the cut" }).waitFor();
  await runRows(page);
});

test("axe-core finds nothing in the states of the editor", async () => {
  expectFailures(503);
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user, {
    viewport: { width: 1360, height: 850 },
  });
  await expectAccessibleStates(page);
});
