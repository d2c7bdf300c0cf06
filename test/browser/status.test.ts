/**
 * A real browser: the page of the system status, when everything works, when something does not, and without the
 * server.
 */
import { expect, test } from "bun:test";
import { version } from "../../package.json";
import { createAdmin } from "../http/accounts";
import { useDashboard } from "./dashboard";

const { open, server, expectFailures } = useDashboard();

test("the page shows the version, the documentation and the licenses, and nothing of administration to a member", async () => {
  const page = await open("/projects", await server().user());
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: "System status" }).click();
  await page.getByText("Everything works.").waitFor();
  const text = (await page.textContent("main"))!;
  for (const shown of [`Offcut ${version}`, "English", "This server does not send email"])
    expect(text).toContain(shown);
  expect(text).not.toContain("administrators");
  const links = await page.getByRole("region", { name: "Documentation" }).getByRole("link").all();
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) {
    const { status } = await fetch(`${server().url()}${await link.getAttribute("href")}`);
    expect(status).toBe(200);
  }
  await page.getByRole("button", { name: "Show licenses" }).click();
  await page.getByRole("searchbox", { name: "Search licenses" }).fill("preact");
  await page.locator("summary", { hasText: /^preact / }).click();
  expect(await page.locator("details[open]").textContent()).toContain("Permission is hereby granted");
});

test("the page shows failing components, and what is safe", async () => {
  expectFailures(0, 500);
  const page = await open("/projects", await createAdmin(server()));
  const parts = { uploads: "unavailable", renders: "starting", speech_recognition: "limited", email: "ok" };
  await page.route("**/api/v1/status", (route) =>
    route.fulfill({ json: { status: "degraded", version, parts, languages: ["en", "de"] } }),
  );
  await page.goto(page.url().replace("/projects", "/status"));
  await page.getByText("Part of the server is not working. Saved data is safe.").waitFor();
  const text = (await page.textContent("main"))!;
  for (const shown of ["The server's disk is almost full", "Starting", "Limited", "English, German"])
    expect(text).toContain(shown);
  await page.getByRole("link", { name: "Details for administrators" }).waitFor();
  await page.unroute("**/api/v1/status");
  await page.route("**/api/v1/licenses", (route) =>
    route.fulfill({ status: 500, json: { detail: "Internal error." } }),
  );
  await page.getByRole("button", { name: "Show licenses" }).click();
  await page.getByRole("alert").filter({ hasText: "Internal error." }).waitFor();
  await page.context().setOffline(true);
  await page.getByText("This browser cannot reach the server. Check the network.").waitFor();
});
