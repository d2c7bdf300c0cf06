/** Shared code of the rows about accounts. */
import { expect } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { PASSWORD, startSession, withPassword } from "../../http/accounts";
import type { Client, Reply } from "../../http/client";
import { type Harness, harness } from "../../http/harness";

export type Started = { token: string; expires_at: string; user: { id: string; email: string } };

export const DAY_MS = 24 * 3600 * 1000;
export const HOUR_MS = 3600 * 1000;
export const NEW_PASSWORD = "staple horse 4711";

/** Creates a user with a password and a session. */
export async function createMember({ server }: { server: Harness }): Promise<Client & { key: string }> {
  return startSession(server, await withPassword(server, await server.user()));
}

/** Fails unless the value matches the schema. */
export const conforms = (schema: Parameters<typeof Value.Errors>[0], value: unknown) =>
  expect([...Value.Errors(schema as never, value)].map(({ path, message }) => `${path}: ${message}`)).toEqual([]);

/** Starts a server of its own, for rows that change its clock or settings. */
export async function startOwn(settings: Record<string, string> = {}): Promise<Harness> {
  const server = await harness(settings);
  return server;
}

export const signIn = (server: Harness, email: string, password = PASSWORD): Promise<Reply<Started>> =>
  server.nobody.call<Started>("POST", "/api/v1/auth/login", { json: { email, password } });
