import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { GRACE_DAYS } from "../../../../src/domain/access";
import { api } from "../../../app/api";
import { useRead } from "../../../app/cache";
import { formatBytes, formatCount, formatDay, formatTime } from "../../../app/format";
import { loadSession } from "../../../app/load-session";
import { findPurgeTime, isBilled, me } from "../../../app/session";
import { showToast } from "../../../app/toasts";
import { ConfirmButton } from "../../../ui/dialog";
import { Field, Form, SelectField } from "../../../ui/form";
import { NotFoundPage } from "../../../ui/page";
import { Facts, Section } from "../../../ui/section";
import { ListSkeleton, Message, ResourceView } from "../../../ui/states";
import { RelativeTime } from "../../../ui/time";
import { BusyButton } from "../../../ui/use-busy";
import { AdminFrame, mustAdmin } from "../admin-frame";
import { ACTION_TEXTS, formatDetails, nameActor } from "../audit/audit-texts";
import { AccessSection } from "./access-section";
import { CreditsSection } from "./credits-section";
import {
  type AdminUserDetail,
  describeAccess,
  describeContents,
  describeRest,
  listOnlyOwned,
  toFullName,
  UserStatus,
} from "./user-texts";

/** Shows an account and the actions for it. */
export default function UserPage() {
  const userId = useRoute().params.userId ?? "";
  const params = { path: { user_id: userId } };
  const loaded = useRead(["admin-user", userId], (signal) =>
    mustAdmin(api.GET("/api/v1/admin/users/{user_id}", { params, signal })),
  );
  return (
    <ResourceView
      resource={loaded}
      notFound={<NotFoundPage />}
      frame={(content) => (
        <AdminFrame title="User" parent="/admin/users">
          {content}
        </AdminFrame>
      )}
    >
      {(user) => <UserDetails user={user} onChanged={loaded.reload} />}
    </ResourceView>
  );
}

function UserDetails({ user, onChanged }: { user: AdminUserDetail; onChanged(): Promise<void> }) {
  const part = { user, onChanged };
  return (
    <AdminFrame title={user.email} parent="/admin/users" actions={<UserStatus user={user} />}>
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
    ["Workspaces", shared || "Personal workspace only"],
    ["User ID", user.id],
  ];
}

type RestoreNoteProps = { user: AdminUserDetail; deletedAt: string; onChanged(): Promise<void> };

/** Shows until when an account pending deletion can be restored. */
function RestoreNote({ user, deletedAt, onChanged }: RestoreNoteProps) {
  const restore = async () => {
    const params = { path: { user_id: user.id } };
    await mustAdmin(api.POST("/api/v1/admin/users/{user_id}/restore", { params }));
    await onChanged();
  };
  return (
    <Message look="warning">
      <p>
        This account will be permanently deleted on {formatTime(findPurgeTime(deletedAt))}, with{" "}
        {describeContents(user)}.
      </p>
      <span class="message-actions">
        <BusyButton work={restore}>Restore account</BusyButton>
      </span>
    </Message>
  );
}

const MAX_SHOWN = 8;

type UserActivityProps = {
  userId: string;
  email: string;
  /** Changes with the account, so that the entries are reloaded. */
  version: string;
};

/** The latest audit log entries about an account. */
function UserActivity({ userId, email, version }: UserActivityProps) {
  const entries = useRead(["admin-user-activity", userId, version], (signal) =>
    mustAdmin(api.GET("/api/v1/admin/audit", { params: { query: { target_id: userId, limit: MAX_SHOWN } }, signal })),
  );
  return (
    <Section
      title="Recent changes"
      actions={<a href={`/admin/audit?${new URLSearchParams({ user: email })}`}>Everything in the audit log</a>}
    >
      <ResourceView resource={entries} skeleton={<ListSkeleton rows={2} />}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft">No changes yet.</p>
          ) : (
            <ul class="plain-list">
              {items.map((entry) => (
                <li key={entry.id} class="activity">
                  <span>{ACTION_TEXTS[entry.action] ?? entry.action}</span>
                  <span class="soft">
                    <RelativeTime iso={entry.created_at} />
                  </span>
                  <span class="soft truncate" title={formatDetails(entry)}>
                    <bdi>{nameActor(entry)}</bdi>
                    {formatDetails(entry) !== "" && <> · {formatDetails(entry)}</>}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </ResourceView>
    </Section>
  );
}

type QuotaSectionProps = { user: AdminUserDetail; onChanged(): Promise<void> };
type Kind = "default" | "none" | "own";

const BYTES_PER_GB = 1e9;

const toKind = (override: number | null): Kind => (override === null ? "default" : override === 0 ? "none" : "own");

const formatLimit = (bytes: number | null): string => (bytes === null ? "no limit" : formatBytes(bytes));

/** Changes the storage quota of the personal workspace. */
function QuotaSection({ user, onChanged }: QuotaSectionProps) {
  const { storage_quota_bytes: override, default_storage_quota_bytes: usual, storage_used_bytes: used } = user;
  const [kind, setKind] = useState<Kind>(toKind(override));
  const quota = override === null ? usual : override || null;
  return (
    <Section
      title="Storage"
      hint={
        <>
          <strong>{formatBytes(used)}</strong> used in the personal workspace, {formatLimit(quota)}
          {quota !== null && " allowed"}.
        </>
      }
    >
      {quota !== null && (
        <progress class="progress" aria-label="Storage used" max={quota} value={Math.min(used, quota)} />
      )}
      <Form
        submitLabel="Change quota"
        look="default"
        class="inline-form"
        onSend={async ({ gigabytes = "" }) => {
          const own = Math.round(Number(gigabytes) * BYTES_PER_GB);
          const body = { storage_quota_bytes: { default: null, none: 0, own }[kind] };
          const params = { path: { user_id: user.id } };
          await mustAdmin(api.PATCH("/api/v1/admin/users/{user_id}", { params, body }));
          showToast({ kind: "info", text: "Quota changed." });
          await onChanged();
        }}
      >
        <SelectField
          label="Quota"
          name="kind"
          value={kind}
          onChange={setKind}
          options={[
            { value: "default", label: `As configured (${formatLimit(usual)})` },
            { value: "none", label: "No limit" },
            { value: "own", label: "Other…" },
          ]}
        />
        {kind === "own" && (
          <Field
            label="Gigabytes"
            name="gigabytes"
            errorName="storage_quota_bytes"
            type="number"
            min={0.001}
            max={9_000_000}
            step="any"
            required
            value={override === null || override === 0 ? undefined : override / BYTES_PER_GB}
            hint="A quota below the current use blocks uploads and renders. Nothing is deleted."
          />
        )}
      </Form>
    </Section>
  );
}

type DeletionSectionProps = { user: AdminUserDetail; onChanged(): Promise<void> };

/** Deletes an account. Its content is kept during the grace period. */
function DeletionSection({ user, onChanged }: DeletionSectionProps) {
  const owned = listOnlyOwned(user);
  const isSelf = me.value?.id === user.id;
  const rest = describeRest(user);
  return (
    <Section
      title="Delete account"
      hint={
        owned.length === 0 ? (
          <>The account can be restored for {GRACE_DAYS} days. After that, all of its data is permanently deleted.</>
        ) : (
          <>
            The user is the only owner of <strong dir="auto">{owned.join(", ")}</strong>. Make another member an owner,
            or delete the workspaces first.
          </>
        )
      }
      actions={
        <ConfirmButton
          button={{ icon: "trash", look: "danger", disabled: owned.length > 0, children: "Delete account" }}
          title={isSelf ? "Delete your own account?" : "Delete this account?"}
          confirmLabel="Delete account"
          onConfirm={async () => {
            const params = { path: { user_id: user.id } };
            await mustAdmin(api.DELETE("/api/v1/admin/users/{user_id}", { params }));
            if (isSelf) await loadSession();
            await onChanged();
          }}
        >
          <p>
            <strong dir="auto">{user.email}</strong> can sign in only to restore the account. API keys stop working now.
          </p>
          <p>
            On {formatDay(findPurgeTime(new Date().toISOString()))} the following is permanently deleted:{" "}
            {describeContents(user)}
            {rest !== "" && `; ${rest}`}. Until then you or the user can restore everything.
          </p>
        </ConfirmButton>
      }
    />
  );
}
