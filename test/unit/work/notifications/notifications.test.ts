import { expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import type { TimedNotification, TypedNotification } from "../../../../src/domain/notifications";
import { newId } from "../../../../src/lib/ids";
import type { Queries, Store } from "../../../../src/store/db";
import {
  deleteReadNotificationsBefore,
  findNotification,
  type StoredNotification,
} from "../../../../src/store/notifications";
import { dataExports, notificationPreferences, notifications } from "../../../../src/store/schema-notifications";
import { deleteUser, updateAccountState } from "../../../../src/store/users";
import { notify, updateExportNotification } from "../../../../src/work/notifications/notifications";
import { PAYLOADS, sample } from "../../../http/notification-samples";
import { addUser, freshStore } from "../../store/test-store";

const NOW = 1_800_000_000_000;

const completed = (steps: string[]) => sample("pipeline_completed", { steps });
const waiting = sample("asset_pending_payment");
const unpaid = sample("subscription_payment_failed");
const exported = PAYLOADS.data_export_ready;
const pendingExport = sample("data_export_ready");

/** Returns the stored state of a notification: `shown`, `hidden` or `nothing`, with `mailed`. */
const outcome = (row: { is_hidden: boolean; mail_state: string } | null): string =>
  row === null
    ? "nothing"
    : [row.is_hidden ? "hidden" : "shown", ...(row.mail_state === "waiting" ? ["mailed"] : [])].join(" ");

type Choice = `${"in_app" | "email"} ${"on" | "off"}`;

async function choose(tx: Queries, userId: string, { type }: TypedNotification, choices: Choice[]): Promise<void> {
  for (const choice of choices) {
    const [channel, enabled] = choice.split(" ") as ["in_app" | "email", string];
    await tx.insert(notificationPreferences).values({ user_id: userId, type, channel, enabled: enabled === "on" });
  }
}

test.each<[string, TimedNotification, Choice[], string]>([
  ["by default", waiting, [], "shown mailed"],
  ["without mails", waiting, ["email off"], "shown"],
  ["by mail only", waiting, ["in_app off"], "hidden mailed"],
  ["that is off", waiting, ["in_app off", "email off"], "nothing"],
  ["of a chain", completed(["cut", "render"]), [], "shown"],
  ["of a chain, with mails", completed(["cut", "render"]), ["email on"], "shown mailed"],
  ["of a single step", completed(["cut"]), [], "nothing"],
  ["of a single step that took a minute", { ...completed(["cut"]), tookMs: 60_000 }, [], "nothing"],
  ["of a single step that took longer", { ...completed(["render"]), tookMs: 60_001 }, [], "shown"],
  ["of a long single step, if it is off", { ...completed(["cut"]), tookMs: 60_001 }, ["in_app off"], "nothing"],
  ["of a single step, if chosen", completed(["cut"]), ["in_app on"], "shown"],
  ["of a single step, if mails are chosen", completed(["cut"]), ["email on"], "hidden mailed"],
  ["that is mandatory by mail", unpaid, ["in_app off", "email off"], "hidden mailed"],
  ["of an export that has not ended", pendingExport, ["in_app off"], "shown"],
])("a notification %s", async (_what, notification, choices, expected) => {
  await using fresh = await freshStore();
  const { userId } = await fresh.store.write(addUser);
  const row = await fresh.store.write(async (tx) => {
    await choose(tx, userId, notification, choices);
    return notify(tx, { ...notification, userId, workspaceId: userId, cause: "c", now: NOW });
  });
  expect(outcome(row)).toBe(expected);
});

test("a cause is reported once to each user and type", async () => {
  await using fresh = await freshStore();
  const [anna, bela] = await fresh.store.write(async (tx) => [await addUser(tx), await addUser(tx)]);
  const send = (notification: TypedNotification, userId: string, cause: string) =>
    fresh.store.write((tx) => notify(tx, { ...notification, userId, workspaceId: userId, cause, now: NOW }));
  const outcomes: string[] = [];
  for (const [notification, userId, cause] of [
    [waiting, anna.userId, "1"],
    [waiting, anna.userId, "1"],
    [waiting, anna.userId, "2"],
    [waiting, bela.userId, "1"],
    [unpaid, anna.userId, "1"],
  ] as const)
    outcomes.push(outcome(await send(notification, userId, cause)));
  expect(outcomes).toEqual(["shown mailed", "nothing", "shown mailed", "shown mailed", "shown mailed"]);
});

test.each<[string, (tx: Queries, userId: string) => Promise<unknown>, string, string]>([
  ["disabled", (tx, id) => updateAccountState(tx, id, { disabled_at: 1 }), "nothing", "nothing"],
  ["in its grace period", (tx, id) => updateAccountState(tx, id, { deleted_at: 1 }), "nothing", "shown"],
  ["gone", (tx, id) => tx.run(sql`DELETE FROM users WHERE id = ${id}`), "nothing", "nothing"],
  [
    "no member any more",
    (tx, id) => tx.run(sql`DELETE FROM workspace_members WHERE user_id = ${id}`),
    "nothing",
    "shown",
  ],
])("an account that is %s", async (_what, change, expected, expectedExport) => {
  await using fresh = await freshStore();
  const outcomes = await fresh.store.write(async (tx) => {
    const { userId } = await addUser(tx);
    await change(tx, userId);
    const one = await notify(tx, { ...waiting, userId, workspaceId: userId, cause: "c", now: NOW });
    const other = await notify(tx, { ...pendingExport, userId, workspaceId: null, cause: "c", now: NOW });
    return [outcome(one), outcome(other)];
  });
  expect(outcomes).toEqual([expected, expectedExport]);
});

const keptIds = async (store: Store): Promise<string[]> =>
  (await store.read.select({ id: notifications.id }).from(notifications).orderBy(notifications.id)).map(
    (row) => row.id,
  );

/** Adds an export in this state to a notification. */
const addExport = (tx: Queries, { id, user_id }: StoredNotification, state: "pending" | "ready" | "expired") =>
  tx.insert(dataExports).values({ id: newId(), user_id, notification_id: id, state, requested_at: NOW });

test("a user has at most 1,000 notifications, the newest ones and those of exports that can be downloaded", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const [anna, bela] = await store.write(async (tx) => [await addUser(tx), await addUser(tx)]);
  const ids = await store.write(async (tx) => {
    const tell = (notification: TypedNotification, { userId }: { userId: string }, cause: string) =>
      notify(tx, { ...notification, userId, workspaceId: null, cause, now: NOW });
    const [pending, ready, expired, other] = [
      await tell(pendingExport, anna, "1"),
      await tell(pendingExport, anna, "2"),
      await tell(pendingExport, anna, "3"),
      await tell(waiting, bela, "1"),
    ];
    await addExport(tx, pending!, "pending");
    await addExport(tx, ready!, "ready");
    await addExport(tx, expired!, "expired");
    await tell(waiting, anna, "dropped");
    const rows = Array.from({ length: 999 }, (_, n) => ({
      ...pending!,
      id: newId(),
      type: "pipeline_failed" as const,
      cause: `${n}`,
    }));
    for (let at = 0; at < rows.length; at += 100) await tx.insert(notifications).values(rows.slice(at, at + 100));
    const newest = await tell(waiting, anna, "newest");
    return [pending!.id, ready!.id, other!.id, ...rows.map((row) => row.id), newest!.id];
  });
  expect(await keptIds(store)).toEqual(ids);
});

test("read and hidden notifications are deleted after their time, piece by piece, unread ones stay", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const { kept, counts } = await store.write(async (tx) => {
    const { userId } = await addUser(tx);
    const tell = async (cause: string, change: object, notification = waiting) => {
      const row = await notify(tx, { ...notification, userId, workspaceId: null, cause, now: NOW });
      await tx.update(notifications).set(change).where(eq(notifications.id, row!.id));
      return row!;
    };
    await tell("read", { read_at: NOW });
    await tell("also read", { read_at: NOW });
    await tell("hidden", { is_hidden: true });
    const left = [await tell("unread", { read_at: null }), await tell("new", { read_at: NOW, created_at: NOW + 1 })];
    const exporting = await tell("export", { read_at: NOW }, pendingExport);
    await addExport(tx, exporting, "ready");
    const deleted: number[] = [];
    for (let n = 0; n < 3; n++) deleted.push(await deleteReadNotificationsBefore(tx, NOW + 1, 2));
    return { kept: [...left, exporting].map((row) => row.id), counts: deleted };
  });
  expect(counts).toEqual([2, 1, 0]);
  expect(await keptIds(store)).toEqual(kept);
});

test("the purge of an account removes its notifications and choices", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  await store.write(async (tx) => {
    const { userId } = await addUser(tx);
    await choose(tx, userId, waiting, ["email off"]);
    const row = await notify(tx, { ...pendingExport, userId, workspaceId: null, cause: "c", now: NOW });
    await addExport(tx, row!, "pending");
    await deleteUser(tx, userId);
  });
  for (const table of [notifications, notificationPreferences, dataExports])
    expect(await store.read.select().from(table)).toEqual([]);
});

test("the end of an export is unread and mailed, its expiry is not", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const states = await store.write(async (tx) => {
    const { userId } = await addUser(tx);
    const made = await notify(tx, { ...pendingExport, userId, workspaceId: null, cause: "c", now: NOW });
    const seen: string[] = [outcome(made)];
    for (const status of ["ready", "expired"] as const) {
      await tx.update(notifications).set({ read_at: 1, mail_state: "none" });
      await updateExportNotification(tx, made!, { ...exported, status });
      const row = await findNotification(tx, userId, made!.id);
      seen.push(`${row!.payload.status} ${outcome(row)} ${row!.read_at === null ? "unread" : "read"}`);
    }
    return seen;
  });
  expect(states).toEqual(["shown", "ready shown mailed unread", "expired shown read"]);
});
