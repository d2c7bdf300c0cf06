/** A real browser: the tray's messages about refused files and about the cuts of uploaded ones. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { wav } from "../http/media";
import { temporaryFolder } from "../temporary-folder";
import { expectAccessible } from "./axe";
import { drop, useDashboard } from "./dashboard";

const { open, server } = useDashboard();

test("the tray shows how each project cuts new recordings, and lists all refused files of a drop in one message", async () => {
  await using folder = await temporaryFolder();
  await Bun.write(join(folder.path, "card", "C1.wav"), await wav(2));
  await Bun.write(join(folder.path, "card", "C3.wav"), "");
  for (const name of ["C1.XML", "C1.THM", "C1.pdf", "C2.txt", "C2.pdf"])
    await Bun.write(join(folder.path, "card", name), "alpha");
  const user = await server().user();
  const create = (name: string, mode: string | null) =>
    user.must<{ id: string }>("POST", "/api/v1/projects", { json: { name, cut_after_upload: mode && { mode } } });
  const { id } = await create("Talks", "tight");
  await create("Podcast", null);
  const held = Promise.withResolvers<void>();
  const page = await open(`/projects/${id}`, user);
  await page.route("**/api/v1/assets/upload-resumable", (route) => held.promise.then(() => route.continue()));
  await page.getByText("Drop recordings here").waitFor();
  await drop(page, [join(folder.path, "card")]);
  const tray = page.getByRole("region", { name: "Uploads" });
  await tray.getByRole("alert").getByText("Not video or audio: ").waitFor();
  expect(await tray.getByRole("alert").first().textContent()).toContain(" and 2 more.");
  await tray.getByRole("listitem").filter({ hasText: "C3.wav" }).getByText("Empty or damaged.").waitFor();
  await page.getByText("“C2.txt” not used: no recording in its folder has the same name").waitFor();
  expect(await tray.getByRole("listitem").count()).toBe(3);
  await tray.getByText("New recordings are cut: Tight").waitFor();

  await page.getByRole("link", { name: "Projects" }).first().click();
  await page.getByRole("link", { name: "Podcast" }).click();
  // Refused by its content, before it is sent.
  const paper = { name: "paper.mp4", mimeType: "video/mp4", buffer: Buffer.from("%PDF-1.7 a paper") };
  await page.getByLabel("Upload files").setInputFiles(paper);
  await tray.getByRole("alert").getByText("Not video or audio.").waitFor();
  const file = { name: "one.wav", mimeType: "", buffer: Buffer.from(await wav(2)) };
  await page.getByLabel("Upload files").setInputFiles(file);
  await tray.getByText("New recordings are not cut").waitFor();
  await expectAccessible(page);
  await tray.getByRole("button", { name: "Change how Talks is cut" }).click();
  const dialog = page.getByRole("dialog", { name: "Cut after upload" });
  expect(await dialog.getByLabel("Mode").inputValue()).toBe("tight");
  // The dialog stays when the uploads are done.
  held.resolve();
  await tray.getByText("New recordings are not cut").waitFor({ state: "detached" });
  await dialog.getByLabel("Mode").selectOption("loose");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const project = await user.must<{ cut_after_upload: object }>("GET", `/api/v1/projects/${id}`);
  expect(project.cut_after_upload).toEqual({ mode: "loose", language: null });
});
