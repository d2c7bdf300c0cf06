/** A real browser: the page of a recording that is being transcribed. */
import { expect, test } from "bun:test";
import { TICKS_PER_SECOND } from "../../src/domain/time";
import { wav } from "../http/media";
import { until } from "../until";
import { expectAccessible } from "./axe";
import { useDashboard } from "./dashboard";

const { open, server } = useDashboard();

/** Reports words of a recording, `step` seconds apart. */
const say = (id: string, from: number, texts: string[], step = 0.4) =>
  server()
    .services()
    .partialTranscripts.add(
      id,
      from,
      texts.map((text, n) => {
        const start = (from + n) * step * TICKS_PER_SECOND;
        return { text, start, end: start + 300_000, confidence: 1 };
      }),
    );

test("a recording that is prepared shows how far it is, and opens by itself", async () => {
  const user = await server().user();
  const held = server().speech.hold("analyze");
  const id = await user.upload(await wav(5));
  await held.reached;
  const page = await open(`/assets/${id}`, user);
  await page.getByRole("progressbar", { name: "Preparation" }).waitFor();
  await page.getByRole("tab", { name: "Transcript" }).click();
  await page.getByText("The words appear here as soon as they are recognized.").waitFor();
  await expectAccessible(page);
  say(id, 0, ["Good", "morning"]);
  const text = page.getByRole("group", { name: "Words so far" });
  await text.getByText("Good morning").waitFor();
  const box = await text.getByText("Good morning").boundingBox();
  // The browser searches the words until they are complete.
  expect(await page.getByRole("search").count()).toBe(0);
  say(id, 2, ["to", "all."]);
  await text.getByText("Good morning to all.").waitFor();
  // The text being read does not move.
  const later = await text.getByText("Good morning to all.").boundingBox();
  expect([later?.x, later?.y]).toEqual([box?.x, box?.y]);
  await page.getByText("Still transcribing. You can edit when all words are here.").waitFor();
  await expectAccessible(page);
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  held.release();
  await page.getByRole("button", { name: "Make cut" }).waitFor();
  await page.getByRole("tab", { name: "Transcript" }).click();
  await page.getByRole("group", { name: "Words", exact: true }).getByText("alpha").waitFor();
  expect(await page.getByText("Good morning").count()).toBe(0);
});

test.each([
  ["a large window", { width: 1280, height: 720 }],
  ["a phone", { width: 390, height: 844 }],
])("words, focus and reading position stay until all words are there in %s", async (name, viewport) => {
  const user = await server().user();
  const held = server().speech.hold("analyze");
  const id = await user.upload(await wav(120));
  await held.reached;
  const texts = Array.from({ length: 55 }, (_, n) => `word${n}`);
  say(id, 0, texts, 2);
  const page = await open(`/assets/${id}`, user, { viewport });
  const sent = Promise.withResolvers<void>();
  await page.route("**/transcript", async (route) => {
    await sent.promise;
    // Each word is a paragraph, as those so far.
    const times = texts.map((_, n) => n * 2_000);
    const json = { text: texts.map((word) => word.toUpperCase()), start: times, end: times.map((time) => time + 300) };
    await route.fulfill({ json });
  });
  await page.getByRole("tab", { name: "Transcript" }).click();
  const text = page.getByRole("group", { name: "Words so far" });
  await text.getByText("word54").waitFor();
  // Recognition restarts: the words stay until as many have been recognized again.
  say(id, 0, ["uno", "due"], 2);
  await page.waitForResponse(async (one) => one.url().includes("partial") && (await one.text()).includes("uno"));
  expect([await text.getByText("word54").count(), await text.getByText("uno").count()]).toEqual([1, 0]);
  await text.focus();
  // On a phone, the page scrolls.
  if (name === "a phone") await page.evaluate(() => scrollTo({ top: 703, behavior: "instant" }));
  else await text.evaluate((element) => element.scrollTo(0, 703));
  const scroller = page.locator(".transcript-scroller");
  // Whether the line above is visible depends on the height of the content above the text.
  const time = await scroller.evaluate((element) => {
    const top = Math.max(innerHeight / 3, element.getBoundingClientRect().top);
    const lines = [...element.querySelectorAll<HTMLElement>("[data-time]")];
    return lines.filter((line) => line.getBoundingClientRect().top > top)[2]!.dataset.time!;
  });
  const readPlace = async () => (await scroller.locator(`[data-time="${time}"]`).boundingBox())!.y;
  const place = await readPlace();
  held.release();
  await user.prepared(id);
  const { partialTranscripts } = server().services();
  await until("the end of the job", async () => partialTranscripts.read(id, 0, 0).text.length === 0);
  await page.waitForResponse(async (one) => one.url().includes("partial") && (await one.json()).text.length === 0);
  await text.getByText("word54").waitFor();
  expect(await readPlace()).toBe(place);
  sent.resolve();
  const words = page.getByRole("group", { name: "Words", exact: true });
  await words.waitFor();
  expect(await words.evaluate((element) => element === document.activeElement)).toBe(true);
  // The text being read does not move, although the search is above it now, and the text does not follow the playback.
  await until("the reading position", async () => Math.abs((await readPlace()) - place) < 2);
  await page.getByRole("button", { name: "Follow", exact: true }).waitFor();
});

test("the page of a recording without words shows that, and requests none", async () => {
  const user = await server().user();
  const held = server().speech.hold("analyze");
  const id = await user.upload(await wav(5), { language: "xx" });
  await held.reached;
  const page = await open(`/assets/${id}`, user);
  const asked: string[] = [];
  await page.getByRole("tab", { name: "Transcript" }).click();
  await page.getByText(/^This server does not recognize .*, so no words appear here.$/).waitFor();
  page.on("request", (request) => request.url().includes("partial") && asked.push(request.url()));
  await page.waitForResponse((one) => one.url().endsWith(`/assets/${id}`));
  expect(asked).toEqual([]);
  held.release();
});
