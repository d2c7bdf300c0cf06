/** Rows of the contract: the check of all files, and the actions of administrators on its findings. */
import { expect } from "bun:test";
import { rm } from "node:fs/promises";
import { wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import { scrub } from "../../http/scrub";
import * as adminSchemas from "../admin-schemas";
import { listErrors } from "../response-checks";
import { createAdminSession } from "./administration";
import type { DashboardRow } from "./dashboard-fixtures";

type Findings = { items: { id: string; path: string }[] };
type Resolved = { items: { id: string; state: string; error: string | null }[] };

export const storageFindingRows: DashboardRow[] = [
  [
    "GET admin/storage/findings?problem= lists damaged files; POST admin/storage/findings/resolve { action, ids } says for each whether it worked",
    async (fixtures) => {
      const { call, getOutcome, server } = fixtures;
      const [as, owner] = [await createAdminSession(fixtures), await server.user()];
      const { id } = await owner.ready(await wav(2));
      await rm(server.services().folders.media(id).source);
      await scrub(server, 0);
      // Other rows have recordings without files.
      const listMine = async () => {
        const page = await call<Findings>("GET", "/admin/storage/findings?problem=missing&limit=100", { as });
        expect(listErrors(adminSchemas.storageFindingPage, page.body)).toEqual([]);
        return page.body.items.filter(({ path }) => path.includes(id));
      };
      const mine = await listMine();
      expect(mine).toMatchObject([{ path: `media/${id}/source`, owner: { kind: "asset", id } }]);
      const checks = await call<{ open_findings: number }>("GET", "/admin/storage/checks", { as });
      expect([listErrors(adminSchemas.storageChecks, checks.body), checks.body.open_findings > 0]).toEqual([[], true]);
      const path = "/admin/storage/findings/resolve";
      const resolve = (action: string, ids: string[]) => call<Resolved>("POST", path, { json: { action, ids }, as });
      const finding = mine[0]!.id;
      const wrong = await resolve("delete_file", [finding, NO_ID]);
      expect(wrong.body.items).toMatchObject([
        { id: finding, state: "failed", error: "A file that is missing does not allow this." },
        { id: NO_ID, state: "failed", error: "Problem not found." },
      ]);
      expect((await resolve("accept", [finding])).body.items).toEqual([
        { id: finding, state: "resolved", error: null },
      ]);
      expect(await listMine()).toEqual([]);
      const audit = await call<{ total: number }>("GET", "/admin/audit?action=file.accepted", { as });
      expect(audit.body.total).toBe(1);
      for (const [json, field] of [
        [{ action: "restore", ids: [] }, "body.ids"],
        [{ action: "restore", ids: ["../secrets.json"] }, "body.ids.0"],
        [{ action: "erase", ids: [finding] }, "body.action"],
      ] as const)
        expect(await getOutcome("POST", path, { json, as })).toBe(`422 validation_error ${field}`);
      expect(await getOutcome("GET", "/admin/storage/findings?problem=odd", { as })).toBe(
        "422 validation_error query.problem",
      );
    },
  ],
];
