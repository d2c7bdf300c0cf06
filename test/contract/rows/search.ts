/** Rows of the contract: the search of transcripts. */
import { expect } from "bun:test";
import { Type } from "@sinclair/typebox";
import { NO_ID } from "../../http/outcome";
import type { Cut } from "../../http/resources";
import { addMember } from "../../unit/store/test-store";
import { exactly, orNull, text, uuid } from "../schema-parts";
import { conforms } from "./account-setting";
import type { DashboardRow } from "./dashboard-fixtures";
import { createCut } from "./drafts";

const character = Type.Integer({ minimum: 0 });
const pageSchema = exactly({
  items: Type.Array(
    exactly({
      asset_id: uuid,
      asset_name: orNull(text),
      project_id: uuid,
      start: Type.Number({ minimum: 0 }),
      end: Type.Number({ minimum: 0 }),
      snippet: text,
      matches: Type.Array(Type.Tuple([character, character]), { minItems: 1 }),
    }),
  ),
  limit: Type.Integer(),
  next_cursor: orNull(text),
});
type Hit = {
  asset_id: string;
  asset_name: string;
  project_id: string;
  start: number;
  snippet: string;
  matches: [number, number][];
};
type Page = { items: Hit[]; next_cursor: string | null };

export const searchRows: DashboardRow[] = [
  [
    "GET /api/v1/search?q=&project_id=&cursor=&limit= -> passages of transcripts with asset, time, snippet and matches, for members of the workspace",
    async (fixtures) => {
      const { call, getOutcome, bert, server } = fixtures;
      const { as, key, cut } = await createCut(fixtures);
      const asset = await key.asset(cut.asset_id);
      const { words } = (await (await fetch(asset.transcript_url!)).json()) as {
        words: { text: string; start: number; end: number }[];
      };
      const word = words.find(({ text: said }) => said === words[0]!.text)!;
      const search = async (query: string, user = as, headers = {}) => {
        const { status, body } = await call<Page>("GET", `/search?${query}`, { as: user, headers });
        expect(status).toBe(200);
        conforms(pageSchema, body);
        return body;
      };
      const q = `q=${word.text.toUpperCase()}`;
      const { items } = await search(q);
      expect(items).toMatchObject([{ asset_id: asset.id, asset_name: asset.filename, project_id: asset.project_id }]);
      const { snippet, matches, start } = items[0]!;
      expect(snippet.slice(...matches[0]!)).toBe(word.text);
      expect(start).toBeCloseTo(word.start, 1);
      expect((await search(`${q}&limit=1`)).next_cursor).toBeNull();
      expect((await search(`${q}&project_id=${asset.project_id}`)).items).toEqual(items);
      for (const nothing of [`${q}&project_id=${NO_ID}`, "q=%22", "q=unspoken", `q=%22${word.text}%20unspoken%22`])
        expect([nothing, (await search(nothing)).items]).toEqual([nothing, []]);
      for (const [query, field] of [
        ["", "query.q"],
        ["?q=", "query.q"],
        [`?q=${"x".repeat(257)}`, "query.q"],
        ["?q=x&project_id=x", "query.project_id"],
        ["?q=x&cursor=x", "query.cursor"],
        ["?q=x&color=red", "query.color"],
      ])
        expect([query, await getOutcome("GET", `/search${query}`, { as })]).toEqual([
          query,
          `422 validation_error ${field}`,
        ]);

      const headers = { "Offcut-Workspace": as.userId };
      expect((await search(q, bert)).items).toEqual([]);
      await server.services().store.write((tx) => addMember(tx, as.userId, bert.userId, "viewer"));
      expect((await search(q, bert, headers)).items).toEqual(items);
      expect((await search(q, bert)).items).toEqual([]);
      // A corrected text is found as long as its cut exists, also by the recognized text.
      const plan = (await key.must<Cut>("GET", `/v1/cuts/${cut.id}`)).plan!;
      const second = words[1]!;
      const texts = [{ start: second.start, end: second.end, text: "Przybylski" }];
      const edit = { segments: plan.segments.map(({ start, end }) => ({ start, end })), texts };
      const edited = await call<Cut>("POST", `/cuts/${cut.id}/edits`, { json: edit, as });
      expect(edited.status).toBe(201);
      const corrected = (await search("q=przybylski")).items;
      expect(corrected).toMatchObject([{ asset_id: asset.id, snippet: expect.stringContaining("Przybylski") }]);
      expect(corrected[0]!.start).toBeCloseTo(second.start, 1);
      expect((await search("q=przybylski", bert, headers)).items).toEqual(corrected);
      expect((await search("q=przybylski", bert)).items).toEqual([]);
      expect((await search(`q=%22${second.text}%22`)).items).not.toEqual([]);
      // Another version takes the place of the first, which has no correction of its own.
      const restored = { ...edit, texts: [{ ...texts[0]!, text: second.text }], replaces: edited.body.id };
      const replaced = await call<Cut>("POST", `/cuts/${edited.body.id}/edits`, { json: restored, as });
      expect([replaced.status, (await search("q=przybylski")).items]).toEqual([201, []]);
      expect((await search(q)).items).toEqual(items);
      await call("PATCH", `/assets/${asset.id}`, { json: { name: "Interview" }, as });
      expect((await search(q)).items).toMatchObject([{ asset_name: "Interview" }]);
      await key.must("DELETE", `/v1/assets/${asset.id}`);
      expect((await search(q)).items).toEqual([]);
    },
  ],
];
