/** The assets and renders with files, and the data that a check or a drill needs. */
import { and, asc, eq, gt, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import type { RenderCandidate } from "../domain/drill";
import type { MediaInfo } from "../domain/media";
import type { AssetFiles, RenderFiles } from "../domain/scrub";
import { nameAsset } from "./assets";
import type { Queries } from "./db";
import { readValue } from "./rows";
import { assets, renders } from "./schema";
import { hasOwnFile } from "./storage";

/** An owner of files. `info`: the probe result of an asset. `duration`: of a render's recording, in ticks. */
export type StoredOwner = { workspaceId: string; label: string | null; info: MediaInfo | null } & (
  | AssetFiles
  | RenderFiles
);

const ASSET_COLUMNS = {
  id: assets.id,
  workspaceId: assets.workspace_id,
  label: nameAsset(),
  info: assets.info,
  assetKind: assets.kind,
  state: assets.state,
  bytes: assets.upload_length,
  hasTranscript: assets.has_transcript,
  hasPoster: assets.has_poster,
  hasWaveform: assets.has_waveform,
};

const toAsset = (row: Omit<StoredOwner & AssetFiles, "kind" | "hasProbed">): StoredOwner => ({
  kind: "asset",
  ...row,
  hasProbed: row.info !== null,
});

const RENDER_COLUMNS = {
  id: renders.id,
  workspaceId: renders.workspace_id,
  state: renders.state,
  bytes: renders.size_bytes,
  resolved: renders.resolved,
};

type RenderRow = Omit<RenderFiles, "kind" | "format"> & { workspaceId: string; resolved: { format: string } };

const toRender = ({ resolved, ...row }: RenderRow): StoredOwner => ({
  kind: "render",
  ...row,
  label: null,
  info: null,
  format: resolved.format,
});

/** Lists assets with their own file, after this ID. */
export async function listAssetOwners(db: Queries, afterId: string, limit: number): Promise<StoredOwner[]> {
  const rows = await db
    .select(ASSET_COLUMNS)
    .from(assets)
    .where(and(gt(assets.id, afterId), hasOwnFile))
    .orderBy(asc(assets.id))
    .limit(limit);
  return rows.map(toAsset);
}

/** Lists renders, after this ID. */
export async function listRenderOwners(db: Queries, afterId: string, limit: number): Promise<StoredOwner[]> {
  const rows = await db
    .select(RENDER_COLUMNS)
    .from(renders)
    .where(gt(renders.id, afterId))
    .orderBy(asc(renders.id))
    .limit(limit);
  return rows.map(toRender);
}

/** Returns the asset or render with files that has this ID, or null. */
export async function findOwner(db: Queries, kind: "asset" | "render", id: string): Promise<StoredOwner | null> {
  if (kind === "render") {
    const [row] = await db.select(RENDER_COLUMNS).from(renders).where(eq(renders.id, id)).limit(1);
    return row ? toRender(row) : null;
  }
  const [row] = await db
    .select(ASSET_COLUMNS)
    .from(assets)
    .where(and(eq(assets.id, id), hasOwnFile))
    .limit(1);
  return row ? toAsset(row) : null;
}

export const isAnyJobRunning = async (db: Queries): Promise<boolean> =>
  (await readValue(db, sql`SELECT EXISTS (SELECT 1 FROM steps WHERE state = 'running')`)) === 1;

/** Lists the file of each complete recording and render. Paths are relative to the data folder. */
export async function listStoredFiles(db: Queries): Promise<{ path: string; bytes: number }[]> {
  const sources = await db
    .select({ id: assets.id, bytes: assets.upload_length })
    .from(assets)
    .where(
      and(
        isNull(assets.cut_id),
        isNull(assets.render_id),
        inArray(assets.state, ["ready", "processing", "pending_payment"]),
      ),
    );
  const finished = await db
    .select({ id: renders.id, bytes: renders.size_bytes, resolved: renders.resolved })
    .from(renders)
    .where(and(eq(renders.state, "completed"), isNotNull(renders.size_bytes)));
  return [
    ...sources.map(({ id, bytes }) => ({ path: `media/${id}/source`, bytes })),
    ...finished.map(({ id, bytes, resolved }) => ({ path: `renders/${id}/output.${resolved.format}`, bytes: bytes! })),
  ];
}

/** Lists completed renders, those of the shortest recordings first. */
export async function listCompletedRenders(db: Queries, limit: number): Promise<RenderCandidate[]> {
  const rows = await db
    .select({
      id: renders.id,
      cutId: renders.cut_id,
      resolved: renders.resolved,
      encodedShare: renders.encoded_share,
      madeWith: renders.made_with,
      duration: assets.duration,
    })
    .from(renders)
    .innerJoin(assets, eq(assets.id, renders.asset_id))
    .where(and(eq(renders.state, "completed"), isNotNull(assets.duration)))
    .orderBy(asc(assets.duration), asc(renders.id))
    .limit(limit);
  return rows.map(({ id, cutId, resolved, duration, ...facts }) => ({
    id,
    isCut: cutId !== null,
    isVideo: resolved.video !== null,
    duration: duration!,
    ...facts,
  }));
}
