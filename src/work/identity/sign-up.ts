/** Accounts without an administrator: setup of the server, and open sign-up. */
import type { BillingMode } from "../../domain/billing";
import { hasHostName, isPlainAddress, parseEmailAddress } from "../../domain/email-address";
import { AppError, conflict, invalidField } from "../../domain/errors";
import { newId } from "../../lib/ids";
import { insertBillingChoice } from "../../store/server-choices";
import { hasAdministrator } from "../../store/users";
import { recordAudit } from "../access/audit";
import type { CoreNeeds } from "../needs";
import { mailLink } from "./account-links";
import type { IdentityNeeds } from "./needs";
import { insertAccount } from "./new-account";
import { requireGoodPassword } from "./passwords";
import { insertStartedSession, type SignInClient, type StartedSession, toAuditActor, toPasswordKey } from "./sign-in";

type Credentials = { email: string; password: string };

/** Returns whether sign-up is open: as configured, but not before the server is set up. */
export const isSignUpOpen = async ({ config, store }: CoreNeeds): Promise<boolean> =>
  config.signup === "open" && (await hasAdministrator(store.read));

/**
 * Creates the first administrator and starts a session. Throws `AppError` `conflict` once there is an administrator;
 * `unauthenticated` for a wrong token; `validation_error`.
 */
export async function setUp(
  services: IdentityNeeds,
  request: Credentials & { token: string; billing?: BillingMode | undefined },
  client: SignInClient,
): Promise<StartedSession> {
  const { setup, store } = services;
  if (await hasAdministrator(store.read)) throw alreadySetUp();
  if (!(await setup.matches(request.token)))
    throw new AppError("unauthenticated", "Setup link is invalid. Run offcut setup-url on the server.");
  const { billing = null } = request;
  const started = await createAccount(services, request, client, { method: "setup", billing });
  await setup.finish();
  return started;
}

const alreadySetUp = () => conflict("This server is already set up: sign in.");

/**
 * Creates an account and starts a session. Throws `AppError` `forbidden` while sign-up is closed; `rate_limited`;
 * `conflict` when the address has an account; `validation_error`.
 */
export async function signUp(services: IdentityNeeds, credentials: Credentials, client: SignInClient) {
  services.signInLimits.takeAnonymousCall(client.address);
  if (!(await isSignUpOpen(services))) throw new AppError("forbidden", "Sign-up is closed on this server.");
  return createAccount(services, credentials, client, { method: "sign_up" });
}

async function createAccount(
  services: IdentityNeeds,
  credentials: Credentials,
  client: SignInClient,
  account: { method: "setup"; billing: BillingMode | null } | { method: "sign_up" },
): Promise<StartedSession> {
  const isAdmin = account.method === "setup";
  const { config, passwords, sessions, store } = services;
  const email = requireEmailAddress(credentials.email);
  requireGoodPassword(credentials.password, email);
  const passwordHash = await passwords.hash(toPasswordKey(client), credentials.password);
  const id = newId();
  const issued = await sessions.issue(id, client);
  const now = issued.row.created_at;
  return store.write(async (tx) => {
    // Only the first of two concurrent setups succeeds.
    if (isAdmin && (await hasAdministrator(tx))) throw alreadySetUp();
    const user = await insertAccount(tx, {
      id,
      email,
      passwordHash,
      isAdmin,
      // Anyone who can read the setup link administers the server.
      emailVerifiedAt: isAdmin ? now : null,
      credits: config.signupCredits,
      now,
    });
    const actor = toAuditActor(id, issued.row.id, client);
    const target = { kind: "user", id };
    await recordAudit(tx, actor, { action: isAdmin ? "server.set_up" : "user.signed_up", target }, now);
    if (account.method === "setup" && account.billing !== null) await insertBillingChoice(tx, account.billing);
    if (!isAdmin && services.mails.isConfigured) await mailLink(services, tx, user, "email_verification");
    return insertStartedSession(tx, user, issued, account.method, client);
  });
}

/**
 * Returns the address of a new account in the form that is stored. Throws `AppError` `validation_error` on
 * `body.email`.
 */
export function requireEmailAddress(text: string): string {
  const email = parseEmailAddress(text);
  if (email !== null && isPlainAddress(text)) return email;
  const message =
    email === null || !hasHostName(email)
      ? "must be an email address"
      : "must not contain invisible characters or look-alikes of others";
  throw invalidField("body.email", message, text.slice(0, 200));
}
