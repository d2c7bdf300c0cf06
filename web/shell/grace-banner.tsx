import { useState } from "preact/hooks";
import { api, must } from "../app/api";
import { formatDay } from "../app/format";
import { findPurgeTime } from "../app/grace-period";
import { loadSession } from "../app/load-session";
import { me } from "../app/session";
import { showFailure, showToast } from "../app/toasts";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";

/** Shows on every page that the account is pending deletion, and offers to restore it. */
export function GraceBanner() {
  const [isBusy, setIsBusy] = useState(false);
  const deletedAt = me.value?.deleted_at ?? null;
  if (deletedAt === null) return null;
  const restore = async () => {
    setIsBusy(true);
    try {
      await must(api.POST("/api/v1/users/me/restore"));
      await loadSession();
      showToast({ kind: "info", text: "Your account was restored." });
    } catch (error) {
      showFailure(error);
      setIsBusy(false);
    }
  };
  return (
    <section class="message warning grace-banner" aria-label="Account deletion">
      <Icon name="warning" />
      <p>
        Your account is being deleted. All of its data is permanently deleted on{" "}
        <strong>{formatDay(findPurgeTime(deletedAt))}</strong>. Until then you can restore it, and nothing is lost.
      </p>
      <span class="message-actions">
        <Button look="primary" isBusy={isBusy} onClick={() => void restore()}>
          Restore account
        </Button>
      </span>
    </section>
  );
}
