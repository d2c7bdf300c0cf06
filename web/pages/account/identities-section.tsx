import { useMemo, useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { type Column, DataTable } from "../../ui/data-table";
import { focusHeading } from "../../ui/focus-heading";
import { RelativeTime } from "../../ui/relative-time";
import { Section } from "../../ui/section";
import { Empty } from "../../ui/states";

type Identity = Schemas["Identity"];

/**
 * The provider accounts that sign the user in. Renders nothing without any. `onRemoved` is called when a removal has
 * ended the other sessions.
 */
export function IdentitiesSection({ onRemoved }: { onRemoved(): void }) {
  const [removing, setRemoving] = useState<Identity | null>(null);
  const list = useOffsetList<Identity>(["identities"], (query, signal) =>
    must(api.GET("/api/v1/users/me/identities", { params: { query }, signal })),
  );
  const columns = useMemo(() => createColumns(setRemoving), []);
  // Most servers have no provider.
  if (!list.items.value?.length && list.error.value === null) return null;
  return (
    <Section
      title="Sign-in providers"
      hint="Accounts elsewhere that sign you in. Remove those that you do not recognize."
    >
      <div>
        <DataTable
          caption="Sign-in providers"
          columns={columns}
          list={list}
          rowKey={({ id }) => id}
          empty={<Empty title="No provider is linked" icon="user" />}
        />
      </div>
      {removing && (
        <ConfirmDialog
          title={`Remove ${removing.provider}?`}
          confirmLabel="Remove"
          onConfirm={async () => {
            const params = { path: { identity_id: removing.id } };
            await must(api.DELETE("/api/v1/users/me/identities/{identity_id}", { params }));
            showToast({ kind: "info", text: "Provider removed. All other sessions have ended." });
            await list.reload();
            onRemoved();
            focusHeading();
          }}
          onClose={() => setRemoving(null)}
        >
          <p>
            {removing.email ?? "This account"} at {removing.provider} no longer signs you in, and your other sessions
            end.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

const createColumns = (onRemove: (identity: Identity) => void): Column<Identity>[] => [
  { title: "Provider", cell: ({ provider, issuer }) => <span title={issuer}>{provider}</span> },
  { title: "Account", width: "minmax(0, 1.6fr)", cell: ({ email }) => email ?? <span class="soft">unknown</span> },
  { title: "Linked", cell: ({ created_at: time }) => <RelativeTime iso={time} /> },
  {
    title: "Last sign-in",
    cell: ({ last_sign_in_at: time }) =>
      time === null ? <span class="soft">never</span> : <RelativeTime iso={time} />,
  },
  {
    title: "Actions",
    isTitleHidden: true,
    width: "5.5rem",
    cell: (identity) => (
      <Button
        aria-label={`Remove ${identity.provider}, ${identity.email ?? "unknown account"}`}
        onClick={() => onRemove(identity)}
      >
        Remove
      </Button>
    ),
  },
];
