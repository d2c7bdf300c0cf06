/** A real browser: uploads whose creation gets no response are created once. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Client } from "../http/client";
import { wav } from "../http/media";
import { formatMetadata } from "../http/upload-clients";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { useDashboard } from "./dashboard";

const { address, browse, expectFailures, open, server } = useDashboard();

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

type Recording = { id: string; filename: string };

const listRecordings = async (user: Client, projectId: string) =>
  (await user.must<{ items: Recording[] }>("GET", `/api/v1/assets?project_id=${projectId}`)).items;

const listNames = async (user: Client, projectId: string) =>
  (await listRecordings(user, projectId)).map(({ filename }) => filename).sort();

const done = (page: Page) =>
  page.getByRole("region", { name: "Uploads" }).getByText("Uploaded", { exact: true }).waitFor();

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
  expect(await listNames(user, id)).toEqual(["one.wav", "two.wav"]);

  // The same file again is another recording.
  await later.getByLabel("Upload files").setInputFiles(paths[1]);
  const dialog = later.getByRole("dialog", { name: "Upload again?" });
  await dialog.getByRole("button", { name: "Upload", exact: false }).last().click();
  await until("another recording", async () => (await listNames(user, id)).length === 3);
  expect(await listNames(user, id)).toEqual(["one.wav", "two.wav", "two.wav"]);
});

test("a creation whose recording was deleted since is not repeated: the upload is created anew, with its script", async () => {
  expectFailures(404);
  await using folder = await temporaryFolder();
  const [recording, script] = [join(folder.path, "one.wav"), join(folder.path, "one.txt")];
  await Bun.write(recording, await wav(2));
  await Bun.write(script, "alpha");
  const user = await server().user();
  const { id } = await user.project();
  const page = await open(`/projects/${id}`, user);
  const created = Promise.withResolvers<void>();
  await loseResponse(page, () => created.resolve());
  await page.getByLabel("Upload files").setInputFiles(recording);
  await created.promise;
  const later = await page.context().newPage();
  await page.close();
  const [first] = await listRecordings(user, id);
  await user.must("DELETE", `/api/v1/assets/${first!.id}`);
  await later.goto(address(`/projects/${id}`));
  await later.getByLabel("Upload files").setInputFiles([recording, script]);
  await later.getByText("“one.txt” is in the Script tab of its recording.").waitFor();
  await done(later);
  expect(await listNames(user, id)).toEqual(["one.wav"]);
});

test("without storage, an upload whose creation got no response is not created again", async () => {
  expectFailures(0);
  await using folder = await temporaryFolder();
  const path = join(folder.path, "one.wav");
  await Bun.write(path, await wav(2));
  const user = await server().user();
  const { id } = await user.project();
  const page = await (await browse(user)).newPage();
  await page.addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("Full", "QuotaExceededError");
    };
  });
  await page.goto(address(`/projects/${id}`));
  await loseResponse(page, (drop) => drop());
  await page.getByLabel("Upload files").setInputFiles(path);
  await done(page);
  expect(await listNames(user, id)).toEqual(["one.wav"]);
});

test("an upload in another language continues when its file is chosen again, and keys of old creations are deleted", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "one.wav");
  await Bun.write(path, await wav(2));
  const { size, lastModified } = Bun.file(path);
  const user = await server().user();
  const { id } = await user.project();
  const page = await open(`/projects/${id}`, user);
  const metadata = formatMetadata({ filename: "one.wav", project_id: id, language: "en" });
  const name = ["tus::offcut/", id, "one.wav", size, Math.floor(lastModified), "en::1"].join("/");
  const keys = await page.evaluate(
    async ({ size, metadata, name }) => {
      const headers = { "Tus-Resumable": "1.0.0", "Upload-Length": String(size), "Upload-Metadata": metadata };
      const created = await fetch("/api/v1/assets/upload-resumable", { method: "POST", headers });
      const uploadUrl = created.headers.get("Location");
      localStorage.setItem(name, JSON.stringify({ size, metadata: {}, creationTime: "", uploadUrl }));
      const hoursAgo = (hours: number) => Date.now() - hours * 3_600_000;
      localStorage.setItem("offcut.creating.old", `${hoursAgo(25)} key`);
      localStorage.setItem("offcut.creating.new", `${hoursAgo(23)} key`);
      return Object.keys(localStorage).filter((key) => key.startsWith("offcut.creating."));
    },
    { size, metadata, name },
  );
  expect(keys.toSorted()).toEqual(["offcut.creating.new", "offcut.creating.old"]);
  await page.getByLabel("Upload files").setInputFiles(path);
  await done(page);
  expect(await listNames(user, id)).toEqual(["one.wav"]);
  expect(await page.evaluate((name) => localStorage.getItem(name), name)).toBeNull();

  await Bun.write(path, await wav(3));
  await page.getByLabel("Upload files").setInputFiles(path);
  await until("another recording", async () => (await listNames(user, id)).length === 2);
  await page.waitForFunction(() => localStorage.getItem("offcut.creating.old") === null);
  expect(await page.evaluate(() => localStorage.getItem("offcut.creating.new"))).not.toBeNull();
});
