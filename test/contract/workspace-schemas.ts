/** Response schemas of the second factor and of workspaces, written independently of the server. */
import { Type } from "@sinclair/typebox";
import { exactly, oneOf, orNull, text, time, uuid } from "./schema-parts";

export const twoFactor = exactly({
  is_enabled: Type.Boolean(),
  has_authenticator: Type.Boolean(),
  can_mail: Type.Boolean(),
  recovery_codes_left: Type.Integer({ minimum: 0 }),
});

const natural = Type.Integer({ minimum: 0 });

export const workspaceDetail = exactly({
  id: uuid,
  name: text,
  role: oneOf("owner", "editor", "viewer"),
  is_personal: Type.Boolean(),
  created_at: time,
  member_count: Type.Integer({ minimum: 1 }),
  project_count: natural,
  asset_count: natural,
  render_count: natural,
  storage_used_bytes: natural,
  storage_quota_bytes: orNull(Type.Integer({ minimum: 1 })),
  credits_balance: Type.Integer(),
  credits_held: natural,
  credits_used: natural,
});

export const workspaceInvitation = exactly({
  id: uuid,
  email: Type.String({ pattern: "@" }),
  role: oneOf("owner", "editor", "viewer"),
  invited_by: orNull(exactly({ id: uuid, name: orNull(text) })),
  created_at: time,
  expires_at: time,
});
