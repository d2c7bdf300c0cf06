import { useState } from "preact/hooks";
import { api } from "../../../app/api";
import { formatDay } from "../../../app/format";
import { findPurgeTime } from "../../../app/grace-period";
import { loadSession } from "../../../app/load-session";
import { session } from "../../../app/session";
import { Button } from "../../../ui/button";
import { ConfirmDialog } from "../../../ui/confirm-dialog";
import { Section } from "../../../ui/section";
import { mustAdmin } from "../admin-api";
import { type AdminUserDetail, describeContents, describeRest, listOnlyOwned } from "./losses";

type DeletionSectionProps = { user: AdminUserDetail; onChanged(): Promise<void> };

/** Deletes an account. Its content is kept during the grace period. */
export function DeletionSection({ user, onChanged }: DeletionSectionProps) {
  const [isAsking, setIsAsking] = useState(false);
  const owned = listOnlyOwned(user);
  const isSelf = session.value.kind === "signed-in" && session.value.me.id === user.id;
  const rest = describeRest(user);
  return (
    <Section
      title="Delete account"
      hint={
        owned.length === 0 ? (
          <>The account can be restored for 30 days. After that, all of its data is permanently deleted.</>
        ) : (
          <>
            The user is the only owner of <strong dir="auto">{owned.join(", ")}</strong>. Make another member an owner,
            or delete the workspaces first.
          </>
        )
      }
      actions={
        <Button icon="trash" look="danger" disabled={owned.length > 0} onClick={() => setIsAsking(true)}>
          Delete account
        </Button>
      }
    >
      {isAsking && (
        <ConfirmDialog
          title={isSelf ? "Delete your own account?" : "Delete this account?"}
          confirmLabel="Delete account"
          onConfirm={async () => {
            const params = { path: { user_id: user.id } };
            await mustAdmin(api.DELETE("/api/v1/admin/users/{user_id}", { params }));
            if (isSelf) await loadSession();
            await onChanged();
          }}
          onClose={() => setIsAsking(false)}
        >
          <p>
            <strong dir="auto">{user.email}</strong> can sign in only to restore the account. API keys stop working now.
          </p>
          <p>
            On {formatDay(findPurgeTime(new Date().toISOString()))} the following is permanently deleted:{" "}
            {describeContents(user)}
            {rest !== "" && `; ${rest}`}. Until then you or the user can restore everything.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}
