/** The server status for every user: working components, version, documentation, and licenses. */

import { useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { connection } from "../../app/connection";
import { formatCount } from "../../app/format";
import { listLanguages } from "../../app/rare-formats";
import { isAdmin } from "../../app/session";
import { useStatus } from "../../app/shared-reads";
import { SETTINGS } from "../../shell/navigation";
import { Button } from "../../ui/button";
import { Page } from "../../ui/page";
import { Facts, Section } from "../../ui/section";
import { Message, ResourceView } from "../../ui/states";
import { Status } from "../../ui/status";

export default function StatusPage() {
  const status = useStatus({ refreshMs: 30_000 });
  const isOnline = connection.value === "online";
  return (
    <Page title="System status" crumb={SETTINGS}>
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
const nameLanguages = (codes: readonly string[]): string =>
  listLanguages(codes)
    .map(({ label }) => label)
    .join(", ");

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

type Part = keyof Schemas["ServerStatus"]["parts"];
type PartState = Schemas["ServerStatus"]["parts"][Part];

const LOOKS: Record<PartState, { text: string; look: string }> = {
  ok: { text: "Works", look: "good" },
  starting: { text: "Starting", look: "busy" },
  limited: { text: "Limited", look: "waiting" },
  unavailable: { text: "Not available", look: "bad" },
  off: { text: "Off", look: "" },
};

const NAMES: Record<Part, string> = {
  uploads: "Uploads",
  renders: "Renders",
  speech_recognition: "Speech recognition",
  email: "Email",
};

const WHAT_IS_WRONG: { [Name in Part]: Partial<Record<PartState, string>> } = {
  uploads: {
    unavailable:
      "The server's disk is almost full. Existing recordings are safe. Delete files that you no longer need, or ask the administrator to free some space.",
  },
  renders: {
    starting: "Offcut is testing the encoders. This takes a few seconds after startup.",
    unavailable: "Renders cannot be created until the administrator fixes the server. Recordings and cuts are safe.",
  },
  speech_recognition: {
    limited: "An installed model is damaged: speech in its languages is not recognized. Ask the administrator.",
  },
  email: { off: "This server does not send email. Notifications are shown only here." },
};

type PartsProps = { status: Schemas["ServerStatus"]; isOnline: boolean };

/** A one-sentence summary. */
function Overall({ status, isOnline }: PartsProps) {
  const isGood = isOnline && status.status === "ok";
  return (
    <Message look={isGood ? "good" : "warning"} role="status">
      <p>
        {isGood
          ? "Everything works."
          : isOnline
            ? "Part of the server is not working. Saved data is safe."
            : "The server does not respond. Saved data is safe. This page retries automatically."}
      </p>
    </Message>
  );
}

/** Lists each component with its state, and the remedy if it does not work. */
const Parts = ({ status, isOnline }: PartsProps) => (
  <ul class="plain-list status-parts">
    <PartRow
      name="Connection"
      state={isOnline ? "ok" : "unavailable"}
      text={isOnline ? undefined : "This browser cannot reach the server. Check the network."}
    />
    {(Object.keys(NAMES) as Part[]).map((part) => (
      <PartRow
        key={part}
        name={NAMES[part]}
        state={status.parts[part]}
        text={WHAT_IS_WRONG[part][status.parts[part]]}
      />
    ))}
  </ul>
);

const PartRow = ({ name, state, text }: { name: string; state: PartState; text: string | undefined }) => (
  <li class="status-part">
    <strong>{name}</strong>
    <Status {...LOOKS[state]} />
    {text && <p class="soft">{text}</p>}
  </li>
);

/** The licenses of the bundled software, loaded on request. */
function Licenses() {
  const [isShown, setIsShown] = useState(false);
  return (
    <Section
      title="Licenses"
      hint="Offcut includes third-party software. ffmpeg runs as a separate program."
      actions={
        <a class="button" href="/api/v1/licenses" download="licenses.txt">
          Download as text
        </a>
      }
    >
      {isShown ? <LicenseList /> : <ShowButton onClick={() => setIsShown(true)} />}
    </Section>
  );
}

const ShowButton = ({ onClick }: { onClick(): void }) => (
  <div>
    <Button onClick={onClick}>Show licenses</Button>
  </div>
);

function LicenseList() {
  const [text, setText] = useState("");
  const found = useRead(["licenses"], async (signal) => {
    const all = await must(api.GET("/api/v1/licenses", { parseAs: "text", signal }));
    return readLicenses(String(all));
  });
  return (
    <ResourceView resource={found}>
      {({ notes, licenses }) => {
        const wanted = text.trim().toLowerCase();
        const shown = licenses.filter(({ name, facts }) => `${name} ${facts}`.toLowerCase().includes(wanted));
        return (
          <>
            <p class="license-text">{notes}</p>
            <input
              class="input search"
              type="search"
              aria-label="Search licenses"
              placeholder="Search by name or license"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <p class="soft" role="status">
              {formatCount(shown.length, "license")}
            </p>
            <div class="license-list">
              {shown.map((license) => (
                <LicenseRow key={license.name} license={license} />
              ))}
            </div>
          </>
        );
      }}
    </ResourceView>
  );
}

const LicenseRow = ({ license: { name, facts, text } }: { license: License }) => (
  <details class="license">
    <summary>
      <strong>{name}</strong> <span class="soft">{facts}</span>
    </summary>
    <p class="license-text">{text || "The package does not include a license text. See its website."}</p>
  </details>
);

/** `facts` contains the license name and the address, if known. */
type License = { name: string; facts: string; text: string };

const SEPARATOR = `\n${"-".repeat(100)}\n\n`;

/** Returns the notes at the start, and an entry for Offcut, for ffmpeg and for each package. */
export function readLicenses(all: string): { notes: string; licenses: License[] } {
  const [notes = "", own = "", ffmpeg = "", ...packages] = all.split(SEPARATOR);
  return {
    notes: notes.trim(),
    licenses: [
      { name: "Offcut", facts: "Apache License 2.0", text: own.trim() },
      { name: "ffmpeg", facts: "GNU General Public License, version 3 or later", text: ffmpeg.trim() },
      ...packages.map(readPackage),
    ],
  };
}

/** Matches the head of an entry: name and version, license, address. */
function readPackage(entry: string): License {
  const end = entry.indexOf("\n\n");
  const [name = "", ...facts] = (end < 0 ? entry : entry.slice(0, end)).trim().split("\n");
  const text = end < 0 ? "" : entry.slice(end).trim();
  return { name, facts: facts.map((fact) => fact.replace(/^License: /, "")).join(", "), text };
}
