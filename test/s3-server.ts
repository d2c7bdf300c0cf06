/** An S3 server with one bucket, behind a proxy that records requests and can answer in its place. */
import S3rver from "s3rver";
import { temporaryFolder } from "./temporary-folder";

export type S3Request = { method: string; key: string; bytes: number; query: URLSearchParams };

export type S3Server = AsyncDisposable & {
  /** The environment variables of a client. */
  env: Record<string, string>;
  /** Requests that reached the bucket, in order. */
  requests: S3Request[];
  client: Bun.S3Client;
  /** Returns the response to a request; null: the bucket answers. */
  intercept: (request: S3Request) => Response | null | Promise<Response | null>;
  /** Returns the keys in the bucket. */
  keys(prefix?: string): Promise<string[]>;
};

export const BUCKET = "backups";

/** Starts an S3 server. */
export async function startS3Server(): Promise<S3Server> {
  const folder = await temporaryFolder();
  const upstream = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: folder.path,
    configureBuckets: [{ name: BUCKET, configs: [] }],
  });
  correctStore(upstream);
  const { port } = await upstream.run();
  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const url = new URL(request.url);
      const key = decodeURIComponent(url.pathname).replace(`/${BUCKET}/`, "");
      const body = await request.arrayBuffer();
      const description = { method: request.method, key, bytes: body.byteLength, query: url.searchParams };
      const replaced = await server.intercept(description);
      if (replaced !== null) return replaced;
      server.requests.push(description);
      const { method, headers } = request;
      return fetch(`http://127.0.0.1:${port}${url.pathname}${url.search}`, {
        method,
        headers,
        ...(method === "PUT" || method === "POST" ? { body } : {}),
      });
    },
  });
  const env = {
    AWS_ACCESS_KEY_ID: "S3RVER",
    AWS_SECRET_ACCESS_KEY: "S3RVER",
    AWS_REGION: "us-east-1",
    AWS_ENDPOINT_URL: `http://127.0.0.1:${proxy.port}`,
  };
  const client = new Bun.S3Client({
    accessKeyId: env.AWS_ACCESS_KEY_ID,
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY,
    endpoint: `http://127.0.0.1:${port}`,
    region: env.AWS_REGION,
    bucket: BUCKET,
  });
  const server: S3Server = {
    env,
    requests: [],
    client,
    intercept: () => null,
    keys: async (prefix = "") => (await client.list({ prefix })).contents?.map(({ key }) => key) ?? [],
    [Symbol.asyncDispose]: async () => {
      await proxy.stop(true);
      await upstream.close();
      await folder[Symbol.asyncDispose]();
    },
  };
  return server;
}

/** Fixes incomplete lists and writes of the store. */
function correctStore({ store }: S3rver): void {
  const listObjects = store.listObjects.bind(store);
  // It encrypts its continuation tokens with DES, which Bun does not have: a list is one page.
  store.listObjects = (bucket, options) => listObjects(bucket, { ...options, maxKeys: Number.POSITIVE_INFINITY });
  // It answers before the file is written. S3 shows an object as soon as it has answered.
  store.putObject = async ({ bucket, key, content, metadata }) => {
    const bytes = Buffer.concat(await Array.fromAsync(content));
    await Bun.write(store.getResourcePath(bucket, key, "object"), bytes);
    const md5 = new Bun.CryptoHasher("md5").update(bytes).digest("hex");
    await store.putMetadata(bucket, key, metadata, md5);
    return { size: bytes.length, md5 };
  };
}

/** Returns the response of an S3 server that refuses a request. */
export const refuse = (status: number, code: string): Response =>
  new Response(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`, { status });
