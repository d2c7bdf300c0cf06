/** A real browser: the page of an order, for who ordered, for an administrator and for everybody else. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { createAdmin, emailOf, PASSWORD, startSession, withPassword } from "../http/accounts";
import { PRICES } from "../http/prices";
import { expectAccessible } from "./axe";
import { readError, useDashboard } from "./dashboard";

const dashboard = useDashboard({ configuration: PRICES });
const { open, server, expectFailures } = dashboard;

const heading = (page: Page, text: string) => page.waitForSelector(`h1:text-is("${text}")`);

test("the user sees the order after signing in, an administrator approves it, others see nothing", async () => {
  // A session that ended, and an order of somebody else.
  expectFailures(401, 404);
  const administrator = await createAdmin(server());
  const anna = await withPassword(server(), await server().user(0));
  const { url } = await (await startSession(server(), anna)).must<{ url: string }>("POST", "/api/v1/billing/checkout", {
    json: { price_id: "studio-monthly" },
  });
  const { pathname } = new URL(url);

  const own = await open(pathname, null);
  await own.waitForURL(/\/sign-in\?redirect=/);
  await own.fill("input[name=email]", emailOf(anna));
  await own.fill("input[name=password]", PASSWORD);
  await own.keyboard.press("Enter");
  await heading(own, "Order");
  const text = (await own.textContent("main"))!;
  // Only a payment provider charges repeatedly.
  for (const shown of ["Studio", "€19.00 for one month", "Waiting", "Pay as agreed", "Order again"])
    expect(text).toContain(shown);
  expect(text).not.toContain("Approve");

  await expectAccessible(own);

  const stranger = await open(pathname, await server().user());
  await heading(stranger, "Order not found");

  const admin = await open(pathname, administrator);
  expect(await admin.textContent("main")).toContain(emailOf(anna));
  await expectAccessible(admin);
  await admin.click("button:text-is('Approve')");
  await admin.getByText("Paid", { exact: true }).waitFor();
  expect(await admin.textContent("main")).not.toContain("Approve");

  // The page follows by itself.
  await own.getByText("Paid", { exact: true }).waitFor();
  const { balance } = await anna.must<{ balance: number }>("GET", "/api/v1/credits/balance");
  expect(balance).toBe(1000);
});

test("a second decision shows why it is refused", async () => {
  expectFailures(409);
  const anna = await server().user(0);
  const { url } = await (await startSession(server(), anna)).must<{ url: string }>("POST", "/api/v1/billing/checkout", {
    json: { price_id: "pack-600" },
  });
  const { pathname } = new URL(url);
  const admin = await createAdmin(server());
  const session = await startSession(server(), admin);
  const page = await open(pathname, admin);
  // The page does not learn of the first decision before it makes the second.
  await page.route(`**/api/v1/admin${pathname}`, () => {});
  await session.must("POST", `/api/v1/admin${pathname}/reject`);
  await page.click("button:text-is('Approve')");
  expect(await readError(page)).toContain("already");
});

test("a double click orders once, and the order can be cancelled", async () => {
  const anna = await server().user(0);
  const page = await open("/credits", anna);
  await page.getByRole("button", { name: "Buy 600 credits" }).dblclick();
  await heading(page, "Order");
  await page.getByRole("button", { name: "Cancel order" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel order" }).click();
  await page.getByText("Closed", { exact: true }).waitFor();
  const { items } = await anna.must<{ items: { state: string }[] }>("GET", "/api/v1/billing/orders");
  expect(items.map(({ state }) => state)).toEqual(["expired"]);
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Orders" }).click();
  await heading(page, "Orders");
  await page.getByRole("link", { name: "600 credits" }).waitFor();
});
