/** Dependencies of sign-in and accounts. */
import type { Sealer } from "../../lib/sealer";
import type { OidcClient } from "../../outbound/oidc";
import type { MailNeeds } from "../mail/mails";
import type { Passwords } from "./passwords";
import type { Sessions } from "./sessions";
import type { Setup } from "./setup";
import type { SignInLimits } from "./sign-in-limits";

export type IdentityNeeds = MailNeeds & {
  passwords: Passwords;
  sessions: Sessions;
  setup: Setup;
  signInLimits: SignInLimits;
  /** Encrypts values that the database must not contain in plain text. */
  sealer: Sealer;
  oidc: OidcClient;
};
