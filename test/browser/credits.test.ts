/** A real browser: credits, their history, and payments at Stripe. */
import { afterAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { newId } from "../../src/lib/ids";
import { insertLedgerEntry } from "../../src/store/credits";
import { isFullSize } from "../full-size";
import { startSession } from "../http/accounts";
import type { Client } from "../http/client";
import { addGrants } from "../http/ledger-rows";
import { PRICES } from "../http/prices";
import type { StripeEvent } from "../stripe-account";
import { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, startStripeServer } from "../stripe-server";
import { addMember } from "../unit/store/test-store";
import { readError, useDashboard } from "./dashboard";

let offset = 0;
const stripe = startStripeServer(() => Date.now() + offset);
afterAll(() => stripe[Symbol.asyncDispose]());

const dashboard = useDashboard({
  settings: { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_URL: stripe.url },
  configuration: PRICES,
});
const { open, server, address, expectFailures, expectError } = dashboard;

const STRIPE_PAGES = "https://checkout.stripe.test/**";

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const shows = (page: Page, text: string) => page.getByText(text).first().waitFor();

async function deliver(events: StripeEvent[]): Promise<void> {
  for (const event of events) {
    const { body, signature } = stripe.sign(event);
    const headers = { "Content-Type": "application/json", "Stripe-Signature": signature };
    const { status } = await server().nobody.call("POST", "/api/v1/billing/webhook", { body, headers });
    expect(status).toBe(204);
  }
}

/** Advances the clocks of both servers: the order of events of the same second is another subject. */
function advance(ms: number): void {
  offset += ms;
  server().advance(ms);
}

/** Answers for Stripe's pages. */
async function openWithStripe(path: string, user: Client): Promise<Page> {
  expectError(/asked another host: https:\/\/checkout\.stripe\.test/);
  const page = await open(path, user);
  await page.route(STRIPE_PAGES, (route) => route.fulfill({ contentType: "text/html", body: "<h1>Pay</h1>" }));
  return page;
}

/** Presses a button that leads to Stripe. Returns the checkout's ID. */
async function goToStripe(page: Page, button: string): Promise<string> {
  await page.getByRole("button", { name: button }).click();
  await page.waitForURL(STRIPE_PAGES);
  return page.url().split("/").at(-1)!;
}

const toReturnPath = (checkoutId: string): string =>
  new URL(stripe.account.get(checkoutId).success_url as string).pathname;

test("a pack is paid at Stripe; the page that the user returns to waits for the event, and the balance follows", async () => {
  const anna = await server().user(40);
  const page = await openWithStripe("/credits", anna);
  await section(page, "Balance").getByText("40").first().waitFor();
  const overview = await page.context().newPage();
  await overview.goto(address("/credits"));
  const checkoutId = await goToStripe(page, "Buy 600 credits");
  // The user looks back first, and pays then.
  await page.goBack();
  await page.getByRole("link", { name: "Open the order" }).click();
  await heading(page, "Order");
  expect(await goToStripe(page, "Continue to payment")).toBe(checkoutId);
  await page.goto(address(toReturnPath(checkoutId)));
  await shows(page, "The payment is not confirmed yet");
  await deliver(stripe.account.session.complete(checkoutId).events);
  await page.getByText("Paid", { exact: true }).waitFor();
  await section(overview, "Balance").getByText("640").first().waitFor();
  await page.goto(address("/credits/invoices"));
  await page.getByRole("link", { name: /^View at Stripe/ }).waitFor();
});

test("the history is filtered, and all of its entries are saved as CSV", async () => {
  const anna = await server().user(0);
  await addGrants(server(), anna.userId, 250);
  const page = await open("/credits/history", anna);
  await shows(page, "+250");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^credits-.*\.csv$/);
  const text = await new Response(Bun.file(await file.path())).text();
  expect(text.trim().split("\r\n")).toHaveLength(251);
  // Added while the page is open.
  await server().grant(anna, 7000);
  await shows(page, "+7,000");
  // A filter chosen right after typing keeps the typed text, and vice versa.
  await page.getByLabel("Search recordings and invoices").fill("talk");
  await page.getByLabel("Kind").selectOption("topup");
  await page.waitForURL(/q=talk&type=topup$/);
  await shows(page, "No matching entries");
  await page.getByRole("button", { name: "Show all entries" }).click();
  await shows(page, "+250");
});

test("a viewer of a workspace sees its credits and cannot buy", async () => {
  const [anna, bert] = [await server().user(), await server().user()];
  const session = await startSession(server(), anna);
  const studio = await session.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Studio A" } });
  await server()
    .services()
    .store.write((tx) => addMember(tx, studio.id, bert.userId, "viewer"));
  const page = await open("/credits", bert);
  await page.getByRole("button", { name: "Buy 600 credits" }).waitFor();
  await page.getByLabel("Workspace").selectOption(studio.id);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Credits" }).click();
  await shows(page, "Ask one of its owners or editors to buy credits");
  await shows(page, "All members of the workspace");
  expect(await page.getByRole("button", { name: /^Buy/ }).count()).toBe(0);
  await page.goto(address("/credits/orders"));
  await shows(page, "No orders yet");
});

test("failures reassure the user, and a retry works; without prices, the page refers to the administrator", async () => {
  expectFailures(500, 503);
  const page = await open("/status", await server().user());
  const fail = (path: string) =>
    page.route(path, (route) =>
      route.fulfill({ status: 500, json: { detail: "Internal error.", code: "internal_error" } }),
    );
  await fail("**/credits/history?*");
  await page.goto(address("/credits/history"));
  expect(await readError(page)).toContain("Internal error.");
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.reload();
  await shows(page, "+1,000");
  stripe.fail({ status: 500, body: { error: { type: "api_error", message: "Down" } } }, 2);
  await page.goto(address("/credits"));
  await page.getByRole("button", { name: "Buy 600 credits" }).click();
  expect(await readError(page)).toContain("Nothing was ordered.");
  await page.route("**/billing/prices", (route) => route.fulfill({ json: { items: [], provider: "offline" } }));
  await page.reload();
  await shows(page, "Ask an administrator of this server for credits.");
});

test("a subscription is paid, fails, recovers and is ended", async () => {
  const anna = await server().user(0);
  const page = await openWithStripe("/credits", anna);
  const checkoutId = await goToStripe(page, "Subscribe to Studio");
  const { events, subscriptionId } = stripe.account.session.complete(checkoutId);
  await deliver(events);
  await page.goto(address("/credits"));
  const panel = section(page, "Subscription");
  await panel.getByText(/It renews on/).waitFor();
  await shows(page, "The workspace has a subscription.");
  advance(60_000);
  const failed = stripe.account.subscription.renew(subscriptionId!, "failed");
  await deliver(failed.events);
  await page.reload();
  await panel.getByText("The last payment failed").waitFor();
  await page.getByRole("link", { name: "Open invoices" }).click();
  await page.getByRole("link", { name: /^Pay at Stripe/ }).waitFor();
  advance(60_000);
  await deliver(stripe.account.subscription.recover(subscriptionId!, failed.invoice));
  await page.goto(address("/credits"));
  await page.getByRole("button", { name: "Cancel subscription" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.textContent()).toContain("Paid credits stay");
  await dialog.getByRole("button", { name: "Cancel subscription" }).click();
  await panel.getByText(/It ends on/).waitFor();
  expect(await page.getByRole("button", { name: "Cancel subscription" }).count()).toBe(0);
});

test("a refund of credits that were spent leaves a negative balance, which the page explains", async () => {
  const anna = await server().user(0);
  const page = await openWithStripe("/credits", anna);
  const { events, paymentIntentId } = stripe.account.session.complete(await goToStripe(page, "Buy 600 credits"));
  await deliver(events);
  const entry = { id: newId(), workspace_id: anna.userId, type: "consume_step" as const, delta: -100, created_at: 0 };
  await server()
    .services()
    .store.write((tx) => insertLedgerEntry(tx, entry));
  await deliver([stripe.account.refund(paymentIntentId, 1200)]);
  await page.goto(address("/credits"));
  await shows(page, "so 100 credits are missing");
  await page.goto(address("/credits/history"));
  await shows(page, "Refunded purchase");
});

test.if(isFullSize)("10,000 entries open within half a second and scroll to the end", async () => {
  const anna = await server().user(0);
  await addGrants(server(), anna.userId, 10_000);
  const page = await open("/credits", anna);
  const started = performance.now();
  await page.getByRole("link", { name: "History" }).click();
  await shows(page, "+10,000");
  expect(performance.now() - started).toBeLessThan(500);
  await page.waitForFunction(() => {
    scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelectorAll("tbody tr").length === 10_000;
  });
  await server().grant(anna, 7);
  await page.evaluate(() => scrollTo(0, 0));
  await shows(page, "+7");
});
