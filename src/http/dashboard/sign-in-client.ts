/** The client of a call, as the identity services need it. */
import type { SignInClient } from "../../work/identity/sign-in";
import type { OpenCall } from "../call";

/** Returns who calls, for the list of sessions and the audit log. */
export const toSignInClient = ({ client, request, requestId }: OpenCall): SignInClient => ({
  address: client.address,
  userAgent: request.headers.get("user-agent"),
  requestId,
});
