/** Parts of OpenAPI documents. */

export type JsonObject = Record<string, unknown>;

/** Returns a reference to a schema of the document. */
export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
