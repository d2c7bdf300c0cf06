/** The documentation in a real browser: guide and reference in both themes, on a screen and on a phone. */
import { expect, test } from "bun:test";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { GUIDES } from "../../src/http/guide";
import { AXE_SOURCE, AXE_TAGS } from "./axe";
import { useDashboard } from "./dashboard";
import { saveScreenshots } from "./screenshots";

const { address, browse } = useDashboard();

const PHONE = { width: 390, height: 844 };

/** Lists the findings of axe-core, excluding Swagger UI, whose markup is not ours. Only colors depend on the theme. */
async function listViolations(page: Page, theme: "light" | "dark"): Promise<string[]> {
  await page.evaluate(AXE_SOURCE);
  return page.evaluate(
    async (runOnly) => {
      const { axe: inPage } = window as unknown as { axe: typeof axe };
      const { violations } = await inPage.run({ exclude: ["#swagger-ui"] }, { runOnly, resultTypes: ["violations"] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    },
    (theme === "light"
      ? { type: "tag", values: AXE_TAGS }
      : { type: "rule", values: ["color-contrast"] }) as axe.RunOnly,
  );
}

test.each(["light", "dark"] as const)("every page is readable in the theme %s", async (colorScheme) => {
  const page = await (await browse(null, { colorScheme })).newPage();
  for (const { path, title } of Object.values(GUIDES)) {
    await page.goto(address(path));
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(colorScheme);
    expect([path, await listViolations(page, colorScheme)]).toEqual([path, []]);
    await saveScreenshots(page);
  }
});

test("on a phone the contents are folded, and nothing but code and tables scrolls sideways", async () => {
  const page = await (await browse(null, { viewport: PHONE })).newPage();
  for (const { path } of Object.values(GUIDES)) {
    await page.goto(address(path));
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
    expect(await page.locator("#contents li").first().isVisible()).toBe(false);
  }
  await page.goto(address("/docs"));
  await page.getByText("Contents").click();
  await page.locator("#contents").getByRole("link", { name: "Webhooks" }).click();
  await page.waitForURL("**/docs#webhooks");
  await page.goto(address("/docs/keys#reference"));
  await page.locator("#swagger-ui .opblock-tag").first().click();
  await page.locator(".opblock-summary", { hasText: "Create an API key" }).click();
  await page.locator(".opblock-body .responses-table").first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
});

test("the reference opens a call, and uses the dashboard's theme", async () => {
  const page = await (await browse(null, { colorScheme: "light" })).newPage();
  await page.goto(address("/docs/keys"));
  await page.evaluate(() => localStorage.setItem("offcut.theme", "dark"));
  await page.goto(address("/docs#reference"));
  await page.locator(".opblock-tag", { hasText: "renders" }).click();
  await page.locator(".opblock-summary", { hasText: "Cancel a pending or processing render" }).click();
  await page.locator(".opblock-body").getByText("Parameters").waitFor();
  expect(await page.evaluate(() => document.documentElement.className)).toBe("dark-mode");
  await saveScreenshots(page);
});
