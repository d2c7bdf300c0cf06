/** A real browser: the gray shapes of a recording that is loading have the layout of its type. */
import { expect, test } from "bun:test";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";

const { open, server } = useDashboard();

test("a recording of the list loads in the layout of audio, an unknown one in that of a video", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const { project_id: projectId } = await user.asset(asset.id);
  const page = await open(`/projects/${projectId}`, user, { viewport: { width: 1360, height: 850 } });
  let release = () => {};
  const hold = async () => {
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(`**/api/v1/assets/${asset.id}`, async (route) => {
      await held;
      await route.continue();
    });
  };
  await hold();
  await page.getByRole("link", { name: "Talk.wav" }).first().click();
  await page.locator(".is-loading.of-audio .envelope").waitFor();
  expect(await page.locator(".is-loading .picture.skeleton").count()).toBe(0);
  release();
  await page.getByRole("button", { name: "Play the cut" }).waitFor();

  await page.unrouteAll();
  await hold();
  await page.reload();
  await page.locator(".is-loading .picture.skeleton").waitFor();
  expect(await page.locator(".is-loading.of-audio").count()).toBe(0);
  release();
  await page.getByRole("button", { name: "Play the cut" }).waitFor();
});
