import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { formatCount } from "../../app/format";
import { Button } from "../../ui/button";
import { Section } from "../../ui/section";
import { ResourceView } from "../../ui/states";
import { type License, readLicenses } from "./read-licenses";

/** The licenses of the bundled software, loaded on request. */
export function Licenses() {
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
    <p class="license-text">{text || "The package does not include its license text. See its website."}</p>
  </details>
);
