/** The search throughout the life of a recording, with the server. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import type { Cut } from "./resources";

setDefaultTimeout(PATIENCE_MS);

test("corrections of a cut by hand before the transcript exists are found as soon as it does", async () => {
  await using server = await harness();
  const user = await server.user();
  const hold = server.speech.hold("analyze");
  const id = await user.upload(await wav(4));
  await hold.reached;
  const cut = await user.must<Cut>("POST", "/v1/cuts", { json: { asset_id: id, options: { mode: "manual" } } });
  const edit = (cutId: string, text: string, start: number) => {
    const json = { segments: [{ start: 0, end: 3.5 }], texts: [{ start, end: start + 0.4, text }] };
    return user.must<Cut>("POST", `/v1/cuts/${cutId}/edits`, { json });
  };
  const first = await edit(cut.id, "Zoroaster", 0.5);
  await edit(first.id, "Nietzsche", 2.5);
  const search = async (text: string) =>
    (await user.must<{ items: { start: number }[] }>("GET", `/api/v1/search?q=${text}`)).items.map(
      ({ start }) => start,
    );
  expect(await search("nietzsche")).toEqual([]);
  hold.release();
  await user.prepared(id);
  await server.idle();
  const [early, late] = [await search("zoroaster"), await search("nietzsche")];
  expect([early.length, late.length]).toEqual([1, 1]);
  expect(late[0]).toBeGreaterThan(early[0]!);
  expect(server.errors).toEqual([]);
});

test("a word that a cut has from its script is found, also beside a correction of an edit", async () => {
  await using server = await harness();
  const user = await server.user();
  const { id } = await user.ready(await wav(26));
  const cut = await user.cutEnded(
    (await user.startCut({ asset_id: id, script: "Alpha bravo charlie.\n\nDelta echo foxtrot golf zulu." })).id,
  );
  expect([cut.state, JSON.stringify(cut.plan).includes("golf zulu.")]).toEqual(["completed", true]);
  const search = async (text: string) => {
    const path = `/api/v1/search?q=${encodeURIComponent(text)}`;
    const { items } = await user.must<{ items: { asset_id: string; start: number }[] }>("GET", path);
    expect(items.map(({ asset_id }) => asset_id)).toEqual([id]);
    return items[0]!.start;
  };
  expect(await search("zulu")).toBeCloseTo(18, 1);
  const texts = [{ start: 16, end: 17, text: "Przybylski" }];
  const json = { segments: [{ start: 16, end: cut.plan!.segments.at(-1)!.end }], texts };
  await user.must<Cut>("POST", `/v1/cuts/${cut.id}/edits`, { json });
  expect([await search("przybylski"), await search('"przybylski golf zulu"')]).toEqual([16, 16]);
  expect(await search("zulu")).toBeCloseTo(18, 1);
});
