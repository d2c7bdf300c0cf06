/** Texts for accounts. */
import type { Schemas } from "../../../app/api";
import { Status } from "../../../ui/status";

export type AdminUser = Schemas["AdminUser"];

export const toFullName = ({ first_name, last_name }: Pick<AdminUser, "first_name" | "last_name">): string =>
  [first_name, last_name].filter(Boolean).join(" ");

/** The state of an account. */
export function UserStatus({ user }: { user: AdminUser }) {
  if (user.deleted_at !== null) return <Status text="Being deleted" look="bad" />;
  if (user.disabled) return <Status text="Disabled" look="waiting" />;
  if (user.last_sign_in_at === null) return <Status text="Never signed in" look="" />;
  return <Status text="Active" look="good" />;
}
