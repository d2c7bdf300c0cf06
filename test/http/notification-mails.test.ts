/** Mails about notifications, received by a real mail server. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { NotificationType } from "../../src/domain/notifications";
import { notify } from "../../src/work/notifications/notifications";
import { addMember } from "../unit/store/test-store";
import { until } from "../until";
import { emailOf, startSession } from "./accounts";
import type { Client } from "./client";
import { PATIENCE_MS } from "./harness";
import { sample, send } from "./notification-samples";
import { type MailingServer, PUBLIC_URL, startMailingServer } from "./with-mail";

setDefaultTimeout(PATIENCE_MS);

const MINUTE = 60_000;

let s: MailingServer;
beforeAll(async () => {
  s = await startMailingServer();
});
afterAll(() => s[Symbol.asyncDispose]());

const write = (query: ReturnType<typeof sql>) => s.server.services().store.write((tx) => tx.run(query));

/** Creates a user whose address is confirmed. */
async function confirmed(): Promise<Client> {
  const user = await s.server.user();
  await write(sql`UPDATE users SET email_verified_at = 1 WHERE id = ${user.userId}`);
  return user;
}

const mailsOf = (user: Client) => s.smtp.mails.filter(({ envelopeTo }) => envelopeTo.includes(emailOf(user)));

/** Waits for a mail, and until the server knows when it was sent. */
async function mailOf(user: Client, after = 0) {
  const mail = await s.smtp.mailTo(emailOf(user), after);
  const isPending = sql`SELECT 1 FROM mails WHERE state = 'pending' AND user_id = ${user.userId}`;
  await until("the record of it", async () => (await s.server.services().store.read.all(isPending)).length === 0);
  return mail;
}

/** The states of mails of a user's notifications, oldest first. */
const mailStates = async ({ userId }: Client) =>
  (
    await s.server
      .services()
      .store.read.all<{ mail_state: string }>(
        sql`SELECT mail_state FROM notifications WHERE user_id = ${userId} ORDER BY id`,
      )
  ).map((row) => row.mail_state);

/** Advances the clock. A commit makes the server check it. */
async function pass(minutes: number): Promise<void> {
  s.server.advance(minutes * MINUTE);
  await write(sql`UPDATE users SET last_sign_in_at = 1 WHERE id = ''`);
}

const failed = (name: string) => sample("pipeline_failed", { asset_name: name });
const settle = (user: Client, states: string[]) =>
  until(`mails ${states}`, async () => (await mailStates(user)).join() === states.join());

const prefer = async (user: Client, type: NotificationType, channel: string, enabled: boolean) => {
  const json = { items: [{ type, channel, enabled }] };
  return (await startSession(s.server, user)).must("PATCH", "/api/v1/notifications/preferences", { json });
};

test("the first is mailed at once, those of the next 10 minutes in one mail after them", async () => {
  const [anna, bela] = [await confirmed(), await confirmed()];
  await send(s.server, anna, failed("one.mp4"));
  const first = await mailOf(anna);
  expect(first.subject).toBe('"one.mp4" has failed');
  expect(first.text).toContain('- "one.mp4": render failed. The render failed.');
  expect(first.html).toContain(`href="${PUBLIC_URL}"`);
  for (const name of ["two.mp4", "three.mp4"]) {
    await pass(3);
    await send(s.server, anna, failed(name));
  }
  // Another user and another type are not held back.
  await send(s.server, bela, failed("four.mp4"));
  await send(s.server, anna, sample("webhook_disabled"));
  expect((await mailOf(bela)).subject).toBe('"four.mp4" has failed');
  expect((await mailOf(anna, 1)).subject).toBe("The webhook endpoint at hooks.example was disabled");
  expect(await mailStates(anna)).toEqual(["queued", "waiting", "waiting", "queued"]);
  await pass(5);
  const combined = await mailOf(anna, 2);
  expect(combined.subject).toBe("2 jobs have failed");
  expect(combined.text!.split("\n").filter((line) => line.startsWith("- "))).toEqual([
    '- "three.mp4": render failed. The render failed.',
    '- "two.mp4": render failed. The render failed.',
  ]);
  await pass(30);
  await settle(anna, ["queued", "queued", "queued", "queued"]);
  expect([mailsOf(anna).length, mailsOf(bela).length]).toEqual([3, 1]);
});

test("a mail lists 20 notifications and counts the others", async () => {
  const anna = await confirmed();
  await send(s.server, anna, failed("first.mp4"));
  await mailOf(anna);
  for (let i = 1; i <= 57; i++) await send(s.server, anna, failed(`${i}.mp4`));
  await pass(11);
  const { text, subject } = await mailOf(anna, 1);
  const lines = text!.split("\n").filter((line) => line.startsWith("- "));
  expect([subject, lines.length, lines[0], lines[19], lines[20]]).toEqual([
    "57 jobs have failed",
    21,
    '- "57.mp4": render failed. The render failed.',
    '- "38.mp4": render failed. The render failed.',
    "- and 37 more",
  ]);
});

test.each<[string, string, (anna: Client) => Promise<unknown>, string[]]>([
  [
    "that the user switches off while it waits",
    "pipeline_failed",
    (anna) => prefer(anna, "pipeline_failed", "email", false),
    ["queued", "none"],
  ],
  [
    "that is switched off in app",
    "pipeline_failed",
    (anna) => prefer(anna, "pipeline_failed", "in_app", false),
    ["queued", "queued"],
  ],
  [
    "that is mandatory",
    "subscription_payment_failed",
    async (anna) => expect(prefer(anna, "subscription_payment_failed", "email", false)).rejects.toThrow("409"),
    ["queued", "queued"],
  ],
  [
    "of an account that is disabled meanwhile",
    "pipeline_failed",
    ({ userId }) => write(sql`UPDATE users SET disabled_at = 1 WHERE id = ${userId}`),
    ["queued", "none"],
  ],
  [
    "of an account that is deleted meanwhile",
    "pipeline_failed",
    ({ userId }) => write(sql`UPDATE users SET deleted_at = 1 WHERE id = ${userId}`),
    ["queued", "none"],
  ],
  ["of a server that restarts meanwhile", "pipeline_failed", () => s.server.restart(), ["queued", "queued"]],
])("a mail %s", async (_what, type, change, expected) => {
  const anna = await confirmed();
  await send(s.server, anna, sample(type as NotificationType));
  await mailOf(anna);
  await send(s.server, anna, sample(type as NotificationType));
  await change(anna);
  await pass(11);
  await settle(anna, expected);
  const wanted = expected.filter((state) => state === "queued").length;
  await mailOf(anna, wanted - 1);
  expect(mailsOf(anna)).toHaveLength(wanted);
});

test("events of a workspace are not mailed to users who have left it", async () => {
  const [anna, bela] = [await confirmed(), await confirmed()];
  const { store, now } = s.server.services();
  const tell = (cause: string) =>
    store.write((tx) =>
      notify(tx, { ...failed(`${cause}.mp4`), userId: bela.userId, workspaceId: anna.userId, cause, now: now() }),
    );
  expect(await tell("stranger")).toBeNull();
  await store.write((tx) => addMember(tx, anna.userId, bela.userId, "viewer"));
  await tell("member");
  await mailOf(bela);
  await tell("leaving");
  await send(s.server, bela, failed("own.mp4"));
  await write(sql`DELETE FROM workspace_members WHERE user_id = ${bela.userId} AND workspace_id = ${anna.userId}`);
  await pass(11);
  expect((await mailOf(bela, 1)).subject).toBe('"own.mp4" has failed');
  expect(await mailStates(bela)).toEqual(["queued", "none", "queued"]);
});

test("an unconfirmed address gets no mail, and none is recorded", async () => {
  const anna = await s.server.user();
  await send(s.server, anna, failed("one.mp4"));
  await settle(anna, ["none"]);
  await write(sql`UPDATE users SET email_verified_at = 1 WHERE id = ${anna.userId}`);
  await send(s.server, anna, failed("two.mp4"));
  expect((await mailOf(anna)).subject).toBe('"two.mp4" has failed');
});

test("a mail that the mail server does not take yet holds back the next of its type", async () => {
  const anna = await confirmed();
  await send(s.server, anna, failed("one.mp4"));
  await mailOf(anna);
  await write(
    sql`UPDATE mails SET state = 'pending', due_at = ${s.server.services().now() + 12 * MINUTE}, sent_at = NULL WHERE user_id = ${anna.userId}`,
  );
  await send(s.server, anna, failed("two.mp4"));
  await pass(11);
  await send(s.server, anna, failed("three.mp4"));
  const sentAt = s.server.services().now();
  await write(sql`UPDATE mails SET state = 'sent', due_at = NULL, sent_at = ${sentAt} WHERE user_id = ${anna.userId}`);
  await pass(1);
  await send(s.server, anna, failed("four.mp4"));
  expect(await mailStates(anna)).toEqual(["queued", "waiting", "waiting", "waiting"]);
  await pass(10);
  expect((await mailOf(anna, 1)).subject).toBe("3 jobs have failed");
});

test("notifications do not use up the limit of mails, which sign-in codes need", async () => {
  const anna = await confirmed();
  const { userId } = anna;
  const { now } = s.server.services();
  for (let i = 0; i < 40; i++)
    await write(
      sql`INSERT INTO mails (id, user_id, recipient, template, state, created_at) VALUES (${`${userId}/${i}`}, ${userId}, ${emailOf(anna)}, 'pipeline_failed', 'sent', ${now()})`,
    );
  expect((await s.post("auth/password/forgot", { email: emailOf(anna) })).status).toBe(202);
  expect((await mailOf(anna)).subject).toBe("Reset your password");
});

test("a file name is one short line of text", async () => {
  const anna = await confirmed();
  const name = `<img src=x onerror=alert(1)>\r\nBcc: eve@example.com\u202e${"x".repeat(300)}`;
  await send(
    s.server,
    anna,
    sample("pipeline_failed", { asset_name: name, error_message: `a\n\nb${"y".repeat(1000)}` }),
  );
  const mail = await mailOf(anna);
  expect(mail.bcc ?? []).toEqual([]);
  expect(mail.subject!.length).toBeLessThan(110);
  expect(mail.html).not.toContain("<img");
  expect(mail.html).toContain("&lt;img src=x onerror=alert(1)&gt; Bcc: eve@example.com");
  expect(mail.text).not.toContain("\u202e");
  expect(mail.text!.length).toBeLessThan(900);
});
