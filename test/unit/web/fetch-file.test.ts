/** Files of the API that pages read: without a response, with a refused one, and after the session has ended. */
import { afterEach, beforeAll, expect, test } from "bun:test";
import type { ReadOptions } from "../../../web/app/query-client";
import { definePageGlobal, usePageGlobals } from "./page-globals";

usePageGlobals();
let files: typeof import("../../../web/app/fetch-file");
let session: typeof import("../../../web/app/session");
let isOffline: typeof import("../../../web/app/query-client").isOffline;
let toQueryOptions: typeof import("../../../web/app/query-client").toQueryOptions;
let connection: typeof import("../../../web/app/connection").connection;
let findFileRetryMs: typeof import("../../../web/pages/asset/use-media").findFileRetryMs;
beforeAll(async () => {
  files = await import("../../../web/app/fetch-file");
  session = await import("../../../web/app/session");
  ({ isOffline, toQueryOptions } = await import("../../../web/app/query-client"));
  ({ connection } = await import("../../../web/app/connection"));
  ({ findFileRetryMs } = await import("../../../web/pages/asset/use-media"));
});
afterEach(() => session.endSession());

const signIn = (workspaceId?: string) => {
  session.showProfile({ id: "me" } as import("../../../web/app/session").Me);
  if (workspaceId) session.enterWorkspace({ id: workspaceId, name: "Studio", role: "editor", is_personal: false });
};
/** Returns when a read that has failed once is repeated. */
const findInterval = (error: unknown, retryMs: ReadOptions<unknown>["retryMs"] & {}) =>
  toQueryOptions(["file"], { retryMs }).refetchInterval({
    queryKey: ["file"],
    state: { data: undefined, error, errorUpdateCount: 1 },
  });
const read = () => files.fetchFile("/api/v1/assets/a/transcript").catch((error: unknown) => error);

test("a file that gets no response fails like any call, so that it is read again with the connection", async () => {
  signIn();
  definePageGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  const error = await read();
  expect(isOffline(error)).toBe(true);
  expect(String(error)).toContain("The server does not respond.");
});

/** The server responds to checks of the connection with a status, and sends no file to its end. */
function breakOff(status: number) {
  const createBody = () =>
    new ReadableStream({ start: (controller) => controller.error(new TypeError("network error")) });
  definePageGlobal("fetch", async (request: Request | string) =>
    request === "/healthz" ? new Response(null, { status }) : new Response(createBody()),
  );
}

test("a file whose response breaks off is read again like one without a response if the server is gone", async () => {
  signIn();
  breakOff(502);
  expect(isOffline(await read())).toBe(true);
  expect(connection.value).toBe("reconnecting");
});

test("a file whose response is cut short by a server that responds does not count as a lost connection", async () => {
  signIn();
  connection.value = "online";
  breakOff(200);
  const error = await read();
  expect(isOffline(error)).toBe(false);
  expect(String(error)).toContain("The file did not arrive completely.");
  expect(connection.value).toBe("online");
  expect([1, 2, 100].map((failures) => findFileRetryMs(error, failures))).toEqual([5_000, 10_000, 60_000]);
});

test.each([
  [429, "rate_limited", 5_000],
  [503, "upstream_unavailable", 5_000],
  [409, "asset_processing", false],
  [409, "asset_failed", false],
] as const)("a file that fails with %i %s has the interval %p", async (status, code, expected) => {
  signIn();
  connection.value = "online";
  definePageGlobal("fetch", async () => Response.json({ detail: "Not now.", code }, { status }));
  expect(findInterval(await read(), findFileRetryMs)).toBe(expected);
});

test("a damaged file is not requested again", () => {
  expect(findInterval(new RangeError("Not a waveform."), findFileRetryMs)).toBe(false);
});

test.each([
  ["of a proxy, which has no code, is read again", 2_000, {}],
  ["of the API is not read again", false, { detail: "Asset not found.", code: "not_found" }],
] as const)("a 404 %s", async (_, expected, body) => {
  signIn();
  connection.value = "online";
  definePageGlobal("fetch", async () => Response.json(body, { status: 404 }));
  expect(findInterval(await read(), () => 2_000)).toBe(expected);
});

test("a file is requested in the workspace that pages show", async () => {
  signIn("studio");
  const sent: Request[] = [];
  definePageGlobal("fetch", async (request: Request) => {
    sent.push(request);
    return new Response("words");
  });
  const response = (await read()) as Response;
  expect(await response.text()).toBe("words");
  expect(sent.map(({ url, headers }) => [url, headers.get("Offcut-Workspace")])).toEqual([
    ["http://editor.test/api/v1/assets/a/transcript", "studio"],
  ]);
});

test("a file that is refused has the reason, and one without a session ends it", async () => {
  signIn();
  definePageGlobal("fetch", async () =>
    Response.json({ detail: "The transcript is not ready.", code: "asset_processing" }, { status: 409 }),
  );
  expect(await read()).toMatchObject({ code: "asset_processing", message: "The transcript is not ready." });
  expect(session.session.value.kind).toBe("signed-in");
  definePageGlobal("fetch", async () => Response.json({ detail: "Sign in." }, { status: 401 }));
  expect(await read()).toMatchObject({ status: 401 });
  expect(session.session.value.kind).toBe("signed-out");
});
