/** The part of a head that workers call, over real HTTP. The test controls its responses. */
import type { ExecutionFile, ExecutionManifest } from "../../../../src/domain/worker-messages";
import { sha256 } from "../../../../src/lib/hash";
import { newId } from "../../../../src/lib/ids";
import { until } from "../../../until";

export type FakeExecution = {
  id: string;
  url: string;
  manifest: ExecutionManifest;
  /** The contents of the files of the manifest. */
  contents: Map<string, Uint8Array>;
  received: Map<string, Uint8Array>;
  checkpoints: { checkpoint: unknown; files: unknown }[];
  /** Runs before a checkpoint is answered. */
  onCheckpoint: (kind: string) => Promise<void>;
  /** The kind of the checkpoint that is being processed, and the files that have arrived in the meantime. */
  answering: string | null;
  overlaps: string[];
  results: { status: string; output?: unknown; error?: { message?: string }; files?: unknown[] }[];
  starts: number;
  /** Names that are refused once, as if they had changed on the way. */
  refuseOnce: Set<string>;
  isGone: boolean;
  /** Its files never arrive. */
  isStuck: boolean;
};

export type FakeHead = AsyncDisposable & {
  url: string;
  port: number;
  token: string;
  /** The queue of its worker. */
  queue: string;
  /** The recording of all executions. */
  asset: string;
  /** Recordings that it reports as deleted, and those it was asked about. */
  deleted: string[];
  askedAbout: string[][];
  /** The executions whose steps have ended. */
  ended: string[];
  announcements: Record<string, unknown>[];
  heartbeats: { running: { execution: string; progress: number | null }[]; bootId: string; hasRedis: boolean }[];
  left: number;
  /** Settings of the next responses. */
  settings: {
    token: string;
    refusal: { status: number; code: string; message: string } | null;
    isKnown: boolean;
    heartbeatMs: number;
    lostAfterMs: number;
    abort: string[];
    yield: string[];
  };
  addExecution(given: { kind: ExecutionManifest["kind"]; input: unknown; files?: GivenFile[] }): FakeExecution;
  /** Waits for the result of an execution. */
  result(execution: FakeExecution): Promise<FakeExecution["results"][number]>;
  /** Stops listening; its state is kept. */
  stop(): Promise<void>;
  start(): void;
};

type GivenFile = { name: string; content: Uint8Array; role?: ExecutionFile["role"] };

const error = (status: number, code: string, message: string, fields: string[] = []) =>
  Response.json({ error: { code, message, fields: fields.map((field) => ({ field, message })) } }, { status });
const notFound = () => error(404, "not_found", "Not found.");

export function startFakeHead(): FakeHead {
  const executions = new Map<string, FakeExecution>();
  const token = "wt_secret";
  const workerId = newId();
  let server: ReturnType<typeof listen> | null = null;
  let port = 0;

  const head: FakeHead = {
    url: "",
    port: 0,
    token,
    queue: `offcut-worker-${workerId}`,
    asset: newId(),
    deleted: [],
    askedAbout: [],
    ended: [],
    announcements: [],
    heartbeats: [],
    left: 0,
    settings: { token, refusal: null, isKnown: true, heartbeatMs: 50, lostAfterMs: 15_000, abort: [], yield: [] },
    addExecution: ({ kind, input, files = [] }) => {
      const id = newId();
      const contents = new Map(files.map(({ name, content }) => [name, content]));
      const execution: FakeExecution = {
        id,
        url: `http://other.example/workers/executions/${id}?signature=signed`,
        manifest: { execution: id, kind, asset: head.asset, owner: "owner", input, files: files.map(toManifestFile) },
        contents,
        received: new Map(),
        checkpoints: [],
        onCheckpoint: async () => {},
        answering: null,
        overlaps: [],
        results: [],
        starts: 0,
        refuseOnce: new Set(),
        isGone: false,
        isStuck: false,
      };
      executions.set(id, execution);
      return execution;
    },
    result: (execution) => until("the result", () => execution.results.at(-1), 60),
    stop: async () => {
      await server?.stop(true);
      server = null;
    },
    start: () => {
      server = listen();
      port = server.port!;
      Object.assign(head, { port, url: `http://127.0.0.1:${port}` });
    },
    [Symbol.asyncDispose]: async () => {
      await server?.stop(true);
    },
  };

  const listen = () => Bun.serve({ port, hostname: "127.0.0.1", fetch: answer, idleTimeout: 0 });

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, , name = "", id = "", action = "", file = ""] = pathname.split("/");
    if (name !== "executions") return answerMember(name, request);
    const execution = executions.get(id);
    if (!execution || execution.isGone || searchParams.get("signature") !== "signed") return notFound();
    if (action === "files" && execution.isStuck) return new Promise(() => {});
    if (action === "files") return sendFile(execution, file, request);
    if (action === "outputs") return receiveOutput(execution, file, request);
    return answerExecution(execution, action, (await request.json()) as Record<string, unknown>);
  }

  async function answerMember(name: string, request: Request): Promise<Response> {
    const { settings } = head;
    if (request.headers.get("authorization") !== `Bearer ${settings.token}`)
      return error(401, "unauthenticated", "Join token is invalid or was revoked.");
    const body = (await request.json()) as Record<string, unknown>;
    if (name === "join") {
      if (settings.refusal) return error(settings.refusal.status, settings.refusal.code, settings.refusal.message);
      head.announcements.push(body);
      settings.isKnown = true;
      return Response.json({
        workerId,
        queue: head.queue,
        heartbeatMs: settings.heartbeatMs,
        lostAfterMs: settings.lostAfterMs,
      });
    }
    if (name === "copies") {
      head.askedAbout.push(body.assets as string[]);
      return Response.json({ deleted: head.deleted });
    }
    if (name === "ended") {
      const executions = body.executions as string[];
      return Response.json({ ended: executions.filter((id) => head.ended.includes(id)) });
    }
    if (name === "leave") {
      head.left++;
      return new Response(null, { status: 204 });
    }
    if (!settings.isKnown) return notFound();
    head.heartbeats.push(body as FakeHead["heartbeats"][number]);
    return Response.json({ isDraining: false, abort: settings.abort, yield: settings.yield });
  }

  head.start();
  return head;
}

const toManifestFile = ({ name, content, role = "input" }: GivenFile): ExecutionFile => ({
  name,
  role,
  bytes: content.byteLength,
  key: sha256(content),
  modifiedAt: 1_600_000_000,
});

async function answerExecution(
  execution: FakeExecution,
  action: string,
  body: Record<string, unknown>,
): Promise<Response> {
  const { manifest, received, refuseOnce } = execution;
  if (action === "start") {
    execution.starts++;
    return Response.json(manifest);
  }
  const files = (body.files ?? []) as { name: string; bytes: number; sha256: string }[];
  const wrong = files.filter(({ name, sha256: announced }) => {
    const content = received.get(name);
    return refuseOnce.delete(name) || content === undefined || sha256(content) !== announced;
  });
  for (const { name } of wrong) received.delete(name);
  if (wrong.length > 0)
    return error(
      422,
      "validation_error",
      "Files differ.",
      wrong.map(({ name }) => name),
    );
  if (action === "checkpoint") {
    const sent = body as FakeExecution["checkpoints"][number];
    const { kind } = sent.checkpoint as { kind: string };
    execution.checkpoints.push(sent);
    execution.answering = kind;
    await execution.onCheckpoint(kind);
    execution.answering = null;
  } else execution.results.push(body as FakeExecution["results"][number]);
  return new Response(null, { status: 204 });
}

function sendFile({ contents }: FakeExecution, name: string, request: Request): Response {
  const content = contents.get(name);
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "") ?? [];
  if (content === undefined || from === undefined || to === undefined) return notFound();
  const headers = { "Content-Range": `bytes ${from}-${to}/${content.byteLength}` };
  return new Response(content.slice(Number(from), Number(to) + 1), { status: 206, headers });
}

async function receiveOutput(execution: FakeExecution, name: string, request: Request): Promise<Response> {
  const { received, answering, overlaps } = execution;
  if (answering !== null) overlaps.push(`${name} during ${answering}`);
  const before = received.get(name) ?? new Uint8Array();
  if (request.method === "HEAD") return new Response(null, { headers: { "Upload-Offset": String(before.byteLength) } });
  if (request.headers.get("upload-offset") !== String(before.byteLength))
    return error(409, "conflict", `Upload-Offset is wrong.`);
  const chunks: Uint8Array[] = [before];
  let isBroken = false;
  try {
    for await (const chunk of request.body ?? []) chunks.push(chunk);
  } catch {
    isBroken = true;
  }
  const content = Buffer.concat(chunks);
  received.set(name, content);
  if (isBroken) return error(400, "bad_request", "The body ended.");
  return new Response(null, { status: 204, headers: { "Upload-Offset": String(content.byteLength) } });
}
