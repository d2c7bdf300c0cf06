import { useState } from "preact/hooks";
import { api } from "../../../app/api";
import { formatBytes } from "../../../app/format";
import { showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { Field, SelectField } from "../../../ui/field";
import { Form } from "../../../ui/form";
import { Section } from "../../../ui/section";
import { mustAdmin } from "../admin-api";
import type { AdminUserDetail } from "./losses";

type QuotaSectionProps = { user: AdminUserDetail; onChanged(): Promise<void> };
type Kind = "default" | "none" | "own";

const BYTES_PER_GB = 1e9;

const toKind = (override: number | null): Kind => (override === null ? "default" : override === 0 ? "none" : "own");

const formatLimit = (bytes: number | null): string => (bytes === null ? "no limit" : formatBytes(bytes));

/** Changes the storage quota of the personal workspace. */
export function QuotaSection({ user, onChanged }: QuotaSectionProps) {
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
        {({ errors, isSending }) => (
          <>
            <SelectField
              label="Quota"
              name="kind"
              value={kind}
              onChange={(event) => setKind(event.currentTarget.value as Kind)}
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
                type="number"
                min={0.001}
                max={9_000_000}
                step="any"
                required
                value={override === null || override === 0 ? undefined : override / BYTES_PER_GB}
                hint="A quota below the current use blocks uploads and renders. Nothing is deleted."
                error={errors.storage_quota_bytes}
              />
            )}
            <Button type="submit" isBusy={isSending}>
              Change quota
            </Button>
          </>
        )}
      </Form>
    </Section>
  );
}
