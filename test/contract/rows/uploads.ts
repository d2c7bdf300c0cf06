/** Rows of the contract: transfer URLs (TUS 1.0.0). */
import { expect } from "bun:test";
import { wav } from "../../http/media";
import { NO_ID, outcome } from "../../http/outcome";
import { createFixtures, type Row } from "./fixtures";

const DAY = 86_400_000;
const BYTES = new Uint8Array(100).fill(1);

export const uploadRows: Row[] = [
  [
    "HEAD: offset, length, expiry, also of a complete upload; 412 without Tus-Resumable 1.0.0; 404 for unknown and foreign ones",
    async ({ anna, bert, send }) => {
      const { id } = await anna.open(1_000);
      await anna.patch(id, 0, BYTES);
      const head = (client: typeof anna, headers: Record<string, string>, at = id) =>
        send(client, "HEAD", `/v1/uploads/${at}`, { headers });
      const reply = await head(anna, anna.tus());
      expect([reply.status, reply.headers.get("upload-offset"), reply.headers.get("upload-length")]).toEqual([
        200,
        "100",
        "1000",
      ]);
      expect(Date.parse(reply.headers.get("upload-expires")!)).toBeGreaterThan(Date.now() + 6 * DAY);
      expect(reply.headers.get("tus-resumable")).toBe("1.0.0");
      expect(reply.headers.get("cache-control")).toBe("no-store");
      expect((await head(anna, {})).status).toBe(412);
      expect((await head(anna, { "Tus-Resumable": "0.2.2" })).status).toBe(412);
      expect((await head(anna, anna.tus(), NO_ID)).status).toBe(404);
      expect((await head(bert, anna.tus())).status).toBe(404);
      const complete = (await anna.open(100)).id;
      await anna.patch(complete, 0, BYTES);
      const after = await head(anna, anna.tus(), complete);
      expect([after.status, after.headers.get("upload-offset"), after.headers.get("upload-length")]).toEqual([
        200,
        "100",
        "100",
      ]);
      expect(Date.parse(after.headers.get("upload-expires")!)).toBeGreaterThan(Date.now() + 6 * DAY);
    },
  ],
  [
    "OPTIONS: version, extensions without creation, Tus-Max-Size, without a key",
    async ({ server, send }) => {
      const reply = await send(server.nobody, "OPTIONS", `/v1/uploads/${NO_ID}`, {});
      expect(reply.status).toBe(204);
      expect(reply.headers.get("tus-version")).toBe("1.0.0");
      expect(reply.headers.get("tus-max-size")).toBe(String(100 * 1024 ** 3));
      expect(reply.headers.get("tus-extension")).toBe("termination,expiration");
    },
  ],
  [
    "PATCH: 204 with the new offset and expiry; 409 at a wrong offset; 413 past the length; 415; 412; 400 without an offset",
    async ({ anna, send, bert }) => {
      const { id } = await anna.open(150);
      const patch = async (
        offset: string | null,
        bytes: Uint8Array<ArrayBuffer>,
        change: Record<string, string> = {},
        as = anna,
      ) => {
        const headers: Record<string, string> = {
          ...anna.tus({ "Content-Type": "application/offset+octet-stream" }),
          ...(offset === null ? {} : { "Upload-Offset": offset }),
          ...change,
        };
        return send(as, "PATCH", `/v1/uploads/${id}`, { body: bytes, headers });
      };
      const getOutcome = async (...args: Parameters<typeof patch>) => outcome(await patch(...args));
      const sent = await patch("0", BYTES);
      expect([sent.status, sent.headers.get("upload-offset")]).toEqual([204, "100"]);
      expect(Date.parse(sent.headers.get("upload-expires")!)).toBeGreaterThan(Date.now() + 6 * DAY);
      expect(await getOutcome("0", BYTES)).toBe("409 conflict");
      expect(await getOutcome("100", BYTES)).toBe("413 payload_too_large");
      expect(await getOutcome("100", BYTES, { "Content-Type": "text/plain" })).toBe("415 unsupported_media_type");
      expect(await getOutcome("100", BYTES, { "Tus-Resumable": "2" })).toBe("412 precondition_failed");
      expect(await getOutcome(null, BYTES)).toBe("400 bad_request");
      expect(await getOutcome("100", BYTES, {}, bert)).toBe("404 not_found");
      expect(await getOutcome("100", BYTES.slice(50))).toBe("204");
    },
  ],
  [
    "pending_upload -> processing when all bytes are received, in parts too; upload_url becomes null",
    async ({ anna }) => {
      const bytes = (await wav(2)) as Uint8Array<ArrayBuffer>;
      const { id } = await anna.open(bytes.length);
      for (let at = 0; at < bytes.length; at += 20_000) await anna.patch(id, at, bytes.slice(at, at + 20_000));
      expect((await anna.asset(id)).upload_url).toBeNull();
      expect((await anna.prepared(id)).state).toBe("ready");
    },
  ],
  [
    "DELETE: 204 whether or not it exists; the asset is removed; those of other users and finished ones stay",
    async ({ anna, bert, send, getOutcome, audioAsset, server }) => {
      const cancel = async (id: string, as = anna) =>
        (await send(as, "DELETE", `/v1/uploads/${id}`, { headers: anna.tus() })).status;
      const { id } = await anna.open(1_000);
      await anna.patch(id, 0, BYTES);
      expect(await cancel(id, bert)).toBe(204);
      expect(await getOutcome("GET", `/v1/assets/${id}`)).toBe("200");
      expect(await cancel(id)).toBe(204);
      expect(await getOutcome("GET", `/v1/assets/${id}`)).toBe("404 not_found");
      expect(await cancel(id)).toBe(204);
      expect(await cancel(NO_ID)).toBe(204);
      expect(await cancel((await audioAsset()).id)).toBe(204);
      expect((await anna.asset((await audioAsset()).id)).state).toBe("ready");
      await server.idle();
      expect(await server.leftovers(id)).toEqual([]);
    },
  ],
  [
    "Concurrent uploads: one that is empty for an hour no longer counts; OFFCUT_MAX_UPLOADS, OFFCUT_MAX_UPLOAD_BYTES",
    async () => {
      await using own = await createFixtures({ MAX_UPLOADS: "2", MAX_UPLOAD_BYTES: "5000" });
      const json = { project_id: (await own.anna.project()).id, size_bytes: 100 };
      const open = () => own.getOutcome("POST", "/v1/assets", json);
      expect([await open(), await open(), await open()]).toEqual(["201", "201", "409 conflict"]);
      own.server.advance(3_601_000);
      expect(await open()).toBe("201");
      expect(await own.getOutcome("POST", "/v1/assets", { ...json, size_bytes: 5_001 })).toBe("413 payload_too_large");
    },
  ],
];
