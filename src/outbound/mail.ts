/** Sends mails through an SMTP server. */
import type { Mail, MailResult } from "../domain/mail";

/** `url`: `smtp://` (with STARTTLS if offered) or `smtps://`, with user and password. `from` returns the sender. */
export type MailServer = { url: string; from(): string };

const TIMEOUT_MS = 20_000;
const MAX_CONNECTIONS = 4;
const MAX_DETAIL_CHARACTERS = 200;
/** SMTP replies from this code on are permanent (RFC 5321, 4.2.1). */
const PERMANENT_REPLY = 500;
/** Wrong credentials are a configuration error, not a fault of the mail. */
const AUTHENTICATION_REPLIES = [530, 534, 535, 538];

/** Opens the connection pool of a mail server. */
export function createMailer(server: MailServer) {
  // The library is large, so it is not loaded without a mail server.
  const opening = import("nodemailer").then(({ createTransport }) =>
    createTransport({
      url: server.url,
      pool: true,
      maxConnections: MAX_CONNECTIONS,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // Mails contain no files, and a text must never be interpreted as a path or address to load.
      disableFileAccess: true,
      disableUrlAccess: true,
    }),
  );
  return {
    /** Sends a mail once. Never throws. */
    send: async (mail: Mail): Promise<MailResult> => {
      try {
        const transport = await opening;
        await transport.sendMail({
          from: { name: "Offcut", address: server.from() },
          to: { name: "", address: mail.to },
          subject: mail.subject,
          text: mail.text,
          html: mail.html,
          headers: { "Auto-Submitted": "auto-generated" },
        });
        return { outcome: "sent" };
      } catch (error) {
        return toFailure(error as SmtpError);
      }
    },
    /** Connects and signs in without sending a mail. Returns null, or a one-line description of the problem. */
    findProblem: (): Promise<string | null> =>
      opening
        .then((transport) => transport.verify())
        .then(
          () => null,
          (error: SmtpError) => toFailure(error).detail,
        ),
    close: () => void opening.then((transport) => transport.close()),
  };
}

export type Mailer = ReturnType<typeof createMailer>;

type SmtpError = Error & { responseCode?: number; code?: string; command?: string };

function toFailure(error: SmtpError): Exclude<MailResult, { outcome: "sent" }> {
  const { responseCode, message, code } = error;
  const detail = `${responseCode ?? code ?? ""} ${message}`.replace(/\s+/g, " ").trim().slice(0, MAX_DETAIL_CHARACTERS);
  return { outcome: isPermanent(error) ? "refused" : "failed", detail };
}

/**
 * Only rejections of the recipient or the content are permanent for the mail. Others concern a setting, such as the
 * sender.
 */
function isPermanent({ responseCode, code, command }: SmtpError): boolean {
  if (responseCode === undefined) return code === "EENVELOPE";
  if (AUTHENTICATION_REPLIES.includes(responseCode)) return false;
  return responseCode >= PERMANENT_REPLY && (command === "RCPT TO" || command === "DATA");
}
