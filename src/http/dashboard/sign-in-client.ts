/** The client of a call, as the identity services need it. */
import type { AccountOwner, SignInClient } from "../../work/identity/sign-in";
import type { Call, OpenCall } from "../call";

/** Returns who calls, for the list of sessions and the audit log. */
export const toSignInClient = ({ client, request, requestId }: OpenCall): SignInClient => ({
  address: client.address,
  userAgent: request.headers.get("user-agent"),
  requestId,
});

/** Returns who changes the own account. */
export const toAccountOwner = (call: Call): AccountOwner => ({
  user: call.principal.user,
  sessionId: call.principal.credential.id,
  client: toSignInClient(call),
});
