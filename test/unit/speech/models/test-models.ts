/** Models for tests: small files in the format of real models, and a fake hub. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { CatalogModel } from "../../../../src/speech/models/catalog";
import { formatManifest, MANIFEST_NAME, type ModelManifest } from "../../../../src/speech/models/manifest";

export type Bytes = Uint8Array<ArrayBuffer>;

export const sha256 = (data: Uint8Array | string): string => new Bun.CryptoHasher("sha256").update(data).digest("hex");

/** Returns bytes that do not repeat. */
export function noise(length: number, seed = 1): Bytes {
  let state = seed;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 16;
  });
}

export const FILES: Record<string, Bytes> = {
  "tiny-encoder.onnx": noise(300_000, 1),
  "tiny-decoder.onnx": noise(120_000, 2),
  "tiny-tokens.txt": new TextEncoder().encode("a 0\nb 1\n"),
};

const ROLE_OF: Record<string, "encoder" | "decoder" | "tokens"> = {
  "tiny-encoder.onnx": "encoder",
  "tiny-decoder.onnx": "decoder",
  "tiny-tokens.txt": "tokens",
};

/** Returns a catalog with one small Whisper model, whose files the hub at `hub` serves. */
export function smallCatalog(hub = "http://127.0.0.1:9", files = FILES): CatalogModel[] {
  const described = Object.entries(files).map(([name, data]) => ({
    role: ROLE_OF[name]!,
    name,
    sizeBytes: data.length,
    sha256: sha256(data),
  }));
  const urls = Object.fromEntries(Object.keys(files).map((name) => [name, `${hub}/upstream/${name}`]));
  const about = { title: "Small", licence: "MIT", source: "here", preference: 40 };
  return [{ ...about, name: "small", kind: "whisper", languages: ["en", "de", "fr"], files: described, urls }];
}

/** Writes the files of a model into a new folder and returns its path. */
export async function modelFolder(
  parent: string,
  name: string,
  files: Record<string, Uint8Array | string> = FILES,
): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder, { recursive: true });
  for (const [file, data] of Object.entries(files)) await Bun.write(join(folder, file), data);
  return folder;
}

/** Creates an installed model with tiny files. */
export async function installed(modelsDir: string, facts: Partial<ModelManifest> & { name: string }): Promise<void> {
  const kind = facts.kind ?? "whisper";
  const roles = {
    whisper: ["encoder", "decoder", "tokens"],
    transducer: ["encoder", "decoder", "joiner", "tokens"],
  } as const;
  const files = (
    kind === "transducer" ? roles.transducer : kind === "whisper" ? roles.whisper : (["model", "tokens"] as const)
  ).map((role) => ({ role, name: `${role}.onnx`, sizeBytes: 4, sha256: sha256(role.slice(0, 4)) }));
  const manifest: ModelManifest = {
    title: facts.name,
    languages: ["de"],
    licence: "MIT",
    source: "here",
    preference: 50,
    files,
    ...facts,
    kind,
  };
  const contents = Object.fromEntries(manifest.files.map((file) => [file.name, file.role.slice(0, 4)]));
  await modelFolder(modelsDir, facts.name, { ...contents, [MANIFEST_NAME]: formatManifest(manifest) });
}

export type Hub = AsyncDisposable & {
  url: string;
  /** Path and range of each request. */
  requests: { path: string; range: string | null; ifRange: string | null }[];
};

/**
 * Starts a hub that serves `FILES` under any folder, with ranges and an ETag. `answer` may return another response
 * (null: the default).
 */
export function startHub(
  answer: (request: Request, data: Bytes, count: number) => Response | null | Promise<Response | null> = () => null,
  files: Record<string, Bytes> = FILES,
): Hub {
  const requests: Hub["requests"] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    reusePort: false,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      const { headers } = request;
      requests.push({ path, range: headers.get("range"), ifRange: headers.get("if-range") });
      const data = files[path.split("/").at(-1)!];
      const special = await answer(request, data ?? new Uint8Array(0), requests.length);
      if (special) return special;
      return data ? ranged(request, data) : new Response("nothing here", { status: 404 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** Returns the response of a well-behaved server. */
export function ranged(request: Request, data: Bytes): Response {
  const etag = `"${sha256(data).slice(0, 16)}"`;
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "")?.[1] ?? 0);
  const ifRange = request.headers.get("if-range");
  if (from === 0 || (ifRange !== null && ifRange !== etag)) return new Response(data, { headers: { etag } });
  const range = `bytes ${from}-${data.length - 1}/${data.length}`;
  const part = data.slice(from);
  return new Response(part, { status: 206, headers: { etag, "content-range": range } });
}

/**
 * Starts a server that announces the full length, sends `sent` bytes from the requested offset and closes the
 * connection when these have arrived, which `onBytes` reports. `Bun.serve` cannot do that.
 */
export function startCuttingHub(data: Uint8Array, sent: number): Hub & { onBytes(bytes: number): void } {
  const requests: Hub["requests"] = [];
  let serving: { socket: Bun.Socket<{ left: Uint8Array }>; until: number } | null = null;
  const push = (socket: Bun.Socket<{ left: Uint8Array }>) => {
    const count = socket.write(socket.data.left);
    socket.data.left = socket.data.left.subarray(Math.max(0, count));
  };
  const server = Bun.listen<{ left: Uint8Array }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        const text = bytes.toString();
        const header = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(text)?.[1]?.trim() ?? null;
        const range = header("range");
        requests.push({ path: text.split(" ")[1] ?? "", range, ifRange: header("if-range") });
        const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
        const status = from > 0 ? "206 Partial Content" : "200 OK";
        const about = from > 0 ? `content-range: bytes ${from}-${data.length - 1}/${data.length}\r\n` : "";
        const head = `HTTP/1.1 ${status}\r\netag: "fixed"\r\ncontent-length: ${data.length - from}\r\n${about}\r\n`;
        socket.data = { left: Buffer.concat([Buffer.from(head), data.slice(from, from + sent)]) };
        serving = { socket, until: from + sent };
        push(socket);
      },
      drain: push,
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    onBytes(bytes) {
      if (serving && bytes >= serving.until) serving.socket.end();
    },
    [Symbol.asyncDispose]: async () => server.stop(true),
  };
}
