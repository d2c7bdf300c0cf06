import type { BasisJson } from "../../../src/domain/pacing/basis-json";
import type { PacingOptions } from "../../../src/domain/pacing/repace";
import { api, must } from "../../app/api";

/** What a cut was assembled from, and the options with which it was. */
export type Pacing = BasisJson & { options: PacingOptions };

/** Returns what other pacing needs; null for cuts of older versions. */
export async function fetchPacing(cutId: string, signal: AbortSignal): Promise<Pacing | null> {
  const params = { path: { cut_id: cutId } };
  const { pacing } = await must(api.GET("/api/v1/cuts/{cut_id}/explanation", { params, signal }));
  return pacing as Pacing | null;
}
