/** A real SMTP server for tests, and the mails that it received. */
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { until } from "./until";

export type ReceivedMail = Email & { envelopeTo: string[]; raw: string };

export type SmtpReceiver = AsyncDisposable & {
  url: string;
  port: number;
  mails: ReceivedMail[];
  /** Waits for the next mail to an address, and returns the newest. `after`: how many it must have received before. */
  mailTo(address: string, after?: number): Promise<ReceivedMail>;
};

/**
 * Starts a server on a free port of the loopback interface. `options` replaces its callbacks, such as `onRcptTo` to
 * refuse an address.
 */
export async function startSmtpReceiver(options: SMTPServerOptions = {}): Promise<SmtpReceiver> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const raw = Buffer.concat(chunks);
        const envelopeTo = session.envelope.rcptTo.map(({ address }) => address);
        mails.push({ ...(await PostalMime.parse(raw)), envelopeTo, raw: raw.toString("utf8") });
        done();
      });
    },
    ...options,
  });
  // Without a listener, a client that breaks the protocol would end the tests.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.server.address() as { port: number };
  const listTo = (address: string) => mails.filter(({ envelopeTo }) => envelopeTo.includes(address));
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    mailTo: async (address, after = 0) => {
      await until(`a mail to ${address}`, () => listTo(address).length > after);
      return listTo(address).at(-1)!;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
