/** The fixtures of the rows: a server, two users, and resources that are created on first use. */
import { expect } from "bun:test";
import type { CallOptions, Client, Reply } from "../../http/client";
import { type Harness, harness } from "../../http/harness";
import { video, wav } from "../../http/media";
import { outcome } from "../../http/outcome";
import type { AssetDetail, Cut, Paged, Render } from "../../http/resources";
import { type ApiDocument, createResponseChecker } from "../response-checks";

export type Fixtures = AsyncDisposable & {
  server: Harness;
  anna: Client;
  bert: Client;
  /** Calls, and fails unless the response passes the checks that hold for every response. */
  call<T = Record<string, unknown>>(method: string, path: string, json?: unknown, as?: Client): Promise<Reply<T>>;
  send<T = Record<string, unknown>>(
    client: Client,
    method: string,
    path: string,
    options: CallOptions,
  ): Promise<Reply<T>>;
  /** The same, returning a short form: `201`, `422 validation_error body.name`. */
  getOutcome(method: string, path: string, json?: unknown, as?: Client): Promise<string>;
  /** The IDs of all pages of a list. */
  ids(path: string, as?: Client): Promise<string[]>;
  /** Four seconds of audio, ready. */
  audioAsset(): Promise<AssetDetail>;
  /** Four seconds of video, ready. */
  videoAsset(): Promise<AssetDetail>;
  /** A completed cut of the video. */
  cut(): Promise<Cut>;
  /** A completed render of the audio. */
  render(): Promise<Render>;
};

/** A row: a sentence of the contract and the test of it. */
export type Row = [title: string, run: (fixtures: Fixtures) => Promise<unknown>];

function createOnFirstUse<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** Starts the server. `settings` as for the harness. */
export async function createFixtures(settings: Record<string, string> = {}): Promise<Fixtures> {
  const server = await harness(
    { WEBHOOKS_ALLOW_LOOPBACK: "true", CORS_ORIGINS: "https://studio.example", ...settings },
    { sharesChild: true },
  );
  const [anna, bert] = [await server.user(), await server.user()];
  const inspect = createResponseChecker(await anna.must<ApiDocument>("GET", "/openapi.json"));

  async function send<T>(client: Client, method: string, path: string, options: CallOptions): Promise<Reply<T>> {
    const reply = await client.call<T>(method, path, options);
    expect([`${method} ${path}`, ...inspect(method, path, reply)]).toEqual([`${method} ${path}`]);
    return reply;
  }
  const call = <T>(method: string, path: string, json?: unknown, as = anna) =>
    send<T>(as, method, path, json === undefined ? {} : { json });

  const audioAsset = createOnFirstUse(async () =>
    anna.ready(await wav(4), { filename: "talk.wav", externalId: "reel 7" }),
  );
  const videoAsset = createOnFirstUse(async () => anna.ready(await video(4), { filename: "clip.mp4" }));
  const cut = createOnFirstUse(async () =>
    anna.cutEnded((await anna.startCut({ asset_id: (await videoAsset()).id })).id),
  );
  const render = createOnFirstUse(async () =>
    anna.renderEnded((await anna.startRender({ asset_id: (await audioAsset()).id })).id),
  );

  return {
    server,
    anna,
    bert,
    call,
    send,
    getOutcome: async (method, path, json, as) => outcome(await call(method, path, json, as)),
    ids: async (path, as = anna) => {
      const ids: string[] = [];
      let cursor: string | null = null;
      do {
        const next: string = cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`;
        const page: Reply<Paged<{ id: string }>> = await call("GET", next, undefined, as);
        expect([next, page.status]).toEqual([next, 200]);
        ids.push(...page.body.items.map((item) => item.id));
        cursor = page.body.next_cursor;
      } while (cursor !== null);
      return ids;
    },
    audioAsset,
    videoAsset,
    cut,
    render,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Checks that a list accepts limits from `min` to `max` and defaults to `defaultLimit`. */
export function limitRow(path: string, max: number, defaultLimit: number): Row {
  return [
    `GET ${path}: limit 1 to ${max}, default ${defaultLimit}`,
    async ({ call, getOutcome }) => {
      const to = path.includes("?") ? `${path}&` : `${path}?`;
      for (const bad of [0, max + 1, -1, "x", "1.5"]) {
        expect(await getOutcome("GET", `${to}limit=${bad}`)).toBe("422 validation_error query.limit");
      }
      expect((await call<Paged<unknown>>("GET", path)).body.limit).toBe(defaultLimit);
      expect((await call<Paged<unknown>>("GET", `${to}limit=${max}`)).body.limit).toBe(max);
      expect(await getOutcome("GET", `${to}cursor=nonsense`)).toBe("422 validation_error query.cursor");
      expect(await getOutcome("GET", `${to}other=1`)).toBe("422 validation_error query.other");
    },
  ];
}
