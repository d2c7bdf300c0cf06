/** A real browser: webhook endpoints and their deliveries. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { Page } from "playwright-core";
import { newId } from "../../src/lib/ids";
import { insertDelivery } from "../../src/store/webhooks";
import { isFullSize } from "../full-size";
import { startSession } from "../http/accounts";
import { receiver } from "../http/receiver";
import { join } from "../http/workspace-calls";
import { until } from "../until";
import { useDashboard } from "./dashboard";

const { open, server, expectFailures } = useDashboard({ settings: { WEBHOOKS_ALLOW_LOOPBACK: "true" } });

type Endpoint = { id: string; url: string };

const delivery = (page: Page, state: string) => page.getByRole("row").filter({ hasText: state });

/** Waits for the first attempt, and puts off the second one, which would follow after seconds. */
const putOffRetry = () =>
  until("the first attempt", async () => {
    const changed = await server()
      .services()
      .store.write((tx) =>
        tx.run(sql`UPDATE deliveries SET due_at = due_at + 3600000 WHERE state = 'pending' AND attempts = 1`),
      );
    return changed.rowsAffected > 0;
  });

test("from a new endpoint to a delivery that failed, was resent, and arrived", async () => {
  expectFailures(422);
  await using hook = receiver();
  hook.answer(500, 204);
  const page = await open("/webhooks", await server().user());
  await page.getByRole("heading", { name: "No endpoints" }).waitFor();
  await page.getByRole("button", { name: "New endpoint" }).click();
  const form = page.getByRole("dialog", { name: "New endpoint" });
  await form.getByLabel("URL").fill("http://10.0.0.1/");
  await form.getByLabel("All events").uncheck();
  await form.getByRole("button", { name: "Create" }).click();
  await form.getByText("Choose at least one event.").waitFor();
  await form.getByLabel("cut.completed").check();
  await form.getByRole("button", { name: "Create" }).click();
  await form.locator(".field-error").getByText("URL ").waitFor();
  await form.getByLabel("URL").fill(hook.url);
  await form.getByRole("button", { name: "Create" }).click();
  const secret = page.getByRole("dialog", { name: "Endpoint created" });
  expect(await secret.getByLabel("Signing secret", { exact: true }).inputValue()).toMatch(/^whsec_/);
  await secret.getByRole("button", { name: "Done" }).click();

  await page.getByRole("heading", { level: 1, name: new URL(hook.url).host }).waitFor();
  await page.getByText("No deliveries yet").waitFor();
  await page.getByRole("button", { name: "Send test event" }).click();
  await putOffRetry();
  const first = delivery(page, "Retrying");
  await first.waitFor();
  expect(await first.textContent()).toContain("500 in ");
  await page.getByText("Deliveries began to fail").waitFor();
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  await page.getByText("No failed deliveries").waitFor();
  await page.getByRole("button", { name: "Waiting", exact: true }).click();
  await first.getByRole("button", { name: /^Send now/ }).click();
  await page.getByText("No deliveries are waiting").waitFor();
  await page.getByRole("button", { name: "All", exact: true }).click();
  expect(await delivery(page, "Delivered").textContent()).toContain("204 in ");
  await page.getByRole("button", { name: /^webhook.test: details/ }).click();
  const details = page.getByRole("dialog", { name: "webhook.test" });
  const payload = details.getByRole("group", { name: "Payload" });
  expect(await payload.textContent()).toContain('"type": "webhook.test"');
  await page.keyboard.press("Escape");
  const ids = hook.received.map(({ headers }) => headers.get("webhook-id"));
  expect(ids).toEqual([expect.any(String), ids[0]!]);

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Rotate secret" }).click();
  await page.getByRole("button", { name: "Rotate secret" }).click();
  await page.getByRole("dialog", { name: "Secret rotated" }).getByRole("button", { name: "Done" }).click();
  await page.getByText("Deliveries are signed with the old and the new secret").waitFor();
  await page.getByRole("button", { name: "Python" }).click();
  expect(await page.getByRole("group", { name: "Python example" }).textContent()).toContain("hmac.compare_digest");
});

test("an endpoint that responded with 410 shows that, is enabled again, changed, disabled and deleted", async () => {
  await using hook = receiver();
  // The second attempt follows when the endpoint is enabled again.
  hook.answer(410, 204);
  const user = await server().user();
  const json = { url: hook.url, event_types: ["render.completed"] };
  const { id } = await user.must<Endpoint>("POST", "/v1/webhook-endpoints", { json });
  const page = await open(`/webhooks/${id}`, user);
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("The receiver returned 410 Gone").waitFor();
  expect(await page.getByRole("button", { name: "Send test event" }).count()).toBe(0);
  await delivery(page, "until the endpoint is enabled").waitFor();
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByText("The receiver returned 410 Gone").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("render.failed").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("render.completed, render.failed").waitFor();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByText("It was disabled manually.").waitFor();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const confirm = page.getByRole("dialog", { name: "Delete this endpoint?" });
  expect(await confirm.textContent()).toContain(hook.url);
  await confirm.getByRole("button", { name: "Delete endpoint" }).click();
  await page.getByRole("heading", { name: "No endpoints" }).waitFor();
});

test("a viewer reads, other users find nothing, and a failing server is reported", async () => {
  expectFailures(0, 404);
  const user = await server().user();
  const owner = await startSession(server(), user);
  const viewer = await server().user();
  const { id } = await owner.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Newsroom" } });
  await join(owner, id, await startSession(server(), viewer), "viewer");
  const endpoint = await owner.must<Endpoint>("POST", "/api/v1/webhook-endpoints", {
    json: { url: "http://127.0.0.1:8080/hook", event_types: ["cut.failed"] },
    headers: { "Offcut-Workspace": id },
  });
  const page = await open("/webhooks", viewer);
  await page.getByRole("button", { name: "New endpoint" }).first().waitFor();
  await page.getByLabel("Workspace").selectOption("Newsroom");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("link", { name: endpoint.url }).click();
  await page.getByText("No deliveries yet").waitFor();
  for (const name of ["New endpoint", "Send test event", "Edit", "More actions"])
    expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
  await page.route("**/api/v1/webhook-endpoints**", (route) => route.abort());
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("alert").getByText("The server does not respond.").waitFor();

  const other = await open(`/webhooks/${endpoint.id}`, await server().user());
  await other.getByRole("heading", { level: 1, name: "Endpoint not found" }).waitFor();
});

test.if(isFullSize)("a page of 10,000 deliveries stays fast, and new ones appear at the top", async () => {
  await using hook = receiver();
  const user = await server().user();
  const json = { url: hook.url, event_types: ["render.completed"] };
  const { id } = await user.must<Endpoint>("POST", "/v1/webhook-endpoints", { json });
  const row = { endpoint_id: id, workspace_id: user.userId, type: "render.completed", body: "{}", attempts: 1 };
  const at = server().services().now();
  await server()
    .services()
    .store.write(async (tx) => {
      for (let n = 0; n < 10_000; n++) {
        const time = at - n * 1_000;
        const state = n % 3 === 0 ? ("failed" as const) : ("delivered" as const);
        const attempt = { state, last_attempt_at: time, last_status: 200, last_milliseconds: 12, created_at: time };
        await insertDelivery(tx, { ...row, ...attempt, id: newId(), event_id: newId() });
      }
    });
  const page = await open(`/webhooks/${id}`, user);
  const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
  await rows.nth(100).waitFor({ state: "attached" });
  const openedMs = await page.evaluate(() => performance.now());
  console.log(`first rows after ${Math.round(openedMs)} ms`);
  for (const count of [200, 300, 400]) {
    await rows.nth(count - 100).scrollIntoViewIfNeeded();
    await page.mouse.wheel(0, 20_000);
    await rows.nth(count).waitFor({ state: "attached" });
  }
  await page.getByRole("button", { name: "Send test event" }).click();
  await rows.nth(1).getByText("webhook.test").waitFor();
  await rows.nth(1).getByText("Delivered").waitFor();
  expect(await rows.count()).toBeGreaterThan(400);
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  await page.getByText("webhook.test").waitFor({ state: "detached" });
  expect(await rows.filter({ hasText: "Delivered" }).count()).toBe(0);
});
