/** The main files of recordings and renders according to their rows, and the renders that a drill may choose from. */
import { and, asc, eq, inArray, isNotNull, isNull } from "drizzle-orm";
import type { RenderCandidate } from "../domain/drill";
import type { Queries } from "./db";
import { assets, renders } from "./schema";

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
