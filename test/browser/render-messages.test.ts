/** A real browser: messages about renders, wherever the user is. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Client } from "../http/client";
import { useDashboard } from "./dashboard";
import { createStudioAsset, type StudioAsset } from "./studio";

const { address, open, server } = useDashboard();

let user: Client;
let asset: StudioAsset;
beforeAll(async () => {
  user = await server().user();
  asset = await createStudioAsset(user);
});

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

test("a render that is ready is announced on any page, with its file and the way to it", async () => {
  const page = await open("/projects", user);
  // A render that ends before the page receives events is not announced.
  await user.must("POST", "/api/v1/projects", { json: { name: "Shown at once" } });
  await page.getByRole("link", { name: "Shown at once" }).waitFor();
  await user.must("POST", "/v1/renders", {
    json: { asset_id: asset.id, cut_id: asset.takesCutId, output: { format: "m4a" } },
  });
  const toast = page.locator(".toast").filter({ hasText: "“Talk.wav” is ready as M4A." });
  await toast.waitFor();
  const [frame, close] = [await toast.boundingBox(), await button(page, "Dismiss").boundingBox()];
  // Its buttons may be on a second line.
  expect(close!.y - frame!.y).toBeLessThan(close!.height);
  const download = page.waitForEvent("download");
  await toast.getByRole("button", { name: "Download M4A" }).click();
  await (await download).cancel();
  await user.must("POST", "/v1/renders", {
    json: { asset_id: asset.id, cut_id: asset.takesCutId, output: { format: "mp3" } },
  });
  const second = page.locator(".toast").filter({ hasText: "“Talk.wav” is ready as MP3." });
  await second.getByRole("link", { name: "Open" }).click();
  await page.waitForURL(address(`/assets/${asset.id}`));
});

test("the message about a render that has started leads to it from another page", async () => {
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user);
  await button(page, "Render").click();
  await button(page, "Start").click();
  await page.getByRole("navigation").getByRole("link", { name: "Jobs" }).click();
  await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
  await button(page, "Show").click();
  await page.waitForURL(address(`/assets/${asset.id}`));
});
