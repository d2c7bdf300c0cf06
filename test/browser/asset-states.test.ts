/** The asset page in a real browser: accessibility of panels and dialogs, small screens, a viewer, and failures. */
import { beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { Locator, Page } from "playwright-core";
import { isFullSize } from "../full-size";
import { startSession } from "../http/accounts";
import type { Client } from "../http/client";
import { quiet, silentVideo, wav } from "../http/media";
import { until } from "../until";
import { writeZip } from "../zip";
import { expectAccessible } from "./axe";
import { compareVersions } from "./compare-versions";
import { useDashboard } from "./dashboard";
import { createStudioAsset, type StudioAsset } from "./studio";

const { address, browse, open, server, expectFailures } = useDashboard();

const LONG_NAME = `${"مقابلة الصيف ".repeat(6)}${"W".repeat(120)}.wav`;

let user: Client;
let asset: StudioAsset;
beforeAll(async () => {
  user = await server().user();
  asset = await createStudioAsset(user, LONG_NAME);
});

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });

async function openStudio(path = `/assets/${asset.id}`, options = {}): Promise<Page> {
  const page = await open(path, user, options);
  await page.getByRole("group", { name: "Words" }).waitFor();
  return page;
}

async function checkDialog(page: Page, name: string): Promise<void> {
  await button(page, name).click();
  await dialog(page, name).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
}

test("axe-core finds nothing on the asset page with takes, a comparison and a search, and in its dialogs", async () => {
  const page = await openStudio();
  await page.getByRole("tab", { name: "Takes" }).click();
  await expectAccessible(page);
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  await page.getByLabel("Compare with").selectOption(asset.reviewCutId);
  await page.getByRole("list", { name: "Differences" }).waitFor();
  await expectAccessible(page);
  await compareVersions(page);
  await page.getByRole("tab", { name: "Transcript" }).click();
  await page.keyboard.press("Control+h");
  await page.keyboard.type("bravo");
  await expectAccessible(page);
  await checkDialog(page, "Render");
  await checkDialog(page, "Export");
});

test.if(isFullSize)("axe-core finds nothing on a review, pacing, menus and corrections", async () => {
  const page = await openStudio(`/assets/${asset.id}?cut=${asset.reviewCutId}`);
  await page.getByRole("tab", { name: /^Review \d/ }).waitFor();
  await page.getByRole("tab", { name: /^Review/ }).click();
  await expectAccessible(page);
  const press = async (key: string, shown: Locator) => {
    await page.keyboard.press(key);
    await shown.waitFor();
    await expectAccessible(page);
  };
  await press("n", page.getByRole("region", { name: "Place to review" }));
  await page.getByRole("tab", { name: "Transcript" }).click();
  await button(page, "Play the cut").click();
  await expectAccessible(page);
  await press("p", page.getByRole("slider", { name: "Cut pauses longer than" }));
  await page.keyboard.press("p");
  await press("Control+h", page.getByRole("textbox", { name: /Replace/ }));
  await page.keyboard.press("Escape");
  await page.getByRole("group", { name: "Words" }).focus();
  await page.keyboard.press("Control+ArrowRight");
  await page.keyboard.press("Delete");
  await page.getByText("1 word removed").waitFor();
  await press("F2", page.locator("input:focus"));
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Cut / }).click();
  await expectAccessible(page);
  await page.getByRole("menuitem", { name: "Delete cut" }).click();
  await dialog(page, "Delete this cut?").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await press("Shift+?", dialog(page, "Keyboard shortcuts"));
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /command|search/i }).fill("re");
  await expectAccessible(page);
});

test.if(isFullSize)("axe-core finds nothing on renders, the share dialog and messages", async () => {
  expectFailures(402);
  const page = await openStudio();
  await button(page, "Render").click();
  await button(page, "Start").click();
  await dialog(page, "Render").waitFor({ state: "detached" });
  // It slides in, and moving elements are not measured.
  await button(page, "Download M4A").first().waitFor();
  await expectAccessible(page);
  await page.locator(".render-actions").getByRole("button", { name: "Share" }).click();
  await dialog(page, "Share").waitFor();
  await expectAccessible(page);
  await button(page, "Create link").click();
  await button(page, "Copy link").waitFor();
  await expectAccessible(page);
  await button(page, "Done").click();
  await page.route("**/api/v1/renders", (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status: 402, json: { detail: "Not enough credits.", code: "insufficient_credits" } })
      : route.continue(),
  );
  await button(page, "Render").click();
  await button(page, "Start").click();
  await dialog(page, "Render").getByRole("alert").getByText("credits").first().waitFor();
  await expectAccessible(page);
});

/** The page's content instead of the editor, by state. */
const WAITING: [string, () => Promise<string>, string][] = [
  ["not uploaded", async () => (await user.open(1000)).id, "The upload is not finished."],
  ["damaged", async () => (await user.prepared(await user.upload(Buffer.alloc(5000, 7)))).id, "upload it again"],
  ["unpaid", async () => unpaid(), "Buy credits"],
  ["without audio", async () => (await user.ready(await silentVideo())).id, "This recording has no audio."],
  ["without words", async () => (await user.ready(await quiet(3))).id, "No speech found."],
  ["in a language without a model", async () => unknown(), "This recording was not transcribed."],
  ["without a cut", async () => (await user.ready(await wav(3))).id, "Make the first cut"],
];

const unknown = async () => (await user.ready(await wav(3), { language: "xx" })).id;

/** A recording that the workspace's balance does not cover. Until it is paid or deleted, no other can be uploaded. */
async function unpaid(): Promise<string> {
  const { id } = await user.ready(await wav(2));
  const { store } = server().services();
  await store.write((tx) => tx.run(sql`UPDATE assets SET state = 'pending_payment' WHERE id = ${id}`));
  return id;
}

test.each(WAITING)("axe-core finds nothing on a recording that is %s, also on a phone", async (_, make, text) => {
  const id = await make();
  // Taller than a phone, because axe ignores content below the navigation at the bottom.
  const page = await open(`/assets/${id}`, user, { viewport: { width: 390, height: 1200 } });
  await page.getByText(text).first().waitFor();
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  // Before the recording is deleted, which the page would read again.
  await page.close();
  await user.must("DELETE", `/v1/assets/${id}`);
});

test("the asset page and its dialogs fit a phone and 200% zoom", async () => {
  for (const viewport of [
    { width: 390, height: 844 },
    // 200% of a window of 1280 by 800.
    { width: 640, height: 400 },
  ]) {
    const page = await openStudio(undefined, { viewport });
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await width()).toBeLessThanOrEqual(viewport.width);
    await page.getByRole("button", { name: /^Cut / }).click();
    const menu = (await page.getByRole("menu").boundingBox())!;
    expect(menu.x).toBeGreaterThanOrEqual(0);
    expect(menu.x + menu.width).toBeLessThanOrEqual(viewport.width);
    await page.keyboard.press("Escape");
    for (const name of ["Render", "Export"]) {
      if (name === "Export") await button(page, "More").click();
      await (name === "Export" ? page.getByRole("menuitem", { name }) : button(page, name)).click();
      await dialog(page, name).waitFor();
      const box = (await dialog(page, name).boundingBox())!;
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(viewport.width);
      await page.keyboard.press("Escape");
    }
    expect(await width()).toBeLessThanOrEqual(viewport.width);
  }
});

test("a viewer gets no control that writes", async () => {
  const context = await browse(user);
  const session = await startSession(server(), user);
  const { items, ...rest } = await session.must<{ items: object[] }>("GET", "/api/v1/workspaces");
  // The refusals of the server are tested at the API.
  const json = { ...rest, items: items.map((one) => ({ ...one, role: "viewer" })) };
  await context.route("**/api/v1/workspaces?*", (route) => route.fulfill({ json }));
  const page = await context.newPage();
  const { project_id: projectId } = await user.asset(asset.id);
  const seen: string[] = [];
  for (const [path, ready] of [
    ["/projects", page.getByRole("link", { name: "Project", exact: true }).first()],
    [`/projects/${projectId}`, page.getByRole("link", { name: LONG_NAME })],
    [`/assets/${asset.id}`, page.getByRole("group", { name: "Words" })],
  ] as const) {
    await page.goto(address(path));
    await ready.waitFor();
    const names = await page
      .locator("main :is(button:not([role=tab]), input, select, textarea)")
      .evaluateAll((all) =>
        all.map(
          (one) =>
            one.getAttribute("aria-label") ??
            (one as HTMLInputElement).labels?.[0]?.firstChild?.textContent ??
            one.textContent,
        ),
      );
    seen.push(...names.map((name) => name!.trim()));
  }
  const writes =
    /upload|choose files|new project|create|make cut|^script|render|save|undo|redo|restore|remove(?!d)|delete|rename|actions|share|drag/i;
  // Anybody pins a project.
  expect(seen.filter((name) => writes.test(name) && name !== "Actions for Project")).toEqual([]);
  for (const name of ["Play", "Cut", "Source", "Hide removed", "Export"]) expect(seen).toContain(name);
  await page.keyboard.press("n");
  await page.getByRole("tab", { name: "Transcript" }).click();
  await page.getByRole("group", { name: "Words" }).focus();
  await page.keyboard.press("Control+ArrowRight");
  await page.keyboard.press("Delete");
  await page.keyboard.press("F2");
  expect(await page.getByText("word removed").count()).toBe(0);
  expect(await page.getByRole("textbox").count()).toBe(0);
});

const DOCX = writeZip(
  "word/document.xml",
  `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>
    <w:p><w:r><w:t>Alpha</w:t><w:noBreakHyphen/><w:t>bravo</w:t></w:r>
    <w:moveFrom><w:r><w:t>old place</w:t></w:r></w:moveFrom></w:p><w:p><w:r><w:t>charlie.</w:t></w:r></w:p></w:body></w:document>`,
);

test("a script is dropped as DOCX, and an unreadable document shows advice", async () => {
  const page = await openStudio();
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  const drop = async (name: string, bytes: Uint8Array) => {
    const transfer = await page.evaluateHandle(
      ([name, bytes]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([Uint8Array.from(bytes as number[])], name as string));
        return transfer;
      },
      [name, [...bytes]] as const,
    );
    await page.getByRole("textbox", { name: "Script" }).dispatchEvent("drop", { dataTransfer: transfer });
  };
  await drop("Script.docx", DOCX);
  const script = page.getByRole("textbox", { name: "Script" });
  await until("the script", async () => (await script.inputValue()) === "Alpha-bravo\ncharlie.");
  await drop("Script.pdf", DOCX);
  await page.getByRole("alert").getByText("Save the script as DOCX or text").waitFor();
  expect(await script.inputValue()).toBe("Alpha-bravo\ncharlie.");
});

test.if(isFullSize)("a page shows failed calls, and recovers", async () => {
  expectFailures(500, 0);
  const page = await (await browse(user)).newPage();
  const { project_id: projectId } = await user.asset(asset.id);
  for (const [path, call] of [
    ["/projects", "**/api/v1/projects?*"],
    [`/projects/${projectId}`, `**/api/v1/projects/${projectId}`],
    [`/projects/${projectId}`, "**/api/v1/assets?*"],
    [`/assets/${asset.id}`, `**/api/v1/assets/${asset.id}`],
    [`/assets/${asset.id}`, "**/api/v1/cuts?*"],
    [`/assets/${asset.id}`, `**/api/v1/cuts/${asset.takesCutId}`],
  ] as const) {
    let fails = true;
    await page.route(call, (route) =>
      fails ? route.fulfill({ status: 500, json: { detail: "Internal error." } }) : route.continue(),
    );
    await page.goto(address(path));
    await page.getByRole("alert").getByText("Internal error.").first().waitFor();
    await button(page, "Try again").first().waitFor();
    fails = false;
    await until("the recovery", async () => {
      // An event can be faster.
      await button(page, "Try again")
        .first()
        .click({ timeout: 500 })
        .catch(() => {});
      return (await page.getByRole("alert").getByText("Internal error.").count()) === 0;
    });
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
  await button(page, "Export").waitFor();
});

test("while answers are awaited the pages show gray rows", async () => {
  const page = await (await browse(user)).newPage();
  const { project_id: projectId } = await user.asset(asset.id);
  for (const [path, call] of [
    ["/projects", "**/api/v1/projects?*"],
    [`/projects/${projectId}`, "**/api/v1/assets?*"],
    [`/assets/${asset.id}`, `**/api/v1/assets/${asset.id}`],
  ] as const) {
    const held = Promise.withResolvers<void>();
    await page.route(call, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(address(path));
    await page.locator(".skeleton").first().waitFor();
    held.resolve();
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
});

test("edits without a network are kept, and sent when it is back", async () => {
  expectFailures(0);
  const page = await openStudio();
  await page.context().setOffline(true);
  await page.getByText("Reconnecting").waitFor();
  await page.getByRole("group", { name: "Words" }).focus();
  await page.keyboard.press("Control+ArrowRight");
  await page.keyboard.press("Delete");
  await page.locator(".save-state").getByText("Offline, kept in this browser").waitFor();
  // It is said once to the eyes, on a phone below the name of the cut.
  const message = page.getByRole("status").filter({ hasText: "Reconnecting" });
  const clip = () => message.evaluate((element) => getComputedStyle(element).clipPath);
  expect(await clip()).toBe("inset(50%)");
  await expectAccessible(page);
  const window = page.viewportSize()!;
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await clip()).toBe("inset(50%)");
  const { y, height } = (await page.locator(".save-state").boundingBox())!;
  expect([height > 10, y + height <= 48]).toEqual([true, true]);
  await page.setViewportSize(window);
  await page.context().setOffline(false);
  await page.locator(".save-state [data-draft]").waitFor({ timeout: 20_000 });
  await page.getByText("Reconnecting").waitFor({ state: "detached" });
});
