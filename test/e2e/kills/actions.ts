/** Actions of clients while the server is killed, and the results that it has acknowledged. */
import type { Client } from "../../http/client";
import { requestExport } from "../../http/exports";
import { video, wav } from "../../http/media";
import type { Asset, Paged } from "../../http/resources";
import { sendToLink } from "../../http/upload-clients";
import type { Random } from "../../random";
import { until } from "../../until";

export const PATIENCE_SECONDS = 120;

/**
 * Requests to which the server has responded with success: recordings by ID with their bytes, deleted ones, and exports
 * by ID.
 */
export type Acknowledged = { recordings: Map<string, Uint8Array>; deleted: Set<string>; exports: Set<string> };

/** A recording that is long enough for the measuring pass of a render to be killed, and its renders. */
export type LoudRenders = { assetId: string; ids: string[] };

/** `user` has webhook endpoints and keeps everything; `other` deletes its recordings again. */
export type Clients = { user: Client; other: Client; acknowledged: Acknowledged; loud: LoudRenders };

export const LOUDNESS = -16;

const MODES = ["tight", "natural", "loose"];
const FORMATS = ["mp3", "m4a", "mp4"];
const pick = <T>(random: Random, values: readonly T[]): T => values[random(values.length)]!;

/** Sends the requests of a round. The server may be killed at any moment. `n` counts the rounds. */
export async function sendRequests({ user, acknowledged }: Clients, random: Random, n: number): Promise<void> {
  const [mode, format] = [pick(random, MODES), pick(random, FORMATS)];
  const [uploads, chains, cancels, deletes] = [random(2) === 0, random(2) === 0, random(2) === 0, random(10) === 0];
  if (uploads || n === 0) {
    const bytes = (format === "mp4" ? await video(1) : await wav(1 + (n % 3))) as Uint8Array<ArrayBuffer>;
    const id = n % 2 === 0 ? await user.upload(bytes) : await sendToLink(user, bytes);
    acknowledged.recordings.set(id, bytes);
  }
  const { items } = await user.must<Paged<Asset>>("GET", "/v1/assets?state=ready&limit=100");
  const asset = items[n % Math.max(1, items.length)];
  if (!asset) return;
  if (chains) {
    const options = { mode, min_silence_seconds: 1 + n / 1_000 };
    const steps = [
      { processor_name: "cut", params: { options } },
      { processor_name: "render", params: { output: { format: "mp3", audio_bitrate: 64_000 + n } } },
    ];
    await user.must("POST", "/api/v1/pipelines", { json: { input_asset_id: asset.id, steps } });
  }
  // Numbers that no earlier round used, so that each cut and render is new.
  const cut = await user.startCut({ asset_id: asset.id, options: { mode, min_silence_seconds: 0.2 + n / 1_000 } });
  const output = { format: asset.type === "video" ? format : "mp3", audio_bitrate: 64_000 + n };
  const render = await user.startRender({ asset_id: asset.id, output });
  if (cancels) await user.call("POST", `/v1/renders/${render.id}/cancel`);
  if (deletes) await user.call("DELETE", `/v1/cuts/${cut.id}`);
}

/** Uploads a recording of the other user and deletes its older ones. */
export async function replaceRecordings({ other, acknowledged }: Clients): Promise<void> {
  const { items } = await other.must<Paged<Asset>>("GET", "/v1/assets?limit=100");
  await other.upload(await wav(1));
  for (const { id } of items) {
    await other.must("DELETE", `/v1/assets/${id}`);
    acknowledged.deleted.add(id);
  }
}

/** Uploads until a recording is probed, and not yet prepared. */
export async function startPreparation({ user, acknowledged }: Clients): Promise<void> {
  await until(
    "a preparation that runs",
    async () => {
      const bytes = await wav(3);
      const id = await user.upload(bytes);
      acknowledged.recordings.set(id, bytes);
      const probed = async () => {
        const asset = await user.asset(id);
        return asset.duration_seconds === null && asset.state !== "failed" ? null : asset;
      };
      return (await until("a measured duration", probed, PATIENCE_SECONDS)).state === "processing";
    },
    PATIENCE_SECONDS,
  );
}

/** Starts a render that measures its samples first and keeps them in a file. */
export async function startLoudRender({ user, loud }: Clients): Promise<void> {
  const audio = { loudness_lufs: LOUDNESS - loud.ids.length / 1_000, noise_reduction: "light" };
  const { id } = await user.startRender({ asset_id: loud.assetId, output: { format: "m4a", audio } });
  loud.ids.push(id);
}

export async function startExport({ user, acknowledged }: Clients): Promise<void> {
  const { status, body } = await requestExport(user, "?media=true");
  if (status === 202) acknowledged.exports.add(body.id);
}

export type PartialUpload = { id: string; bytes: Uint8Array; offset: number; sent: Promise<unknown> };

/**
 * Sends half of a recording, and then a part that does not end. Null: the server was killed before the half was
 * acknowledged.
 */
export async function startUpload({ user }: Clients): Promise<PartialUpload | null> {
  const bytes = (await wav(4)) as Uint8Array<ArrayBuffer>;
  const offset = bytes.length >> 1;
  try {
    const { id } = await user.open(bytes.length);
    if ((await user.patch(id, 0, bytes.slice(0, offset))).status !== 204) return null;
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes.slice(offset, offset + 10_000)),
    });
    return { id, bytes, offset, sent: user.patch(id, offset, endless).catch(() => {}) };
  } catch {
    return null;
  }
}

/** Resumes an upload after a restart. Throws when the server has lost an acknowledged byte. */
export async function finishUpload(
  { user, acknowledged }: Clients,
  { id, bytes, offset }: PartialUpload,
): Promise<void> {
  const head = await user.call("HEAD", `/v1/uploads/${id}`, { headers: user.tus() });
  const found = Number(head.headers.get("upload-offset") ?? Number.NaN);
  if (!(found >= offset)) throw new Error(`upload ${id}: ${head.status}, ${found} of ${offset} acknowledged bytes`);
  const sent = await user.patch(id, found, bytes.slice(found) as Uint8Array<ArrayBuffer>);
  if (sent.status !== 204) throw new Error(`upload ${id}: ${sent.status} ${JSON.stringify(sent.body)}`);
  acknowledged.recordings.set(id, bytes);
}
