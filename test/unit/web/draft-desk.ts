/** The keeper of a cut's edits, with a simulated browser and server. */
import { afterEach, beforeAll, beforeEach } from "bun:test";
import type { createEditor } from "../../../web/editor/state/editor-state";
import type { keepDraft } from "../../../web/pages/asset/draft-keeper";
import type { StartDraft } from "../../../web/pages/asset/draft-stores";
import { definePageGlobal, TestStorage, usePageGlobals } from "./page-globals";

type Edit = { segments: { start: number; end: number }[]; texts: [] };
type Draft = Edit & { revision: number; base?: Edit; updated_at?: string };
export type Cut = NonNullable<Parameters<typeof createEditor>[0]["cut"]>;
type Follower = Parameters<typeof keepDraft>[2];

let keep: typeof keepDraft;
let create: typeof createEditor;
export const follow: Follower = { find: async () => null, open: () => {} };

/**
 * The draft on the server, the requests, and the callbacks that wait for the next one. `isFull`: whether it refuses
 * drafts for another reason than their revision.
 */
export const server = {
  stored: null as Draft | null,
  sent: [] as Draft[],
  onRequest: (_method: string): void => {},
  isFull: false,
};
const stops: (() => void)[] = [];

/** Prepares the globals of a page, and a new server for each test. */
export function useDraftDesk(): void {
  usePageGlobals();
  beforeAll(async () => {
    keep = (await import("../../../web/pages/asset/draft-keeper")).keepDraft;
    create = (await import("../../../web/editor/state/editor-state")).createEditor;
  });
  beforeEach(() => {
    Object.assign(server, { stored: null, sent: [], isFull: false });
    Object.assign(follow, { find: async () => null, open: () => {} });
    definePageGlobal("localStorage", new TestStorage());
    definePageGlobal("fetch", async (request: Request) => answer(request, await request.text()));
  });
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });
}

function answer({ method, url }: Request, body: string): Response {
  const { stored } = server;
  if (method === "DELETE") {
    if (!url.endsWith(`revision=${stored?.revision}`)) return Response.json({ code: "conflict" }, { status: 409 });
    server.stored = null;
  }
  if (method === "PUT") {
    const draft = JSON.parse(body) as Draft;
    server.sent.push(draft);
    if (server.isFull || draft.revision !== (stored?.revision ?? 0))
      return Response.json({ code: "conflict", detail: "Storage quota reached." }, { status: 409 });
    server.stored = { ...draft, revision: draft.revision + 1 };
  }
  if (url.endsWith("/first?plan=false")) return Response.json({ draft_revision: stored?.revision ?? null });
  server.onRequest(method);
  if (server.stored !== null) return Response.json(server.stored);
  return method === "GET" ? Response.json({ code: "not_found" }, { status: 404 }) : new Response(null, { status: 204 });
}

export const timers = () => new Promise<void>((resolve) => setTimeout(resolve));
/** Resolves with the method of the next request that the server accepts. */
export const nextRequest = () => new Promise<string>((resolve) => (server.onRequest = resolve));

/** Opens a cut of ten seconds with a draft that keeps the first nine and was not sent. */
export function open(start: Partial<StartDraft> = {}) {
  const plan = { source_duration: 10, segments: [{ start: 0, end: 10, review: null }], removed: [], takes: [] };
  const cut = { id: "first", plan } as unknown as Cut;
  const words = { text: [], start: [], end: [] };
  const editor = create({ cut, duration: 10, words, draft: keepUntil(9), canWrite: true, playhead: null as never });
  const draft = { revision: 0, segments: [{ start: 0, end: 9 }], texts: [] };
  const keeper = keep(editor, { draft, isUnsaved: true, other: null, ...start }, follow);
  stops.push(keeper.stop);
  return { editor, keeper };
}

export const keepUntil = (seconds: number) => {
  const end = seconds * 1e6;
  const removed = { start: end, end: 10e6, isKept: false, reason: "manual", rule: null, confidence: null } as const;
  const spans = [{ start: 0, end, isKept: true, review: null } as const, removed];
  return { plan: { duration: 10e6, spans }, corrections: [] };
};

export const readCopies = (cutId: string): Draft[] =>
  Object.entries(localStorage)
    .filter(([key]) => key.includes(`.${cutId}.`))
    .map(([, text]) => JSON.parse(text as string).value as Draft);

/** Stores a draft of somebody else. */
export const storeOther = (...kept: [number, number][]) => {
  const segments = kept.map(([start, end]) => ({ start, end }));
  const revision = (server.stored?.revision ?? 0) + 1;
  server.stored = { revision, segments, texts: [], updated_at: new Date().toISOString() };
};
export const listKeptSeconds = (editor: ReturnType<typeof open>["editor"]) =>
  editor.plan.value.spans.filter(({ isKept }) => isKept).map(({ start, end }) => [start / 1e6, end / 1e6]);
