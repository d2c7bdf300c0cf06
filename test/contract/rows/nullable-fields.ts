/**
 * Rows of the contract: fields that may be null. A wrong value has the error of the field's type, as if null were not
 * allowed.
 */
import { expect } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { dashboardRoutes } from "../../../src/http/dashboard";
import { keyRoutes } from "../../../src/http/keys";
import { createAdmin, startSession } from "../../http/accounts";
import { NO_ID } from "../../http/outcome";
import type { DashboardRow } from "./dashboard-fixtures";
import { createCut } from "./drafts";

type Item = { loc: string[]; msg: string; type: string; input: unknown; ctx: object };
/**
 * The invalid value, and the end of its error: its type, its context and its message; `input` where it is not the
 * value.
 */
type Wrong = [value: unknown, type: string, ctx: object, msg: string, input?: unknown];

const LONG = "x".repeat(2_001);
const SHOWN = `${LONG.slice(0, 199)}…`;
const TERM = "must be an integer from 1 to 2147483647";
const uuid: Wrong[] = [
  ["x", "uuid_parsing", { error: "not a UUID" }, "must be a UUID or null"],
  ["", "uuid_parsing", { error: "not a UUID" }, "must be a UUID or null"],
  [5, "uuid_type", {}, "must be a UUID or null"],
];
const integer: Wrong[] = [
  [1.5, "int_from_float", {}, "must be an integer or null"],
  ["9", "int_type", {}, "must be an integer or null"],
  [[], "int_type", {}, "must be an integer or null", null],
];
const object: Wrong[] = [["natural", "model_attributes_type", {}, "must be an object or null"]];
const text = (max: number): Wrong[] => [
  [5, "string_type", {}, `must be a string of at most ${max} characters or null`],
  [{}, "string_type", {}, `must be a string of at most ${max} characters or null`, null],
  [LONG, "string_too_long", { max_length: max }, `must be a string of at most ${max} characters or null`, SHOWN],
];
const contentType = "must be a string of 1 to 255 characters or null";
const language = "must be a 2-letter ISO 639-1 code or null";
const format = "must be one of mp4, mov, m4a, mp3 or null";

/** Cases by route and field. The other fields of the request are valid. */
const TABLE: [route: string, others: object, fields: Record<string, Wrong[]>][] = [
  [
    "POST /assets",
    { project_id: NO_ID, size_bytes: 100 },
    {
      language: [
        ["eng", "string_pattern_mismatch", { pattern: "^[A-Za-z]{2}$" }, language],
        [1, "string_type", {}, language],
      ],
    },
  ],
  [
    "POST /cuts",
    { asset_id: NO_ID },
    {
      script: [[5, "string_type", {}, "must be a string or null"]],
      keep_edits_of: uuid,
      name: text(120),
      note: text(2_000),
    },
  ],
  ["POST /cuts/:cut_id/edits", { segments: [{ start: 0, end: 1 }] }, { name: text(120), note: text(2_000) }],
  ["POST /projects", { name: "P" }, { cut_after_upload: object }],
  ["PATCH /projects/:project_id", {}, { cut_after_upload: object }],
  [
    "PUT /assets/:asset_id/cut-after-upload",
    { mode: null },
    {
      mode: [
        ["fast", "enum", { expected: "'tight', 'natural' or 'loose'" }, "must be one of tight, natural, loose or null"],
      ],
      script: [[5, "string_type", {}, "must be a string or null"]],
    },
  ],
  ["PATCH /assets/:asset_id", {}, { name: text(255), note: text(2_000) }],
  ["PATCH /cuts/:cut_id", {}, { name: text(120), note: text(2_000) }],
  [
    "POST /renders",
    { asset_id: NO_ID },
    {
      cut_id: uuid,
      "output.format": [
        ["webm", "enum", { expected: "'mp4', 'mov', 'm4a' or 'mp3'" }, format],
        [5, "enum", { expected: "'mp4', 'mov', 'm4a' or 'mp3'" }, format],
      ],
      "output.resolution": [
        ["720", "string_pattern_mismatch", { pattern: "^[0-9]{1,5}p$" }, "must look like 720p or null"],
        [720, "string_type", {}, "must look like 720p or null"],
      ],
      "output.video_bitrate": integer,
      "output.frame_rate": integer,
      "output.exact_frame_rate": [
        [30, "model_attributes_type", {}, "must be an object or null"],
        ["30000/1001", "model_attributes_type", {}, "must be an object or null"],
      ],
      "output.exact_frame_rate.num": [[1.5, "int_from_float", {}, TERM]],
      "output.exact_frame_rate.den": [[0, "greater_than_equal", { ge: 1 }, TERM]],
      "output.audio_bitrate": integer,
      "output.audio": [[-14, "model_attributes_type", {}, "must be an object or null"]],
      "output.audio.loudness_lufs": [["-14", "float_type", {}, "must be a number or null"]],
      "output.audio.noise_reduction": [
        ["medium", "enum", { expected: "'off', 'light' or 'strong'" }, "must be one of off, light, strong or null"],
      ],
      "output.audio.level_speakers": [["yes", "bool_type", {}, "must be true or false or null"]],
      "output.file_name": text(200),
    },
  ],
  [
    "PATCH /users/me",
    {},
    {
      first_name: text(120),
      last_name: text(120),
      two_factor_enabled: [["yes", "bool_type", {}, "must be true or false or null"]],
    },
  ],
  [
    "POST /assets/upload-url",
    { type: "audio" },
    {
      content_type: [
        ["", "string_too_short", { min_length: 1 }, contentType],
        [LONG, "string_too_long", { max_length: 255 }, contentType, SHOWN],
        [5, "string_type", {}, contentType],
      ],
      project_id: uuid,
    },
  ],
  [
    "PATCH /admin/users/:user_id",
    {},
    {
      storage_quota_bytes: [
        [1.5, "int_from_float", {}, "must be an integer of at least 0 or null"],
        [-1, "greater_than_equal", { ge: 0 }, "must be an integer of at least 0 or null"],
        [true, "int_type", {}, "must be an integer of at least 0 or null"],
      ],
    },
  ],
  ["POST /admin/users/:user_id/credits", { delta: 1 }, { note: text(500) }],
];

/** Returns the body with the value at a dotted path; its neighbors there are valid. */
function withValue(others: object, path: string, value: unknown): object {
  const [name, ...rest] = path.split(".");
  const neighbors = rest[0] === "num" || rest[0] === "den" ? { num: 30, den: 1 } : {};
  return { ...others, [name!]: rest.length === 0 ? value : withValue(neighbors, rest.join("."), value) };
}

/** Lists the dotted paths of the fields of a request that may be null. */
const listNullable = (schema: TSchema, path: string[] = []): string[] =>
  Object.entries((schema.properties ?? {}) as Record<string, TSchema>).flatMap(([name, property]) => {
    const here = [...path, name];
    const isNullable = property.anyOf?.some((one: TSchema) => one.type === "null");
    return isNullable ? [here.join(".")] : listNullable(property, here);
  });

/**
 * Lists the dotted paths of the numbers and patterns in a request whose errors would have the validator's own words.
 */
const listWithoutText = (schema: TSchema, path: string): string[] => [
  ...(["integer", "number"].includes(schema.type) || schema.pattern ? (schema.errorText ? [] : [path]) : []),
  ...Object.entries((schema.properties ?? {}) as Record<string, TSchema>).flatMap(([name, property]) =>
    listWithoutText(property, `${path}.${name}`),
  ),
  ...((schema.anyOf ?? []) as TSchema[]).flatMap((one) => listWithoutText(one, path)),
  ...(schema.items ? listWithoutText(schema.items, `${path}[]`) : []),
];

export const nullableFieldRows: DashboardRow[] = [
  [
    "Validation of a field that may be null: pydantic v2's type and ctx of its schema, never echoing lists and objects",
    async (fixtures) => {
      const admin = await startSession(fixtures.server, await createAdmin(fixtures.server));
      const owned = await createCut(fixtures);
      const { id: projectId } = await owned.key.project();
      for (const [route, others, fields] of TABLE) {
        const as = /:(cut|asset|project)_id/.test(route) ? owned.as : admin;
        const filled = route
          .replace(":user_id", admin.userId)
          .replace(":cut_id", owned.cut.id)
          .replace(":project_id", projectId)
          .replace(":asset_id", owned.cut.asset_id);
        const [method, path] = filled.split(" ") as [string, string];
        for (const [field, wrong] of Object.entries(fields)) {
          for (const [value, type, ctx, msg, input = value] of wrong) {
            const json = withValue(others, field, value);
            const { status, body } = await fixtures.call<{ detail: Item[] }>(method, path, { json, as });
            const expected = [{ loc: ["body", ...field.split(".")], msg, type, input, ctx }];
            expect([route, value, status, body.detail]).toEqual([route, value, 422, expected]);
          }
        }
      }
      const chain = { input_asset_id: NO_ID, steps: [{ processor_name: "render", params: { output: { format: 1 } } }] };
      const { body } = await fixtures.call<{ detail: Item[] }>("POST", "/pipelines", { json: chain, as: admin });
      expect(body.detail).toMatchObject([
        { loc: ["body", "steps", "0", "params", "output", "format"], type: "enum", input: 1 },
      ]);
    },
  ],
  [
    "The fields of a key that may be null, in the public family's error shape",
    async (fixtures) => {
      const post = async (json: object) =>
        (await fixtures.anna.call("POST", "/api-keys", { json: { name: "k", ...json } })).body;
      const failing = (field: string, message: string) => ({ error: { fields: [{ field, message }] } });
      for (const [name, value, message] of [
        ["workspace_id", "x", "must be a UUID or null"],
        ["workspace_id", 5, "must be a UUID or null"],
        ["expires_at", 5, "must be an ISO 8601 time or null"],
        ["expires_at", "", "must be an ISO 8601 time or null"],
      ] as const)
        expect(await post({ [name]: value })).toMatchObject(failing(`body.${name}`, message));
    },
  ],
  [
    "Every field of a request that may be null is in these tables",
    async () => {
      const inTables = TABLE.flatMap(([route, , fields]) => Object.keys(fields).map((field) => `${route} ${field}`));
      const found = [...dashboardRoutes, ...keyRoutes].flatMap(({ method, path, body }) =>
        body ? listNullable(body).map((field) => `${method} ${path} ${field}`) : [],
      );
      const keys = ["POST  expires_at", "POST  workspace_id"];
      expect(found.filter((one) => !inTables.includes(one))).toEqual(keys);
    },
  ],
  [
    "Every number and every pattern of a request has a message that says what is accepted",
    async () => {
      const found = [...dashboardRoutes, ...keyRoutes].flatMap(({ method, path, body, query }) =>
        [body, query].flatMap((schema) => (schema ? listWithoutText(schema, `${method} ${path}`) : [])),
      );
      expect(found).toEqual([]);
    },
  ],
  [
    'PATCH users/me: first_name and last_name are a string or null (max 120); "" is stored as null; so is the note of a grant',
    async (fixtures) => {
      const { call, user, server } = fixtures;
      const as = await user();
      await call("PATCH", "/users/me", { json: { first_name: "Ada", last_name: "Lovelace" }, as });
      const cleared = await call("PATCH", "/users/me", { json: { first_name: "", last_name: " \n" }, as });
      expect([cleared.status, cleared.body]).toMatchObject([200, { first_name: null, last_name: null }]);
      expect((await call("GET", "/users/me", { as })).body).toMatchObject({ first_name: null, last_name: null });
      const name = "💥".repeat(120);
      expect((await call("PATCH", "/users/me", { json: { last_name: name }, as })).body).toMatchObject({
        first_name: null,
        last_name: name,
      });
      const admin = await startSession(server, await createAdmin(server));
      const grant = { json: { delta: 1, note: "" }, as: admin };
      expect((await call("POST", `/admin/users/${as.userId}/credits`, grant)).status).toBe(201);
      const { body } = await call<{ items: { details: object }[] }>("GET", "/admin/audit?limit=1", { as: admin });
      expect(JSON.stringify(body.items[0]!.details)).not.toContain('""');
    },
  ],
];
