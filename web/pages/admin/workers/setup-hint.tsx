import { CodeBlock } from "../../../ui/code-block";
import { Section } from "../../../ui/section";
import { useHealth } from "../use-health";

const SETTINGS = `# /etc/offcut/offcut.toml
redis_url = "rediss://user:password@redis.example.com:6379"

# In Redis: never evict waiting jobs
# CONFIG SET maxmemory-policy noeviction`;

/** Explains how to enable workers while Redis is not configured. */
export function SetupHint() {
  const health = useHealth();
  const state = health.state.value;
  // Other parts of the page report their own errors.
  if (state.kind !== "ready" || state.value.redis !== null) return null;
  return (
    <Section
      title="Workers are not enabled"
      hint="This machine does all the work. To share it with other machines, configure a Redis server that they can all reach, and restart Offcut."
    >
      <CodeBlock label="Settings" code={SETTINGS} />
      <p class="soft">
        Workers read recordings from this server and send results back to it. Redis carries only IDs and signed links.
      </p>
    </Section>
  );
}
