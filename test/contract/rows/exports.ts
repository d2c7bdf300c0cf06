/** Rows of the contract: timeline exports and subtitles of cuts. */
import { expect } from "bun:test";
import { wav } from "../../http/media";
import type { Row } from "./fixtures";

const FORMATS = ["fcpxml", "fcp7xml", "edl", "otio", "mlt", "csv", "json"];

export const exportRows: Row[] = [
  [
    "GET /v1/cuts/{id}/export: seven formats, both layouts, a file with Content-Disposition; 422 for an unknown one",
    async ({ call, getOutcome, cut }) => {
      const { id } = await cut();
      for (const format of FORMATS) {
        for (const layout of ["tight", "review"]) {
          const file = await call("GET", `/v1/cuts/${id}/export?format=${format}&layout=${layout}`);
          expect([format, layout, file.status]).toEqual([format, layout, 200]);
          expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename="clip/);
          expect(file.headers.get("x-content-type-options")).toBe("nosniff");
        }
      }
      const options = "media_root=/media&frame_rate=30000/1001&drop_frame=true";
      expect(await getOutcome("GET", `/v1/cuts/${id}/export?format=edl&${options}`)).toBe("200");
      const bad = (query: string) => getOutcome("GET", `/v1/cuts/${id}/export?${query}`);
      expect(await bad("format=avid")).toBe("422 validation_error query.format");
      expect(await bad("")).toBe("422 validation_error query.format");
      expect(await bad("format=edl&layout=x")).toBe("422 validation_error query.layout");
      expect(await bad("format=edl&frame_rate=x")).toBe("422 validation_error query.frame_rate");
      expect(await bad("format=edl&drop_frame=1")).toBe("422 validation_error query.drop_frame");
    },
  ],
  [
    "409 unsupported_format: EDL of an audio asset, a subtitle without a transcript",
    async ({ anna, getOutcome, audioAsset }) => {
      const spoken = await anna.cutEnded((await anna.startCut({ asset_id: (await audioAsset()).id })).id);
      expect(await getOutcome("GET", `/v1/cuts/${spoken.id}/export?format=edl`)).toBe("409 unsupported_format");
      const strange = await anna.ready(await wav(2), { language: "xx" });
      const silent = await anna.cutEnded((await anna.startCut({ asset_id: strange.id })).id);
      expect(await getOutcome("GET", `/v1/cuts/${silent.id}/subtitle?format=srt`)).toBe("409 unsupported_format");
    },
  ],
  [
    "GET /v1/cuts/{id}/subtitle: srt and vtt, timeline cut (default) or source",
    async ({ call, getOutcome, cut }) => {
      const { id } = await cut();
      const read = async (query: string) => {
        const file = await call<string>("GET", `/v1/cuts/${id}/subtitle?${query}`);
        expect(file.status).toBe(200);
        expect(file.headers.get("content-disposition")).toStartWith("attachment");
        return file.body;
      };
      expect(await read("format=srt")).toMatch(/^1\r?\n\d\d:\d\d:\d\d,\d{3} --> /);
      expect(await read("format=vtt")).toStartWith("WEBVTT");
      expect(await read("format=srt")).toBe(await read("format=srt&timeline=cut"));
      expect(await read("format=srt&timeline=source")).not.toBe(await read("format=srt"));
      expect(await getOutcome("GET", `/v1/cuts/${id}/subtitle`)).toBe("422 validation_error query.format");
      expect(await getOutcome("GET", `/v1/cuts/${id}/subtitle?format=ass`)).toBe("422 validation_error query.format");
    },
  ],
  [
    "GET /v1/cuts/{id}/transcript: txt, md and docx, with or without times",
    async ({ call, getOutcome, cut }) => {
      const { id } = await cut();
      const read = async (query: string) => {
        const file = await call<string>("GET", `/v1/cuts/${id}/transcript?${query}`);
        expect(file.status).toBe(200);
        expect(file.headers.get("content-disposition")).toStartWith("attachment");
        return file.body;
      };
      const text = await read("format=txt");
      expect(text).toMatch(/^alpha/i);
      expect(await read("format=txt&times=true")).toBe(`[0:00] ${text}`);
      expect(await read("format=md")).toContain(`\n\n${text}`);
      expect(await read("format=docx")).toStartWith("PK\u0003\u0004");
      expect(await getOutcome("GET", `/v1/cuts/${id}/transcript?format=pdf`)).toBe("422 validation_error query.format");
    },
  ],
  [
    "exports, subtitles and edits of a cut that is not completed: 409 conflict",
    async ({ anna, getOutcome, videoAsset, server }) => {
      const hold = server.speech.hold("forcedAlign");
      const { id } = await anna.startCut({ asset_id: (await videoAsset()).id, script: "alpha bravo charlie" });
      await hold.reached;
      expect(await getOutcome("GET", `/v1/cuts/${id}/export?format=edl`)).toBe("409 conflict");
      expect(await getOutcome("GET", `/v1/cuts/${id}/subtitle?format=srt`)).toBe("409 conflict");
      expect(await getOutcome("POST", `/v1/cuts/${id}/edits`, { segments: [{ start: 0, end: 1 }] })).toBe(
        "409 conflict",
      );
      hold.release();
      await anna.cutEnded(id);
    },
  ],
];
