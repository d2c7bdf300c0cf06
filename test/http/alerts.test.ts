/** Problems of a running server: mails, the bell and the administration. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { MEDIA_MARKER_NAME } from "../../src/domain/media-folder";
import { until } from "../until";
import { createAdmin, emailOf, startSession } from "./accounts";
import type { Client } from "./client";
import { PATIENCE_MS } from "./harness";
import { type MailingServer, PUBLIC_URL, startMailingServer } from "./with-mail";

setDefaultTimeout(PATIENCE_MS);

const MINUTE = 60_000;

let s: MailingServer;
let admin: Client;
let user: Client;
beforeAll(async () => {
  s = await startMailingServer();
  const [anna, bela] = [await createAdmin(s.server), await s.server.user()];
  await s.server.services().store.write((tx) => tx.run(sql`UPDATE users SET email_verified_at = 1`));
  [admin, user] = [await startSession(s.server, anna), await startSession(s.server, bela)];
});
afterAll(() => s[Symbol.asyncDispose]());

type Problems = { problems: { problem: string; severity: string; title: string; detail: string; found_at: string }[] };
type Bell = { items: { type: string; category: string; payload: { title: string } }[] };

const check = async (minutes: number) => {
  s.server.advance(minutes * MINUTE);
  await s.server.services().alerts.check();
};
const problems = async () => (await admin.must<Problems>("GET", "/api/v1/admin/health")).problems;
const bell = async (who: Client) =>
  (await who.must<Bell>("GET", "/api/v1/notifications")).items.map(({ type, payload }) => `${type}: ${payload.title}`);
const mailsTo = (who: Client) => s.smtp.mails.filter(({ envelopeTo }) => envelopeTo.includes(emailOf(who)));

test("a problem is mailed and shown to administrators once, also across a restart, and so is its end", async () => {
  await check(0);
  expect(await problems()).toEqual([]);
  s.server.disk.freeBytes = 50e9;
  await check(0);
  expect(await problems()).toMatchObject([
    { problem: "disk_space", severity: "warning", title: "Only 5% of the disk is free" },
  ]);
  const mail = await s.smtp.mailTo(emailOf(admin));
  expect(mail.subject).toBe("Only 5% of the disk is free");
  expect(mail.text).toContain("- Only 5% of the disk is free. 50 GB of 1 TB are left. Free some space");
  expect(mail.html).toContain(`href="${PUBLIC_URL}/admin/health"`);
  await s.server.restart();
  await check(30);
  expect(await bell(admin)).toEqual(["problem_found: Only 5% of the disk is free"]);
  s.server.disk.freeBytes = 500e9;
  await check(1);
  await check(11);
  expect(await problems()).toEqual([]);
  expect((await s.smtp.mailTo(emailOf(admin), 1)).subject).toBe("The disk has enough free space again");
  expect(await bell(admin)).toEqual([
    "problem_resolved: The disk has enough free space again",
    "problem_found: Only 5% of the disk is free",
  ]);
  // Back within the day: shown, not mailed.
  s.server.disk.freeBytes = 1e9;
  await check(60);
  expect(await problems()).toMatchObject([{ severity: "critical", title: "The disk is full: 1 GB free" }]);
  await until("no mail that waits", async () => {
    const waiting = sql`SELECT 1 FROM notifications WHERE mail_state = 'waiting'`;
    return (await s.server.services().store.read.all(waiting)).length === 0;
  });
  expect(await bell(admin)).toHaveLength(2);
  expect([mailsTo(admin).length, mailsTo(user).length, await bell(user)]).toEqual([2, 0, []]);
});

test("a folder that is offline and a damaged file are problems until they are dealt with", async () => {
  const { folders, store } = s.server.services();
  const marker = join(folders.mediaDir, MEDIA_MARKER_NAME);
  await rename(marker, `${marker}.away`);
  await store.write((tx) =>
    tx.run(sql`INSERT INTO file_checks (id, path, bytes, modified_at, created_at, problem, detail, found_at)
      VALUES ('00000000-0000-7000-8000-000000000001', 'media/x/source', 1, 1, 1, 'missing', 'File is missing.', 1)`),
  );
  await check(0);
  const found = (await problems()).filter(({ problem }) => problem !== "disk_space");
  expect(found.map(({ problem, severity, title }) => `${problem} ${severity}: ${title}`).sort()).toEqual([
    "files_damaged critical: A file is missing or damaged",
    "folder_offline critical: A folder is offline",
  ]);
  expect(found.find(({ problem }) => problem === "folder_offline")?.detail).toContain(folders.mediaDir);
  await rename(`${marker}.away`, marker);
  await store.write((tx) => tx.run(sql`DELETE FROM file_checks`));
  await check(0);
  await check(11);
  expect((await problems()).filter(({ problem }) => problem !== "disk_space")).toEqual([]);
});

test("administrators can switch the mails off, but not the bell", async () => {
  const change = (channel: string) => ({ json: { items: [{ type: "problem_found", channel, enabled: false }] } });
  const path = "/api/v1/notifications/preferences";
  expect((await admin.call("PATCH", path, change("in_app"))).status).toBe(409);
  await admin.must("PATCH", path, change("email"));
});
