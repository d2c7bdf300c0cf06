/** The accounts at sign-in providers that are linked to the signed-in user. */
import { listOidcIdentities, type StoredIdentity } from "../../store/oidc-identities";
import { formatProviderName, removeIdentity } from "../../work/identity/oidc-accounts";
import type { Call } from "../call";
import { offsetListRoute } from "../list-route";
import { respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { type Resource, SCHEMAS } from "../schemas";
import { showRow } from "../show-row";
import { toAccountOwner } from "./sign-in-client";

const showIdentity = ({ services }: Call, identity: StoredIdentity): Resource<"Identity"> =>
  showRow(SCHEMAS.Identity, identity, { provider: formatProviderName(services.config, identity.issuer) });

export const list = offsetListRoute({
  summary: "List the accounts at sign-in providers that sign you in",
  access: { credential: "session", target: "account" },
  item: "Identity",
  description: "A page of identities",
  read: async ({ services, principal }, { limit, offset }) => {
    const all = await listOidcIdentities(services.store.read, principal.user.id);
    return { rows: all.slice(offset, offset + limit), total: all.length };
  },
  show: showIdentity,
});

export const remove = route({
  summary: "Remove an account at a sign-in provider. All other sessions end",
  access: { credential: "fresh-session", target: "account" },
  errors: ["conflict"],
  responses: { 204: respondsWithNothing("The provider no longer signs you in") },
  handle: (call) => removeIdentity(call.services, toAccountOwner(call), call.params.identity_id!),
});
