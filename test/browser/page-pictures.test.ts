/**
 * Pictures of all pages but the editor, to look at after changes:
 * `OFFCUT_SCREENSHOTS=DIR OFFCUT_FULL=1 bun test test/browser/page-pictures.test.ts`.
 */
import { beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { Page } from "playwright-core";
import { createAdmin, startSession } from "../http/accounts";
import type { Client } from "../http/client";
import { video, wav } from "../http/media";
import { sample, send } from "../http/notification-samples";
import { PRICES } from "../http/prices";
import { joinWorker } from "../http/workers";
import { createWorkspace } from "../http/workspace-calls";
import { useDashboard } from "./dashboard";
import { insertEndedJobs } from "./job-rows";
import { arePicturesMade, isWanted, PICTURE_SIZES, savePictures } from "./picture-set";
import { makeTalk, teachTalk } from "./picture-talk";

const { address, browse, server, expectFailures } = useDashboard({
  isSkipped: !arePicturesMade,
  configuration: PRICES,
  settings: { SIGNUP: "open", WEBHOOKS_ALLOW_LOOPBACK: "true" },
});

type PageState = {
  name: string;
  path: string;
  as?: Pick<Client, "userId"> | null;
  open?: (page: Page) => Promise<unknown>;
};

const states: PageState[] = [];

const button = (name: string | RegExp) => async (page: Page) => {
  await page.getByRole("button", { name }).first().click();
  await page.waitForTimeout(300);
};

/** Phones have no list. */
async function openList(page: Page): Promise<void> {
  const list = page.getByRole("button", { name: "List" });
  if (await list.isVisible()) await list.click();
}

async function enterWrongPassword(page: Page): Promise<void> {
  await page.getByLabel("Password").fill("larch and elm");
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("Wrong password").waitFor();
}

beforeAll(async () => {
  if (!arePicturesMade) return;
  teachTalk(server().speech);
  const admin = await createAdmin(server());
  const { store } = server().services();
  const user = await server().user();
  for (const [id, first, last, email] of [
    [user.userId, "Amara", "Okoye", "amara.okoye@studio.example"],
    [admin.userId, "Mateo", "Quispe", "mateo.quispe@studio.example"],
  ])
    await store.write((tx) =>
      tx.run(sql`UPDATE users SET first_name = ${first}, last_name = ${last}, email = ${email} WHERE id = ${id}`),
    );
  const project = await user.project("The Alkyone film");
  await user.project("Harbor talks 2026");
  const podcast = await user.project("Podcast, season 3");
  const add = async (bytes: Uint8Array, filename: string) =>
    (await user.ready(bytes, { projectId: project.id, filename })).id;
  const [talk, audio] = [await makeTalk("video"), await makeTalk("audio")];
  const ids = [await add(talk, "Interview 01, Teun.mp4"), await add(audio, "Teun, voice memo.m4a")];
  const upright = await user.ready(await makeTalk("portrait"), {
    projectId: podcast.id,
    filename: "Teaser, upright.mp4",
  });
  ids.push(upright.id);
  const cuts: { id: string }[] = [];
  for (const asset_id of ids) cuts.push(await user.cutEnded((await user.startCut({ asset_id })).id));
  await add(await video(6), "Launch day, wide.mp4");
  await add(await wav(20), "Room tone, a file with a name that is much longer than the column.wav");
  const session = await startSession(server(), user);
  const shared = new Map<string, string>();
  for (const [n, name] of ["share", "share-audio", "share-upright", "share-locked"].entries()) {
    const format = n === 1 ? "m4a" : "mp4";
    const request = { asset_id: ids[n % 3], cut_id: cuts[n % 3]!.id, output: { format } };
    const { id } = await user.renderEnded((await user.startRender(request)).id);
    const json = { expires_in_seconds: 86_400, ...(n === 3 && { password: "larch and oak" }) };
    const share = await session.must<{ page_url: string }>("POST", `/api/v1/renders/${id}/share`, { json });
    const { pathname, search } = new URL(share.page_url);
    shared.set(name, pathname + search);
  }
  for (const type of [
    "pipeline_completed",
    "pipeline_failed",
    "asset_pending_payment",
    "webhook_disabled",
    "workspace_invitation",
  ] as const)
    await send(server(), user, sample(type));
  const error = { code: "processing_failed", message: "The encoder stopped." };
  const [jobId] = await insertEndedJobs(server(), user, [
    { state: "failed", name: "render", assetId: ids[0]!, error },
    { state: "completed", name: "cut", assetId: ids[0]! },
  ]);
  const json = { url: "http://127.0.0.1:8080/hook", event_types: ["render.completed", "render.failed"] };
  const hook = await user.must<{ id: string }>("POST", "/v1/webhook-endpoints", { json });
  await user.must("POST", `/v1/webhook-endpoints/${hook.id}/test`);
  const { url } = await session.must<{ url: string }>("POST", "/api/v1/billing/checkout", {
    json: { price_id: "pack-600" },
  });
  const { worker } = await joinWorker(server().services(), "render-2");
  const studio = await createWorkspace(session, "Studio Nord");
  const newcomer = await server().user();
  states.push(
    ...["sign-in", "sign-up", "setup", "forgot-password", "reset-password#x", "verify-email#x", "invitation#x"].map(
      (path) => ({ name: path.replace("#x", ""), path: `/${path}`, as: null }),
    ),
    ...[...shared].map(([name, path]) => ({ name, path, as: null })),
    { name: "share-wrong", path: shared.get("share-locked")!, as: null, open: enterWrongPassword },
    { name: "share-broken", path: shared.get("share")!.replace(/signature=.*/, "signature=x"), as: null },
    { name: "unknown-page", path: "/s/gone", as: null },
    { name: "unknown-file", path: `/files/renders/${newcomer.userId}/output?expires=1`, as: null },
    { name: "first-minute", path: "/projects", as: newcomer },
    { name: "no-jobs", path: "/jobs", as: newcomer },
    { name: "no-notifications", path: "/notifications", as: newcomer },
    ...(
      [
        ["projects", "/projects"],
        ["new-project", "/projects", button("New project")],
        ["project-menu", "/projects", button(/^Actions for/)],
        ["library", `/projects/${project.id}`],
        ["library-menu", `/projects/${project.id}`, button(/^Actions for/)],
        ["library-list", `/projects/${project.id}`, openList],
        [
          "library-batch",
          `/projects/${project.id}`,
          async (page: Page) => {
            for (const nth of [0, 1]) await page.locator("main input[type=checkbox]").nth(nth).check({ force: true });
          },
        ],
        ["jobs", "/jobs"],
        ["job", `/jobs/${jobId}`],
        ["notifications", "/notifications"],
        ["account", "/account"],
        ["security", "/account/security"],
        ["account-notifications", "/account/notifications"],
        ["data", "/account/data"],
        ["workspaces", "/workspaces"],
        ["workspace", `/workspaces/${studio.id}`],
        ["keys", "/keys"],
        ["new-key", "/keys", button("New API key")],
        ["webhooks", "/webhooks"],
        ["webhook", `/webhooks/${hook.id}`],
        ["credits", "/credits"],
        ["credit-history", "/credits/history"],
        ["credit-orders", "/credits/orders"],
        ["invoices", "/credits/invoices"],
        ["order", new URL(url).pathname],
        ["status", "/status"],
        ["device", "/oauth/device"],
        ["missing", "/nothing/here"],
        ["palette", "/projects", (page: Page) => page.keyboard.press("Control+k")],
        ["account-menu", "/projects", button(/^(Account|More$)/)],
      ] as [string, string, PageState["open"]?][]
    ).map(([name, path, open]) => ({ name, path, as: user, ...(open && { open }) })),
    ...["users", `users/${user.userId}`, "workers", `workers/${worker.id}`, "storage", "backups", "health", "audit"]
      .concat("orders", "jobs")
      .map((path) => ({
        name: `admin-${path.replace(/\/.*/, "-one")}`,
        path: `/admin/${path}`,
        as: admin,
      })),
  );
});

test.if(arePicturesMade).each(PICTURE_SIZES)("pictures of pages at %s", async (size, options) => {
  expectFailures(0, 401, 403, 404, 422);
  const failed: string[] = [];
  for (const { name, path, as = null, open } of states.filter((one) => isWanted(one.name))) {
    const context = await browse(as, { ...options, locale: "en-US" });
    const page = await context.newPage();
    page.setDefaultTimeout(8_000);
    await page.goto(address(path));
    const problem = await page
      .waitForSelector("main :is(h1, h2), h1")
      .then(() => page.waitForTimeout(500))
      .then(() => open?.(page))
      .then(() => null, String);
    if (problem !== null) failed.push(`${name}: ${problem}`);
    await savePictures(page, name, size);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) failed.push(`${name} scrolls sideways by ${wide} px`);
    await context.close();
  }
  expect(failed).toEqual([]);
});
