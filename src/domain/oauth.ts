/** Errors of OAuth 2.0 (RFC 6749, section 5.2) and of its device authorization grant (RFC 8628, section 3.5). */
import { AppError } from "./errors";

export type OAuthErrorCode =
  | "access_denied"
  | "authorization_pending"
  | "expired_token"
  | "invalid_grant"
  | "invalid_request"
  | "invalid_scope"
  | "slow_down"
  | "unsupported_grant_type";

/** An error that OAuth clients recognize by `error`. Always has the status 400. */
export class OAuthError extends AppError<"bad_request"> {
  constructor(
    readonly error: OAuthErrorCode,
    message: string,
  ) {
    super("bad_request", message);
  }
}
