/** A real browser: uploads whose creation gets no response are created once. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { wav } from "../http/media";
import { temporaryFolder } from "../temporary-folder";
import { useDashboard } from "./dashboard";

const { address, expectFailures, open, server } = useDashboard();

/** Calls `onResponse` in place of the first response to a creation, which the page does not get. */
async function loseResponse(page: Page, onResponse: (drop: () => Promise<unknown>) => unknown): Promise<void> {
  const session = await page.context().newCDPSession(page);
  let isLost = false;
  session.on("Fetch.requestPaused", ({ requestId }) => {
    if (isLost) return void session.send("Fetch.continueRequest", { requestId });
    isLost = true;
    onResponse(() => session.send("Fetch.failRequest", { requestId, errorReason: "ConnectionReset" }));
  });
  const patterns = [{ urlPattern: "*/assets/upload-resumable", requestStage: "Response" as const }];
  await session.send("Fetch.enable", { patterns });
}

const done = (page: Page) => page.getByRole("region", { name: "Uploads" }).getByText("Uploaded").waitFor();

test("an upload whose creation got no response is not created again, even after the page was closed", async () => {
  expectFailures(0);
  await using folder = await temporaryFolder();
  const paths = ["one.wav", "two.wav"].map((name) => join(folder.path, name)) as [string, string];
  for (const path of paths) await Bun.write(path, await wav(2));
  const user = await server().user();
  const { id } = await user.project();
  const page = await open(`/projects/${id}`, user);
  await loseResponse(page, (drop) => drop());
  await page.getByLabel("Upload files").setInputFiles(paths[0]);
  await done(page);

  const other = await page.context().newPage();
  await other.goto(address(`/projects/${id}`));
  const created = Promise.withResolvers<void>();
  await loseResponse(other, () => created.resolve());
  await other.getByLabel("Upload files").setInputFiles(paths[1]);
  await created.promise;
  await other.close();
  const later = await page.context().newPage();
  await later.goto(address(`/projects/${id}`));
  await later.getByLabel("Upload files").setInputFiles(paths[1]);
  await done(later);
  const list = () => user.must<{ items: { filename: string }[] }>("GET", `/api/v1/assets?project_id=${id}`);
  const names = async () => (await list()).items.map(({ filename }) => filename).sort();
  expect(await names()).toEqual(["one.wav", "two.wav"]);

  // The same file again is another recording.
  await later.getByLabel("Upload files").setInputFiles(paths[1]);
  const dialog = later.getByRole("dialog", { name: "Upload again?" });
  await dialog.getByRole("button", { name: "Upload", exact: false }).last().click();
  await later.getByText("two.wav").nth(1).waitFor();
  await done(later);
  expect(await names()).toEqual(["one.wav", "two.wav", "two.wav"]);
});
