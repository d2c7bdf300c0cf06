/** The `Upload-Metadata` header of TUS, with the client's details of the file. */
import { basename } from "node:path";
import { badRequest } from "../../domain/errors";
import { ASSET_KINDS, type AssetKind } from "../../domain/states";
import { isUuid } from "../../lib/ids";

const MAX_HEADER_CHARACTERS = 4_096;

/** The `Upload-Metadata` header, as the client sent it and parsed. */
export type UploadMetadata = { header: string | null; filename: string | null; externalId: string | null };

/**
 * Parses a TUS `Upload-Metadata` header (`key base64value,…`). The file name is reduced to its last path component.
 * Errors: `bad_request` for a value that is not base64, and for a header or an `external_id` that is too long.
 */
export function parseUploadMetadata(header: string | null): UploadMetadata {
  // It is stored with the asset and does not count towards the quota.
  if (header && header.length > MAX_HEADER_CHARACTERS)
    throw badRequest(`Upload-Metadata must have at most ${MAX_HEADER_CHARACTERS} characters.`);
  const values = parsePairs(header);
  const externalId = values.get("external_id") || null;
  if (externalId && ([...externalId].length > 256 || /\p{Cc}/u.test(externalId))) {
    throw badRequest("external_id must have at most 256 characters and no control characters.");
  }
  return { header, filename: toSafeBasename(values.get("filename") ?? ""), externalId };
}

/** The target of an upload that is created without a body. `projectId` null: the project "Inbox". */
export type UploadTarget = { kind: AssetKind; projectId: string | null; language: string | null };

/**
 * Parses the keys `project_id`, `language` and `type` of the header. Many clients send the media type of the file as
 * `type`, so every value but the kinds of finished files means a source. Errors: `bad_request`.
 */
export function parseUploadTarget(header: string | null): UploadTarget {
  const values = parsePairs(header);
  const projectId = values.get("project_id") || null;
  if (projectId !== null && !isUuid(projectId)) throw badRequest("project_id in Upload-Metadata must be a UUID.");
  const language = values.get("language") || null;
  if (language !== null && !/^[A-Za-z]{2}$/.test(language))
    throw badRequest("language in Upload-Metadata must be a 2-letter ISO 639-1 code.");
  const type = values.get("type");
  return {
    kind: ASSET_KINDS.find((kind) => kind === type) ?? "source",
    projectId: projectId?.toLowerCase() ?? null,
    language: language?.toLowerCase() ?? null,
  };
}

/** Returns the values by their keys. Throws `AppError` `bad_request`. */
function parsePairs(header: string | null): Map<string, string> {
  const values = new Map<string, string>();
  for (const pair of (header ?? "")
    .split(",")
    .map((p) => p.trim())
    .filter(Boolean)) {
    const [key = "", value = "", ...more] = pair.split(/\s+/);
    if (more.length > 0 || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) {
      throw badRequest("Upload-Metadata must be a list of keys with base64 values.");
    }
    values.set(key, Buffer.from(value, "base64").toString("utf8"));
  }
  return values;
}

/** Control characters, line separators, and direction marks, which can disguise a file extension. */
const UNSAFE_IN_NAMES = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Returns the last component of a path of any operating system, without control characters; null when nothing is left.
 */
export function toSafeBasename(name: string): string | null {
  const clean = basename(name.replaceAll("\\", "/").replace(UNSAFE_IN_NAMES, "")).trim();
  if (!clean || clean === "." || clean === "..") return null;
  // Split by code points, so that no surrogate pair is cut in half.
  return [...clean].slice(0, 255).join("");
}
