import type { Schemas } from "../../app/api";
import { toNumber } from "../../app/english";
import { formatBytes, formatCount } from "../../app/format";
import { isBilled, workspace } from "../../app/session";
import { Section } from "../../ui/section";

/** The storage and the credits that a workspace uses. */
export const UsageSection = ({ value }: { value: Schemas["WorkspaceDetail"] }) => (
  <Section title="Usage">
    <dl class="usage">
      <div>
        <dt>Storage used</dt>
        <dd>
          <span class="usage-figure">{formatBytes(value.storage_used_bytes)}</span>
          <Quota used={value.storage_used_bytes} quota={value.storage_quota_bytes} />
        </dd>
      </div>
      {isBilled.value && (
        <>
          <div>
            <dt>Available credits</dt>
            <dd>
              <span class="usage-figure">{toNumber(value.credits_balance)}</span>
              <span class="soft">{toNumber(value.credits_held)} on hold</span>
            </dd>
          </div>
          <div>
            <dt>Credits used</dt>
            <dd>
              <span class="usage-figure">{toNumber(value.credits_used)}</span>
              {workspace.value?.id === value.id && <a href="/credits">Credits and orders</a>}
            </dd>
          </div>
        </>
      )}
      <div>
        <dt>Content</dt>
        <dd>
          <span class="usage-figure">{formatCount(value.project_count, "project")}</span>
          <span class="soft">
            {formatCount(value.asset_count, "recording")}, {formatCount(value.render_count, "render")}
          </span>
        </dd>
      </div>
    </dl>
  </Section>
);

const NEARLY_FULL = 0.9;

function Quota({ used, quota }: { used: number; quota: number | null }) {
  if (quota === null) return <span class="soft">No quota</span>;
  const text = `of ${formatBytes(quota)}`;
  return (
    <>
      <progress class="progress" aria-label="Storage used" max={quota} value={Math.min(used, quota)} />
      <span class={used >= quota * NEARLY_FULL ? undefined : "soft"}>
        {text}
        {used >= quota && ": full. Delete recordings or renders to add others."}
      </span>
    </>
  );
}
