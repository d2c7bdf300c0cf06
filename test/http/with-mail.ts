/** A server that sends mails to a real mail server, and calls without authentication of it. */
import { expect } from "bun:test";
import { type SmtpReceiver, startSmtpReceiver } from "../smtp";
import { createAdmin } from "./accounts";
import type { Reply } from "./client";
import { type Harness, harness } from "./harness";

export const PUBLIC_URL = "https://cut.example";

type Answer = { code: string; token: string; user: { id: string; email: string } };

export type MailingServer = AsyncDisposable & {
  smtp: SmtpReceiver;
  server: Harness;
  /** Calls `/api/v1`, each time from another address, because addresses are limited. */
  post(path: string, json: unknown, headers?: Record<string, string>): Promise<Reply<Answer>>;
  /** Returns the token of the link in the newest mail. `after`: how many mails the address must have got before. */
  readToken(to: string, page: string, after?: number): Promise<string>;
};

/** Starts a server that is set up, at `PUBLIC_URL`. */
export async function startMailingServer(): Promise<MailingServer> {
  const smtp = await startSmtpReceiver();
  const settings = { SMTP_URL: smtp.url, PUBLIC_URL, SIGNUP: "open", TRUSTED_PROXIES: "127.0.0.1" };
  const server = await harness(settings);
  await createAdmin(server);
  let calls = 0;
  return {
    smtp,
    server,
    post: (path, json, headers = {}) => {
      calls++;
      const address = `198.51.${calls >> 8}.${calls & 255}`;
      return server.nobody.call("POST", `/api/v1/${path}`, {
        json,
        headers: { "X-Forwarded-For": address, ...headers },
      });
    },
    readToken: async (to, page, after = 0) => {
      const { text, html } = await smtp.mailTo(to, after);
      const token = new RegExp(`${PUBLIC_URL}/${page}#([0-9A-Za-z]{43})\\b`).exec(text ?? "")?.[1];
      expect(token).toBeDefined();
      expect(html).toContain(`href="${PUBLIC_URL}/${page}#${token}"`);
      return token!;
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await smtp[Symbol.asyncDispose]();
    },
  };
}
