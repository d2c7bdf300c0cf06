/** Renders that failed: who can try again, in which workspace, and what the reply says. */
import { afterEach, beforeAll, expect, test } from "bun:test";
import type { ListedRender } from "../../../web/pages/asset/output/use-output";
import { definePageGlobal, usePageGlobals } from "./page-globals";

usePageGlobals();
let ended: typeof import("../../../web/app/ended-render");
let session: typeof import("../../../web/app/session");
let toasts: typeof import("../../../web/app/toasts");
let output: typeof import("../../../web/pages/asset/output/use-output");
beforeAll(async () => {
  ended = await import("../../../web/app/ended-render");
  session = await import("../../../web/app/session");
  toasts = await import("../../../web/app/toasts");
  output = await import("../../../web/pages/asset/output/use-output");
});
afterEach(() => {
  for (const { id } of toasts.toasts.value) toasts.dismissToast(id);
  session.endSession();
});

const RENDER = {
  id: "r",
  asset_id: "a",
  cut_id: "c",
  state: "failed",
  output: { format: "mp4" },
  error_code: "processing_failed",
  error_message: "The encoder stopped.",
  created_by: { id: "me", name: null },
};

type Sent = { method: string; workspace: string | null };

/** Signs in with a role in a workspace, and responds to calls. Returns those that were sent. */
function signIn(
  role: "editor" | "viewer",
  { render = {}, asset = { name: null as string | null, filename: "Talk.mp4" }, reply = 201 } = {},
): Sent[] {
  session.endSession();
  session.showProfile({ id: "me" } as import("../../../web/app/session").Me);
  session.enterWorkspace({ id: "studio", name: "Studio", role, is_personal: false });
  const sent: Sent[] = [];
  definePageGlobal("fetch", async (request: Request) => {
    const { method } = request;
    sent.push({ method, workspace: request.headers.get("Offcut-Workspace") });
    if (request.url.includes("/assets/")) return Response.json(asset);
    return Response.json({ ...RENDER, ...render }, { status: method === "POST" ? reply : 200 });
  });
  return sent;
}

const lastToast = () => toasts.toasts.value.at(-1);

test("the message has the button only for those who can write, and not for a permanent error", async () => {
  signIn("viewer");
  await ended.showEnd("r");
  expect(lastToast()).toMatchObject({ text: "“Talk.mp4” was not rendered. The encoder stopped.", action: undefined });
  signIn("editor", { render: { error_code: "media_limits_exceeded" } });
  await ended.showEnd("r");
  expect(lastToast()!.action).toBeUndefined();
  signIn("editor");
  await ended.showEnd("r");
  expect(lastToast()!.action?.label).toBe("Try again");
});

test("the message has the name that users gave the recording", async () => {
  signIn("viewer", { asset: { name: "Interview", filename: "Talk.mp4" } });
  await ended.showEnd("r");
  expect(lastToast()!.text).toStartWith("“Interview” was not rendered.");
});

test("the button of the message acts in the workspace of the render", async () => {
  const sent = signIn("editor");
  await ended.showEnd("r");
  session.enterWorkspace({ id: "other", name: "Other", role: "viewer", is_personal: false });
  lastToast()!.action!.run();
  while (lastToast()!.kind !== "info") await Bun.sleep(1);
  expect(sent.map(({ method, workspace }) => `${method} ${workspace}`)).toEqual([
    "GET studio",
    "GET studio",
    "GET studio",
    "POST studio",
  ]);
});

test.each([
  ["failed", 201, "The render was started again."],
  ["processing", 200, "This render is already running."],
  ["completed", 200, "This file is already rendered."],
])("a render that is %s, with status %d: %s", async (state, reply, text) => {
  signIn("editor", { render: { state }, reply });
  await ended.renderAgain("r");
  expect(lastToast()!.text).toBe(text);
});

test("a row has the button unless a later attempt waits, runs or is complete", () => {
  signIn("editor");
  const failed = RENDER as unknown as ListedRender;
  const later = (state: string) => ({ ...failed, id: "later", state }) as ListedRender;
  expect(output.canTryAgain(failed, [failed])).toBe(true);
  expect(output.canTryAgain(failed, [later("cancelled"), failed])).toBe(true);
  for (const state of ["pending", "processing", "completed", "failed"])
    expect([state, output.canTryAgain(failed, [later(state), failed])]).toEqual([state, false]);
});
