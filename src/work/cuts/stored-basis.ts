/** Packs the data stored beside the plan of a cut, so that the plan can be explained and assembled again. */
import { brotliDecompressSync, crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { type JudgedPlan, judgePlan } from "../../domain/pacing/judge-plan";
import { decodeOlderBasis } from "../../domain/pacing/older-basis";
import { decodeBasis, encodeBasis, type StoredBasis } from "../../domain/pacing/stored-basis";
import type { PlanJson } from "../../domain/plan-json";
import type { EditedText } from "../../domain/plan-texts";

/** Size above which a stored basis is damaged. The basis of a recording of a day has a tenth. */
const MAX_BASIS_BYTES = 64 * 1024 * 1024;

/** The first byte. No basis of the older version, which was compressed JSON, starts with it. */
const VERSION = 2;
/** The first byte where a cut has no basis, such as one by hand, but corrected texts, as compressed JSON. */
const TEXTS_VERSION = 3;
/** The version and a checksum of two bytes come before the basis or the texts. */
const HEADER_BYTES = 3;

/** Returns the packed basis in base64, the form in which processes send it. The database stores its bytes. */
export function packBasis(basis: StoredBasis, plan: PlanJson): string {
  return pack(VERSION, encodeBasis(basis, plan));
}

function pack(version: number, bytes: Uint8Array): string {
  const packed = Buffer.alloc(HEADER_BYTES + bytes.length);
  packed.writeUInt8(version);
  packed.writeUInt16BE(checksum(bytes), 1);
  packed.set(bytes, HEADER_BYTES);
  return packed.toString("base64");
}

/** Returns corrected texts as they are stored in the place of a basis; null without texts. */
export const packTexts = (texts: readonly EditedText[]): string | null =>
  texts.length === 0 ? null : pack(TEXTS_VERSION, deflateRawSync(JSON.stringify(texts)));

/** Returns the corrected texts of all edits so far; null when they are damaged. */
export function unpackTexts(packed: string | null, plan: PlanJson): EditedText[] | null {
  if (packed === null) return [];
  if (hasBasis(packed)) return unpackBasis(packed, plan)?.texts ?? null;
  try {
    const bytes = unpack(Buffer.from(packed, "base64"));
    if (bytes === null) return null;
    const texts: unknown = JSON.parse(inflateRawSync(bytes, { maxOutputLength: MAX_BASIS_BYTES }).toString());
    return Array.isArray(texts) && texts.every(isEditedText) ? texts : null;
  } catch {
    return null;
  }
}

const isEditedText = (one: Partial<EditedText> | null): boolean =>
  typeof one?.start === "number" && typeof one.end === "number" && typeof one.text === "string";

/** Returns whether more than corrected texts is stored. */
export const hasBasis = (packed: string): boolean => Buffer.from(packed.slice(0, 4), "base64")[0] !== TEXTS_VERSION;

/** Returns the basis of a plan; null without one, and when it is damaged. */
export function unpackBasis(packed: string | null, plan: PlanJson): StoredBasis | null {
  if (packed === null) return null;
  try {
    const bytes = Buffer.from(packed, "base64");
    if (bytes[0] !== VERSION) return unpackOlder(bytes, plan);
    const basis = unpack(bytes);
    return basis && decodeBasis(basis, plan);
  } catch {
    return null;
  }
}

/** Returns the bytes after the header; null if their checksum is another. */
function unpack(packed: Buffer): Buffer | null {
  const bytes = packed.subarray(HEADER_BYTES);
  return packed.readUInt16BE(1) === checksum(bytes) ? bytes : null;
}

const unpackOlder = (packed: Buffer, plan: PlanJson): StoredBasis | null =>
  decodeOlderBasis(brotliDecompressSync(packed, { maxOutputLength: MAX_BASIS_BYTES }).toString(), plan);

const checksum = (bytes: Uint8Array): number => crc32(bytes) & 0xffff;

/** Returns the plan of a cut with the confidence of its removals and with its marks. */
export const judgeCut = ({ basis }: { basis: string | null }, plan: PlanJson): JudgedPlan =>
  judgePlan(plan, unpackBasis(basis, plan)?.spans ?? null);
