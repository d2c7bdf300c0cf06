import { useState } from "preact/hooks";
import { MAX_SHARE_PASSWORD_CHARACTERS, MIN_SHARE_PASSWORD_CHARACTERS } from "../../../../src/domain/field-limits";
import { api, must, type Schemas } from "../../../app/api";
import { useRead } from "../../../app/cache";
import { formatShortDay, formatTime } from "../../../app/format";
import { showFailure } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { LinkField, ShownOnceDialog } from "../../../ui/copy-field";
import { Field, SelectField } from "../../../ui/form";
import { FormDialog } from "../../../ui/form-dialog";
import { ResourceView } from "../../../ui/states";
import { Time } from "../../../ui/time";

const LIFETIMES = [
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" },
  { value: "2592000", label: "30 days" },
];

const DAY_SECONDS = 86_400;

/** Returns when a link that is created now expires: "Dec 7", or "Dec 1, 2026, 4:12 PM" within a day. */
function formatEnd(seconds: number): string {
  const end = new Date(Date.now() + seconds * 1000);
  return seconds > DAY_SECONDS ? formatShortDay(end).replace(" ", "\u00a0") : formatTime(end);
}

type ShareDialogProps = { renderId: string; name: string; onClose(): void };

/** Creates a link with which anyone can play and download a render. */
export function ShareDialog({ renderId, name, onClose }: ShareDialogProps) {
  const [link, setLink] = useState<Schemas["ShareLink"] | null>(null);
  const [lifetime, setLifetime] = useState("604800");
  const create = async ({ password = "" }) => {
    const params = { path: { render_id: renderId } };
    const body = { expires_in_seconds: Number(lifetime), ...(password !== "" && { password }) };
    setLink(await must(api.POST("/api/v1/renders/{render_id}/share", { params, body })));
  };
  if (link !== null) return <LinkDialog link={link} onClose={onClose} />;
  return (
    <FormDialog title="Share" submitLabel="Create link" icon="link" onSend={create} onClose={onClose}>
      <p>
        Anyone with the link can play and download <strong dir="auto">{name}</strong> until{" "}
        {formatEnd(Number(lifetime))}. Its page says who shares it, and has the transcript of the cut. The link stops
        working earlier if it is revoked or you lose edit access.
      </p>
      <SelectField label="Expires after" value={lifetime} options={LIFETIMES} onChange={setLifetime} />
      <Field
        label="Password"
        name="password"
        hint={`Optional, at least ${MIN_SHARE_PASSWORD_CHARACTERS} characters. Send it separately from the link.`}
        minLength={MIN_SHARE_PASSWORD_CHARACTERS}
        maxLength={MAX_SHARE_PASSWORD_CHARACTERS}
        autocomplete="off"
        spellcheck={false}
      />
      <SharedLinks renderId={renderId} />
    </FormDialog>
  );
}

/** Lists the active links of a render, each with a button that revokes it. */
function SharedLinks({ renderId }: { renderId: string }) {
  const [revoked, setRevoked] = useState<string | null>(null);
  const path = { render_id: renderId };
  const links = useRead(["shares", renderId], (signal) =>
    must(api.GET("/api/v1/renders/{render_id}/shares", { params: { path, query: { limit: 100 } }, signal })),
  );
  const revoke = async (id: string) => {
    setRevoked(id);
    try {
      const params = { path: { ...path, share_id: id } };
      await must(api.DELETE("/api/v1/renders/{render_id}/shares/{share_id}", { params }));
      await links.reload();
    } catch (error) {
      showFailure(error);
    } finally {
      setRevoked(null);
    }
  };
  return (
    <ResourceView resource={links} skeleton={null}>
      {({ items }) =>
        items.length > 0 && (
          <section aria-label="Active links">
            <h3>Active links</h3>
            <ul class="share-links">
              {items.map(({ id, created_by, expires_at, has_password }) => (
                <li key={id}>
                  <span>
                    Until <Time iso={expires_at} />
                    {has_password && <span class="soft">, with a password</span>}
                    {created_by?.name && <span class="soft">, created by {created_by.name}</span>}
                  </span>
                  <Button
                    isBusy={revoked === id}
                    aria-label={`Revoke the link that expires ${formatTime(expires_at)}`}
                    onClick={() => void revoke(id)}
                  >
                    Revoke
                  </Button>
                </li>
              ))}
            </ul>
          </section>
        )
      }
    </ResourceView>
  );
}

/** Shows the link once, because the server does not store it. */
const LinkDialog = ({ link, onClose }: { link: Schemas["ShareLink"]; onClose(): void }) => (
  <ShownOnceDialog title="Share" onClose={onClose}>
    <LinkField
      label="Link"
      value={link.page_url}
      hint={`Opens a page with a player until ${formatTime(link.expires_at)}. Copy it now: it is not shown again.`}
      isFirst
    />
    <LinkField label="Direct download" value={link.url} />
  </ShownOnceDialog>
);
