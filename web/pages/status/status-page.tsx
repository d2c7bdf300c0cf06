/** The server status for every user: working components, version, documentation, and licenses. */
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { connection } from "../../app/connection";
import { isAdmin } from "../../app/session";
import { Facts } from "../../ui/facts";
import { Page } from "../../ui/page";
import { Section } from "../../ui/section";
import { ResourceView } from "../../ui/states";
import { Licenses } from "./licenses";
import { Overall, Parts } from "./parts";

export default function StatusPage() {
  const status = useRead(["status"], (signal) => must(api.GET("/api/v1/status", { signal })), { refreshMs: 30_000 });
  const isOnline = connection.value === "online";
  return (
    <Page title="System status">
      <ResourceView resource={status}>
        {(found) => (
          <>
            <Overall status={found} isOnline={isOnline} />
            <Section
              title="Components"
              hint={isAdmin.value ? <a href="/admin/health">Details for administrators</a> : null}
            >
              <Parts status={found} isOnline={isOnline} />
            </Section>
            <Section title="This server">
              <Facts
                facts={[
                  ["Version", `Offcut ${found.version}`],
                  ["Address", location.origin],
                  ["Recognized languages", nameLanguages(found.languages)],
                ]}
              />
            </Section>
          </>
        )}
      </ResourceView>
      <Documentation />
      <Licenses />
    </Page>
  );
}

/** Returns the names of languages, such as "English, German". */
function nameLanguages(codes: readonly string[]): string {
  const names = new Intl.DisplayNames("en", { type: "language" });
  return codes
    .map((code) => names.of(code) ?? code)
    .sort((one, other) => one.localeCompare(other))
    .join(", ");
}

const LINKS: { href: string; label: string; hint: string }[] = [
  { href: "/docs", label: "API documentation", hint: "guides with examples, and a reference of every call" },
  { href: "/openapi.json", label: "OpenAPI of the public API", hint: "/v1" },
  { href: "/api/v1/openapi.json", label: "OpenAPI of the dashboard API", hint: "/api/v1" },
  { href: "/api-keys/openapi.json", label: "OpenAPI of API keys", hint: "/api-keys" },
  { href: "/oauth/openapi.json", label: "OpenAPI of device sign-in", hint: "/oauth" },
];

/** Links to the documentation, all of which is on this server. */
const Documentation = () => (
  <Section title="Documentation" hint="All documentation is on this server and works offline.">
    <ul class="plain-list">
      {LINKS.map(({ href, label, hint }) => (
        <li key={href}>
          <a href={href} target="_blank" rel="noreferrer">
            {label}
          </a>{" "}
          <span class="soft">{hint}</span>
        </li>
      ))}
    </ul>
  </Section>
);
