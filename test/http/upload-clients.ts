/** The calls with which tests upload through the dashboard family. */
import { startSession } from "./accounts";
import type { Client, Reply } from "./client";
import type { Harness } from "./harness";
import type { Asset } from "./resources";

export type SignedUpload = {
  asset: Asset;
  upload: { url: string; method: "PUT"; headers: { "Content-Type": string }; expires_at: string };
};
export type ResumableUpload = { asset: Asset; session_id: string; expires_at: string };

/** Returns an `Upload-Metadata` header. */
export const formatMetadata = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`)
    .join(",");

/** Creates a user with a session. */
export const createSessionUser = async (server: Harness, credits?: number): Promise<Client> =>
  startSession(server, await server.user(credits));

/** Creates a signed link. Throws unless it succeeds. */
export const createLink = (
  user: Client,
  json: Record<string, unknown> = { type: "audio" },
  headers: Record<string, string> = {},
): Promise<SignedUpload> => user.must<SignedUpload>("POST", "/api/v1/assets/upload-url", { json, headers });

/** Sends a file to a signed link, without a credential. */
export const put = async (server: Harness, url: string, body: BodyInit | null): Promise<Reply<{ code: string }>> =>
  server.nobody.call("PUT", url, { body: body ?? undefined, headers: { "Content-Type": "application/octet-stream" } });

/** Uploads a file through a signed link. Returns the asset's ID. */
export async function sendToLink(user: Client, body: BodyInit, type = "audio"): Promise<string> {
  const { asset, upload } = await createLink(user, { type });
  const { url, method, headers } = upload;
  const sent = await fetch(url, { method, headers, body });
  if (sent.status !== 204) throw new Error(`PUT: ${sent.status} ${await sent.text()}`);
  return asset.id;
}

/** Creates a resumable upload. */
export const createResumable = (user: Client, headers: Record<string, string> = {}): Promise<Reply<ResumableUpload>> =>
  user.call("POST", "/api/v1/assets/upload-resumable", { headers });
