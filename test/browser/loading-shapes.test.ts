/** A real browser: a recording that is loading has gray shapes in the layout of its type, and exact times later. */
import { expect, test } from "bun:test";
import { makeMedia, video } from "../http/media";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";

const { address, browse, open, server } = useDashboard();

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

test.each([
  ["a phone", 90, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ["a tablet", 90, { viewport: { width: 820, height: 1180 }, hasTouch: true, isMobile: true }],
  ["a low window", 90, { viewport: { width: 680, height: 425 } }],
  ["a large window", 90, { viewport: { width: 1360, height: 850 } }],
  // The timeline shows the whole of it, without an overview.
  ["a large window, although it is short", 10, { viewport: { width: 1360, height: 850 } }],
])("nothing moves when a recording has loaded in %s", async (_, seconds, options) => {
  const user = await server().user();
  const { id } = await user.ready(await video(seconds));
  const cut = await user.cutEnded((await user.startCut({ asset_id: id })).id);
  const page = await open(`/assets/${id}?cut=${cut.id}`, user, options);
  await page.getByRole("tab", { name: "Transcript" }).waitFor();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(`**/api/v1/assets/${id}`, async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  await page.locator(".is-loading").waitFor();
  const parts = [
    ".work-bar",
    ".headline",
    ".view",
    ".transport",
    ".timeline-panel",
    ".timeline-canvas",
    ".side",
    ".dock",
  ];
  const measure = () =>
    page.evaluate(
      (selectors) =>
        selectors.map((selector) => {
          const { x, y, width, height } = document.querySelector(selector)!.getBoundingClientRect();
          // The text is as high as its words.
          return [selector, ...[x, y, width, selector === ".side" ? 0 : height].map(Math.round)].join(" ");
        }),
      parts,
    );
  const shapes = await measure();
  release();
  await page.getByRole("tab", { name: "Transcript" }).waitFor();
  await page.locator(".result-times").waitFor();
  expect(await measure()).toEqual(shapes);
  await page.keyboard.press("=");
  const overview = page.locator(".timeline-overview");
  await overview.waitFor({ state: "attached" });
  // Pages without an overview may scroll.
  if (await overview.isVisible()) expect(await measure()).toEqual(shapes);
});

test("times have the timecode of the recording as soon as it is known", async () => {
  const user = await server().user();
  const pattern = "testsrc2=s=320x180:r=30000/1001:d=2";
  const encode = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-timecode", "01:00:00;00"];
  const { id } = await user.ready(await makeMedia("drop.mov", "-f", "lavfi", "-i", pattern, ...encode));
  const page = await (await browse(user)).newPage();
  const held = Promise.withResolvers<void>();
  await page.route("**/media", async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto(address(`/assets/${id}`));
  await page.locator(".timecode").getByText("00:00:00:00").waitFor();
  held.resolve();
  await page.locator(".timecode").getByText("00:00:00;00").waitFor();
  await page.locator(".source-time").getByText("Source 01:00:00;00").waitFor();
  await page.locator(".timeline-flag").getByText("00:00:00;00").waitFor();
});
