import { api } from "../../../app/api";
import { useResource } from "../../../app/resource";
import { CodeBlock } from "../../../ui/code-block";
import { Section } from "../../../ui/section";
import { mustAdmin } from "../admin-api";

const SETTINGS = `# /etc/offcut/offcut.toml
redis_url = "rediss://user:password@redis.example.com:6379"

# In Redis: nothing that waits may be dropped
# CONFIG SET maxmemory-policy noeviction`;

/** How workers are enabled, while no Redis is configured. */
export function SetupHint() {
  const health = useResource((signal) => mustAdmin(api.GET("/api/v1/admin/health", { signal })), []);
  const state = health.state.value;
  // What the other parts of the page cannot read, they say.
  if (state.kind !== "ready" || state.value.redis !== null) return null;
  return (
    <Section
      title="Workers are not enabled"
      hint="This machine does all work. To share it with other machines, name a Redis server that they all can reach, and restart Offcut."
    >
      <CodeBlock label="Settings" code={SETTINGS} />
      <p class="soft">
        Workers read recordings from this server and send results back to it. Redis carries only IDs and signed links.
      </p>
    </Section>
  );
}
