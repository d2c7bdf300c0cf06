/** An API client for tests, with the calls that most tests start with. */
import { until } from "../until";
import type { Asset, AssetDetail, Cut, Project, Render } from "./resources";

export type Reply<T> = { status: number; headers: Headers; body: T };
export type CallOptions = { json?: unknown; body?: BodyInit | undefined; headers?: Record<string, string> };

export type UploadOptions = { projectId?: string; filename?: string; externalId?: string; language?: string };

export type Client = ReturnType<typeof createClient>;

/** Calls of all clients in this process, for tests that check that no route was forgotten. */
export const callLog: { method: string; path: string; status: number }[] = [];

const base64 = (text: string) => Buffer.from(text).toString("base64");
const SETTLED = ["ready", "pending_payment", "failed"];
const ENDED = ["completed", "failed", "cancelled"];

/**
 * Creates a client of the server at `url`. `key` null sends no authorization. `patienceSeconds`: how long a job may
 * take.
 */
export function createClient(url: () => string, key: string | null, userId: string, patienceSeconds = 60) {
  async function call<T = unknown>(method: string, path: string, options: CallOptions = {}): Promise<Reply<T>> {
    const body = options.json === undefined ? options.body : JSON.stringify(options.json);
    const answer = await fetch(path.startsWith("http") ? path : `${url()}${path}`, {
      method,
      body: body ?? null,
      redirect: "manual",
      headers: {
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(options.json === undefined ? {} : { "Content-Type": "application/json" }),
        ...options.headers,
      },
    });
    callLog.push({ method, path: new URL(answer.url).pathname, status: answer.status });
    const type = answer.headers.get("content-type") ?? "";
    // A stream of events does not end.
    if (type === "text/event-stream") await answer.body?.cancel();
    const text = type === "text/event-stream" ? "" : await answer.text();
    const isJson = text !== "" && type.startsWith("application/json");
    return { status: answer.status, headers: answer.headers, body: (isJson ? JSON.parse(text) : text) as T };
  }

  /** Returns the body of a call. Throws unless it succeeds. */
  async function must<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const reply = await call<T>(method, path, options);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  /** Waits until the result of `read` has one of the states. */
  async function untilState<T extends { state: string; progress?: number | null }>(
    what: string,
    states: string[],
    read: () => Promise<T>,
  ): Promise<T> {
    let seen = "";
    const look = async () => {
      const found = await read();
      const { state, progress } = found;
      seen = progress == null ? state : `${state}, progress ${progress}`;
      return states.includes(state) ? found : null;
    };
    return until(what, look, patienceSeconds, true).catch((error: Error) => {
      throw new Error(`${error.message}: ${seen}`, { cause: error });
    });
  }

  const tus = (headers: Record<string, string> = {}) => ({ "Tus-Resumable": "1.0.0", ...headers });

  const client = {
    userId,
    key,
    call,
    must,
    /** Adds the headers of a TUS request. */
    tus,
    project: (name = "Project") => must<Project>("POST", "/v1/projects", { json: { name } }),
    /** Creates an asset, by default in a new project. */
    open: async (sizeBytes: number, options: UploadOptions = {}): Promise<Asset> => {
      const projectId = options.projectId ?? (await client.project()).id;
      const metadata = [
        ...(options.filename === undefined ? [] : [`filename ${base64(options.filename)}`]),
        ...(options.externalId === undefined ? [] : [`external_id ${base64(options.externalId)}`]),
      ].join(",");
      return must<Asset>("POST", "/v1/assets", {
        json: {
          project_id: projectId,
          size_bytes: sizeBytes,
          ...(options.language ? { language: options.language } : {}),
        },
        headers: metadata ? { "Upload-Metadata": metadata } : {},
      });
    },
    /** Sends bytes to an upload. */
    patch: (id: string, offset: number, bytes: BodyInit, headers: Record<string, string> = {}) =>
      call("PATCH", `/v1/uploads/${id}`, {
        body: bytes,
        headers: tus({
          "Content-Type": "application/offset+octet-stream",
          "Upload-Offset": String(offset),
          ...headers,
        }),
      }),
    /** Uploads a file without waiting for its preparation. */
    upload: async (bytes: Uint8Array, options: UploadOptions = {}): Promise<string> => {
      const { id } = await client.open(bytes.byteLength, options);
      const sent = await client.patch(id, 0, bytes as Uint8Array<ArrayBuffer>);
      if (sent.status !== 204) throw new Error(`upload: ${sent.status} ${JSON.stringify(sent.body)}`);
      return id;
    },
    asset: (id: string) => must<AssetDetail>("GET", `/v1/assets/${id}`),
    /** Waits for the end of the preparation, whether it succeeds or fails. */
    prepared: (id: string) => untilState<AssetDetail>(`preparation of ${id}`, SETTLED, () => client.asset(id)),
    ready: async (bytes: Uint8Array, options: UploadOptions = {}): Promise<AssetDetail> => {
      const asset = await client.prepared(await client.upload(bytes, options));
      if (asset.state !== "ready")
        throw new Error(`asset is ${asset.state}: ${asset.error_code}: ${asset.error_message}`);
      return asset;
    },
    cut: (id: string) => must<Cut>("GET", `/v1/cuts/${id}`),
    startCut: (json: Record<string, unknown>) => must<Cut>("POST", "/v1/cuts", { json }),
    cutEnded: (id: string) => untilState<Cut>(`cut ${id}`, ENDED, () => client.cut(id)),
    render: (id: string) => must<Render>("GET", `/v1/renders/${id}`),
    startRender: (json: Record<string, unknown>) => must<Render>("POST", "/v1/renders", { json }),
    renderEnded: (id: string) => untilState<Render>(`render ${id}`, ENDED, () => client.render(id)),
  };
  return client;
}
