/** Mails about an account: invitations, verification, passwords, sign-in codes and security notices. */
import type { WorkspaceRole } from "../../../domain/access";
import { type MailContent, shortenText } from "./layout";

/**
 * The values of each template. `expires_at` in milliseconds since 1970: a mail that could not be sent before is given
 * up.
 */
export type AccountMails = {
  /** `workspace`: the name of the workspace to join, if any. */
  invitation: {
    url: string;
    workspace: string | null;
    role: WorkspaceRole | null;
    invited_by: string | null;
    expires_at: number;
  };
  email_verification: { url: string; expires_at: number };
  password_reset: { url: string; expires_at: number };
  /** `api_keys` null: they keep working. */
  password_changed: { api_keys: "revoked" | null };
  sign_in_code: { code: string; expires_at: number };
  two_factor_changed: { is_enabled: boolean };
  recovery_code_used: { remaining: number };
  /** `workspace`: the name of the workspace that the key acts in. */
  api_key_created: { name: string; prefix: string; workspace: string };
  /** `provider`: its name in the configuration. */
  identity_changed: { provider: string; is_linked: boolean };
};

type Templates<Values> = { [Name in keyof Values]: (values: Values[Name], now: number) => MailContent };

const REACT = "If it was not you, change your password, or ask your administrator for help.";

export const ACCOUNT_TEMPLATES: Templates<AccountMails> = {
  invitation: ({ url, workspace, role, invited_by: invitedBy, expires_at: expiresAt }, now) => {
    const goal =
      workspace === null
        ? "use Offcut"
        : `work in "${toName(workspace)}" on Offcut${role === null ? "" : ` as ${role === "viewer" ? "a" : "an"} ${role}`}`;
    return {
      subject: workspace === null ? "Your Offcut account" : `Invitation to "${toName(workspace)}" on Offcut`,
      paragraphs: [`${invitedBy === null ? "An administrator" : toName(invitedBy)} invites you to ${goal}.`],
      link: { label: "Accept the invitation", url },
      notes: [`The link works once and expires in ${formatDuration(expiresAt - now)}.`],
    };
  },
  email_verification: ({ url, expires_at: expiresAt }, now) => ({
    subject: "Confirm your email address",
    paragraphs: ["Confirm that this address belongs to your Offcut account."],
    link: { label: "Confirm the address", url },
    notes: [
      `The link works once and expires in ${formatDuration(expiresAt - now)}. If you do not have an account, ignore this email.`,
    ],
  }),
  password_reset: ({ url, expires_at: expiresAt }, now) => ({
    subject: "Reset your password",
    paragraphs: ["Someone asked to reset the password of your Offcut account."],
    link: { label: "Choose a new password", url },
    notes: [
      `The link works once and expires in ${formatDuration(expiresAt - now)}. If it was not you, ignore this email: your password does not change.`,
    ],
  }),
  password_changed: ({ api_keys: keys }) => ({
    subject: "Your password was changed",
    paragraphs: [
      "The password of your Offcut account was changed, and all other sessions were ended.",
      keys === "revoked" ? "All API keys were revoked." : "API keys keep working.",
    ],
    notes: ["If it was not you, reset your password, or ask your administrator for help."],
  }),
  sign_in_code: ({ code, expires_at: expiresAt }, now) => ({
    subject: "Your sign-in code",
    paragraphs: ["Enter this code to sign in to Offcut:"],
    code,
    notes: [`It expires in ${formatDuration(expiresAt - now)}. If you are not signing in, change your password.`],
  }),
  two_factor_changed: ({ is_enabled: isEnabled }) => ({
    subject: isEnabled ? "Two-factor sign-in is on" : "Two-factor sign-in is off",
    paragraphs: [
      isEnabled
        ? "Signing in to your Offcut account now asks for a code after the password."
        : "Signing in to your Offcut account no longer asks for a code after the password.",
    ],
    notes: [REACT],
  }),
  recovery_code_used: ({ remaining }) => ({
    subject: "A recovery code was used",
    paragraphs: [
      `Someone signed in to your Offcut account with a recovery code. You have ${remaining} ${remaining === 1 ? "code" : "codes"} left.`,
    ],
    notes: [REACT],
  }),
  api_key_created: ({ name, prefix, workspace }) => ({
    subject: "An API key was created",
    paragraphs: [
      `The API key "${toName(name)}" (${prefix}…) was created for your Offcut account, in the workspace "${toName(workspace)}".`,
    ],
    notes: ["If it was not you, revoke the key on the API keys page.", REACT],
  }),
  identity_changed: ({ provider, is_linked: isLinked }) => ({
    subject: isLinked ? "A sign-in provider was linked" : "A sign-in provider was removed",
    paragraphs: [
      isLinked
        ? `Your Offcut account can now be signed in to with "${toName(provider)}".`
        : `Your Offcut account can no longer be signed in to with "${toName(provider)}". All other sessions were ended.`,
    ],
    notes: isLinked ? ["You can remove it on your account's Security page.", REACT] : [REACT],
  }),
};

const MAX_NAME_CHARACTERS = 80;

const toName = (text: string): string => shortenText(text, MAX_NAME_CHARACTERS);

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a duration in its largest unit of which it has at least two: "7 days", "24 hours", "60 minutes". */
function formatDuration(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.round(ms / DAY_MS)} days`;
  if (ms >= 2 * HOUR_MS) return `${Math.round(ms / HOUR_MS)} hours`;
  const minutes = Math.max(1, Math.round(ms / MINUTE_MS));
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}
