import { useState } from "preact/hooks";
import type { AccountRole } from "../../../../src/domain/access";
import { MAX_CREDITS } from "../../../../src/domain/field-limits";
import { api, type Schemas } from "../../../app/api";
import { useOffsetList } from "../../../app/cache";
import { toNumber } from "../../../app/english";
import { formatBytes, formatCount, formatTime } from "../../../app/format";
import { isBilled } from "../../../app/session";
import { isOneOf, isSearch, useQuery, withoutEmpty } from "../../../app/use-query";
import { Button } from "../../../ui/button";
import { LinkField, ShownOnceDialog } from "../../../ui/copy-field";
import { type Column, DataTable, Truncated } from "../../../ui/data-table";
import { Filter, FilterBar, listChoices, SearchField } from "../../../ui/filter-bar";
import { Field, SelectField } from "../../../ui/form";
import { FormDialog } from "../../../ui/form-dialog";
import { Empty } from "../../../ui/states";
import { RelativeTime } from "../../../ui/time";
import { AdminFrame, mustAdmin, ProblemBanner, UserLink } from "../admin-frame";
import { type AdminUser, toFullName, UserStatus } from "./user-texts";

const STATES = [
  { value: "", label: "All states" },
  { value: "active", label: "Active" },
  { value: "disabled", label: "Disabled" },
  { value: "deleted", label: "Pending deletion" },
];
const ROLES = listChoices<AccountRole>("All roles", {
  member: "Members",
  admin: "Administrators",
});

const SORTS = [
  { value: "", label: "Newest first" },
  { value: "created_at", label: "Oldest first" },
  { value: "email", label: "Email, A to Z" },
  { value: "-last_sign_in_at", label: "Last sign-in" },
  { value: "-credits", label: "Most credits" },
  { value: "-storage_used_bytes", label: "Most storage" },
];

const CHECKS = { q: isSearch, state: isOneOf(STATES), role: isOneOf(ROLES), sort: isOneOf(SORTS) };

const COLUMNS: Column<AdminUser>[] = [
  { title: "User", width: "minmax(0, 3fr)", cell: (user) => <NameCell user={user} /> },
  { title: "State", width: "8rem", cell: (user) => <UserStatus user={user} /> },
  { title: "Role", width: "6.5rem", cell: ({ role }) => (role === "admin" ? "Administrator" : "Member") },
  {
    title: "Last sign-in",
    width: "7rem",
    cell: ({ last_sign_in_at: at }) => (at === null ? <span class="soft">Never</span> : <RelativeTime iso={at} />),
  },
  { title: "Credits", width: "5rem", isNumber: true, cell: ({ credits }) => toNumber(credits) },
  { title: "Storage", width: "5rem", isNumber: true, cell: (user) => formatBytes(user.storage_used_bytes) },
];

/** The accounts of the server. */
export default function UsersPage() {
  const [query, change] = useQuery(CHECKS);
  const [isInviting, setIsInviting] = useState(false);
  const list = useOffsetList<AdminUser>(
    ["admin-users", query],
    (page, signal) => {
      const filters = withoutEmpty(query) as { q?: string; state?: "active"; role?: "member"; sort?: "email" };
      return mustAdmin(api.GET("/api/v1/admin/users", { params: { query: { ...page, ...filters } }, signal }));
    },
    { refreshMs: 60_000 },
  );
  const total = list.first.value?.total ?? null;
  return (
    <AdminFrame
      title="Users"
      actions={
        <Button icon="plus" look="primary" onClick={() => setIsInviting(true)}>
          Invite user
        </Button>
      }
    >
      <ProblemBanner />
      <FilterBar>
        <SearchField label="Search by email or name" value={query.q} onSearch={(q) => change({ q })} />
        <Filter label="State" value={query.state} options={STATES} onChange={(state) => change({ state })} />
        <Filter label="Role" value={query.role} options={ROLES} onChange={(role) => change({ role })} />
        <Filter
          label="Sort by"
          value={query.sort}
          options={isBilled.value ? SORTS : SORTS.filter(({ value }) => value !== "-credits")}
          onChange={(sort) => change({ sort })}
        />
        <span class="spacer" />
        <span class="soft" role="status">
          {total !== null && formatCount(total, "user")}
        </span>
      </FilterBar>
      <DataTable
        caption="Users"
        columns={isBilled.value ? COLUMNS : COLUMNS.filter(({ title }) => title !== "Credits")}
        list={list}
        empty={
          <Empty title="No matching users" icon="search">
            <Button onClick={() => change({ q: "", state: "", role: "" })}>Show all users</Button>
          </Empty>
        }
      />
      {isInviting && <InviteDialog onInvited={() => void list.reload()} onClose={() => setIsInviting(false)} />}
    </AdminFrame>
  );
}

function NameCell({ user }: { user: AdminUser }) {
  const name = toFullName(user);
  return (
    <div class="two-lines">
      <UserLink user={user} />
      {name !== "" && <Truncated class="soft" text={name} />}
    </div>
  );
}

type InvitedUser = Schemas["InvitedUser"];
type InviteDialogProps = { onInvited(): void; onClose(): void };

const NEW_ROLES = [
  { value: "member", label: "Member" },
  { value: "admin", label: "Administrator" },
];

/** Creates an account and shows a link with which its owner sets a password. */
function InviteDialog({ onInvited, onClose }: InviteDialogProps) {
  const [invited, setInvited] = useState<InvitedUser | null>(null);
  if (invited !== null) return <InvitationLink invited={invited} onClose={onClose} />;
  return (
    <FormDialog
      title="Invite user"
      submitLabel="Invite"
      onSend={async ({ email = "", role, credits = "" }) => {
        const body = {
          email: email.trim(),
          role: role === "admin" ? ("admin" as const) : ("member" as const),
          credits: credits === "" ? undefined : Number(credits),
        };
        setInvited(await mustAdmin(api.POST("/api/v1/admin/users", { body })));
        onInvited();
      }}
      onClose={onClose}
    >
      <Field label="Email" name="email" type="email" required isFirst autocomplete="off" />
      <SelectField label="Role" name="role" options={NEW_ROLES} />
      {isBilled.value && (
        <Field
          label="Credits"
          name="credits"
          type="number"
          min={0}
          max={MAX_CREDITS}
          step={1}
          hint="Leave empty for the default credits of a new account."
        />
      )}
    </FormDialog>
  );
}

function InvitationLink({ invited, onClose }: { invited: InvitedUser; onClose(): void }) {
  return (
    <ShownOnceDialog title="Invitation created" onClose={onClose}>
      <p dir="auto">
        <strong>{invited.user.email}</strong> can set a password with this link. It works once, until{" "}
        {formatTime(invited.expires_at)}.
      </p>
      {invited.invitation_url !== null && (
        <LinkField
          label="Invitation link"
          value={invited.invitation_url}
          hint="It is not shown again. If this server sends email, the invitation was emailed too."
          isFirst
        />
      )}
    </ShownOnceDialog>
  );
}
