/** Describes the client of a call for the identity services. */
import { AppError } from "../../domain/errors";
import type { AuditActor } from "../../work/access/audit";
import { type AccountOwner, type SignInClient, toAuditActor } from "../../work/identity/sign-in";
import type { Call, OpenCall } from "../call";

/** Returns the client for the list of sessions and the audit log. */
export const toSignInClient = ({ client, request, requestId }: OpenCall): SignInClient => ({
  address: client.address,
  userAgent: request.headers.get("user-agent"),
  requestId,
});

/** Returns the ID of the user whose session an open call carries, or null. */
export async function findSessionUser({ reauthorize }: OpenCall): Promise<string | null> {
  const principal = await reauthorize().catch((error) => {
    if (error instanceof AppError) return null;
    throw error;
  });
  return principal?.credential.kind === "session" ? principal.user.id : null;
}

export const toCallActor = (call: Call): AuditActor =>
  toAuditActor(call.principal.user.id, call.principal.credential.id, toSignInClient(call));

export const toAccountOwner = (call: Call): AccountOwner => ({
  user: call.principal.user,
  sessionId: call.principal.credential.id,
  signedInMs: call.principal.credential.ageMs,
  client: toSignInClient(call),
});
