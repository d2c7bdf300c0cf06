/** Rows of the contract: the data export. */
import { expect } from "bun:test";
import { sql } from "drizzle-orm";
import { createApiKey } from "../../../src/work/access/command-accounts";
import { emailOf } from "../../http/accounts";
import { createClient } from "../../http/client";
import { type ExportNotification, exportIs, readNotification } from "../../http/exports";
import * as schemas from "../notification-schemas";
import { conforms } from "./account-setting";
import type { DashboardRow } from "./dashboard-fixtures";

const PATH = "/users/me/export";
const MINUTE_MS = 60 * 1000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const dataExportRows: DashboardRow[] = [
  [
    "POST /api/v1/users/me/export: 202 with a Notification of type data_export_ready and status pending",
    async ({ call, user }) => {
      const as = await user();
      const { status, body } = await call<ExportNotification>("POST", PATH, { as });
      expect(status).toBe(202);
      conforms(schemas.notification, body);
      expect(body).toMatchObject({
        type: "data_export_ready",
        payload: { status: "pending", has_media: false, download_url: null },
      });
      conforms(schemas.notification, await readNotification(as, body.id));
    },
  ],
  [
    "GET /api/v1/users/me/export: the notification of the latest export, or null; written_bytes",
    async ({ call, user }) => {
      const as = await user();
      expect((await call("GET", PATH, { as })).body).toEqual({ notification: null, written_bytes: null });
      const { body } = await call<ExportNotification>("POST", PATH, { as });
      await exportIs(as, body.id, "ready");
      const { body: latest } = await call<{ notification: ExportNotification }>("GET", PATH, { as });
      conforms(schemas.notification, latest.notification);
      expect(latest.notification).toMatchObject({ id: body.id, payload: { status: "ready" } });
      expect((await fetch(latest.notification.payload.download_url!, { method: "HEAD" })).status).toBe(200);
    },
  ],
  [
    "When a pending export exists for the caller, the existing notification is returned; after a terminal notification, a new one is created",
    async ({ call, user, bert }) => {
      const as = await user();
      const request = async (query = "") => (await call<ExportNotification>("POST", `${PATH}${query}`, { as })).body.id;
      const [first, same] = (await Promise.all([request(), request("?media=true")])) as [string, string];
      expect(same).toBe(first);
      await exportIs(as, first, "ready");
      const second = await request();
      expect(second).not.toBe(first);
      await exportIs(as, second, "ready");
      const list = await call<{ items: ExportNotification[] }>("GET", "/notifications", { as: bert });
      expect(list.body.items.map((item) => item.id)).not.toContain(second);
    },
  ],
  [
    "It is allowed under both session and API-key authentication, and for soft-deleted users inside the 30-day grace window",
    async ({ call, user, server }) => {
      const session = await user();
      const { key } = await createApiKey(server.services(), { email: emailOf(session), name: "k" });
      const { store } = server.services();
      await store.write((tx) => tx.run(sql`UPDATE users SET deleted_at = 1 WHERE id = ${session.userId}`));
      for (const as of [createClient(server.url, key, session.userId), session]) {
        const { status, body } = await call<ExportNotification>("POST", PATH, { as });
        expect(status).toBe(202);
        const { download_url: link } = await exportIs(as, body.id, "ready");
        expect((await fetch(link!, { method: "HEAD" })).status).toBe(200);
      }
    },
  ],
  [
    "The file is kept 7 days, then expired; the notification's payload then has download_url (15 minutes, made anew at each read)",
    async ({ call, user, server }) => {
      const as = await user();
      const { id } = (await call<ExportNotification>("POST", PATH, { as })).body;
      const ready = await exportIs(as, id, "ready");
      conforms(schemas.notification, await readNotification(as, id));
      const get = async (link: string) => (await fetch(link, { method: "HEAD" })).status;
      expect(await get(ready.download_url!)).toBe(200);
      expect(Date.parse(ready.expires_at!) - Date.parse(ready.finished_at!)).toBe(7 * DAY_MS);
      server.advance(16 * MINUTE_MS);
      expect(await get(ready.download_url!)).toBe(404);
      const again = (await readNotification(as, id)).payload;
      expect(await get(again.download_url!)).toBe(200);
      server.advance(7 * DAY_MS);
      expect((await readNotification(as, id)).payload.download_url).toBeNull();
      // A commit makes the server look for expired exports.
      await as.must("PATCH", "/api/v1/users/me", { json: { first_name: "Ada" } });
      const expired = await exportIs(as, id, "expired");
      expect(expired).toEqual({ ...ready, status: "expired", download_url: null });
      conforms(schemas.notification, await readNotification(as, id));
    },
  ],
];
