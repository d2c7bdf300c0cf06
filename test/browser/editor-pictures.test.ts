/**
 * Pictures of every state of the editor, to look at after changes:
 * `OFFCUT_SCREENSHOTS=DIR OFFCUT_FULL=1 bun test test/browser/editor-pictures.test.ts`.
 */
import { beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { BrowserContextOptions } from "playwright-core";
import { startSession } from "../http/accounts";
import type { Client } from "../http/client";
import { quiet, silentVideo } from "../http/media";
import { driveRows } from "./action-driver";
import { useDashboard } from "./dashboard";
import { PICTURE_STATES, type PictureState } from "./editor-picture-states";
import { arePicturesMade, isWanted, PICTURE_SIZES, savePictures } from "./picture-set";
import { makeTalk, teachTalk } from "./picture-talk";

/** Some lines differ from what is said, or are missing. */
const SCRIPT = `So you buy a boat for one euro, and then what?
What did you actually find when you took up the floor?
Well, the first thing was the smell.
You know, wet oak, and diesel, and something older.
We lifted the first board and there was nothing under it.
The keel bolts were completely gone.
You could push a pencil through them.
Through the iron?
Through the iron. Eighty years of salt water.
My father said, burn it.
He built boats for forty years, he was not being cruel.
He said, some of them are finished, and you have to know when.
But you did not burn it.
I went home that evening and I could not sleep at all.
In the morning I drew the whole hull on the kitchen wall, every plank, every nail.
And the moon was very bright.
Let us talk about the planks. Where does one even find larch of that length today?
In Latvia. A man called Jānis has a saw with a blade that is older than both of us.
He cuts by eye, and he is never off by more than a hair.
We chose eleven trees, and they lay in the river for a winter.
The water takes the sap out of them.
Then you steam them for an hour, and you have about one minute before the wood remembers what it was.
Nobody speaks in that minute.
And after that, the plank is a part of the boat.
What would you tell somebody who wants to do the same?
Start with a smaller boat. A much smaller boat.`;

const { address, browse, server, expectFailures } = useDashboard({ isSkipped: !arePicturesMade });

let user: Client;
let detect: (confidence: number) => void;
/** The recordings and cuts by their names in `PICTURE_STATES`. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  if (!arePicturesMade) return;
  user = await server().user();
  await server()
    .services()
    .store.write((tx) =>
      tx.run(sql`UPDATE users SET first_name = 'Amara', last_name = 'Okoye' WHERE id = ${user.userId}`),
    );
  ({ detect } = teachTalk(server().speech));
  const { id: projectId } = await user.project("The Alkyone film");
  const add = async (bytes: Uint8Array, filename: string, options = {}) =>
    (await user.ready(bytes, { projectId, filename, ...options })).id;
  const cut = async (assetId: string, json: object) =>
    (await user.cutEnded((await user.startCut({ asset_id: assetId, ...json })).id)).id;
  const [video, audio] = [await makeTalk("video"), await makeTalk("audio")];
  ids.talk = await add(video, "Interview 01, Teun.mp4");
  ids.checked = await cut(ids.talk, {});
  ids.cut = await cut(ids.talk, { script: SCRIPT });
  ids.audio = await add(audio, "Teun, voice memo.m4a");
  ids.byHand = await cut(ids.audio, { options: { mode: "manual" } });
  await cut(ids.audio, {});
  ids.portrait = await add(await makeTalk("portrait"), "Teaser, upright.mp4");
  await cut(ids.portrait, {});
  ids.uncut = await add(audio, "Amara in the shed.m4a");
  detect(0.2);
  ids.german = await add(audio, "Mateo on the larch.m4a");
  await cut(ids.german, {});
  detect(0.97);
  await user.renderEnded((await user.startRender({ asset_id: ids.talk, cut_id: ids.cut })).id);
  await user.renderEnded(
    (await user.startRender({ asset_id: ids.talk, cut_id: ids.cut, output: { format: "mp3" } })).id,
  );
  await failRender();
  ids.silent = await add(await silentVideo(), "Launch day, wide.mp4");
  ids.quiet = await add(await quiet(8), "Room tone.wav");
  ids.unknown = await add(audio, "Vikingur.m4a", { language: "xx" });
});

const failRender = () =>
  server()
    .services()
    .store.write((tx) =>
      tx.run(
        sql`UPDATE renders SET state = 'failed', error_code = 'processing_failed', error_message = 'The encoder stopped.'
          WHERE output LIKE '%mp3%'`,
      ),
    );

/** Returns why a state was not reached; its picture is made nevertheless. */
async function openState(
  { name, of = "talk cut", open, keepsHints }: PictureState,
  size: string,
  options: BrowserContextOptions,
): Promise<string | null> {
  const context = await browse(user, { ...options, locale: "en-US" });
  const hints = keepsHints ? "0" : "3";
  await context.addInitScript(
    ([key, value]) => {
      // The blank page before it has no storage.
      if (location.protocol === "http:") localStorage.setItem(key!, value!);
    },
    [`offcut.hints.asset.${user.userId}`, hints],
  );
  const page = await context.newPage();
  page.setDefaultTimeout(8_000);
  const [asset, cut] = of.split(" ").map((key) => ids[key]);
  const { store } = server().services();
  for (const table of ["drafts", "review_decisions", "reviews"])
    await store.write((tx) => tx.run(sql.raw(`DELETE FROM ${table}`)));
  await page.goto(address(`/assets/${asset}${cut === undefined ? "" : `?cut=${cut}`}`));
  await page.waitForSelector("h1");
  await page.waitForTimeout(700);
  const openOther = async () => {
    const other = await (await browse(user)).newPage();
    await other.goto(page.url());
    await other.getByRole("group", { name: "Words" }).waitFor();
    return other;
  };
  const readMedia = async () =>
    (await startSession(server(), user)).must<object>("GET", `/api/v1/assets/${ids.talk}/media`);
  const problem = await Promise.resolve(open?.({ ...driveRows(page), shown: page, ids, openOther, readMedia })).then(
    () => null,
    String,
  );
  await savePictures(page, name, size);
  await context.close();
  return problem;
}

test.if(arePicturesMade).each(PICTURE_SIZES)("pictures of the editor at %s", async (size, options) => {
  expectFailures(0, 404, 409);
  const failed: string[] = [];
  for (const state of PICTURE_STATES.filter(({ name }) => isWanted(name))) {
    const problem = await openState(state, size, options);
    if (problem !== null) failed.push(`${state.name}: ${problem}`);
  }
  expect(failed).toEqual([]);
});
