/** A real browser: uploads from a page of another origin, and the documentation as the executable serves it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../chromium";
import { startServer } from "../e2e/server";
import { type Harness, harness } from "../http/harness";
import { wav } from "../http/media";
import { until } from "../until";
import type { Offcut } from "./page";

/** For a machine that is many times slower. Only failing tests take this long. */
setDefaultTimeout(300_000);
const ACTION_MS = 90_000;

let browser: Browser;
let other: Studio;
let server: Harness;
beforeAll(async () => {
  other = await studio();
  [browser, server] = await Promise.all([launchChromium(), harness({ CORS_ORIGINS: other.origin })]);
});
afterAll(async () => {
  await browser.close();
  await Promise.all([server[Symbol.asyncDispose](), other.stop()]);
});

type Studio = Awaited<ReturnType<typeof studio>>;

/** A web server of another origin with the page and its script. */
async function studio() {
  const built = await Bun.build({ entrypoints: [join(import.meta.dir, "page.ts")], target: "browser" });
  const script = await built.outputs[0]!.text();
  const audio = (await wav(4)) as Uint8Array<ArrayBuffer>;
  const html = (text: string) => new Response(text, { headers: { "Content-Type": "text/html" } });
  const web = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/": () => html('<!doctype html><title>Studio</title><script type="module" src="/page.js"></script>'),
      "/page.js": () => new Response(script, { headers: { "Content-Type": "text/javascript" } }),
      "/audio.wav": () => new Response(audio),
    },
  });
  const origins = { origin: `http://127.0.0.1:${web.port}`, otherOrigin: `http://localhost:${web.port}` };
  return { ...origins, audio, stop: () => web.stop(true) };
}

type Target = { url: string; key: string; projectId: string };

const uploadWith = (page: Page, way: keyof Offcut, target: Target): Promise<string> =>
  page.evaluate(
    async ([name, where]) => {
      const { offcut } = window as unknown as { offcut: Offcut };
      return offcut[name](where, await (await fetch("/audio.wav")).blob());
    },
    [way, target] as const,
  );

async function newPage(): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(ACTION_MS);
  return page;
}

async function openStudio(origin: string): Promise<Page> {
  const page = await newPage();
  await page.goto(origin);
  await page.waitForFunction(() => "offcut" in window);
  return page;
}

test("uploads from another origin become ready assets", async () => {
  const user = await server.user();
  const target = { url: server.url(), key: user.key!, projectId: (await user.project()).id };
  const page = await openStudio(other.origin);
  for (const way of ["withTusClient", "withUppy", "withUppyAlone", "withSignedLink"] as const) {
    const asset = await user.prepared(await uploadWith(page, way, target));
    expect([way, asset]).toMatchObject([way, { state: "ready", size_bytes: other.audio.length }]);
    const stored = await (await fetch(asset.download_url!)).bytes();
    expect(Buffer.compare(stored, other.audio)).toBe(0);
  }
  await page.close();
});

test("the browser blocks uploads from an origin that the settings do not name", async () => {
  const user = await server.user();
  const target = { url: server.url(), key: user.key!, projectId: (await user.project()).id };
  const page = await openStudio(other.otherOrigin);
  const refused = await uploadWith(page, "withTusClient", target).catch((error) => String(error));
  expect(refused).toContain("Failed to fetch");
  expect((await user.must<{ items: object[] }>("GET", "/v1/assets")).items).toEqual([]);
  await page.close();
});

test("the executable's documentation shows every call and asks no other host for anything", async () => {
  await using server = await startServer();
  const page = await newPage();
  const asked: string[] = [];
  const wrong: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  // Violations of the Content-Security-Policy are reported on the console.
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(message.text());
  });
  await page.goto(`${server.url()}/docs#reference`);
  const { paths } = (await (await fetch(`${server.url()}/openapi.json`)).json()) as { paths: Record<string, object> };
  const calls = Object.values(paths).flatMap((methods) => Object.keys(methods)).length;
  await page.locator(".opblock-tag").first().waitFor();
  for (const tag of await page.locator(".opblock-tag").all()) await tag.click();
  await until("every call on the page", async () => (await page.locator(".opblock").count()) === calls);
  await page.locator(".opblock-summary").first().click();
  await page.locator(".opblock-body").first().waitFor();
  // A call from the page without a key.
  await page.locator(".try-out__btn").first().click();
  await page.locator(".opblock-body textarea").first().waitFor();
  expect(wrong).toEqual([]);
  await page.locator("button.execute").first().click();
  await page.locator(".live-responses-table tbody .response-col_status").first().waitFor();
  expect(await page.locator(".live-responses-table tbody .response-col_status").first().textContent()).toContain("401");
  await page.locator("button.authorize").first().click();
  await page.locator(".modal-ux input").fill((await server.user()).key!);
  await page.locator(".modal-ux button.authorize").click();
  await page.locator(".modal-ux button.btn-done").click();
  await page.locator("button.execute").first().click();
  await page.locator(".live-responses-table .response-col_status", { hasText: "201" }).waitFor();
  // The browser itself reports the 401.
  wrong.splice(0, wrong.length, ...wrong.filter((line) => !line.includes("401 (Unauthorized)")));
  expect(wrong).toEqual([]);
  expect(asked.filter((url) => /^https?:/.test(url) && new URL(url).origin !== server.url())).toEqual([]);
  expect(asked.length).toBeGreaterThan(2);
  await page.close();
});
