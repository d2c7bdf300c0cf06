/** Rows of the contract: notifications and their preferences. */
import { expect } from "bun:test";
import { sql } from "drizzle-orm";
import { NOTIFICATION_TYPES } from "../../../src/domain/states";
import { createApiKey } from "../../../src/work/access/command-accounts";
import { emailOf } from "../../http/accounts";
import { type Client, createClient } from "../../http/client";
import { sample, send } from "../../http/notification-samples";
import { NO_ID } from "../../http/outcome";
import { startMailingServer } from "../../http/with-mail";
import * as schemas from "../notification-schemas";
import { conforms } from "./account-setting";
import type { DashboardFixtures, DashboardRow } from "./dashboard-fixtures";

type Item = { id: string; type: string; category: string; payload: Record<string, unknown>; read_at: string | null };
type List = { items: Item[]; unread_count: number; total: number };
type Preference = {
  type: string;
  category: string;
  channel: string;
  enabled: boolean;
  is_default: boolean;
  is_mandatory: boolean;
  is_available: boolean;
};
type Grid = { items: Preference[] };

const read = async ({ call }: DashboardFixtures, as: Client, query = "") =>
  (await call<List>("GET", `/notifications${query}`, { as })).body;
const readGrid = async ({ call }: DashboardFixtures, as: Client) =>
  (await call<Grid>("GET", "/notifications/preferences", { as })).body.items;
const find = (grid: Preference[], type: string, channel: string) =>
  grid.find((one) => one.type === type && one.channel === channel)!;

export const notificationRows: DashboardRow[] = [
  [
    "GET /api/v1/notifications; the list adds unread_count",
    async (fixtures) => {
      const as = await fixtures.user();
      conforms(schemas.notificationList, await read(fixtures, as));
      for (const type of NOTIFICATION_TYPES) await send(fixtures.server, as, sample(type));
      const list = await read(fixtures, as, "?limit=100");
      conforms(schemas.notificationList, list);
      expect(list.items.map((item) => [item.type, item.category])).toEqual([
        ["problem_resolved", "system"],
        ["problem_found", "system"],
        ["order_pending", "billing"],
        ["workspace_invitation", "account"],
        ["data_export_ready", "account"],
        ["subscription_payment_failed", "billing"],
        ["webhook_disabled", "system"],
        ["asset_pending_payment", "job"],
        ["pipeline_failed", "job"],
        ["pipeline_completed", "job"],
      ]);
      expect(list).toMatchObject({ unread_count: 10, total: 10 });
      expect(await read(fixtures, as, "?limit=2&offset=3")).toMatchObject({
        items: [{ type: "workspace_invitation" }, { type: "data_export_ready" }],
        unread_count: 10,
        total: 10,
      });
    },
  ],
  [
    "GET notifications?unread=true",
    async (fixtures) => {
      const as = await fixtures.user();
      const [first] = [await send(fixtures.server, as, sample("pipeline_failed"))];
      await send(fixtures.server, as, sample("webhook_disabled"));
      await fixtures.call("POST", `/notifications/${first!.id}/read`, { as });
      for (const [query, types] of [
        ["?unread=true", ["webhook_disabled"]],
        ["?unread=false", ["webhook_disabled", "pipeline_failed"]],
        ["", ["webhook_disabled", "pipeline_failed"]],
      ] as const) {
        const { items, unread_count: unread, total } = await read(fixtures, as, query);
        expect([items.map((item) => item.type), unread, total]).toEqual([[...types], 1, types.length]);
      }
      for (const bad of ["unread=yes", "unread=", "limit=0", "limit=101", "offset=-1"])
        expect(await fixtures.getOutcome("GET", `/notifications?${bad}`, { as })).toBe(
          `422 validation_error query.${bad.split("=")[0]}`,
        );
    },
  ],
  [
    "POST /api/v1/notifications/{id}/read",
    async (fixtures) => {
      const { call, getOutcome, server, bert } = fixtures;
      const as = await fixtures.user();
      const { id } = (await send(server, as, sample("pipeline_failed")))!;
      expect(await getOutcome("POST", `/notifications/${id}/read`, { as: bert })).toBe("404 not_found");
      const marked = await call<Item>("POST", `/notifications/${id}/read`, { as });
      conforms(schemas.notification, marked.body);
      expect(marked.body.read_at).not.toBeNull();
      expect((await call<Item>("POST", `/notifications/${id}/read`, { as })).body).toEqual(marked.body);
      expect(await getOutcome("POST", `/notifications/${NO_ID}/read`, { as })).toBe("404 not_found");
    },
  ],
  [
    "POST /api/v1/notifications/read marks all notifications of the caller",
    async (fixtures) => {
      const [as, other] = [await fixtures.user(), await fixtures.user()];
      for (const to of [as, as, other]) await send(fixtures.server, to, sample("pipeline_failed"));
      expect(await fixtures.getOutcome("POST", "/notifications/read", { as })).toBe("204");
      expect(await fixtures.getOutcome("POST", "/notifications/read", { as })).toBe("204");
      expect(await read(fixtures, as)).toMatchObject({ unread_count: 0, total: 2 });
      expect(await read(fixtures, other)).toMatchObject({ unread_count: 1, total: 1 });
    },
  ],
  [
    "GET /api/v1/notifications/preferences: the full grid of every (type, channel) pair with defaults merged in, in stable order",
    async (fixtures) => {
      const as = await fixtures.user();
      const grid = await readGrid(fixtures, as);
      conforms(schemas.notificationPreferences, { items: grid });
      expect(grid.map((one) => `${one.type} ${one.channel}`)).toEqual(
        NOTIFICATION_TYPES.flatMap((type) => [`${type} in_app`, `${type} email`]),
      );
      expect(grid.every((one) => one.is_default)).toBe(true);
      const json = { items: [{ type: "webhook_disabled", channel: "email", enabled: false }] };
      const changed = (await fixtures.call<Grid>("PATCH", "/notifications/preferences", { as, json })).body.items;
      expect(changed).toEqual(
        grid.map((one) =>
          one.type === "webhook_disabled" && one.channel === "email"
            ? { ...one, enabled: false, is_default: false }
            : one,
        ),
      );
      expect(await readGrid(fixtures, as)).toEqual(changed);
      expect(await readGrid(fixtures, fixtures.bert)).toEqual(grid);
    },
  ],
  [
    "subscription_payment_failed (billing, mandatory by e-mail), data_export_ready (account) and problem_found (system, mandatory in app)",
    async (fixtures) => {
      const mandatory = (await readGrid(fixtures, fixtures.anna)).filter((one) => one.is_mandatory);
      expect(mandatory.map((one) => [one.type, one.category, one.channel, one.enabled])).toEqual([
        ["subscription_payment_failed", "billing", "email", true],
        ["data_export_ready", "account", "in_app", true],
        ["problem_found", "system", "in_app", true],
      ]);
    },
  ],
  [
    "PATCH /api/v1/notifications/preferences: { items: [{ type, channel, enabled }] }; a mandatory one cannot be switched off (409)",
    async (fixtures) => {
      const as = await fixtures.user();
      const change = (...items: object[]) =>
        fixtures.getOutcome("PATCH", "/notifications/preferences", { as, json: { items } });
      const off = { type: "pipeline_failed", channel: "email", enabled: false };
      const mandatory = { type: "subscription_payment_failed", channel: "email" };
      expect(await change(off, { ...mandatory, enabled: false })).toBe("409 conflict");
      expect(find(await readGrid(fixtures, as), "pipeline_failed", "email").enabled).toBe(true);
      expect(await change({ ...mandatory, enabled: true }, off)).toBe("200");
      expect(find(await readGrid(fixtures, as), "pipeline_failed", "email").enabled).toBe(false);
      expect(await change(off, { ...off, enabled: true })).toBe("422 validation_error body.items.1");
      expect(await change()).toBe("422 validation_error body.items");
      expect(await change(...Array(51).fill(off))).toBe("422 validation_error body.items");
      expect(await change({ ...off, type: "all" })).toBe("422 validation_error body.items.0.type");
      expect(await change({ ...off, channel: "sms" })).toBe("422 validation_error body.items.0.channel");
      expect(await change({ ...off, enabled: "no" })).toBe("422 validation_error body.items.0.enabled");
      expect(await change({ ...off, is_default: true })).toBe("422 validation_error body.items.0.is_default");
    },
  ],
  [
    "An addition is_available is false for e-mail until OFFCUT_SMTP_URL is set",
    async (fixtures) => {
      const isAvailable = (grid: Preference[]) =>
        new Set(grid.map((one) => `${one.channel} ${one.is_available}`)).values().toArray();
      expect(isAvailable(await readGrid(fixtures, fixtures.anna))).toEqual(["in_app true", "email false"]);
      await using mailing = await startMailingServer();
      const user = await mailing.server.user();
      const readAll = async () =>
        isAvailable((await user.must<Grid>("GET", "/api/v1/notifications/preferences")).items);
      expect(await readAll()).toEqual(["in_app true", "email false"]);
      const { store } = mailing.server.services();
      await store.write((tx) => tx.run(sql`UPDATE users SET email_verified_at = 1 WHERE id = ${user.userId}`));
      expect(await readAll()).toEqual(["in_app true", "email true"]);
    },
  ],
  [
    "In the grace window notifications work, with a session and, to read them, with a key, whatever the workspace",
    async (fixtures) => {
      const { server } = fixtures;
      const session = await fixtures.user();
      const { key } = await createApiKey(server.services(), { email: emailOf(session), name: "k" });
      const { id } = (await send(server, session, sample("data_export_ready")))!;
      const { store } = server.services();
      await store.write((tx) => tx.run(sql`UPDATE users SET deleted_at = 1 WHERE id = ${session.userId}`));
      for (const as of [session, createClient(server.url, key, session.userId)]) {
        for (const headers of [{}, { "Offcut-Workspace": NO_ID }] as Record<string, string>[]) {
          const list = await fixtures.call<List>("GET", "/notifications", { as, headers });
          expect(list.body.items.map((item) => item.id)).toEqual([id]);
          const marked = await fixtures.getOutcome("POST", `/notifications/${id}/read`, { as, headers });
          expect(marked).toBe(as === session ? "200" : "403 forbidden");
          expect(await fixtures.getOutcome("GET", "/notifications/preferences", { as, headers })).toBe("200");
        }
      }
    },
  ],
];
