/** Thousands of requests generated from the OpenAPI document: every response keeps the contract and is fast. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fullOr } from "../full-size";
import type { Client } from "../http/client";
import { harness } from "../http/harness";
import { video, wav } from "../http/media";
import { NO_ID } from "../http/outcome";
import { type WildRequest, wildRequests } from "./hostile";
import { type ApiDocument, createResponseChecker, type ReceivedResponse } from "./response-checks";

const REQUESTS = fullOr(20_000, 1_000);
const SEED = Number(process.env.OFFCUT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const MAX_CONCURRENT_REQUESTS = 8;
const PATIENCE_MS = 15_000;
const MAX_SHOWN = 10;

/** IDs from responses, by the parameter that takes them. The first few are never deleted, so that some always exist. */
function knownIds() {
  const ids = new Map<string, string[]>();
  const kept = new Map<string, string[]>();
  const parameters = { projects: "project_id", assets: "asset_id", cuts: "cut_id", renders: "render_id" };
  const names: Record<string, string> = { ...parameters, "webhook-endpoints": "endpoint_id" };
  const add = (parameter: string, id: string) => {
    const list = ids.get(parameter) ?? [];
    if (kept.get(parameter)?.includes(id) || list.includes(id)) return;
    ids.set(parameter, [...list, id].slice(-50));
  };
  return {
    keep: (parameter: string, id: string) => kept.set(parameter, [...(kept.get(parameter) ?? []), id]),
    forget: (id: string) => {
      for (const [parameter, list] of ids)
        ids.set(
          parameter,
          list.filter((one) => one !== id),
        );
    },
    learn: (template: string | null, body: unknown) => {
      const resource = template?.split("/")[2] ?? "";
      const { id, delivery_id: delivery } = (body ?? {}) as { id?: string; delivery_id?: string };
      if (typeof delivery === "string") add("delivery_id", delivery);
      if (typeof id !== "string" || !names[resource]) return;
      add(names[resource], id);
      if (resource === "assets") add("upload_id", id);
    },
    pick: (parameter: string, n: number, isToDelete = false): string => {
      const list = [...(isToDelete ? [] : (kept.get(parameter) ?? [])), ...(ids.get(parameter) ?? [])];
      return list[n % Math.max(1, list.length)] ?? NO_ID;
    },
  };
}

type Known = ReturnType<typeof knownIds>;

function addressOf(request: WildRequest, known: Known): string {
  let n = 0;
  const path = request.path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const id = request.ids[n++]!;
    return "known" in id
      ? known.pick(parameter, id.known, request.method === "DELETE")
      : encodeURIComponent(id.text.toWellFormed());
  });
  const query = new URLSearchParams(request.query).toString();
  return query ? `${path}?${query}` : path;
}

const bodyOf = (request: WildRequest, known: Known): BodyInit | null =>
  typeof request.body === "string"
    ? request.body.replaceAll(
        /"(\w+_id)":"\$id"/g,
        (_, name: string) => `"${name}":"${known.pick(name, request.pick)}"`,
      )
    : (request.body as Uint8Array<ArrayBuffer> | null);

async function send(url: string, key: string | null, request: WildRequest, path: string, body: BodyInit | null) {
  const canHaveBody = !["GET", "HEAD"].includes(request.method);
  const answer = await fetch(`${url}${path}`, {
    method: request.method,
    redirect: "manual",
    headers: { ...request.headers, ...(request.isSigned ? { Authorization: `Bearer ${key}` } : {}) },
    ...(canHaveBody && body !== null ? { body } : {}),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await answer.text();
  const isJson = text !== "" && answer.headers.get("content-type")?.startsWith("application/json");
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text } as ReceivedResponse;
}

async function seedResources(user: Client, known: Known): Promise<void> {
  const audio = await user.ready(await wav(2));
  const moving = await user.ready(await video(1));
  const cut = await user.cutEnded((await user.startCut({ asset_id: audio.id })).id);
  const render = await user.renderEnded((await user.startRender({ asset_id: audio.id, cut_id: cut.id })).id);
  const upload = await user.open(1_000_000);
  const endpoint = await user.must<{ id: string }>("POST", "/v1/webhook-endpoints", {
    json: { url: "http://127.0.0.1:9999/", event_types: ["cut.failed"] },
  });
  for (const asset of [audio, moving]) {
    known.keep("asset_id", asset.id);
    known.keep("project_id", asset.project_id);
  }
  known.keep("cut_id", cut.id);
  known.keep("render_id", render.id);
  known.keep("upload_id", upload.id);
  known.keep("endpoint_id", endpoint.id);
}

const short = (text: string) => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

test(
  `${REQUESTS} requests, seed ${SEED}`,
  async () => {
    await using server = await harness({ WEBHOOKS_ALLOW_LOOPBACK: "true" }, { sharesChild: true });
    const user = await server.user(100_000);
    const document = await user.must<ApiDocument>("GET", "/openapi.json");
    const inspect = createResponseChecker(document);
    const known = knownIds();
    await seedResources(user, known);

    const wrong: string[] = [];
    const statuses = new Map<number, number>();
    const queue = fc.sample(wildRequests(document), { numRuns: REQUESTS, seed: SEED }).values();
    const work = async () => {
      for (const request of queue) {
        const path = addressOf(request, known);
        const body = bodyOf(request, known);
        const describeRequest = () =>
          short(`${request.method} ${path} ${JSON.stringify(request.headers)} ${String(body)}`);
        try {
          const answer = await send(server.url(), user.key, request, path, body);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const found = inspect(request.method, path, answer);
          if (answer.status === 500) found.push("500");
          if (found.length > 0)
            wrong.push(
              `${describeRequest()}\n  -> ${answer.status}: ${found.join("; ")} ${short(JSON.stringify(answer.body))}`,
            );
          known.learn(request.template, answer.body);
          if (request.method === "DELETE" && answer.status === 204) known.forget(path.split(/[/?]/)[3] ?? "");
        } catch (error) {
          wrong.push(`${describeRequest()}\n  -> ${error}`);
        }
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_REQUESTS }, work));

    const counts = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    console.log(`fuzz: ${REQUESTS} requests, seed ${SEED}; ${counts.join(", ")}`);
    expect(wrong.slice(0, MAX_SHOWN)).toEqual([]);
    expect(server.errors).toEqual([]);
    // Some requests were not refused early.
    expect((statuses.get(200) ?? 0) + (statuses.get(201) ?? 0)).toBeGreaterThan(REQUESTS / 20);
    expect((await user.call("GET", "/v1/users/me")).status).toBe(200);
  },
  REQUESTS * 100,
);
