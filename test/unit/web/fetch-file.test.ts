/** Files of the API that pages read: without a response, with a refused one, and after the session has ended. */
import { afterEach, beforeAll, expect, test } from "bun:test";
import { definePageGlobal, usePageGlobals } from "./page-globals";

usePageGlobals();
let files: typeof import("../../../web/app/save-file");
let session: typeof import("../../../web/app/session");
let isOffline: typeof import("../../../web/app/query-client").isOffline;
beforeAll(async () => {
  files = await import("../../../web/app/save-file");
  session = await import("../../../web/app/session");
  ({ isOffline } = await import("../../../web/app/query-client"));
});
afterEach(() => session.endSession());

const signIn = (workspaceId?: string) => {
  session.showProfile({ id: "me" } as import("../../../web/app/session").Me);
  if (workspaceId) session.enterWorkspace({ id: workspaceId, name: "Studio", role: "editor", is_personal: false });
};
const read = () => files.fetchFile("/api/v1/assets/a/transcript").catch((error: unknown) => error);

test("a file that gets no response fails like any call, so that it is read again with the connection", async () => {
  signIn();
  definePageGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  const error = await read();
  expect(isOffline(error)).toBe(true);
  expect(String(error)).toContain("The server does not respond.");
});

test("a file whose response breaks off is read again like one without a response", async () => {
  signIn();
  const body = new ReadableStream({ start: (controller) => controller.error(new TypeError("network error")) });
  definePageGlobal("fetch", async () => new Response(body));
  expect(isOffline(await read())).toBe(true);
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
