/** Parts of the operations in OpenAPI documents. `JSON.stringify` leaves out undefined properties. */
import { HTTP_STATUS, type HttpCode } from "../domain/errors";
import type { SchemaName } from "./schemas";

export type JsonObject = Record<string, unknown>;

export const schemaRef = (name: SchemaName | "Error"): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** Describes a parameter. By default it is text, and optional outside of a path. */
export const describeParameter = (place: "path" | "query" | "header", name: string, rest: JsonObject = {}) => ({
  name,
  in: place,
  required: place === "path",
  description: undefined,
  schema: { type: "string" },
  ...rest,
});

const WAITING_CODES: HttpCode[] = ["rate_limited", "asset_processing", "upstream_unavailable"];

export const describeErrors = (codes: HttpCode[]): JsonObject =>
  Object.fromEntries(
    [...Map.groupBy(new Set(codes), (code) => HTTP_STATUS[code])].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\``).join(", "),
        headers: group.some((code) => WAITING_CODES.includes(code))
          ? { "Retry-After": { schema: { type: "integer" } } }
          : undefined,
        content: { "application/json": { schema: schemaRef("Error") } },
      },
    ]),
  );
