import { useState } from "preact/hooks";
import { api, type Schemas } from "../../../app/api";
import type { Resource } from "../../../app/cache";
import { showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { ConfirmDialog } from "../../../ui/confirm-dialog";
import { RelativeTime } from "../../../ui/relative-time";
import { Section } from "../../../ui/section";
import { ResourceView } from "../../../ui/states";
import { mustAdmin } from "../admin-api";

type Token = Schemas["AdminWorkerToken"];
type WaitingTokensProps = { tokens: Resource<{ items: Token[] }>; onRevoked(): Promise<void> };

/** Tokens that no worker has used yet. */
export const WaitingTokens = ({ tokens, onRevoked }: WaitingTokensProps) => (
  <ResourceView resource={tokens} skeleton={null}>
    {({ items }) => {
      const waiting = items.filter((token) => token.worker_id === null);
      if (waiting.length === 0) return null;
      return (
        <Section title="Not joined yet" hint="Tokens that no worker has used.">
          <ul class="plain-list decisions">
            {waiting.map((token) => (
              <WaitingToken key={token.id} token={token} onRevoked={onRevoked} />
            ))}
          </ul>
        </Section>
      );
    }}
  </ResourceView>
);

function WaitingToken({ token, onRevoked }: { token: Token; onRevoked(): Promise<void> }) {
  const [isAsking, setIsAsking] = useState(false);
  const revoke = async () => {
    const params = { path: { token_id: token.id } };
    await mustAdmin(api.DELETE("/api/v1/admin/worker-tokens/{token_id}", { params }));
    showToast({ kind: "info", text: `The token of ${token.name} was revoked.` });
    await onRevoked();
  };
  return (
    <li class="setting">
      <p>
        <strong>{token.name}</strong>
        <span class="soft">
          Created <RelativeTime iso={token.created_at} />
        </span>
      </p>
      <Button aria-label={`Revoke the token of ${token.name}`} onClick={() => setIsAsking(true)}>
        Revoke
      </Button>
      {isAsking && (
        <ConfirmDialog
          title="Revoke this token?"
          confirmLabel="Revoke token"
          onConfirm={revoke}
          onClose={() => setIsAsking(false)}
        >
          <p>
            No worker can join with the token of <strong>{token.name}</strong> after this. This cannot be undone, but a
            new token can have the same name.
          </p>
        </ConfirmDialog>
      )}
    </li>
  );
}
