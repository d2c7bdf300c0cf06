/** Compresses what is stored beside the plan of a cut, so that the plan can be explained and assembled again. */
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { type JudgedPlan, judgePlan } from "../../domain/pacing/judge-plan";
import { decodeBasis, encodeBasis, type StoredBasis } from "../../domain/pacing/stored-basis";
import type { PlanJson } from "../../domain/plan-json";

/** Above this, a stored basis is damaged: that of a recording of a day has a tenth. */
const MAX_BASIS_BYTES = 64 * 1024 * 1024;

/** Returns the compressed basis in base64. */
export function packBasis(basis: StoredBasis, plan: PlanJson): string {
  const json = Buffer.from(encodeBasis(basis, plan));
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: json.length,
    [constants.BROTLI_PARAM_QUALITY]: 9,
  };
  return brotliCompressSync(json, { params }).toString("base64");
}

/** Returns the basis of a plan; null without one, and when it is damaged. */
export function unpackBasis(packed: string | null, plan: PlanJson): StoredBasis | null {
  if (packed === null) return null;
  try {
    const json = brotliDecompressSync(Buffer.from(packed, "base64"), { maxOutputLength: MAX_BASIS_BYTES });
    return decodeBasis(json.toString(), plan);
  } catch {
    return null;
  }
}

/** Returns the plan of a cut with the confidence of its removals and with its marks. */
export const judgeCut = ({ basis }: { basis: string | null }, plan: PlanJson): JudgedPlan =>
  judgePlan(plan, unpackBasis(basis, plan)?.spans ?? null);
