/** A real browser: edits that the server does not have yet, in two tabs, of two people, and after a tab was closed. */
import { expect, test } from "bun:test";
import type { BrowserContext, Page, Request } from "playwright-core";
import { createApiKey } from "../../src/work/access/command-accounts";
import { isFullSize } from "../full-size";
import { emailOf, startSession } from "../http/accounts";
import { createClient } from "../http/client";
import { addGrants } from "../http/ledger-rows";
import { video, wav } from "../http/media";
import { createWorkspace, join } from "../http/workspace-calls";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";

const { address, browse, server, expectFailures } = useDashboard();

const struck = (page: Page) => page.getByRole("region", { name: "Transcript" }).locator("s");

async function openTab(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(address(path));
  await page.getByRole("button", { name: "Undo", exact: true }).waitFor();
  return page;
}

/** Keeps all drafts of a browser from reaching the server. */
const holdDrafts = (page: Page) =>
  page.context().route("**/draft", (route) => (route.request().method() === "GET" ? route.continue() : route.abort()));

async function selectWord(page: Page, word: number): Promise<void> {
  await page.getByRole("group", { name: "Words" }).focus();
  // The caret goes to the playhead when that has moved.
  const keys = ["Escape", "Escape", "End", "Control+ArrowLeft", "Escape", "Escape", "Home"];
  for (const key of keys) await page.keyboard.press(key);
  for (let step = 0; step <= word; step++) await page.keyboard.press("Control+ArrowRight");
}

async function correctWord(page: Page, word: number, text: string): Promise<void> {
  await selectWord(page, word);
  await page.keyboard.press("F2");
  await page.locator("input:focus").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
  await page.locator(".transcript-section").getByText(text).first().waitFor();
}

/** Removes words by the position of the first one. */
async function removeWord(page: Page, word: number, count = 1): Promise<void> {
  await selectWord(page, word);
  for (let step = 1; step < count; step++) await page.keyboard.press("Control+Shift+ArrowRight");
  await page.keyboard.press("Delete");
  await page
    .getByRole("status")
    .getByText(count === 1 ? "1 word removed" : `${count} words removed`)
    .waitFor();
}

/** Waits for the request, too: "Saved" is shown from before for a second. */
async function removeAndSend(page: Page, word: number): Promise<void> {
  const sent = page.waitForResponse((response) => response.request().method() === "PUT");
  await removeWord(page, word);
  await sent;
  await saved(page);
}

/** Waits until these words are removed, and no others. */
const shows = (page: Page, ...words: string[]) =>
  until(words.join(), async () =>
    Bun.deepEquals((await struck(page).allTextContents()).join(" ").split(" ").filter(Boolean), words),
  );

type Item = { id: string; state: string };

const saved = (page: Page) => page.locator(".save-state [data-draft]").waitFor();
const isKeptHere = (page: Page) => page.getByText("Kept in this browser").waitFor();

test.if(isFullSize)("edits of two tabs that were not sent both survive their tabs", async () => {
  expectFailures(0);
  const user = await server().user(100);
  const asset = await user.ready(await video(12));
  const cut = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
  const path = `/assets/${asset.id}?cut=${cut.id}`;
  const context = await browse(user);
  const [first, second] = [await openTab(context, path), await openTab(context, path)];
  await holdDrafts(first);
  await removeWord(first, 0);
  await removeWord(second, 1);
  await shows(first, "alpha");
  await shows(second, "bravo");
  await first.close();
  await second.close();
  await context.unroute("**/draft");

  // The edits of both are merged, because they do not overlap.
  const third = await openTab(context, path);
  await shows(third, "alpha", "bravo");
  await saved(third);
  expect(await third.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("draft.")))).toEqual([]);

  // A span restored offline stays restored, although a later draft of the other tab has it removed.
  await removeAndSend(third, 3);
  const fourth = await openTab(context, path);
  await shows(fourth, "alpha", "bravo", "delta");
  await holdDrafts(third);
  await third.getByRole("button", { name: "Undo", exact: true }).click();
  await shows(third, "alpha", "bravo");
  await isKeptHere(third);
  await third.close();
  await context.unroute("**/draft");
  await removeAndSend(fourth, 5);
  await fourth.close();
  await shows(await openTab(context, path), "alpha", "bravo", "foxtrot");
});

/**
 * Opens a cut of a recording in the browsers of two people. `name`: that of the second one. Also returns a function
 * that reads the versions.
 */
async function openForTwo(media: Uint8Array, name: string | null = null) {
  const [anna, ben] = [await server().user(), await server().user()];
  if (name !== null)
    await (await startSession(server(), ben)).must("PATCH", "/api/v1/users/me", { json: { first_name: name } });
  const { id: workspace } = await createWorkspace(await startSession(server(), anna));
  await join(await startSession(server(), anna), workspace, await startSession(server(), ben));
  await addGrants(server(), workspace, 20);
  const { key } = await createApiKey(server().services(), { email: emailOf(anna), name: "test", workspace });
  const client = createClient(server().url, key, anna.userId);
  const asset = await client.ready(media);
  const cut = await client.cutEnded((await client.startCut({ asset_id: asset.id })).id);
  const openAs = async (user: typeof ben, query = `?cut=${cut.id}`) => {
    const context = await browse(user);
    await context.addInitScript((id) => {
      // An empty page has no storage.
      if (location.protocol === "http:") localStorage.setItem("offcut.workspace", id);
    }, workspace);
    return openTab(context, `/assets/${asset.id}${query}`);
  };
  const [first, second] = [await openAs(anna), await openAs(ben)];
  await first.getByText(`${name ?? "Somebody else"} is editing`).waitFor();
  await second.getByText("Somebody else is editing").waitFor();
  const listVersions = async () =>
    (await client.must<{ items: { name: string | null }[] }>("GET", `/api/v1/cuts?asset_id=${asset.id}`)).items;
  return { first, second, listVersions, cut, openLater: () => openAs(anna, "") };
}

test("a colleague's edits are merged and named, and a conflict counts their later edits", async () => {
  expectFailures(0, 409);
  const { first, second, listVersions } = await openForTwo(await wav(20), "Bruno");
  await removeWord(second, 0);
  await shows(first, "alpha");

  await holdDrafts(first);
  await removeWord(first, 2);
  await isKeptHere(first);
  await removeWord(second, 3);
  await first.getByRole("status").getByText("1 change by Bruno added").waitFor();
  await shows(first, "alpha", "charlie", "delta");

  // The question counts what the other person changes while it is open.
  await correctWord(first, 5, "Mine");
  await correctWord(first, 6, "Mine");
  await correctWord(second, 5, "Theirs");
  const question = (count: string) => first.getByText(`Bruno edited this cut just now (${count}).`);
  await question("1 change").waitFor();
  await first.getByRole("button", { name: "Show both" }).click();
  await correctWord(second, 6, "Theirs");
  await removeWord(second, 8);
  await question("2 changes").waitFor();
  await first.getByRole("list", { name: "Texts of both" }).getByText("2 times.").waitFor();
  await shows(first, "alpha", "charlie", "delta", "india");
  await first.context().unroute("**/draft");
  await first.getByRole("button", { name: "Take theirs" }).click();
  for (const page of [first, second]) {
    await until("both corrections", async () => {
      const text = (await page.locator(".transcript-text").textContent()) ?? "";
      return text.split("Theirs").length === 3 && !text.includes("Mine");
    });
    await shows(page, "alpha", "charlie", "delta", "india");
  }
  await until("one version of the edits that were not taken", async () => (await listVersions()).length === 2);
});

test.if(isFullSize)("edits of two people are merged, and only conflicts need a decision", async () => {
  expectFailures(0, 409);
  const { first, second, listVersions, cut, openLater } = await openForTwo(await video(20));
  let requests = 0;
  second.on("request", (request) => {
    if (request.method() === "PUT" && request.url().endsWith("/draft")) requests++;
  });

  // A tab without edits of its own follows, and sends nothing.
  await removeWord(first, 0);
  await shows(second, "alpha");
  await saved(second);
  expect(requests).toBe(0);

  // Both edit at the same time: neither knows of the other's edit.
  await holdDrafts(first);
  await removeWord(first, 2);
  await isKeptHere(first);
  await removeWord(second, 3);
  await first.getByRole("status").getByText("1 change by somebody else added").waitFor();
  await first.context().unroute("**/draft");
  for (const page of [second, first]) await shows(page, "alpha", "charlie", "delta");
  await saved(first);

  // One removes a word, the other the words around it too.
  await holdDrafts(first);
  await removeWord(first, 5);
  await isKeptHere(first);
  await removeWord(second, 4, 3);
  await first.getByText(/^Somebody else edited this cut .*\(1 change\)\.$/).waitFor();
  await first.context().unroute("**/draft");
  await first.getByRole("button", { name: "Show both" }).click();
  await first.getByRole("list", { name: "Colors of the comparison" }).waitFor();
  await shows(first, "alpha", "charlie", "delta", "foxtrot");
  await first.getByRole("button", { name: "Take theirs" }).click();
  await shows(first, "alpha", "charlie", "delta", "echo", "foxtrot", "golf");
  await saved(first);
  await until("a version of the edits that were not taken", async () =>
    (await listVersions()).some(({ name }) => name?.startsWith("Edits by")),
  );
  // They are listed, but the cut that was worked on still opens first.
  const later = await openLater();
  await later.locator(`.workspace[data-cut="${cut.id}"]`).waitFor();
  await later.getByRole("button", { name: /^Cut / }).click();
  await later.getByRole("menuitemradio", { name: /^Edits by/ }).waitFor();
  await later.close();
  await first.getByRole("button", { name: "Undo", exact: true }).click();
  for (const page of [first, second]) await shows(page, "alpha", "charlie", "delta", "foxtrot");

  // A version that one saves is shown to the other, with the selection and the playhead.
  await second.getByRole("slider", { name: "Playhead" }).first().focus();
  await second.keyboard.press("Shift+ArrowRight");
  const place = await second.locator(".timecode").first().textContent();
  await first.keyboard.press("Control+s");
  await second.getByRole("status").getByText("Somebody else saved a version · Natural 2").waitFor();
  await second.locator(".save-state [data-draft]").waitFor({ state: "detached" });
  expect(await second.locator(".timecode").first().textContent()).toBe(place);
  expect(second.url()).toBe(first.url());

  // A version that is saved in the place of another one, while somebody has edits that were not sent.
  await holdDrafts(second);
  await removeWord(second, 1);
  await isKeptHere(second);
  await removeWord(first, 6);
  await first.keyboard.press("Control+s");
  await second.getByRole("status").getByText("Your edits are kept as a draft of it").waitFor();
  await second.context().unroute("**/draft");
  expect(second.url()).toBe(first.url());
  for (const page of [second, first]) await shows(page, "alpha", "bravo", "charlie", "delta", "foxtrot", "golf");

  // Both correct the same words. The texts are beside the alert, which a screen reader would read whole.
  await holdDrafts(first);
  for (const word of [7, 8]) await correctWord(first, word, "Mine");
  await isKeptHere(first);
  for (const word of [7, 8]) await correctWord(second, word, "Theirs");
  await first.getByText(/^Somebody else edited this cut just now \(2 changes\)\.$/).waitFor();
  await first.getByRole("button", { name: "Show both" }).click();
  const texts = first.getByRole("list", { name: "Texts of both" });
  expect(await texts.getByRole("listitem").allTextContents()).toEqual(["Yours: “Mine”. Theirs: “Theirs”. 2 times."]);
  expect(await first.getByRole("alert").getByRole("list").count()).toBe(0);
  await first.addInitScript(() => {
    const { now } = Date;
    Date.now = () => now() + 10 * 60_000;
  });
  await first.reload();
  await first.getByText(/^Somebody else edited this cut 1\d minutes ago/).waitFor();
});

test("unsent decisions stay with their author when another person signs in", async () => {
  expectFailures(0);
  const [anna, ben] = [await server().user(), await server().user()];
  const [annaSession, benSession] = [await startSession(server(), anna), await startSession(server(), ben)];
  const { id: workspace } = await createWorkspace(annaSession);
  await join(annaSession, workspace, benSession);
  await addGrants(server(), workspace, 20);
  const { key } = await createApiKey(server().services(), { email: emailOf(anna), name: "test", workspace });
  const asset = await createStudioAsset(createClient(server().url, key, anna.userId));
  const context = await browse(anna);
  await context.addInitScript((id) => {
    if (location.protocol === "http:") localStorage.setItem("offcut.workspace", id);
  }, workspace);
  const sent: string[] = [];
  const isDecision = (request: Request) => request.method() === "PATCH" && request.url().endsWith("/review");
  context.on("requestfailed", (request) => {
    if (isDecision(request)) sent.push("failed");
  });
  context.on("response", async (response) => {
    if (isDecision(response.request())) sent.push(...(await response.json()).items.map((item: Item) => item.state));
  });
  const openReview = async () => {
    const page = await openTab(context, `/assets/${asset.id}?cut=${asset.reviewCutId}`);
    await page.getByRole("button", { name: /^Review \d/ }).waitFor();
    await page.keyboard.press("n");
    await page.locator(".review-card h3:focus").waitFor();
    return page;
  };
  const listKept = (page: Page) =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("offcut.review.")));
  const signIn = async (session: typeof annaSession) => {
    const [cookie] = await context.cookies();
    await context.addCookies([{ ...cookie!, value: session.key }]);
  };

  await context.route("**/review", (route) => (route.request().method() === "GET" ? route.continue() : route.abort()));
  const first = await openReview();
  await first.keyboard.press("Backspace");
  const own = [`offcut.review.${anna.userId}.${asset.reviewCutId}`];
  await until("a decision that is kept here", async () => Bun.deepEquals(await listKept(first), own));
  await until("a request that fails", () => sent.includes("failed"));
  await first.close();
  await context.unroute("**/review");
  sent.length = 0;

  await signIn(benSession);
  const second = await openReview();
  await second.keyboard.press("Enter");
  await until("a decision that is sent", () => sent.length > 0);
  await until("the decision of another person alone", async () => Bun.deepEquals(await listKept(second), own));
  expect(sent).toEqual(["kept"]);
  await second.close();
  sent.length = 0;

  await signIn(annaSession);
  const third = await openTab(context, `/assets/${asset.id}?cut=${asset.reviewCutId}`);
  await until("the decision of its author", () => sent.length > 0);
  await until("nothing that is kept here", async () => (await listKept(third)).length === 0);
  expect(sent).toEqual(["removed"]);
});
