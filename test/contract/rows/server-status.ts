/** Rows of the contract: the server's status for all users. */
import { expect } from "bun:test";
import { Type } from "@sinclair/typebox";
import { version } from "../../../package.json";
import { exactly, oneOf, text } from "../schema-parts";
import { conforms } from "./account-setting";
import type { DashboardRow } from "./dashboard-fixtures";

const part = oneOf("ok", "starting", "limited", "unavailable", "off");

const serverStatus = exactly({
  status: oneOf("ok", "degraded"),
  version: text,
  parts: exactly({ uploads: part, renders: part, speech_recognition: part, email: part }),
  languages: Type.Array(text, { minItems: 1 }),
});

export const serverStatusRows: DashboardRow[] = [
  [
    "GET /api/v1/status: { status, version, parts: { uploads, renders, speech_recognition, email }, languages } for every user",
    async ({ call, getOutcome, server }) => {
      const { body } = await call<Record<string, unknown>>("GET", "/status");
      conforms(serverStatus, body);
      expect(body).toMatchObject({ version, parts: { uploads: "ok", email: "off" } });
      expect(await getOutcome("GET", "/status", { as: server.nobody })).toBe("401 unauthenticated");
    },
  ],
  [
    "GET /api/v1/licenses: the licenses of Offcut and of the bundled software as text/plain, with a line of 100 hyphens between them",
    async ({ call }) => {
      const { body, headers } = await call<string>("GET", "/licenses");
      expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
      const texts = body.split(`\n${"-".repeat(100)}\n\n`);
      expect(texts[1]).toContain("Apache License");
      expect(texts.some((one) => one.startsWith("preact "))).toBe(true);
    },
  ],
];
