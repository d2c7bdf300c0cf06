/** The fixtures of the dashboard family's rows: a server, and users with sessions. */
import { expect } from "bun:test";
import { startSession } from "../../http/accounts";
import type { CallOptions, Client, Reply } from "../../http/client";
import { type Harness, harness } from "../../http/harness";
import { PRICES } from "../../http/prices";
import { type ApiDocument, createResponseChecker, DASHBOARD_CONTRACT } from "../response-checks";

export type DashboardFixtures = AsyncDisposable & {
  server: Harness;
  /** Sessions. */
  anna: Client;
  bert: Client;
  /**
   * Calls below `/api/v1`, by default as Anna, and fails unless the response passes the checks that hold for every
   * response.
   */
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: CallOptions & { as?: Client },
  ): Promise<Reply<T>>;
  /** The same, returning a short form: `201`, `409 conflict`, `422 validation_error body.name`. */
  getOutcome(method: string, path: string, options?: CallOptions & { as?: Client }): Promise<string>;
  /** Creates a user with a session. */
  user(): Promise<Client>;
};

/** A row: a sentence of the contract and the test of it. */
export type DashboardRow = [title: string, run: (fixtures: DashboardFixtures) => Promise<unknown>];

type Failure = { detail: string | { loc: string[] }[]; code?: string };

/** Starts the server, which has `PRICES`. `settings` as for the harness. */
export async function createDashboardFixtures(settings: Record<string, string> = {}): Promise<DashboardFixtures> {
  const server = await harness(settings, { configuration: PRICES, sharesChild: true });
  const user = async () => startSession(server, await server.user());
  const [anna, bert] = [await user(), await user()];
  const document = await anna.must<ApiDocument>("GET", "/api/v1/openapi.json");
  const inspect = createResponseChecker(document, DASHBOARD_CONTRACT);

  const call: DashboardFixtures["call"] = async <T>(
    method: string,
    path: string,
    { as = anna, ...options }: CallOptions & { as?: Client } = {},
  ) => {
    const reply = await as.call<T>(method, `/api/v1${path}`, options);
    expect([`${method} ${path}`, ...inspect(method, `/api/v1${path}`, reply)]).toEqual([`${method} ${path}`]);
    return reply;
  };

  return {
    server,
    anna,
    bert,
    call,
    getOutcome: async (method, path, options) => {
      const { status, body } = await call<Failure>(method, path, options);
      if (status < 400) return String(status);
      if (typeof body.detail === "string") return `${status} ${body.code}`;
      return `${status} validation_error ${body.detail.map(({ loc }) => loc.join(".")).join(",")}`;
    },
    user,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
