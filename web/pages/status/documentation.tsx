import { Section } from "../../ui/section";

const LINKS: { href: string; label: string; hint: string }[] = [
  { href: "/docs", label: "API documentation", hint: "guides with examples, and a reference of every call" },
  { href: "/openapi.json", label: "OpenAPI of the public API", hint: "/v1" },
  { href: "/api/v1/openapi.json", label: "OpenAPI of the dashboard API", hint: "/api/v1" },
  { href: "/api-keys/openapi.json", label: "OpenAPI of API keys", hint: "/api-keys" },
  { href: "/oauth/openapi.json", label: "OpenAPI of device sign-in", hint: "/oauth" },
];

/** Links to the documentation, all of which is on this server. */
export const Documentation = () => (
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
