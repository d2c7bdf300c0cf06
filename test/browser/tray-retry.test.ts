/** A real browser: an action on several recordings that fails for some of them. */
import { expect, test } from "bun:test";
import { until } from "../until";
import { useDashboard } from "./dashboard";

const { expectFailures, open, server } = useDashboard();

test("Try again repeats an action for recordings that may succeed", async () => {
  expectFailures(500, 404);
  const user = await server().user();
  const { id } = await user.must<{ id: string }>("POST", "/api/v1/projects", { json: { name: "Talks" } });
  await user.must("POST", "/api/v1/projects", { json: { name: "Other" } });
  const create = async (name: string) => {
    const json = { project_id: id, size_bytes: 1_000 };
    const asset = await user.must<{ id: string }>("POST", "/api/v1/assets", { json });
    await user.must("PATCH", `/api/v1/assets/${asset.id}`, { json: { name } });
    return asset.id;
  };
  const [lost, busy] = [await create("Lost"), await create("Busy")];
  await create("Fine");
  const page = await open(`/projects/${id}`, user);
  await page.getByRole("link", { name: "Fine", exact: true }).first().waitFor();
  let isBroken = true;
  const refuse = (code: string, message: string) => ({ json: { error: { code, message } } });
  await page.route(`**/api/v1/assets/${busy}`, (route) => {
    if (route.request().method() !== "PATCH" || !isBroken) return route.continue();
    return route.fulfill({ status: 500, ...refuse("internal_error", "Internal error.") });
  });
  await page.route(`**/api/v1/assets/${lost}`, (route) =>
    route.request().method() === "PATCH"
      ? route.fulfill({ status: 404, ...refuse("not_found", "Asset not found.") })
      : route.continue(),
  );
  await page.keyboard.press("Control+a");
  await page.getByText("3 selected").waitFor();
  await page.getByRole("button", { name: "Move" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Other" }).click();
  const row = page.getByRole("listitem").filter({ hasText: /Move to Other/ });
  await row.getByText("1 of 3 done · 2 problems").waitFor();
  isBroken = false;
  await page.getByRole("button", { name: /^Try again: Move to Other/ }).click();
  // The problem that no attempt can solve stays.
  await row.getByText("1 of 2 done · 1 problem", { exact: true }).waitFor();
  await row.getByText(/^Lost: /).waitFor();
  expect(await page.getByRole("button", { name: /^Try again/ }).count()).toBe(0);
  await until("the focus", () => page.evaluate(() => document.activeElement?.tagName === "H1"));
  const read = async () => (await user.must<{ project_id: string }>("GET", `/api/v1/assets/${busy}`)).project_id;
  await until("the moved recording", async () => (await read()) !== id);
});
