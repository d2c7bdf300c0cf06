/** The entries of drafts and share links. */
import { newId } from "../../../src/lib/ids";
import type { Cut } from "../resources";
import type { Entry, RequestContext } from "./entries";
import type { Fixtures } from "./fixtures";

const segmentsOf = ({ cut }: Fixtures) => {
  const { start, end } = cut.plan!.segments[0]!;
  return [{ start, end }];
};

/** Jobs do not run, so a new completed cut is an edit of the shared one. */
async function newEdit(fixtures: Fixtures): Promise<Record<string, string>> {
  const path = `/v1/cuts/${fixtures.ids.cut_id}/edits`;
  const { id } = await fixtures.owner.must<Cut>("POST", path, { json: { segments: segmentsOf(fixtures) } });
  return { cut_id: id };
}

const draft = ({ fixtures }: Pick<RequestContext, "fixtures">) => ({
  revision: 0,
  segments: segmentsOf(fixtures),
  texts: [],
});

async function newDraft(fixtures: Fixtures): Promise<Record<string, string>> {
  const ids = await newEdit(fixtures);
  await fixtures.owner.must("PUT", `/api/v1/cuts/${ids.cut_id}/draft`, { json: draft({ fixtures }) });
  return ids;
}

async function newExport({ owner, ids }: Fixtures): Promise<Record<string, string>> {
  const json = { asset_ids: [ids.asset_id], parts: ["srt"] };
  const { id } = await owner.must<{ id: string }>("POST", "/api/v1/exports", { json });
  return { export_id: id };
}

export const EDIT_ENTRIES: Record<string, Entry> = {
  "GET /cuts/:cut_id/draft": { allowed: "200", make: newDraft },
  "PUT /cuts/:cut_id/draft": { allowed: "200", body: draft, make: newEdit },
  "DELETE /cuts/:cut_id/draft": { allowed: "204", make: newDraft },
  "GET /search": { allowed: "200", query: "?q=alpha" },
  "POST /exports": {
    allowed: "201",
    body: ({ fixtures }) => ({ asset_ids: [fixtures.ids.asset_id], parts: ["srt"] }),
  },
  "GET /exports/:export_id": { allowed: "200", make: newExport },
  "GET /exports/:export_id/file": { allowed: "200", make: newExport },
  // Only the user who requested it finds it: the owner.
  "DELETE /exports/:export_id": {
    allowed: "404 not_found",
    allowedFor: ({ role }) => (role === "owner" ? "204" : undefined),
    make: newExport,
  },
  "GET /projects/:project_id/summary": { allowed: "200" },
  "GET /vocabulary": { allowed: "200" },
  "GET /vocabulary/common-form": { allowed: "200", query: "?text=the" },
  // No vocabulary has been saved.
  "PUT /vocabulary": { allowed: "409 conflict", body: () => ({ revision: 7, entries: [] }) },
  "GET /uploads/limits": { allowed: "200" },
  // The shared recording can be cut.
  "GET /assets/:asset_id/cut-after-upload": { allowed: "200" },
  "PUT /assets/:asset_id/cut-after-upload": { allowed: "409 conflict", body: () => ({ mode: null }) },
  "PATCH /assets/:asset_id": { allowed: "200", body: () => ({ name: "N", tags: ["t"] }) },
  "PATCH /cuts/:cut_id": { allowed: "200", body: () => ({ name: "N" }), make: newEdit },
  "GET /cuts/:cut_id/explanation": { allowed: "200", make: newEdit },
  "PUT /cuts/:cut_id/presence": { allowed: "200" },
  "DELETE /cuts/:cut_id/presence": { allowed: "204" },
  "GET /cuts/:cut_id/review": { allowed: "200", make: newEdit },
  "PATCH /cuts/:cut_id/review": { allowed: "200", body: () => ({ items: [] }), make: newEdit },
  // The shared render is pending.
  "GET /renders/:render_id/shares": { allowed: "200" },
  "DELETE /renders/:render_id/shares/:share_id": {
    allowed: "404 not_found",
    make: async () => ({ share_id: newId() }),
  },
  "POST /renders/:render_id/share": { allowed: "409 conflict", body: () => ({ expires_in_seconds: 3_600 }) },
};
