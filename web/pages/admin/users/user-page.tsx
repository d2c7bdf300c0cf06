import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { ApiError, api } from "../../../app/api";
import { useRead } from "../../../app/cache";
import { formatCount, formatTime } from "../../../app/format";
import { findPurgeTime } from "../../../app/grace-period";
import { isBilled } from "../../../app/session";
import { showFailure } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { Facts } from "../../../ui/facts";
import { Icon } from "../../../ui/icon";
import { Section } from "../../../ui/section";
import { ErrorPanel, ListSkeleton } from "../../../ui/states";
import NotFoundPage from "../../not-found";
import { mustAdmin } from "../admin-api";
import { AdminFrame } from "../admin-frame";
import { AccessSection } from "./access-section";
import { CreditsSection } from "./credits-section";
import { DeletionSection } from "./deletion-section";
import { type AdminUserDetail, describeAccess, describeContents } from "./losses";
import { QuotaSection } from "./quota-section";
import { UserActivity } from "./user-activity";
import { toFullName, UserStatus } from "./user-texts";

/** Shows an account and the actions for it. */
export default function UserPage() {
  const userId = useRoute().params.userId ?? "";
  const params = { path: { user_id: userId } };
  const loaded = useRead(["admin-user", userId], (signal) =>
    mustAdmin(api.GET("/api/v1/admin/users/{user_id}", { params, signal })),
  );
  const state = loaded.state.value;
  if (state.kind === "failed" && state.error instanceof ApiError && [404, 422].includes(state.error.status))
    return <NotFoundPage />;
  if (state.kind !== "ready")
    return (
      <AdminFrame title="User">
        {state.kind === "loading" ? (
          <ListSkeleton />
        ) : (
          <ErrorPanel message={state.message} onRetry={() => void loaded.reload()} />
        )}
      </AdminFrame>
    );
  const user = state.value;
  const part = { user, onChanged: loaded.reload };
  return (
    <AdminFrame title={user.email} actions={<UserStatus user={user} />}>
      {user.deleted_at !== null && <RestoreNote {...part} deletedAt={user.deleted_at} />}
      <div class="admin-columns">
        <div>
          <Section title="Account" actions={<a href={`/admin/jobs?user_id=${user.id}`}>Jobs of this user</a>}>
            <Facts facts={listFacts(user)} />
          </Section>
          <UserActivity userId={user.id} email={user.email} version={JSON.stringify(user)} />
        </div>
        <div>
          {user.deleted_at === null && <AccessSection {...part} />}
          {isBilled.value && <CreditsSection {...part} />}
          <QuotaSection key={user.storage_quota_bytes} {...part} />
          {user.deleted_at === null && <DeletionSection {...part} />}
        </div>
      </div>
    </AdminFrame>
  );
}

const formatWhen = (iso: string | null): string => (iso === null ? "Never" : formatTime(iso));

function listFacts(user: AdminUserDetail): [string, string][] {
  const { contents } = user;
  const shared = contents.shared_workspaces.map(({ name, role }) => `${name} (${role})`).join(", ");
  return [
    ["Name", toFullName(user) || "Not given"],
    ["Created", formatWhen(user.created_at)],
    ["Last sign-in", formatWhen(user.last_sign_in_at)],
    ["Email confirmed", formatWhen(user.email_verified_at)],
    ["Second factor", user.two_factor_enabled ? "On" : "Off"],
    ["Content", describeContents(user)],
    ["Running work", contents.open_jobs === 0 ? "None" : formatCount(contents.open_jobs, "job")],
    ["Access", describeAccess(user)],
    ["Workspaces", shared || "Only the personal one"],
    ["User ID", user.id],
  ];
}

type RestoreNoteProps = { user: AdminUserDetail; deletedAt: string; onChanged(): Promise<void> };

/** Shows until when an account pending deletion can be restored. */
function RestoreNote({ user, deletedAt, onChanged }: RestoreNoteProps) {
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
