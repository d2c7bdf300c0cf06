/** A real browser: files and lists that could not be read. They come with the connection, or say why they cannot. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { video } from "../http/media";
import { until } from "../until";
import { useDashboard } from "./dashboard";

const { open, server, expectFailures } = useDashboard();

/** Runs an action while requests that match get no response. Then the connection is lost, and returns. */
async function withoutAnswers(page: Page, url: RegExp, run: () => Promise<unknown>): Promise<void> {
  await page.route(url, (route) => route.abort());
  await run();
  await page.unroute(url);
  await page.evaluate(() => ["offline", "online"].map((type) => dispatchEvent(new Event(type))));
}

test("pictures that got no response come with the connection", async () => {
  expectFailures(0);
  const user = await server().user();
  const project = await user.project("Talks");
  const { id } = await user.ready(await video(3), { projectId: project.id });
  const page = await open("/jobs", user);
  const failed = new Set<string>();
  page.on("requestfailed", (request) => failed.add(new URL(request.url()).pathname.split("/").at(-1)!));
  const hasFailed = (name: string) => until(`${name} without a response`, async () => failed.has(name));
  const isShown = (selector: string) =>
    until(`the picture ${selector}`, () =>
      page.evaluate((of) => (document.querySelector<HTMLImageElement>(of)?.naturalWidth ?? 0) > 0, selector),
    );

  await withoutAnswers(page, /\/poster/, async () => {
    await page.getByRole("link", { name: "Projects" }).first().click();
    await hasFailed("poster");
  });
  await isShown(".mosaic img");

  failed.clear();
  await withoutAnswers(page, /\/(poster|envelope)/, async () => {
    await page.getByRole("heading", { level: 2 }).getByRole("link", { name: "Talks" }).click();
    await page.getByRole("heading", { level: 1, name: "Talks" }).waitFor();
    await page.locator(".recording-picture").waitFor();
    await page.reload();
    await hasFailed("poster");
  });
  await isShown(".recording-picture img");

  failed.clear();
  const loaded: string[] = [];
  page.on("response", (response) => loaded.push(new URL(response.url()).pathname));
  // The stage has the poster until the preview is ready.
  const media = await user.must<object>("GET", `/api/v1/assets/${id}/media`);
  const json = { ...media, is_preview_ready: false, is_playable: false, wait: { position: 1, seconds: 60 } };
  await page.route("**/media", (route) => route.fulfill({ json }));
  await withoutAnswers(page, /\/(poster|waveform|storyboard)/, async () => {
    await page.goto(new URL(`/assets/${id}`, page.url()).href);
    for (const name of ["poster", "waveform", "storyboard"]) await hasFailed(name);
  });
  await isShown(".picture .still");
  const isLoaded = (name: string) =>
    until(name, async () => loaded.some((path) => path.endsWith(`/assets/${id}/${name}`)));
  for (const name of ["poster", "waveform", "storyboard", "storyboard/0"]) await isLoaded(name);

  // A sheet of the storyboard alone.
  failed.clear();
  loaded.length = 0;
  await withoutAnswers(page, /\/storyboard\/0/, async () => {
    await page.reload();
    await hasFailed("0");
  });
  await isLoaded("storyboard/0");
});

test("a list that was refused for good does not offer to try again", async () => {
  expectFailures(403, 500);
  const page = await open("/jobs", await server().user());
  let status = 403;
  await page.route(/\/api-keys(\?|$)/, (route) =>
    status === 200
      ? route.continue()
      : route.fulfill({ status, json: { error: { code: "forbidden", message: "Not for you." } } }),
  );
  const openKeys = async () => {
    await page.goto(new URL("/keys", page.url()).href);
    await page.getByRole("alert").getByText("Not for you.").waitFor();
  };
  const again = page.getByRole("button", { name: "Try again" });
  await openKeys();
  expect(await again.count()).toBe(0);
  status = 500;
  await openKeys();
  status = 200;
  await again.click();
  await again.waitFor({ state: "detached" });
});

test("the next page of a list that could not be read is read when the user tries again", async () => {
  expectFailures(500);
  const user = await server().user();
  await user.project("Talks");
  const page = await open("/jobs", user);
  const { items } = await user.must<{ items: object[] }>("GET", "/api/v1/projects");
  const next = items.map((one) => ({ ...one, id: crypto.randomUUID(), name: "Talks of last year" }));
  let isBroken = true;
  await page.route(/\/api\/v1\/projects\?/, (route) => {
    const isFirst = !route.request().url().includes("cursor=");
    if (!isFirst && isBroken)
      return route.fulfill({ status: 500, json: { error: { code: "internal", message: "Not now." } } });
    return route.fulfill({
      json: isFirst ? { items, next_cursor: "next" } : { items: next, next_cursor: null },
    });
  });
  await page.getByRole("link", { name: "Projects" }).first().click();
  const again = page.getByRole("button", { name: "Try again" });
  await again.waitFor();
  isBroken = false;
  await again.click();
  await page.getByRole("link", { name: "Talks of last year" }).waitFor();
  expect(await page.getByRole("link", { name: "Talks", exact: true }).count()).toBe(1);
  expect(await again.count()).toBe(0);
});
