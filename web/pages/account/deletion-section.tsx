import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { formatBytes, formatCount } from "../../app/format";
import { loadSession } from "../../app/load-session";
import type { Me } from "../../app/session";
import { isBilled } from "../../app/session";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { Section } from "../../ui/section";
import { ResourceView } from "../../ui/states";

/** Deletes the account after a warning about what will be lost. */
export function DeletionSection({ profile }: { profile: Me }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Section
      title="Delete your account"
      hint="You can restore it for 30 days. After that, all of its data is permanently deleted."
    >
      <div class="toolbar">
        <Button look="danger" icon="trash" onClick={() => setIsOpen(true)}>
          Delete account…
        </Button>
      </div>
      {isOpen && (
        <ConfirmDialog
          title="Delete your account?"
          confirmLabel="Delete account"
          onConfirm={async () => {
            await must(api.DELETE("/api/v1/users/me"));
            await loadSession();
          }}
          onClose={() => setIsOpen(false)}
        >
          <Losses profile={profile} />
        </ConfirmDialog>
      )}
    </Section>
  );
}

/** Lists what is erased after the grace period. */
function Losses({ profile }: { profile: Me }) {
  const params = { path: { workspace_id: profile.id } };
  const personal = useRead(["workspace", profile.id], (signal) =>
    must(api.GET("/api/v1/workspaces/{workspace_id}", { params, signal })),
  );
  return (
    <div class="losses">
      <p>
        The account <strong dir="auto">{profile.email}</strong> is closed immediately, and its API keys and webhooks
        stop working. After 30 days, this is permanently deleted:
      </p>
      <ResourceView resource={personal} skeleton={<p class="soft">Counting…</p>}>
        {(content) => (
          <ul>
            <li>
              {formatCount(content.project_count, "project")} with {formatCount(content.asset_count, "recording")} and{" "}
              {formatCount(content.render_count, "render")}: {formatBytes(content.storage_used_bytes)}
            </li>
            {isBilled.value && (
              <li>
                {formatCount(Math.max(0, content.credits_balance + content.credits_held), "credit")}, not refunded
              </li>
            )}
            <li>your profile, sessions, API keys, notifications and data exports</li>
          </ul>
        )}
      </ResourceView>
      <p>
        What you added to shared workspaces stays there. Export your data first if you want a copy. To restore the
        account within the 30 days, sign in.
      </p>
    </div>
  );
}
