/** A real browser: the page of a recording that is being transcribed. */
import { expect, test } from "bun:test";
import { wav } from "../http/media";
import { expectAccessible } from "./axe";
import { useDashboard } from "./dashboard";

const { open, server } = useDashboard();

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
  const { partialTranscripts } = server().services();
  const say = (from: number, ...texts: string[]) =>
    partialTranscripts.add(
      id,
      from,
      texts.map((text, n) => ({
        text,
        start: (from + n) * 400_000,
        end: (from + n) * 400_000 + 300_000,
        confidence: 1,
      })),
    );
  say(0, "Good", "morning");
  const text = page.getByRole("group", { name: "Words so far" });
  await text.getByText("Good morning").waitFor();
  const box = await text.getByText("Good morning").boundingBox();
  say(2, "to", "all.");
  await text.getByText("Good morning to all.").waitFor();
  // What somebody reads stays where it is.
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
