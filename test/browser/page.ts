/** Code inside the page: uploads to a transfer URL, as in a web application of another origin. */
import Uppy from "@uppy/core";
import Tus from "@uppy/tus";
import { Upload } from "tus-js-client";

type Opened = { id: string; upload_url: string };
type Target = { url: string; key: string; projectId: string };

const CHUNK_BYTES = 20_000;

async function open(target: Target, sizeBytes: number): Promise<Opened> {
  const answer = await fetch(`${target.url}/v1/assets`, {
    method: "POST",
    headers: { Authorization: `Bearer ${target.key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ project_id: target.projectId, size_bytes: sizeBytes }),
  });
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
  const asset = (await answer.json()) as Opened;
  // The headers that a page of another origin may read.
  if (answer.headers.get("location") !== asset.upload_url) throw new Error("Location cannot be read");
  if (!answer.headers.get("x-request-id")) throw new Error("X-Request-Id cannot be read");
  return asset;
}

/** One run of tus-js-client; it is aborted once `stopAt` bytes are accepted. Returns the number of accepted bytes. */
function send(target: Target, asset: Opened, file: Blob, stopAt: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(file, {
      uploadUrl: asset.upload_url,
      headers: { Authorization: `Bearer ${target.key}` },
      chunkSize: CHUNK_BYTES,
      retryDelays: [],
      onError: reject,
      onChunkComplete: (_, accepted) => {
        if (accepted < stopAt) return;
        void upload.abort();
        resolve(accepted);
      },
      onSuccess: () => resolve(file.size),
    });
    upload.start();
  });
}

const offcut = {
  /** tus-js-client: half of it, then another run that resumes from there. Returns the asset's ID. */
  withTusClient: async (target: Target, file: Blob): Promise<string> => {
    const asset = await open(target, file.size);
    const accepted = await send(target, asset, file, file.size / 2);
    if (accepted >= file.size) throw new Error("it was not broken off");
    await send(target, asset, file, Number.POSITIVE_INFINITY);
    return asset.id;
  },
  /** Uppy with its tus plugin. Returns the asset's ID. */
  withUppy: async (target: Target, file: Blob): Promise<string> => {
    const asset = await open(target, file.size);
    const uppy = new Uppy().use(Tus, {
      endpoint: `${target.url}/v1/uploads`,
      headers: { Authorization: `Bearer ${target.key}` },
      chunkSize: CHUNK_BYTES,
      retryDelays: [],
    });
    const id = uppy.addFile({ name: "take.wav", type: "audio/wav", data: file });
    uppy.setFileState(id, { tus: { uploadUrl: asset.upload_url } });
    const result = await uppy.upload();
    if (result?.successful?.length !== 1) throw new Error(result?.failed?.[0]?.error ?? "Uppy did not upload");
    return asset.id;
  },
  /** Uppy with its tus plugin, which also creates the upload. Returns the asset's ID. */
  withUppyAlone: async (target: Target, file: Blob): Promise<string> => {
    const uppy = new Uppy({ meta: { project_id: target.projectId } }).use(Tus, {
      endpoint: `${target.url}/api/v1/assets/upload-resumable`,
      headers: { Authorization: `Bearer ${target.key}` },
      chunkSize: CHUNK_BYTES,
      retryDelays: [],
    });
    uppy.addFile({ name: "take.wav", type: "audio/wav", data: file });
    const result = await uppy.upload();
    const [sent] = result?.successful ?? [];
    if (!sent?.uploadURL) throw new Error(result?.failed?.[0]?.error ?? "Uppy did not upload");
    return sent.uploadURL.split("/").at(-1)!;
  },
  /** A signed link, with `fetch`. Returns the asset's ID. */
  withSignedLink: async (target: Target, file: Blob): Promise<string> => {
    const created = await fetch(`${target.url}/api/v1/assets/upload-url`, {
      method: "POST",
      headers: { Authorization: `Bearer ${target.key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ type: "audio", content_type: "audio/wav", project_id: target.projectId }),
    });
    const { asset, upload } = (await created.json()) as {
      asset: Opened;
      upload: { url: string; method: string; headers: Record<string, string> };
    };
    const { url, method, headers } = upload;
    const sent = await fetch(url, { method, headers, body: file });
    if (sent.status !== 204) throw new Error(`${sent.status} ${await sent.text()}`);
    return asset.id;
  },
};

Object.assign(window, { offcut });
export type Offcut = typeof offcut;
