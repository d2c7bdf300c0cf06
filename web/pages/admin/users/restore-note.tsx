import { useState } from "preact/hooks";
import { api } from "../../../app/api";
import { formatTime } from "../../../app/format";
import { findPurgeTime } from "../../../app/grace-period";
import { showFailure } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { mustAdmin } from "../admin-api";
import { type AdminUserDetail, describeContents } from "./losses";

type RestoreNoteProps = { user: AdminUserDetail; deletedAt: string; onChanged(): Promise<void> };

/** Shows until when an account pending deletion can be restored. */
export function RestoreNote({ user, deletedAt, onChanged }: RestoreNoteProps) {
  const [isBusy, setIsBusy] = useState(false);
  const restore = async () => {
    setIsBusy(true);
    try {
      const params = { path: { user_id: user.id } };
      await mustAdmin(api.POST("/api/v1/admin/users/{user_id}/restore", { params }));
      await onChanged();
    } catch (error) {
      showFailure(error);
      setIsBusy(false);
    }
  };
  return (
    <div class="message warning">
      <Icon name="warning" />
      <p>
        This account is being deleted. On {formatTime(findPurgeTime(deletedAt))} its content is permanently deleted:{" "}
        {describeContents(user)}.
      </p>
      <span class="message-actions">
        <Button isBusy={isBusy} onClick={() => void restore()}>
          Restore account
        </Button>
      </span>
    </div>
  );
}
