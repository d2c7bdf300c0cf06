/** A real browser: the pictures of recordings, as cards and in the list, and a project on a phone. */
import { expect, test } from "bun:test";
import { video, wav } from "../http/media";
import { until } from "../until";
import { expectAccessible } from "./axe";
import { useDashboard } from "./dashboard";
import { saveScreenshots } from "./screenshots";

const { open, server } = useDashboard();

test("moving the pointer over a picture scrubs through the recording", async () => {
  const user = await server().user();
  const { id } = await user.project("Talks");
  await user.ready(await video(4), { projectId: id, filename: "film.mp4" });
  await user.ready(await wav(4), { projectId: id, filename: "voice.wav" });
  const page = await open(`/projects/${id}`, user);
  const resting = Promise.withResolvers<void>();
  await page.route("**/filmstrip*", (route) => resting.promise.then(() => route.continue()));
  for (const look of ["Grid", "List"]) {
    await page.getByRole("button", { name: look, exact: true }).click();
    for (const name of ["film.mp4", "voice.wav"]) {
      const row = page.locator(".recording, .recording-name").filter({ hasText: name });
      const picture = row.locator(".recording-picture");
      const { x, y, width, height } = (await picture.boundingBox())!;
      const line = picture.locator(".scrub-line");
      const readLine = () => line.evaluate(({ style }) => Number.parseFloat(style.left));
      await page.mouse.move(x + 1, y + height / 2);
      await page.mouse.move(x + width * 0.75, y + height / 2, { steps: 4 });
      await line.waitFor();
      expect(await readLine()).toBeCloseTo(75, -1);
      const frame = picture.locator(".scrub-frame");
      // It appears below the resting pointer.
      resting.resolve();
      if (name === "film.mp4") await frame.waitFor();
      else expect(await frame.isVisible()).toBe(false);
      expect(await picture.locator(".picture-time").count()).toBe(look === "Grid" ? 1 : 0);
      if (look === "Grid") expect(await picture.locator(".picture-time").textContent()).toBe("0:03");
      const before = await frame.evaluate(({ style }) => style.backgroundPositionX);
      await page.mouse.move(x + width * 0.1, y + height / 2, { steps: 4 });
      expect(await readLine()).toBeCloseTo(10, -1);
      if (name === "film.mp4") expect(await frame.evaluate(({ style }) => style.backgroundPositionX)).not.toBe(before);
      await page.mouse.move(x + width / 2, 4);
      await line.waitFor({ state: "hidden" });
      expect(await frame.isVisible()).toBe(false);
    }
  }
});

test("pictures of recordings that are scrolled past are not loaded", async () => {
  const user = await server().user();
  const { id } = await user.project("Talks");
  const { id: voice } = await user.ready(await wav(2), { projectId: id, filename: "voice.wav" });
  const { id: film } = await user.ready(await video(2), { projectId: id, filename: "film.mp4" });
  // The list of projects shows the same pictures, so it is not opened first.
  const page = await open(`/assets/${film}`, user);
  const picture = page.locator(".recording .envelope-box svg");
  const hasScrolled = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      await page.evaluate(() => dispatchEvent(new Event("scroll")));
      await page.clock.runFor(50);
    }
  };
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1_000);
  let reads = 0;
  page.on("request", (request) => {
    if (request.url().includes(`${voice}/envelope`)) reads++;
  });
  const openProject = async () => {
    await page.getByRole("link", { name: "Talks" }).click();
    await until("the recording", async () => {
      await hasScrolled(50);
      return (await page.locator(".recording .envelope-box").count()) > 0;
    });
    await hasScrolled(300);
    expect(await picture.count()).toBe(0);
  };
  await openProject();
  expect(reads).toBe(0);
  // Less than the time after which rows are shown that scroll slowly.
  await page.clock.runFor(350);
  expect(reads).toBe(1);

  await page.getByRole("link", { name: "Projects", exact: true }).first().click();
  await until("the projects", async () => {
    await page.clock.runFor(50);
    return (await page.locator(".recording").count()) === 0;
  });
  await openProject();
  await until("the picture", async () => {
    await hasScrolled(100);
    return (await picture.count()) > 0;
  });
});

test("on a phone, recordings are rows that are selected, opened and changed by touch", async () => {
  const user = await server().user();
  const { id } = await user.project("Talks");
  for (const filename of ["one.wav", "two.wav"]) await user.ready(await wav(2), { projectId: id, filename });
  await user.ready(await video(2), {
    projectId: id,
    filename: "A film with a name that is long enough for two lines on a phone.mp4",
  });
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const page = await open(`/projects/${id}`, user, phone);
  const row = (name: string) =>
    page.getByRole("listitem").filter({ has: page.getByRole("link", { name, exact: true }) });
  await row("one.wav").waitFor();
  // The list is for windows with room for columns.
  expect(await page.getByRole("button", { name: "List", exact: true }).isVisible()).toBe(false);
  const picture = (await row("one.wav").locator(".recording-picture").boundingBox())!;
  expect([Math.round(picture.width), Math.round(picture.height)]).toEqual([124, 70]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await expectAccessible(page);
  await saveScreenshots(page);

  for (const name of ["one.wav", "two.wav"]) await page.getByLabel(`Select ${name}`).tap();
  const bar = page.getByRole("toolbar", { name: "Selected recordings" });
  await bar.getByText("2 selected").waitFor();
  for (const button of await bar.getByRole("button").all()) {
    const box = (await button.boundingBox())!;
    expect([box.width >= 32, box.height >= 32, box.x >= 0, box.x + box.width <= 390]).toEqual([true, true, true, true]);
  }
  await saveScreenshots(page);
  await bar.getByRole("button", { name: "Make cut" }).tap();
  await page.getByRole("dialog").getByRole("button", { name: "Make cut" }).tap();
  for (const name of ["one.wav", "two.wav"])
    await row(name)
      .getByRole("img", { name: /All checked|to review/ })
      .waitFor();

  await row("two.wav").getByRole("button", { name: "Actions for two.wav" }).tap();
  await page.getByRole("menuitem", { name: "Rename" }).tap();
  await page.getByRole("dialog").getByLabel("Name").fill("Second");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).tap();
  await row("Second").locator(".recording-picture").tap();
  await page.getByRole("heading", { level: 1, name: "Second" }).waitFor();
});
