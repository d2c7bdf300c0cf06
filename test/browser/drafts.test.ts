/** A real browser: edits that the server does not have yet, in two tabs, of two people, and after a tab was closed. */
import { expect, test } from "bun:test";
import type { BrowserContext, Page } from "playwright-core";
import { createApiKey } from "../../src/work/access/command-accounts";
import { isFullSize } from "../full-size";
import { emailOf, startSession } from "../http/accounts";
import { createClient } from "../http/client";
import { addGrants } from "../http/ledger-rows";
import { video } from "../http/media";
import { createWorkspace, join } from "../http/workspace-calls";
import { until } from "../until";
import { useDashboard } from "./dashboard";

const { address, browse, server, expectFailures } = useDashboard();

const struck = (page: Page) => page.getByRole("region", { name: "Transcript" }).locator("s");

async function openTab(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address(path));
  await page.getByRole("button", { name: "Undo", exact: true }).waitFor();
  return page;
}

/** Removes the word at a position. */
async function removeWord(page: Page, word: number): Promise<void> {
  const words = page.getByRole("group", { name: "Words" });
  await words.focus();
  for (let step = 0; step <= word; step++) await page.keyboard.press("Control+ArrowRight");
  await page.keyboard.press("Delete");
  await page.getByRole("status").getByText("1 word removed").waitFor();
}

test.if(isFullSize)("edits of two tabs that were not sent both survive their tabs", async () => {
  expectFailures(0);
  const user = await server().user(100);
  const asset = await user.ready(await video(12));
  const cut = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
  const path = `/assets/${asset.id}?cut=${cut.id}`;
  const context = await browse(user);
  const [first, second] = [await openTab(context, path), await openTab(context, path)];
  await context.route("**/draft", (route) => (route.request().method() === "GET" ? route.continue() : route.abort()));
  await removeWord(first, 0);
  await removeWord(second, 1);
  const [kept] = await Promise.all([second, first].map((page) => struck(page).first().textContent()));
  await first.close();
  await second.close();
  await context.unroute("**/draft");

  const third = await openTab(context, path);
  await third.getByText(/^You edited this cut in another tab \(\d changes?\)\.$/).waitFor();
  expect(await struck(third).allTextContents()).toEqual([kept!]);
  await third.getByRole("button", { name: "Take theirs" }).click();
  await until("the edits of the first tab", async () => (await struck(third).first().textContent()) !== kept);
  await third.locator(".save-state [data-draft]").waitFor();
  expect(await third.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("draft.")))).toEqual([]);
});

test.if(isFullSize)("of two people who edit a cut, who is late chooses whose edits stay", async () => {
  expectFailures(409);
  const [anna, ben] = [await server().user(), await server().user()];
  const { id: workspace } = await createWorkspace(await startSession(server(), anna));
  await join(await startSession(server(), anna), workspace, await startSession(server(), ben));
  await addGrants(server(), workspace, 20);
  const { key } = await createApiKey(server().services(), { email: emailOf(anna), name: "test", workspace });
  const client = createClient(server().url, key, anna.userId);
  const asset = await client.ready(await video(12));
  const cut = await client.cutEnded((await client.startCut({ asset_id: asset.id })).id);
  const openAs = async (user: typeof ben) => {
    const context = await browse(user);
    await context.addInitScript((id) => {
      // An empty page has no storage.
      if (location.protocol === "http:") localStorage.setItem("offcut.workspace", id);
    }, workspace);
    return openTab(context, `/assets/${asset.id}?cut=${cut.id}`);
  };
  const [first, second] = [await openAs(anna), await openAs(ben)];
  for (const page of [first, second]) await page.getByText("Somebody else is editing").waitFor();
  const before = await struck(second).allTextContents();

  await removeWord(first, 0);
  await first.locator(".save-state [data-draft]").waitFor();
  await removeWord(second, 1);
  await second.getByText(/^Somebody else edited this cut .*\(\d changes?\)\.$/).waitFor();
  await second.getByRole("button", { name: "Show both" }).click();
  await second.getByRole("list", { name: "Colors of the comparison" }).waitFor();
  const mine = await struck(second).allTextContents();
  expect(mine).not.toEqual(before);
  await second.getByRole("button", { name: "Keep mine" }).click();
  await second.locator(".save-state [data-draft]").waitFor();
  expect(await struck(second).allTextContents()).toEqual(mine);

  await removeWord(first, 2);
  await first.getByText(/^Somebody else edited this cut .*\(\d changes?\)\.$/).waitFor();
  const hers = await struck(first).allTextContents();
  await first.getByRole("button", { name: "Take theirs" }).click();
  await until("the edits of the other", async () => Bun.deepEquals(await struck(first).allTextContents(), mine));
  await first.locator(".save-state [data-draft]").waitFor();
  await first.getByRole("button", { name: "Undo", exact: true }).click();
  expect(await struck(first).allTextContents()).toEqual(hers);
});
