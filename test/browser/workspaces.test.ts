/** A real browser: workspaces and their members. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { WorkspaceRole } from "../../src/domain/access";
import { setEmailVerified } from "../../src/store/users";
import { createAdmin, emailOf, PASSWORD, startSession, withPassword } from "../http/accounts";
import type { Client } from "../http/client";
import { join } from "../http/workspace-calls";
import { listViolations } from "./axe";
import { readError, useDashboard, withholdEvents } from "./dashboard";
import { saveScreenshots } from "./screenshots";

const { address, browse, open, server, expectFailures } = useDashboard();

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

/** Creates a workspace with a member. Returns its path. */
async function createWorkspace(owner: Client, member: Client, role: WorkspaceRole): Promise<string> {
  const session = await startSession(server(), owner);
  const { id } = await session.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
  await join(session, id, await startSession(server(), member), role);
  return `/workspaces/${id}`;
}

async function addMember(page: Page, email: string, role: string): Promise<void> {
  await button(page, "Invite a member").click();
  await page.getByLabel("Email").fill(email);
  await page.getByLabel(role, { exact: false }).check();
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
}

test("an owner creates a workspace, adds, invites, changes and removes, renames and deletes", async () => {
  // Requests for a workspace at the moment of its deletion get a 404, which the browser reports. An invitation may be
  // opened without a session.
  expectFailures(401, 404, 409);
  const [owner, member] = [await server().user(), await server().user()];
  const page = await open("/workspaces", owner);
  await page.getByRole("heading", { name: "Work with others" }).waitFor();
  await button(page, "New workspace").click();
  await page.getByLabel("Name", { exact: true }).fill("Studio");
  await button(page, "Create").click();
  await page.getByRole("heading", { level: 1, name: "Studio" }).waitFor();
  expect(await page.getByLabel(`Role of ${emailOf(owner)}`).isDisabled()).toBe(true);
  expect(await button(page, "Leave the workspace").count()).toBe(0);

  await addMember(page, emailOf(member), "Viewer");
  const memberLink = await page.getByRole("textbox", { name: "Invitation link" }).inputValue();
  await button(page, "Done").click();
  const memberPage = await (await browse(member)).newPage();
  // The link has the address that the owner has opened.
  await memberPage.goto(memberLink);
  await memberPage.getByText(`invites ${emailOf(member)} to the workspace Studio as a viewer.`).waitFor();
  await button(memberPage, "Accept the invitation").click();
  // The page opens in the workspace.
  await memberPage.getByRole("heading", { name: "No projects yet" }).waitFor();
  const chosen = memberPage.getByLabel("Workspace", { exact: true });
  expect(await chosen.locator("option:checked").textContent()).toBe("Studio");
  await memberPage.close();
  await page.reload();
  const role = page.getByLabel(`Role of ${emailOf(member)}`);
  await role.waitFor();
  await rowOf(page, emailOf(member)).getByText("Not confirmed").waitFor();
  await addMember(page, emailOf(member), "Viewer");
  expect(await readError(page)).toContain("is already a member");
  await page.keyboard.press("Escape");
  await role.selectOption("Owner");
  await page.getByText("is now an owner").waitFor();
  await button(page, "Leave the workspace").waitFor();
  await role.selectOption("Editor");
  await page.getByText("is now an editor").waitFor();

  await addMember(page, "producer@studio.example", "Viewer");
  const link = await page.getByRole("textbox", { name: "Invitation link" }).inputValue();
  await button(page, "Done").click();
  const guest = await (await browse(null)).newPage();
  await guest.goto(link);
  await guest.getByText("to the workspace Studio as a viewer.").waitFor();
  await guest.getByLabel("Your name").fill("Pia  van der Berg");
  await guest.getByLabel("New password").fill(PASSWORD);
  await guest.keyboard.press("Enter");
  await guest.getByRole("button", { name: "Account: Pia van der Berg" }).waitFor();
  const current = guest.getByLabel("Workspace", { exact: true });
  await current.waitFor();
  expect(await current.locator("option:checked").textContent()).toBe("Studio");
  await guest.close();
  await addMember(page, "late@studio.example", "Editor");
  await button(page, "Done").click();
  await button(page, "Revoke the invitation for late@studio.example").click();
  await button(page, "Revoke").click();
  await page.getByText("No pending invitations.").waitFor();
  await page.reload();
  await rowOf(page, "producer@studio.example").waitFor();
  await button(page, "Remove Pia van der Berg").click();
  // Another tab is faster.
  const members = `/api/v1${new URL(page.url()).pathname}/members`;
  const session = await startSession(server(), owner);
  const { items } = await session.must<{ items: { user_id: string; email: string }[] }>("GET", members);
  const inWorkspace = { headers: { "Offcut-Workspace": new URL(page.url()).pathname.split("/").at(-1)! } };
  const producer = items.find(({ email }) => email === "producer@studio.example")!;
  await session.must("DELETE", `${members}/${producer.user_id}`);
  await button(page, "Remove").click();
  expect(await readError(page)).toContain("not found");
  await rowOf(page, "producer@studio.example").waitFor({ state: "detached" });
  await button(page, "Cancel").click();

  const terms = page.getByRole("region", { name: "Vocabulary" });
  await terms.getByText("No terms yet.").waitFor();
  const vocabulary = {
    read: () => session.must<{ entries: object[]; revision: number }>("GET", "/api/v1/vocabulary", inWorkspace),
    save: (json: object) => session.must("PUT", "/api/v1/vocabulary", { ...inWorkspace, json }),
  };
  // Somebody else saves another term between.
  await vocabulary.save({ revision: 0, entries: [{ text: "Gorecki", spoken_as: [] }] });
  await terms.getByLabel("Name or term").fill("Offcut");
  await terms.getByLabel("Recognized as").fill("off cut, of cut");
  await terms.getByRole("button", { name: "Add" }).click();
  await terms.getByRole("listitem").filter({ hasText: "Gorecki" }).waitFor();
  const files = terms.getByLabel("Vocabulary file");
  await files.setInputFiles({ name: "bad.txt", mimeType: "text/plain", buffer: Buffer.from("Good\n\n= nothing\n") });
  await terms.getByText("Line 3 of “bad.txt”: the term is missing.").waitFor();
  await files.setInputFiles({ name: "empty.txt", mimeType: "text/plain", buffer: Buffer.from("# Names\n") });
  await terms.getByText("“empty.txt” has no terms: lines that start with # are notes.").waitFor();
  await files.setInputFiles({ name: "names.xls", mimeType: "", buffer: Buffer.from("Names\0\x01") });
  await terms.getByText("“names.xls” is not a text file.").waitFor();
  const csv = "Term,Spoken as\nPrzybylski,prizbilski\nOffcut,off kat\n";
  await files.setInputFiles({ name: "names.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await page.getByText("2 terms from “names.csv” added.").waitFor();
  await terms.getByText("off cut, of cut, off kat").waitFor();
  await saveScreenshots(page);
  // Undo brings back a term with its forms, and the focus stays in the list.
  for (const name of ["Offcut", "Gorecki"]) {
    await terms.getByRole("button", { name: `Remove ${name}` }).click();
    await terms.getByText(`“${name}” was removed.`).waitFor();
    if (name === "Gorecki") break;
    await terms.locator("[aria-label='Remove Przybylski']:focus").waitFor();
    await terms.getByRole("button", { name: "Undo" }).click();
    await terms.locator("[aria-label='Remove Offcut']:focus").waitFor();
  }
  await terms.getByRole("listitem").filter({ hasText: "Gorecki" }).waitFor({ state: "detached" });
  expect((await vocabulary.read()).entries).toEqual([
    { text: "Przybylski", spoken_as: ["prizbilski"] },
    { text: "Offcut", spoken_as: ["off cut", "of cut", "off kat"] },
  ]);

  await button(page, "Rename").click();
  await page.getByLabel("Name", { exact: true }).fill("Film");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { level: 1, name: "Film" }).waitFor();
  await button(page, "Switch to this workspace").click();
  await page.getByRole("heading", { name: "Drop a recording, get a cut" }).waitFor();

  // A project has terms of its own, in a dialog.
  const { id: projectId } = await session.must<{ id: string }>("POST", "/api/v1/projects", {
    ...inWorkspace,
    json: { name: "Series" },
  });
  await page.reload();
  await page.getByRole("button", { name: "Actions for Series" }).click();
  await page.getByRole("menuitem", { name: "Vocabulary…" }).click();
  const dialog = page.getByRole("dialog", { name: "Vocabulary" });
  await dialog.getByText("No terms yet.").waitFor();
  await dialog.getByLabel("Name or term").fill("Lutosławski");
  await dialog.getByLabel("Recognized as").fill("lutto swafski");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await dialog.getByRole("listitem").filter({ hasText: "lutto swafski" }).waitFor();
  expect(await listViolations(page)).toEqual([]);
  await saveScreenshots(page);
  const ofProject = await session.must("GET", `/api/v1/vocabulary?project_id=${projectId}`, inWorkspace);
  expect(ofProject).toMatchObject({ entries: [{ text: "Lutosławski", spoken_as: ["lutto swafski"] }], revision: 1 });
  expect((await vocabulary.read()).entries).toHaveLength(2);
  await dialog.getByRole("button", { name: "Remove Lutosławski" }).click();
  await dialog.getByText("No terms yet.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByLabel("Workspace", { exact: true }).selectOption("All workspaces…");
  await page.getByRole("link", { name: "Film" }).click();
  await button(page, "Delete workspace…").click();
  await page.getByRole("listitem").filter({ hasText: "1 other member" }).waitFor();
  await button(page, "Delete workspace").click();
  await page.getByText("Film was deleted with everything in it").waitFor();
  await page.getByRole("heading", { name: "Work with others" }).waitFor();
});

test("a viewer sees no write controls and can leave; other users do not find the workspace", async () => {
  expectFailures(404);
  const [owner, viewer] = [await server().user(), await server().user()];
  const path = await createWorkspace(owner, viewer, "viewer");
  const page = await open(path, viewer);
  await page.getByRole("table", { name: "Members" }).waitFor();
  for (const name of [
    "Invite a member",
    "Add",
    "Import file",
    "Rename",
    "Delete workspace…",
    `Remove ${emailOf(owner)}`,
  ])
    expect(await button(page, name).count()).toBe(0);
  expect(await page.getByRole("combobox", { name: /^Role of/ }).count()).toBe(0);
  expect(await page.getByRole("region", { name: "Invitations" }).count()).toBe(0);
  // A role that changes while a page is open.
  const member = `/api/v1${path}/members/${viewer.userId}`;
  const session = await startSession(server(), owner);
  await page.getByLabel("Workspace", { exact: true }).selectOption("Studio");
  await page.getByRole("heading", { name: "No projects yet" }).waitFor();
  expect(await page.getByText("Create one").count()).toBe(0);
  await page.keyboard.press("Shift+?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.getByText("Search", { exact: true }).waitFor();
  expect(await help.getByText("New project").count()).toBe(0);
  await page.keyboard.press("Escape");
  expect(await button(page, "New project").count()).toBe(0);
  await session.must("PATCH", member, { json: { role: "editor" } });
  await page.getByText("You are now an editor of Studio.").waitFor();
  await button(page, "New project").waitFor();
  await session.must("DELETE", member);
  await page.getByText("You no longer have access to Studio.").waitFor();
  await page.getByLabel("Workspace", { exact: true }).waitFor({ state: "detached" });
  await join(session, path.split("/").at(-1)!, await startSession(server(), viewer), "viewer");
  await page.goto(address(path));
  await button(page, "Leave the workspace").click();
  await button(page, "Leave").click();
  await page.getByText("You have left Studio.").waitFor();
  await page.goto(address(path));
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
});

test("an invitation waits for its account in the list, with a notification; a link brings it in after a sign-in", async () => {
  expectFailures(401);
  await createAdmin(server());
  const [owner, guest, late] = [await server().user(), await server().user(), await server().user()];
  await server()
    .services()
    .store.write((tx) => setEmailVerified(tx, guest.userId, 1));
  const session = await startSession(server(), owner);
  const page = await open("/projects", guest);
  for (const name of ["Studio", "Film"]) {
    const { id } = await session.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name } });
    await session.must("POST", `/api/v1/workspaces/${id}/members`, { json: { email: emailOf(guest), role: "editor" } });
  }
  await page.getByRole("button", { name: "Notifications 2 unread" }).click();
  await page.getByRole("link", { name: `${emailOf(owner)} invites you to Film` }).click();
  await button(page, "Decline the invitation to Film").click();
  await page.getByText("You declined the invitation to Film.").waitFor();
  await button(page, "Accept the invitation to Studio").click();
  await page.getByRole("heading", { name: "Drop a recording, get a cut" }).waitFor();
  expect(await page.getByLabel("Workspace", { exact: true }).locator("option:checked").textContent()).toBe("Studio");

  await withPassword(server(), late);
  const { id } = await session.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "News" } });
  const json = { email: emailOf(late), role: "viewer" };
  const added = await session.must<{ invitation_url: string }>("POST", `/api/v1/workspaces/${id}/members`, { json });
  const { pathname, hash } = new URL(added.invitation_url);
  const other = await (await browse(null)).newPage();
  await other.goto(address(pathname + hash));
  await button(other, "I have an account").click();
  await other.getByLabel("Email").fill(emailOf(late));
  await other.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await other.keyboard.press("Enter");
  await button(other, "Accept the invitation").click();
  await other.getByLabel("Workspace", { exact: true }).waitFor();
  expect(await other.getByLabel("Workspace", { exact: true }).locator("option:checked").textContent()).toBe("News");
});

test("a workspace that cannot be read is tried again", async () => {
  expectFailures(500);
  const owner = await server().user();
  const page = await open(`/workspaces/${owner.userId}`, owner);
  await page.getByText("Only you have access to your personal workspace.").waitFor();
  const call = `**/api/v1/workspaces/${owner.userId}`;
  await page.route(call, (route) =>
    route.fulfill({ status: 500, json: { detail: "Internal error.", code: "internal_error" } }),
  );
  await withholdEvents(page);
  await page.reload();
  await page.getByRole("alert").getByText("Internal error.").waitFor();
  await page.unroute(call);
  await button(page, "Try again").click();
  await page.getByRole("heading", { level: 1, name: "Personal" }).waitFor();
});
