/** The confirmation that an address belongs to its account. */
import { AppError } from "../../domain/errors";
import { getUser, setEmailVerified, type User } from "../../store/users";
import { recordAudit } from "../audit";
import type { Services } from "../services";
import { findLinkWait, mailLink } from "./account-links";
import { useOneTimeToken } from "./one-time-tokens";
import { type SignInClient, toAnonymous } from "./sign-in";

/**
 * Mails the user a link that confirms the address. Throws `AppError` `conflict` when the address is confirmed or the server sends no mails;
 * `rate_limited` when too many were sent within an hour.
 */
export async function requestVerification(
  services: Pick<Services, "mails" | "now" | "publicUrl" | "store">,
  { id }: Pick<User, "id">,
): Promise<void> {
  const { mails, store } = services;
  if (!mails.isConfigured) throw new AppError("conflict", "This server sends no mails: ask an administrator.");
  await store.write(async (tx) => {
    const user = await getUser(tx, id);
    if (user && user.email_verified_at !== null) throw new AppError("conflict", "Email address is already confirmed.");
    const waitMs = await findLinkWait(services, tx, id, "email_verification");
    if (waitMs > 0)
      throw new AppError("rate_limited", "Too many mails were sent. Look into your mailbox, or retry later.", {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      });
    if (user) await mailLink(services, tx, user, "email_verification");
  });
}

/** Confirms the address that the link was sent to. Throws `AppError` `unauthenticated` if the link cannot be used; `rate_limited`. */
export async function verifyEmail(
  { now, signInLimits, store }: Pick<Services, "now" | "signInLimits" | "store">,
  token: string,
  client: SignInClient,
): Promise<void> {
  signInLimits.takeAnonymousCall(client.address);
  const time = now();
  await store.write(async (tx) => {
    const used = await useOneTimeToken(tx, "email_verification", token, time);
    const user = used?.user_id ? await getUser(tx, used.user_id) : null;
    if (!user || user.disabled_at !== null || user.email !== used?.email)
      throw new AppError("unauthenticated", "Link is invalid or has expired. Sign in to ask for a new one.");
    await setEmailVerified(tx, user.id, time);
    const target = { kind: "user", id: user.id };
    await recordAudit(tx, toAnonymous(client), { action: "user.email_verified", target }, time);
  });
}
