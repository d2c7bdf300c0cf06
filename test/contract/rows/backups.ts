/** Rows of the contract: backups, for administrators. */
import { expect } from "bun:test";
import { newId } from "../../../src/lib/ids";
import { insertBackupRun } from "../../../src/store/backup-runs";
import { createAdmin, startSession } from "../../http/accounts";
import { PROVING_DRILL } from "../../http/drill-command";
import { harness, PATIENCE_MS } from "../../http/harness";
import { NO_ID } from "../../http/outcome";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";
import * as adminSchemas from "../admin-schemas";
import { listErrors } from "../response-checks";
import type { DashboardRow } from "./dashboard-fixtures";

export const backupRows: DashboardRow[] = [
  [
    "GET admin/backups: runs with their figures, the last proven restore, the last failure and the settings; without backup_to a start is 409 conflict",
    async ({ server, call, getOutcome }) => {
      const as = await startSession(server, await createAdmin(server));
      const { store } = server.services();
      const run = { path: "/backup/offcut-2027-01-31T02-00-00Z", started_at: 1, ended_at: 2 };
      const figures = { files: 3912, bytes: 5_000, checked_files: 3912, balances: 4, render_frames: 240 };
      const [backup, drill, failed] = [newId(), newId(), newId()];
      await store.write(async (tx) => {
        await insertBackupRun(tx, { id: backup, kind: "backup", state: "failed", error: "Full.", ...run });
        await insertBackupRun(tx, { id: drill, kind: "drill", state: "completed", figures, ...run });
        await insertBackupRun(tx, { id: failed, kind: "backup", state: "failed", error: "Full.", ...run });
      });
      const { body } = await call("GET", "/admin/backups?kind=drill", { as });
      expect(listErrors(adminSchemas.backupList, body)).toEqual([]);
      expect(body).toMatchObject({
        items: [{ id: drill, ...figures, is_available: false }],
        total: 1,
        running: null,
        last_backup: null,
        last_proven_restore: { id: drill },
        last_failure: { id: failed, error: "Full." },
        settings: { backup_to: null, backup_at: "02:00", next_at: null },
      } as never);
      for (const path of ["/admin/backups", "/admin/backups/drill", `/admin/backups/${backup}/verify`])
        expect(await getOutcome("POST", path, { as })).toBe("409 conflict");
      for (const id of [NO_ID, drill])
        expect(await getOutcome("POST", `/admin/backups/${id}/verify`, { as })).toBe("404 not_found");
      expect(await getOutcome("GET", "/admin/backups?kind=restore", { as })).toBe("422 validation_error query.kind");
    },
  ],
  [
    "POST admin/backups, POST admin/backups/{id}/verify, POST admin/backups/drill: 202 with the run, one after the other",
    async () => {
      await using folder = await temporaryFolder();
      await using server = await harness({ BACKUP_TO: folder.path }, { drillCommand: PROVING_DRILL });
      const as = await startSession(server, await createAdmin(server));
      const read = () => as.must<{ running: unknown; last_proven_restore: unknown }>("GET", "/api/v1/admin/backups");
      const start = async (path: string): Promise<string> => {
        const { status, body } = await as.call<{ id: string }>("POST", `/api/v1/admin/backups${path}`);
        expect([path, status, listErrors(adminSchemas.backupRun, body)]).toEqual([path, 202, []]);
        return body.id;
      };
      const ended = (what: string) =>
        until(`the end of ${what}`, async () => (await read()).running === null, PATIENCE_MS / 1000);
      // That of last night was missed.
      const isProven = async () => (await read()).last_proven_restore !== null;
      await until("the nightly backup and its drill", isProven, PATIENCE_MS / 1000);
      await ended("the drill");
      const backup = await start("");
      await ended("the backup");
      await start(`/${backup}/verify`);
      await ended("the verification");
      await start("/drill");
    },
  ],
];
